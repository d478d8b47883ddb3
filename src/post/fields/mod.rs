//! Front matter to typed fields: names, precedence, types, and what is left for `extra`.
//!
//! [`table`] is the one table of known fields; [`read`] reads a block by it and [`json_schema`]
//! prints it for editors. Knows no path and decides no identity: it says what the front matter says,
//! and [`super::parse`] weighs that against the file's name.

mod extra;
mod gather;
mod schema;
pub mod table;
mod typo;
mod values;

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::post::date::Instant;
use crate::post::front_matter::{Entry, Value, fold_key};
use crate::post::preset::Preset;
use crate::post::{Meta, Rules};

use gather::{Candidate, Gathered};
use table::{Field, Names};
use values::Typed;

pub use extra::{original_name, stored_name};
pub use schema::json_schema;

/// What the front matter says of a field.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Read<T> {
    /// Nothing.
    #[default]
    Absent,
    /// Something wrong: an error was told, and no other source takes its place.
    Broken,
    /// A value.
    Given(Given<T>),
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// The key as written, with its parent's (`last_update.date`).
    pub name: String,
    /// Bytes of the value in the normalised source.
    pub span: Range<usize>,
}

/// A key whose value is missing.
#[derive(Debug, Clone, PartialEq)]
pub struct EmptyKey {
    /// The key as written.
    pub name: String,
    /// Bytes of the key in the normalised source.
    pub span: Range<usize>,
}

/// What the front matter says, typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields {
    /// `slug` as written.
    pub slug: Read<String>,
    /// `url`, `path` and `permalink` as written, in that order.
    pub addresses: Vec<Given<String>>,
    /// `publishedAt`.
    pub published_at: Read<Instant>,
    /// The first date key that has no value, where there is one.
    pub published_at_empty: Option<EmptyKey>,
    /// `lang` as written.
    pub lang: Read<String>,
    /// The key that makes it a draft.
    pub draft: Option<String>,
    /// Title as written; an error was told where it is `Broken`.
    pub title: Read<String>,
    /// Everything beside the identity; without the title's fallbacks.
    pub meta: Meta,
}

/// Reads a block by the table. Every problem has its place; errors do not stop the other fields.
pub fn read(entries: &[Entry], source: &str, rules: &Rules) -> (Fields, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let names = Names::new(rules);
    let gathered = gather::gather(entries, &names, source, &mut problems);
    let mut reader = Reader { gathered: &gathered, rules, problems, losers: Vec::new() };

    let mut fields = Fields {
        title: reader.text(Field::Title),
        slug: reader.text(Field::Slug),
        lang: reader.text(Field::Lang),
        published_at: reader.date(Field::PublishedAt),
        addresses: reader.addresses(),
        published_at_empty: reader.empty_date(),
        draft: reader.draft(),
        meta: Meta::default(),
    };
    fields.meta = reader.meta();
    if let Read::Given(title) = &fields.title {
        fields.meta.title = Some(title.value.clone());
    }
    let Reader { mut problems, losers, .. } = reader;
    for entry in gathered.rest.iter().map(AsRef::as_ref).chain(losers) {
        extra::add(&mut fields.meta.extra, entry, 1, &mut problems);
    }
    typo::warn(&gathered, &mut problems);
    (fields, problems)
}

/// Resolves the candidates of one field after the other.
struct Reader<'a> {
    gathered: &'a Gathered<'a>,
    rules: &'a Rules,
    problems: Vec<Diagnostic>,
    /// Entries whose field another name gave: they say something else, and it is not lost.
    losers: Vec<&'a Entry>,
}

impl<'a> Reader<'a> {
    /// The candidates of a field, the first in the table's order first.
    fn candidates(&self, field: Field) -> Vec<&'a Candidate<'a>> {
        let mut found: Vec<_> =
            self.gathered.candidates.iter().filter(|candidate| candidate.place.spec.field == field).collect();
        found.sort_by_key(|candidate| candidate.place.rank);
        found
    }

