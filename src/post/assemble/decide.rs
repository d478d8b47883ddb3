//! Slug, language and day: which source decides each, and where the sources disagree.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, nearest};
use crate::post::date::PublishedAt;
use crate::post::fields::{Fields, Given, Read};
use crate::post::file_name::{FileName, LiteralPath, NameDay, literal_path};
use crate::post::lang::{self, Lang};
use crate::post::slug::{self, Slug};
use crate::post::{From, Rules};

/// What was decided; a missing part has its error, or (the date alone) no source at all.
#[derive(Debug, Default)]
pub struct Decision {
    /// The slug.
    pub slug: Option<Slug>,
    /// Bytes of the value that gave it, where it stands in the front matter.
    pub slug_span: Option<Range<usize>>,
    /// The language.
    pub lang: Option<Lang>,
    /// As `slug_span`.
    pub lang_span: Option<Range<usize>>,
    /// The instant.
    pub published_at: Option<PublishedAt>,
    /// As `slug_span`.
    pub date_span: Option<Range<usize>>,
    /// A date was given that is none, and an error was told.
    pub date_broken: bool,
    /// What decided.
    pub from: From,
}

/// Decides the identity. Without `whole` the front matter could not be read to its end, so that the
/// file's name may take the place of nothing.
pub fn decide(
    fields: &Fields,
    name: &FileName,
    whole: bool,
    rules: &Rules,
    problems: &mut Vec<Diagnostic>,
) -> Decision {
    let addresses =
        fields.addresses.iter().map(|given| (given, literal_path(&given.value, &given.name))).collect();
    let mut decider =
        Decider { fields, name, addresses, whole, rules, problems, decision: Decision::default() };
    decider.problems.extend(name.problems.iter().cloned());
    decider.lang();
    decider.date();
    decider.slug();
    decider.decision
}

struct Decider<'a> {
    fields: &'a Fields,
    name: &'a FileName,
    addresses: Vec<(&'a Given<String>, LiteralPath)>,
    whole: bool,
    rules: &'a Rules,
    problems: &'a mut Vec<Diagnostic>,
    decision: Decision,
}

