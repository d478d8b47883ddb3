//! TOML front matter, by the `toml` crate's tree with places, which keeps numbers as they are written.
//!
//! Goes on after an error where the crate can, so that several mistakes of one block are told at once.

use std::ops::Range;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::problems::{PROBLEMS_MAX, Problems};
use super::split::{Line, lines};
use super::{Entry, Kind, Node, Scalar, Value, check, meant};
use crate::diagnostic::Diagnostic;

/// Reads the text at `range`.
pub(super) fn read(source: &str, range: Range<usize>, problems: &mut Problems) -> Vec<Entry> {
    let text = source.get(range.clone()).unwrap_or("");
    let (table, errors) = DeTable::parse_recoverable(text);
    let reader = Reader { source, text, offset: range.start };
    let mut entries = reader.map(table.get_ref());
    let mut told: Vec<Range<usize>> = Vec::new();
    for error in &errors {
        // After the first error of a line the others are its consequences.
        let at = reader.place(error).start;
        if told.iter().any(|line| line.start <= at && at <= line.end) {
            continue;
        }
        let line = reader.line_of(at);
        told.push(line.span.clone());
        if meant::is_near_fence(line.text) {
            // What follows is the body.
            let message = format!("{} does not close the front matter", meant::shown(line.text));
            problems.tell(|| {
                Diagnostic::error("toml-syntax", message)
                    .at(reader.span(line.span))
                    .help("write the closing line `+++` in its place")
            });
            break;
        }
        problems.tell(|| reader.problem(error, table.get_ref()));
        if error.message() != DUPLICATE {
            discard_at(&mut entries, range.start + at);
        }
        if told.len() >= PROBLEMS_MAX {
            break;
        }
    }
    entries
}

/// What the crate says of a key that is given twice.
const DUPLICATE: &str = "duplicate key";

/// Puts a null in place of what the crate guessed for a value with an error, so that the guess is not
/// judged in its turn.
fn discard_at(entries: &mut [Entry], at: usize) {
    for entry in entries {
        if (entry.key_span.start..=entry.node.span.end).contains(&at) {
            entry.node.value = Value::Scalar(Scalar { text: String::new(), kind: Kind::Null });
        }
    }
}

struct Reader<'s> {
    source: &'s str,
    text: &'s str,
    offset: usize,
}