    fn typed(&self, candidate: &Candidate<'_>, problems: &mut Vec<Diagnostic>) -> Result<Option<Typed>, ()> {
        let shape = candidate.place.spec.shape;
        let before = problems.len();
        let result = values::read(candidate.node, shape, &candidate.written, &self.rules.timezone, problems);
        // A list or map in block style begins on a line of its own; its key is what a person looks for.
        for problem in problems.iter_mut().skip(before) {
            let whole = problem.span.as_ref() == Some(&candidate.node.span);
            if whole && !matches!(candidate.node.value, Value::Scalar(_)) {
                problem.span = Some(candidate.key_span.clone());
            }
        }
        result
    }

    /// The first name that has a value wins; the others are compared with it.
    fn resolve(&mut self, field: Field) -> Read<Typed> {
        let mut told = Vec::new();
        let mut result: Read<Typed> = Read::Absent;
        for candidate in self.candidates(field) {
            match &result {
                Read::Absent => match self.typed(candidate, &mut told) {
                    Ok(None) => {}
                    Ok(Some(value)) => result = Read::Given(candidate.given(value)),
                    Err(()) => result = Read::Broken,
                },
                Read::Broken => {}
                Read::Given(winner) => {
                    // A loser's own faults do not matter: it is not used.
                    let same = match self.typed(candidate, &mut Vec::new()) {
                        Ok(None) => true,
                        Ok(Some(value)) => equal(&winner.value, &value),
                        Err(()) => false,
                    };
                    if !same {
                        told.extend(self.two_names(&winner.name, candidate));
                        self.losers.extend(candidate.top);
                    }
                }
            }
        }
        self.problems.append(&mut told);
        result
    }

    /// A warning that two names of one field differ. Hugo's `linkTitle` is a short title beside the
    /// title, on purpose.
    fn two_names(&self, winner: &str, loser: &Candidate<'_>) -> Option<Diagnostic> {
        let written = &loser.written;
        if self.rules.preset == Preset::Hugo && fold_key(written) == "linktitle" {
            return None;
        }
        let field = loser.place.spec.name;
        let message =
            format!("`{winner}` and `{written}` both give `{field}` and differ; `{winner}` is used");
        let help = match loser.top {
            Some(_) => format!("take one of the two out; `{written}` is kept in `extra`"),
            None => "take one of the two out".to_owned(),
        };
        Some(Diagnostic::warning("two-names", message).help(help).at(loser.key_span.clone()))
    }

    fn text(&mut self, field: Field) -> Read<String> {
        match self.resolve(field) {
            Read::Given(Given { value: Typed::Text(value), name, span }) => {
                Read::Given(Given { value, name, span })
            }
            Read::Broken => Read::Broken,
            _ => Read::Absent,
        }
    }

    fn date(&mut self, field: Field) -> Read<Instant> {
        match self.resolve(field) {
            Read::Given(Given { value: Typed::Date(value), name, span }) => {
                if let Some(warning) = value.warning {
                    self.problems.push(
                        Diagnostic::warning("date-overlap", format!("`{name}`: {warning}")).at(span.clone()),
                    );
                }
                Read::Given(Given { value, name, span })
            }
            Read::Broken => Read::Broken,
            _ => Read::Absent,
        }
    }

    fn texts(&mut self, field: Field) -> Vec<String> {
        match self.resolve(field) {
            Read::Given(Given { value: Typed::Texts(texts), .. }) => texts,
            _ => Vec::new(),
        }
    }

    fn addresses(&self) -> Vec<Given<String>> {
        // An address that is no text (Eleventy's `permalink: false`) is none.
        let given = self.candidates(Field::Address).into_iter().filter_map(|candidate| {
            let text = values::scalar_text(candidate.node)?;
            let literal = values::bool_of(candidate.node).is_none() && !text.trim().is_empty();
            literal.then(|| candidate.given(text.trim().to_owned()))
        });
        given.collect()
    }

    fn empty_date(&self) -> Option<EmptyKey> {
        self.candidates(Field::PublishedAt)
            .into_iter()
            .find(|candidate| values::is_null(candidate.node))
            .map(|candidate| EmptyKey { name: candidate.written.clone(), span: candidate.key_span.clone() })
    }