impl Decider<'_> {
    fn lang(&mut self) {
        let mut sources: Vec<(Lang, String)> = self.name.langs.clone();
        let mut span = None;
        match &self.fields.lang {
            Read::Broken => return,
            Read::Given(given) => match self.lang_of_field(given) {
                Some(lang) => {
                    sources.insert(0, (lang, format!("front matter {}", given.name)));
                    span = Some(given.span.clone());
                }
                None => return,
            },
            Read::Absent if !self.whole => return,
            Read::Absent => {}
        }
        let (lang, from) = sources
            .first()
            .cloned()
            .unwrap_or_else(|| (self.rules.default_lang.clone(), "default_lang".to_owned()));
        if let Some((other, other_from)) = sources.iter().skip(1).find(|(other, _)| *other != lang) {
            let message = format!("{from} says `{lang}` and {other_from} says `{other}`; `{lang}` is used");
            let problem = Diagnostic::warning("lang-differs", message).help("make them agree");
            self.problems.push(match span {
                Some(span) => problem.at(span),
                None => problem,
            });
        }
        self.decision.lang_span = match &self.fields.lang {
            Read::Given(given) => Some(given.span.clone()),
            Read::Broken | Read::Absent => None,
        };
        self.decision.from.lang = Some(from);
        self.decision.lang = Some(lang);
    }

    /// A language of the front matter, which would freeze a wrong id if it were taken by a guess.
    fn lang_of_field(&mut self, given: &Given<String>) -> Option<Lang> {
        let lang = match Lang::parse(&given.value) {
            Ok(lang) => lang,
            Err(why) => {
                let help = self.lang_help(given, lang::meant(&given.value));
                self.problems.push(
                    Diagnostic::error("lang", format!("`{}`: {why}", given.name))
                        .help(help)
                        .at(given.span.clone()),
                );
                return None;
            }
        };
        let langs = &self.rules.langs;
        if !langs.is_empty() && !langs.contains(&lang) && lang != self.rules.default_lang {
            let message =
                format!("`{}`: `{lang}` is none of the configured langs ({})", given.name, self.langs());
            let help = self.lang_help(given, lang.likely_meant());
            self.problems.push(Diagnostic::error("lang-unknown", message).help(help).at(given.span.clone()));
            return None;
        }
        if let Some(newer) = lang.replaced_by() {
            let message =
                format!("`{lang}` is an older code of `{newer}`; it is kept, since the id is made from it");
            self.problems.push(
                Diagnostic::warning("lang-replaced", message)
                    .help(format!("write `{}: {newer}` if the post is not published yet", given.name))
                    .at(given.span.clone()),
            );
        }
        Some(lang)
    }

    fn langs(&self) -> String {
        self.rules.langs.iter().map(Lang::as_str).collect::<Vec<_>>().join(", ")
    }

    fn lang_help(&self, given: &Given<String>, meant: Option<&str>) -> String {
        let langs = &self.rules.langs;
        if langs.is_empty() {
            let example = meant.unwrap_or("en");
            return format!("write a language tag such as `{}: {example}`", given.name);
        }
        let configured = |code: &&str| langs.iter().any(|lang| lang.as_str() == *code);
        let near = meant.filter(configured).or_else(|| nearest(&given.value, langs.iter().map(Lang::as_str)));
        match near {
            Some(near) => format!("write `{}: {near}`, or add it to `langs`", given.name),
            None => format!("write one of {}, or add it to `langs`", self.langs()),
        }
    }

    fn date(&mut self) {
        match &self.fields.published_at {
            Read::Given(given) => {
                // The range was checked where the field was read.
                self.decision.published_at = PublishedAt::from_unix_millis(given.value.unix_millis).ok();
                self.decision.date_span = Some(given.span.clone());
                self.decision.from.published_at = Some(format!("front matter {}", given.name));
                self.compare_with_name(
                    given.value.written_day,
                    &format!("`{}`", given.name),
                    given.span.clone(),
                );
            }
            Read::Broken => self.decision.date_broken = true,
            Read::Absent if self.whole => self.date_of_address_or_name(),
            Read::Absent => {}
        }
    }

    fn date_of_address_or_name(&mut self) {
        let of_address =
            self.addresses.iter().find_map(|(given, literal)| Some((*given, literal.day.clone()?)));
        match of_address {
            Some((given, Ok(day))) => {
                self.take_day(&day, Some(given.span.clone()));
                let place = format!("`{}`", given.name);
                self.compare_with_name(day.day, &place, given.span.clone());
            }
            Some((given, Err(problem))) => {
                self.decision.date_broken = true;
                self.problems.push(problem.at(given.span.clone()));
            }
            None => match &self.name.day {
                Some(day) => self.take_day(day, None),
                None => self.decision.date_broken |= !self.name.problems.is_empty(),
            },
        }
    }

    /// Takes midnight of a day in the configured zone.
    fn take_day(&mut self, day: &NameDay, span: Option<Range<usize>>) {
        let at_place = |problem: Diagnostic| match &span {
            Some(span) => problem.at(span.clone()),
            None => problem,
        };
        match day.instant(&self.rules.timezone) {
            Ok(instant) => {
                self.decision.published_at = PublishedAt::from_unix_millis(instant.unix_millis).ok();
                self.decision.from.published_at = Some(day.rule.clone());
                self.decision.date_span.clone_from(&span);
                self.problems.extend(instant.warning.map(|warning| {
                    at_place(Diagnostic::warning("date-overlap", format!("`{}`: {warning}", day.written)))
                }));
            }
            Err(problem) => {
                self.decision.date_broken = true;
                self.problems.push(at_place(*problem));
            }
        }
    }

    /// Another day than the name's is a warning: one of the two is likely a slip.
    fn compare_with_name(&mut self, day: (i16, i8, i8), place: &str, span: Range<usize>) {
        let Some(found) = &self.name.day else { return };
        if found.day != day {
            let (year, month, of_month) = day;
            let message = format!(
                "{place} says {year:04}-{month:02}-{of_month:02} and the {} {} {}; {place} is used",
                found.rule,
                if found.rule.starts_with("folders") { "say" } else { "says" },
                found.written
            );
            self.problems.push(Diagnostic::warning("date-differs", message).help("make them agree").at(span));
        }
    }

    fn slug(&mut self) {
        let (result, from, span) = match &self.fields.slug {
            Read::Broken => return,
            Read::Given(given) => (
                slug::from_field(&given.value, self.rules),
                format!("front matter {}", given.name),
                Some(given.span.clone()),
            ),
            Read::Absent if !self.whole => return,
            Read::Absent => {
                let of_address = self.addresses.iter().find_map(|(given, literal)| {
                    Some((
                        literal.last.clone()?,
                        format!("last part of {}", given.name),
                        Some(given.span.clone()),
                    ))
                });
                let of_name = || Some((self.name.stem.clone()?, self.name.stem_rule.to_owned(), None));
                let Some((stem, from, span)) = of_address.or_else(of_name) else {
                    self.problems.extend(self.name.no_stem.as_deref().cloned());
                    return;
                };
                let Some(at) = self.day_for_pattern() else { return };
                (slug::from_stem(&stem, &self.name.dir, at, self.rules), from, span)
            }
        };
        match result {
            Ok(slug) => {
                self.decision.slug = Some(slug);
                self.decision.slug_span = span;
                self.decision.from.slug = Some(from);
            }
            Err((message, help)) => {
                let problem = Diagnostic::error("slug", format!("{message} ({from})")).help(help);
                self.problems.push(match span {
                    Some(span) => problem.at(span),
                    None => problem,
                });
            }
        }
    }

    /// The instant whose day the pattern takes; any will do for a pattern without one.
    fn day_for_pattern(&self) -> Option<PublishedAt> {
        let pattern = self.rules.slug_pattern.as_str();
        let dated = ["{year}", "{month}", "{day}"].iter().any(|token| pattern.contains(token));
        let any = PublishedAt::from_unix_millis(0).ok().filter(|_| !dated);
        self.decision.published_at.or(any)
    }
}