impl Reader<'_> {
    /// The table's keys in the order of the source; the crate keeps them sorted by name.
    fn map(&self, table: &DeTable<'_>) -> Vec<Entry> {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_span: self.span(key.span()),
                node: self.node(value),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_span.start);
        entries
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let span = self.span(value.span());
        let written = || self.source.get(span.clone()).unwrap_or("").to_owned();
        let scalar = |text: String, kind: Kind| Value::Scalar(Scalar { text, kind });
        let value = match value.get_ref() {
            DeValue::String(text) => scalar(text.to_string(), Kind::Text),
            DeValue::Integer(number) => {
                let kind =
                    i64::from_str_radix(number.as_str(), number.radix()).map_or(Kind::BigInt, Kind::Int);
                scalar(written(), kind)
            }
            DeValue::Float(number) => {
                let kind = match number.as_str().parse::<f64>() {
                    Ok(number) if number.is_finite() => Kind::Float(number),
                    _ => Kind::NonFinite,
                };
                scalar(written(), kind)
            }
            DeValue::Boolean(bool) => scalar(bool.to_string(), Kind::Bool(*bool)),
            DeValue::Datetime(datetime) => {
                scalar(written(), if datetime.date.is_none() { Kind::LocalTime } else { Kind::DateTime })
            }
            DeValue::Array(items) => Value::List(items.iter().map(|item| self.node(item)).collect()),
            DeValue::Table(table) => Value::Map(self.map(table)),
        };
        Node { span, value }
    }

    fn span(&self, span: Range<usize>) -> Range<usize> {
        self.offset + span.start..self.offset + span.end
    }

    /// Bytes of the block that an error is about. The crate gives none for too many dotted keys.
    fn place(&self, error: &::toml::de::Error) -> Range<usize> {
        error.span().unwrap_or_else(|| {
            let dots = |line: &Line<'_>| line.text.matches('.').count();
            lines(self.text, 0).max_by_key(dots).map_or(0..0, |line| line.span)
        })
    }

    fn problem(&self, error: &::toml::de::Error, table: &DeTable<'_>) -> Diagnostic {
        let inside = self.place(error);
        let at = self.span(inside.clone());
        let said = error.message();
        if said == DUPLICATE {
            let key = self.text.get(inside.clone()).unwrap_or("").trim_matches(['"', '\'']);
            let first = self.first_of(&inside, table).map(|first| first + self.offset);
            return check::duplicate(self.source, key, key, first, at);
        }
        if said.contains("recursion") {
            return check::too_deep(at);
        }
        let line = self.line_of(inside.start);
        let help = match meant::key_of(line.text) {
            Some((_, ':')) if !line.text.contains('=') => {
                "this is YAML; write `key = \"value\"`, or fences `---`"
            }
            _ if line.text.trim_start().starts_with('{') => "this is JSON; remove the fences `+++`",
            _ if said.starts_with("invalid date") || said.starts_with("invalid time") => {
                "write a day and time that exist, as in 2024-01-31 or 2024-01-31T08:00:00Z"
            }
            _ if said.starts_with("cannot extend") => "a key cannot hold a value and keys below it as well",
            _ if said.contains("string") || line.text.contains('"') => "is a quote missing or not closed?",
            Some((_, '=')) => "write text in double quotes",
            _ => "write `key = value` or `[table]`",
        };
        Diagnostic::error("toml-syntax", format!("this is no TOML: {said}")).at(at).help(help)
    }

    fn line_of(&self, at: usize) -> Line<'_> {
        let end = Line { span: self.text.len()..self.text.len(), text: "" };
        lines(self.text, 0).find(|line| at <= line.span.end).unwrap_or(end)
    }

    /// Where the key that is repeated at `again` was first given: the nearest before it that is written in
    /// the same way, as a line of its own or inside a line. The crate keeps the first of two values but
    /// the last of two table headers, so those are looked for in the text.
    fn first_of(&self, again: &Range<usize>, table: &DeTable<'_>) -> Option<usize> {
        let key = self.text.get(again.clone())?;
        let firsts = Firsts::of(self.text);
        let own_line = firsts.heads_line(again.start);
        let mut found = None;
        visit_keys(table, &mut |span: Range<usize>| {
            let same = span.start < again.start && self.text.get(span.clone()) == Some(key);
            if same && firsts.heads_line(span.start) == own_line {
                found = found.max(Some(span.start));
            }
        });
        found.or_else(|| {
            let header = |line: &Line<'_>| {
                let text = line.text.trim_start().trim_start_matches('[').trim_start();
                text.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with([']', '=', '.']))
            };
            let before = self.text.get(..again.start)?;
            lines(before, 0).filter(header).last().map(|line| line.span.start)
        })
    }
}

/// The first byte of each line that is no blank, in order.
struct Firsts(Vec<usize>);

impl Firsts {
    fn of(text: &str) -> Self {
        let blanks = |line: &str| line.len() - line.trim_start().len();
        Firsts(lines(text, 0).map(|line| line.span.start + blanks(line.text)).collect())
    }

    fn heads_line(&self, at: usize) -> bool {
        self.0.binary_search(&at).is_ok()
    }
}

fn visit_keys(table: &DeTable<'_>, visit: &mut impl FnMut(Range<usize>)) {
    for (key, value) in table {
        visit(key.span());
        visit_keys_of(value.get_ref(), visit);
    }
}

fn visit_keys_of(value: &DeValue<'_>, visit: &mut impl FnMut(Range<usize>)) {
    match value {
        DeValue::Table(table) => visit_keys(table, visit),
        DeValue::Array(items) => items.iter().for_each(|item| visit_keys_of(item.get_ref(), visit)),
        _ => {}
    }
}