    fn status(&self) -> Option<(&Candidate<'_>, String)> {
        let candidate = self.candidates(Field::Status).into_iter().next()?;
        let text = values::scalar_text(candidate.node)?.trim().to_lowercase();
        Some((candidate, text))
    }

    /// The key that makes it a draft. Each of them alone does, whatever the others say: a draft must
    /// never be published by a slip.
    fn draft(&mut self) -> Option<String> {
        let flag = self.resolve(Field::Draft);
        let mut says_draft = None;
        let mut says_post = None;
        if let Read::Given(Given { value: Typed::Flag(flag), name, span }) = flag {
            let said = Some((format!("{name}: {flag}"), span));
            if flag { says_draft = said } else { says_post = said }
        }
        for candidate in &self.gathered.published_flags {
            let Some(published) = values::bool_of(candidate.node) else { continue };
            let said = (format!("{}: {published}", candidate.written), candidate.node.span.clone());
            if published {
                says_post = says_post.or(Some(said));
            } else {
                says_draft = says_draft.or(Some(said));
            }
        }
        let mut told = None;
        if let Some((candidate, status)) = self.status() {
            let span = candidate.node.span.clone();
            if status == "draft" {
                says_draft = says_draft.or_else(|| Some((format!("{}: {status}", candidate.written), span)));
            } else if crate::diagnostic::nearest(&status, ["draft"]).is_some() {
                told = Some(
                    Diagnostic::error("wrong-type", format!("`{status}` is no status that is known here"))
                        .help(format!("write `{}: draft` if it is a draft", candidate.written))
                        .at(span),
                );
            } else if NOT_PUBLIC.contains(&status.as_str()) {
                told = Some(
                    Diagnostic::warning("status", format!("`{status}` does not keep the post back"))
                        .help("write `draft: true` to keep it back, `unlisted: true` to keep it out of lists")
                        .at(span),
                );
            }
        }
        self.problems.extend(told);
        let (draft, _) = says_draft?;
        if let Some((post, span)) = says_post {
            self.problems.push(
                Diagnostic::warning("two-names", format!("`{draft}` and `{post}` disagree; it is a draft"))
                    .help("take one of the two out")
                    .at(span),
            );
        }
        Some(draft)
    }

    fn unlisted(&mut self) -> bool {
        let flag =
            matches!(self.resolve(Field::Unlisted), Read::Given(Given { value: Typed::Flag(true), .. }));
        flag || self.status().is_some_and(|(_, status)| status == "unlisted")
    }

    fn meta(&mut self) -> Meta {
        let text = |read: Read<String>| match read {
            Read::Given(given) => Some(given.value),
            _ => None,
        };
        let millis = |read: Read<Instant>| match read {
            Read::Given(given) => Some(given.value.unix_millis),
            _ => None,
        };
        Meta {
            title: None,
            summary: text(self.text(Field::Summary)),
            tags: self.texts(Field::Tags),
            categories: self.texts(Field::Categories),
            authors: self.texts(Field::Authors),
            cover: text(self.text(Field::Cover)).map(|cover| cover.trim().to_owned()),
            canonical_url: text(self.text(Field::CanonicalUrl)).map(|url| url.trim().to_owned()),
            aliases: self.texts(Field::Aliases),
            updated_at: millis(self.date(Field::UpdatedAt)),
            expires_at: millis(self.date(Field::ExpiresAt)),
            unlisted: self.unlisted(),
            translation_key: text(self.text(Field::TranslationKey)).map(|key| key.trim().to_owned()),
            extra: bson::Document::new(),
        }
    }
}

/// Words of other tools which say that a post is not public, and which mean nothing here.
const NOT_PUBLIC: &[&str] =
    &["private", "pending", "trash", "wip", "hidden", "review", "in review", "scheduled"];

/// Two dates are equal when they are one instant, however it is written.
fn equal(left: &Typed, right: &Typed) -> bool {
    match (left, right) {
        (Typed::Date(left), Typed::Date(right)) => left.unix_millis == right.unix_millis,
        (left, right) => left == right,
    }
}

#[cfg(test)]
mod tests;
