//! The front matter's `path`, `url` or `permalink`: a literal address tells a day and a slug, a template
//! tells nothing.

use super::day::{Looks, NameDay, at_start, in_parts};
use crate::diagnostic::Diagnostic;

/// Placeholders of Jekyll's and Hugo's permalinks.
const TOKENS: [&str; 34] = [
    ":title",
    ":slug",
    ":year",
    ":month",
    ":day",
    ":i_month",
    ":i_day",
    ":short_year",
    ":hour",
    ":minute",
    ":second",
    ":y_day",
    ":categories",
    ":slugified_categories",
    ":path",
    ":name",
    ":basename",
    ":collection",
    ":output_ext",
    ":filename",
    ":contentbasename",
    ":slugorfilename",
    ":slugorcontentbasename",
    ":section",
    ":sections",
    ":weekday",
    ":monthname",
    ":yearday",
    ":week",
    ":w_year",
    ":w_day",
    ":short_month",
    ":long_month",
    ":short_day",
];

/// Endings of an address that stand for the page and not for its name.
const PAGE_ENDINGS: [&str; 3] = [".html", ".htm", ".xhtml"];

/// What stands in the place of a template while parts are looked at.
const TEMPLATE: &str = "\u{0}";

/// What a literal address tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiteralPath {
    /// The day in it (`YYYY/MM/DD/`); an error where it looks so and is none.
    pub day: Option<Result<NameDay, Box<Diagnostic>>>,
    /// Its last part, which takes the place of the stem; none where that part is a template or only a
    /// date's digits.
    pub last: Option<String>,
}

/// Reads a literal `path`, `url` or `permalink`: scheme, host, query, fragment, outer `/`, a trailing
/// `index.html` and an ending `.html` are no part of it. `field` is the name of the key, for the rule.
pub fn literal_path(text: &str, field: &str) -> LiteralPath {
    let plain = without_templates(text.trim());
    let parts: Vec<&str> = path_of(&plain).split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let parts: Vec<&str> = match parts.split_last() {
        Some((last, before)) if is_index(last) => before.to_vec(),
        _ => parts,
    };
    let day = in_parts(&parts).and_then(|(looks, written)| {
        let looks = Looks { written: &written, ..looks };
        match looks.checked(field, format!("date in {field}")) {
            Ok(day) => Some(Ok(day)),
            // Other numbers than those of a year that could be meant are no date.
            Err(_) if !matches!(looks.year.get(..2), Some("19" | "20")) => None,
            Err(problem) => Some(Err(problem)),
        }
    });
    LiteralPath { day, last: last_of(&parts) }
}

/// The last part, where it is a name.
fn last_of(parts: &[&str]) -> Option<String> {
    let (last, before) = parts.split_last()?;
    let name = PAGE_ENDINGS.iter().find_map(|ending| last.strip_suffix(ending)).unwrap_or(last);
    if name.is_empty() || is_template(name) || is_date_digits(name, before) {
        return None;
    }
    Some(name.to_owned())
}

fn is_index(part: &str) -> bool {
    part.strip_prefix("index").is_some_and(|rest| PAGE_ENDINGS.contains(&rest))
}

/// Whether a part fills itself in: Liquid, Nunjucks, Go templates, `:slug`.
fn is_template(part: &str) -> bool {
    part.contains(TEMPLATE)
        || part.contains(['{', '}', '<', '>', '*'])
        || part.starts_with([':', '['])
        || part.contains("${")
        || TOKENS.iter().any(|token| {
            part.split_once(token)
                .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
        })
}

/// Whether a part is only the digits of a date: a day, a year, or the month or day after a year.
fn is_date_digits(part: &str, before: &[&str]) -> bool {
    if at_start(part, &['-', '.', '_']).is_some_and(|looks| looks.rest.is_empty()) {
        return true;
    }
    let is_year =
        |part: &str| part.len() == 4 && matches!(part.get(..2), Some("19" | "20")) && is_digits(part);
    if is_year(part) {
        return true;
    }
    let small = |part: &str| (1..=2).contains(&part.len()) && is_digits(part);
    let mut above = before.iter().rev();
    match (above.next(), above.next()) {
        (Some(year), _) if is_year(year) => small(part),
        (Some(month), Some(year)) if is_year(year) => small(month) && small(part),
        _ => false,
    }
}

fn is_digits(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// `{{ … }}` and `{% … %}` hold `/` and other marks of their own: each becomes one mark.
fn without_templates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once('{') {
        let close = match inside.chars().next() {
            Some('{') => "}}",
            Some('%') => "%}",
            _ => "}",
        };
        out.push_str(before);
        out.push_str(TEMPLATE);
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// The path of an address: without scheme and host, query and fragment.
fn path_of(text: &str) -> &str {
    let path = text.split(['?', '#']).next().unwrap_or("");
    let after_scheme = path.split_once("://").map(|(_, rest)| rest).or_else(|| path.strip_prefix("//"));
    match after_scheme {
        Some(rest) => rest.split_once('/').map_or("", |(_, path)| path),
        None => path,
    }
}
