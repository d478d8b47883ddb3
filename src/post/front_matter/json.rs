//! JSON front matter: one object from the first byte of the file, or between fences `---json`.
//!
//! `serde_json` judges, since it is strict; `jsonc-parser`, told to be as strict, then gives the places of
//! keys and values, which `serde_json` does not keep. Braces are never counted: an object ends where
//! its reader says.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use serde::de::IgnoredAny;

use super::problems::Problems;
use super::split::too_big;
use super::{Entry, FRONT_MATTER_BYTES_MAX, Format, Kind, Node, Reading, Scalar, Value, check};
use crate::diagnostic::{Diagnostic, floor_char_boundary};

/// Whether a text that begins at `source` is an object, or was meant as one, rather than a template tag
/// or prose: `{` and then a key, the closing brace or nothing.
pub(super) fn opens(source: &str) -> bool {
    let Some(inside) = source.strip_prefix('{') else {
        return false;
    };
    let inside = inside.trim_start();
    match inside.chars().next() {
        None | Some('"' | '\'' | '}') => true,
        Some('/') => inside.starts_with("//"),
        Some(c) if c.is_alphanumeric() || c == '_' => {
            let after = inside.trim_start_matches(|c: char| c.is_alphanumeric() || "_-".contains(c));
            after.trim_start_matches([' ', '\t']).starts_with(':')
        }
        Some(_) => false,
    }
}

/// Whether the object that `source` begins with has a quoted key: a sign stronger than [`opens`].
pub(super) fn opens_with_key(source: &str) -> bool {
    source.strip_prefix('{').is_some_and(|inside| inside.trim_start().starts_with('"'))
}

/// Reads the object from the first byte of the file; what follows its line is the body.
pub(super) fn read_at_head(source: &str) -> Reading {
    let window = floor_char_boundary(source, FRONT_MATTER_BYTES_MAX);
    let text = source.get(..window).unwrap_or(source);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let end = match values.next() {
        Some(Ok(_)) => values.byte_offset(),
        Some(Err(error)) if error.is_eof() && window < source.len() => {
            return Reading::Broken(vec![too_big(0..1, source.len())]);
        }
        Some(Err(error)) if error.is_eof() => return Reading::Broken(vec![unclosed()]),
        Some(Err(error)) => {
            let problem = syntax(source, 0..window, &error);
            // Behind a blank line stands the body: what is wrong is that the object goes on into it.
            let at = problem.span.as_ref().map_or(0, |span| span.start);
            let blank_line_before = source.get(..at).is_some_and(|head| {
                let blanks = head.get(head.trim_end().len()..).unwrap_or("");
                blanks.bytes().filter(|byte| *byte == b'\n').count() > 1
            });
            return Reading::Broken(vec![if blank_line_before { unclosed() } else { problem }]);
        }
        None => return Reading::Broken(vec![unclosed()]),
    };
    let rest = source.get(end..).unwrap_or("");
    let line = rest.split('\n').next().unwrap_or("");
    let mut problems = Problems::default();
    if !line.trim().is_empty() {
        let start = end + line.len() - line.trim_start().len();
        problems.tell(|| {
            Diagnostic::error("front-matter-fence", "text after the closing brace of the front matter")
                .at(start..end + line.trim_end().len())
                .help("begin the body on the next line")
        });
    }
    let mut entries = read(source, 0..end, &mut problems);
    check::check(source, &mut entries, &mut problems);
    let body_start = (end + line.len() + 1).min(source.len());
    Reading::Block { format: Format::Json, entries, body_start, problems: problems.finish() }
}

/// Reads the text at `range`, which must be one object.
pub(super) fn read(source: &str, range: Range<usize>, problems: &mut Problems) -> Vec<Entry> {
    let text = source.get(range.clone()).unwrap_or("");
    if text.trim().is_empty() {
        return Vec::new();
    }
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(_)) => {}
        Ok(_) => {
            let start = range.start + text.len() - text.trim_start().len();
            problems.tell(|| check::not_a_map(start..start + text.trim().len(), "another JSON value"));
            return Vec::new();
        }
        Err(error) => {
            problems.tell(|| syntax(source, range, &error));
            return Vec::new();
        }
    }
    match jsonc_parser::parse_to_ast(text, &jsonc_parser::CollectOptions::default(), &STRICT) {
        Ok(parsed) => match parsed.value {
            Some(ast::Value::Object(object)) => Places { offset: range.start, problems }.map(object),
            _ => Vec::new(),
        },
        Err(error) => {
            // Both readers are strict, so this is not reached unless they differ; then the stricter wins.
            let at = error.range();
            let message = format!("this is no JSON: {}", error.kind());
            problems.tell(|| {
                Diagnostic::error("json-syntax", message).at(range.start + at.start..range.start + at.end)
            });
            Vec::new()
        }
    }
}

