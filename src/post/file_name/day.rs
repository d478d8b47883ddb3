//! The day in a path, and what is left of the stem without it.

use crate::diagnostic::Diagnostic;
use crate::post::date;
use crate::post::preset::{DayIn, Preset};

/// A day that a path tells, one that the calendar has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameDay {
    /// Year, month, day.
    pub day: (i16, i8, i8),
    /// As it stands in the path.
    pub written: String,
    /// What `from.publishedAt` says: `file name`, `folder name`, `folders 2021/05/07/`, `path`.
    pub rule: String,
}

impl NameDay {
    /// Midnight of the day in `timezone`.
    pub fn instant(&self, timezone: &jiff::tz::TimeZone) -> Result<date::Instant, Box<Diagnostic>> {
        date::midnight(self.day, &format!("{} in the {}", self.written, self.place()), timezone)
    }

    fn place(&self) -> &str {
        if self.rule.starts_with("folder") || self.rule.starts_with("file") { "file name" } else { "path" }
    }
}

/// What [`find`] found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) stem: Option<String>,
    pub(super) no_stem: Option<Box<Diagnostic>>,
    pub(super) day: Option<NameDay>,
    pub(super) problems: Vec<Diagnostic>,
}

/// Three numbers that look like a day, with where they end in the text they begin.
pub(super) struct Looks<'a> {
    pub(super) year: &'a str,
    pub(super) month: &'a str,
    pub(super) day: &'a str,
    pub(super) written: &'a str,
    pub(super) rest: &'a str,
}

impl Looks<'_> {
    fn is_padded(&self) -> bool {
        self.month.len() == 2 && self.day.len() == 2
    }

    /// The day, or why the calendar does not have it. `place` is `the file name` or the like.
    pub(super) fn checked(&self, place: &str, rule: String) -> Result<NameDay, Box<Diagnostic>> {
        let number = |digits: &str| digits.parse::<i32>().unwrap_or(0);
        let (year, month, day) = (number(self.year), number(self.month), number(self.day));
        let said = format!("{} in {place}", self.written);
        date::unless_in_calendar(&said, year, month, day).map_err(|refused| {
            let help = if place.ends_with("name") || place.ends_with("folders") {
                "rename it to a day of the calendar, or leave the numbers out of it".to_owned()
            } else {
                refused.help
            };
            Box::new(Diagnostic::error("file-name-date", refused.message).help(help))
        })?;
        let whole = |number: i32| i8::try_from(number).unwrap_or(0);
        let day = (i16::try_from(year).unwrap_or(0), whole(month), whole(day));
        Ok(NameDay { day, written: self.written.to_owned(), rule })
    }
}

/// `YYYY-MM-DD` or `YYYY-M-D` at the start of `text`, with one of `marks` (the same) between.
pub(super) fn at_start<'a>(text: &'a str, marks: &[char]) -> Option<Looks<'a>> {
    let digits = |text: &'a str| {
        let end = text.find(|next: char| !next.is_ascii_digit()).unwrap_or(text.len());
        text.split_at_checked(end)
    };
    let (year, rest) = digits(text)?;
    let mark = rest.chars().next().filter(|mark| marks.contains(mark))?;
    let (month, rest) = digits(rest.strip_prefix(mark)?)?;
    let (day, rest) = digits(rest.strip_prefix(mark)?)?;
    let small = |digits: &str| (1..=2).contains(&digits.len());
    if year.len() != 4 || !small(month) || !small(day) {
        return None;
    }
    let written = text.strip_suffix(rest)?;
    Some(Looks { year, month, day, written, rest })
}

/// Three folders `YYYY/MM/DD` that `parts` holds, as the last of them or with more after them.
pub(super) fn in_parts<'a>(parts: &[&'a str]) -> Option<(Looks<'a>, String)> {
    parts.windows(3).find_map(|three| {
        let &[year, month, day] = three else {
            return None;
        };
        let is_number = |text: &str, least: usize, most: usize| {
            (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        (is_number(year, 4, 4) && is_number(month, 1, 2) && is_number(day, 1, 2))
            .then(|| (Looks { year, month, day, written: "", rest: "" }, format!("{year}/{month}/{day}")))
    })
}

/// Finds the day of a post by its preset's rule.
pub(super) fn find(dir: &[&str], stem: &str, stem_rule: &'static str, preset: Preset) -> Found {
    match preset.day_in() {
        DayIn::Prefix => prefix(dir, stem, stem_rule, preset),
        DayIn::LastInPath => last_in_path(dir, stem),
        DayIn::FirstInPath => first_in_path(dir, stem, stem_rule),
    }
}

fn prefix(dir: &[&str], stem: &str, stem_rule: &'static str, preset: Preset) -> Found {
    let mut found = Found { stem: Some(stem.to_owned()), ..Found::default() };
    let looks = at_start(stem, &['-'])
        .filter(|looks| !preset.day_is_padded() || looks.is_padded())
        .and_then(|looks| preset.name_after_day(looks.rest).map(|name| (looks, name)));
    let Some((looks, name)) = looks else {
        return in_folders(dir, stem, preset, found);
    };
    match looks.checked(&format!("the {stem_rule}"), stem_rule.to_owned()) {
        Ok(day) => found.day = Some(day),
        Err(_) if preset.impossible_day_is_name() => return found,
        Err(problem) => found.problems.push(*problem),
    }
    let keeps = preset.keeps_day_in_stem() || (name.is_empty() && preset.day_alone_is_stem());
    if !keeps {
        found.stem = Some(name.to_owned()).filter(|name| !name.is_empty());
        found.no_stem = found.stem.is_none().then(|| nothing_left(stem));
    }
    found
}

fn nothing_left(stem: &str) -> Box<Diagnostic> {
    let message = format!("no slug is left of {stem} when its date is taken off");
    Box::new(
        Diagnostic::error("slug-empty", message)
            .help(format!("write a slug field, or rename the file to {stem}-NAME")),
    )
}

/// The last three folders, if they are a day.
fn in_folders(dir: &[&str], stem: &str, preset: Preset, mut found: Found) -> Found {
    let last_three = dir.split_at_checked(dir.len().saturating_sub(3)).map_or(dir, |(_, last)| last);
    if let Some((looks, written)) = in_parts(last_three) {
        let looks = Looks { written: &written, ..looks };
        match looks.checked("the folders", format!("folders {written}/")) {
            Ok(day) => found.day = Some(day),
            Err(_) if preset.impossible_day_is_name() => {}
            Err(problem) => found.problems.push(*problem),
        }
        return found;
    }
    // `2021/05/08/index.md`: the bundle's folder is the day itself.
    let mut with_stem = last_three.to_vec();
    with_stem.push(stem);
    let last =
        with_stem.split_at_checked(with_stem.len().saturating_sub(3)).map_or(&[][..], |(_, last)| last);
    if let Some((looks, written)) = in_parts(last) {
        let looks = Looks { written: &written, ..looks };
        match looks.checked("the folders", format!("folders {written}/")) {
            Ok(day) => {
                found.day = Some(day);
                if !preset.day_alone_is_stem() {
                    found.stem = None;
                    found.no_stem = Some(nothing_left(&written));
                }
            }
            Err(_) if preset.impossible_day_is_name() => {}
            Err(problem) => found.problems.push(*problem),
        }
    }
    found
}

/// Docusaurus' rule: `YYYY-MM-DD` or `YYYY/MM/DD`, the last one in the path. The slug is the day with
/// `/`, then the folders before it, then what stands behind it; without a day, the whole path.
fn last_in_path(dir: &[&str], stem: &str) -> Found {
    let whole = dir.iter().chain([&stem]).copied().collect::<Vec<_>>().join("/");
    let starts = whole.char_indices().rev().map(|(at, _)| at);
    let found = starts
        .filter_map(|at| whole.split_at_checked(at))
        .find_map(|(before, rest)| at_start_mixed(rest).map(|looks| (before, looks)));
    let Some((before, looks)) = found else {
        return Found { stem: Some(whole), ..Found::default() };
    };
    let text = looks.rest.strip_prefix(['-', '/']).unwrap_or(looks.rest);
    let slug_day = looks.written.replace('-', "/");
    let stem = format!("{slug_day}/{before}{text}").replace("//", "/");
    let mut found = Found { stem: Some(stem.trim_end_matches('/').to_owned()), ..Found::default() };
    match looks.checked("the path", "path".to_owned()) {
        Ok(day) => found.day = Some(day),
        Err(problem) => found.problems.push(*problem),
    }
    found
}

/// As [`at_start`], with `-` or `/` at each place.
fn at_start_mixed(text: &str) -> Option<Looks<'_>> {
    let take = |text: &'_ str, least: usize, most: usize| {
        let digits = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        (digits >= least).then_some(digits)
    };
    let mut at = take(text, 4, 4)?;
    let year = text.get(..at)?;
    let mut parts = [""; 2];
    for part in &mut parts {
        let rest = text.get(at..)?.strip_prefix(['-', '/'])?;
        let digits = take(rest, 1, 2)?;
        *part = rest.get(..digits)?;
        at += 1 + digits;
    }
    let [month, day] = parts;
    Some(Looks { year, month, day, written: text.get(..at)?, rest: text.get(at..)? })
}

/// Eleventy's rule: the date is the first `YYYY-MM-DD` of the path; the slug is what stands behind
/// `YYYY-MM-DD-` in the name.
fn first_in_path(dir: &[&str], stem: &str, stem_rule: &'static str) -> Found {
    let whole = dir.iter().chain([&stem]).copied().collect::<Vec<_>>().join("/");
    let padded = |text: &'_ str| at_start(text, &['-']).is_some_and(|looks| looks.is_padded());
    let find =
        |text: &str| text.char_indices().map(|(at, _)| at).find(|at| text.get(*at..).is_some_and(padded));
    let mut found = Found { stem: Some(stem.to_owned()), ..Found::default() };
    if let Some(looks) = find(&whole).and_then(|at| whole.get(at..)).and_then(|rest| at_start(rest, &['-'])) {
        let in_stem = find(stem).is_some();
        let rule = if in_stem { stem_rule } else { "path" };
        match looks.checked(&format!("the {rule}"), rule.to_owned()) {
            Ok(day) => found.day = Some(day),
            Err(problem) => found.problems.push(*problem),
        }
    }
    let named = find(stem).and_then(|at| stem.get(at..)).and_then(|rest| at_start(rest, &['-']));
    if let Some(name) = named.and_then(|looks| looks.rest.strip_prefix('-')) {
        found.stem = Some(name.to_owned()).filter(|name| !name.is_empty());
        found.no_stem = found.stem.is_none().then(|| nothing_left(stem));
    }
    found
}