const STRICT: jsonc_parser::ParseOptions = jsonc_parser::ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Turns the tree of the parser into ours; places are those of the file.
struct Places<'p> {
    offset: usize,
    problems: &'p mut Problems,
}

impl Places<'_> {
    fn map(&mut self, object: ast::Object<'_>) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(object.properties.len());
        for property in object.properties {
            let key_span = self.span(property.name.range());
            let node = self.node(property.value);
            entries.push(Entry { key: property.name.into_string(), key_span, node });
        }
        entries
    }

    fn node(&mut self, value: ast::Value<'_>) -> Node {
        let span = self.span(value.range());
        let value = match value {
            ast::Value::Object(object) => Value::Map(self.map(object)),
            ast::Value::Array(array) => {
                Value::List(array.elements.into_iter().map(|element| self.node(element)).collect())
            }
            ast::Value::StringLit(text) => scalar(text.value.into_owned(), Kind::Text),
            ast::Value::BooleanLit(bool) => scalar(bool.value.to_string(), Kind::Bool(bool.value)),
            ast::Value::NullKeyword(_) => scalar("null".to_owned(), Kind::Null),
            ast::Value::NumberLit(number) => self.number(number.value, &span),
        };
        Node { span, value }
    }

    fn number(&mut self, text: &str, span: &Range<usize>) -> Value {
        let kind = if text.contains(['.', 'e', 'E']) {
            text.parse().map_or(Kind::NonFinite, |number: f64| {
                if number.is_finite() { Kind::Float(number) } else { Kind::NonFinite }
            })
        } else {
            text.parse().map_or(Kind::BigInt, Kind::Int)
        };
        if kind == Kind::NonFinite {
            self.problems.tell(|| number_out_of_range(span.clone()));
        }
        scalar(text.to_owned(), kind)
    }

    fn span(&self, range: jsonc_parser::common::Range) -> Range<usize> {
        self.offset + range.start..self.offset + range.end
    }
}

fn scalar(text: String, kind: Kind) -> Value {
    Value::Scalar(Scalar { text, kind })
}

fn unclosed() -> Diagnostic {
    Diagnostic::error(
        "front-matter-unclosed",
        "front matter opened with { on line 1 is not closed: the closing brace is missing",
    )
    .at(0..1)
    .help("add the closing `}`, and look for a quote that is not closed")
}

fn number_out_of_range(at: Range<usize>) -> Diagnostic {
    Diagnostic::error("json-syntax", "a number that is out of the range of a double")
        .at(at)
        .help("put it in quotes to keep it as text")
}

/// What `serde_json` says, at its place in the file, with what to do about it.
fn syntax(source: &str, range: Range<usize>, error: &serde_json::Error) -> Diagnostic {
    let text = source.get(range.clone()).unwrap_or("");
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let inside = (line_start + error.column().saturating_sub(1)).min(text.len());
    let at = range.start + floor_char_boundary(text, inside);
    let found = source.get(at..).and_then(|rest| rest.chars().next());
    let said = error.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    if said == "recursion limit exceeded" {
        return check::too_deep(at..at + 1);
    }
    if said == "number out of range" {
        let digits = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let start = text.get(..inside).map_or(0, |head| head.trim_end_matches(digits).len());
        return number_out_of_range(range.start + start..at + 1);
    }
    let help = match (said, found) {
        ("trailing comma", _) | (_, Some('}' | ']')) => "remove the comma before it",
        (_, Some('\'')) => "write keys and text in double quotes",
        (_, Some('/' | '#')) => "JSON has no comments; remove it",
        ("key must be a string", _) => "write keys in double quotes",
        ("expected `,` or `}`" | "expected `,` or `]`", _) => "is a comma missing, or a quote not closed?",
        ("expected `:`", _) => "write a colon between key and value",
        ("expected value", _) => "write text in double quotes",
        ("lone leading surrogate in hex escape" | "unexpected end of hex escape", _) => {
            "write the character itself, or both halves of the pair"
        }
        ("trailing characters", _) => "the block must hold one object and nothing after it",
        ("control character (\\u0000-\\u001F) found while parsing a string", _) => {
            "write a line break inside text as \\n; is a quote not closed?"
        }
        _ => "",
    };
    let help = if help.is_empty() { "correct the JSON" } else { help };
    let end = at + found.map_or(0, char::len_utf8);
    Diagnostic::error("json-syntax", format!("this is no JSON: {said}")).at(at..end).help(help)
}
