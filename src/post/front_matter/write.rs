//! Writes front matter: what [`super::read`] reads back as the same values.
//!
//! Text is written so that no reader takes it for anything else: plain only where it is a word or a phrase
//! that YAML 1.1 and 1.2 agree on, else in quotes. Knows no field. Begin at [`write`].

use std::fmt::Write as _;

use bson::{Bson, Document};

use super::Format;
use crate::post::date::PublishedAt;

/// A block with its fences, in this format. Instants are written in UTC. `None`: the format has no way to say
/// one of the values (TOML has no null).
pub fn write(format: Format, fields: &Document) -> Option<String> {
    match format {
        Format::Yaml => Some(yaml(fields)),
        Format::Toml => toml(fields),
        Format::Json => json(fields),
    }
}

/// An instant as text; what is out of the range of dates as its number.
fn instant(at: bson::DateTime) -> String {
    let millis = at.timestamp_millis();
    PublishedAt::from_unix_millis(millis).map_or_else(|_| millis.to_string(), PublishedAt::to_rfc3339)
}

/// A double with a point or an exponent, so that it stays one; NaN and infinities have no number.
fn double(number: f64) -> Option<String> {
    number.is_finite().then(|| format!("{:?}", number + 0.0))
}

/// The text of what front matter has no value for.
fn other(value: &Bson) -> String {
    match value {
        Bson::Double(number) => number.to_string(),
        Bson::ObjectId(id) => id.to_hex(),
        Bson::Decimal128(number) => number.to_string(),
        value => value.clone().into_relaxed_extjson().to_string(),
    }
}

/// A text in double quotes, by the escapes that JSON, TOML and YAML share.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Control characters, line ends of Unicode, marks, and what is no character.
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn yaml(fields: &Document) -> String {
    let mut out = String::from("---\n");
    yaml_map(fields, 0, &mut out);
    out.push_str("---\n");
    out
}

fn yaml_map(fields: &Document, indent: usize, out: &mut String) {
    for (key, value) in fields {
        out.push_str(&" ".repeat(indent));
        out.push_str(&yaml_text(key));
        out.push(':');
        yaml_value(value, indent, out);
    }
}

/// A value behind a key or a dash at this indent, to the end of its last line.
fn yaml_value(value: &Bson, indent: usize, out: &mut String) {
    match value {
        Bson::Document(inner) if !inner.is_empty() => {
            out.push('\n');
            yaml_map(inner, indent + 2, out);
        }
        Bson::Array(items) if !items.is_empty() => {
            out.push('\n');
            for item in items {
                out.push_str(&" ".repeat(indent + 2));
                out.push('-');
                yaml_value(item, indent + 2, out);
            }
        }
        value => {
            out.push(' ');
            out.push_str(&yaml_scalar(value));
            out.push('\n');
        }
    }
}

fn yaml_scalar(value: &Bson) -> String {
    match value {
        Bson::Document(_) => "{}".to_owned(),
        Bson::Array(_) => "[]".to_owned(),
        Bson::String(text) => yaml_text(text),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => number.to_string(),
        Bson::Boolean(flag) => flag.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::DateTime(at) => instant(*at),
        Bson::Double(number) => double(*number).unwrap_or_else(|| yaml_text(&other(value))),
        value => yaml_text(&other(value)),
    }
}

/// Words that some YAML takes for something else than text.
const NO_TEXT: [&str; 10] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf"];

fn yaml_text(text: &str) -> String {
    let inner = |c: char| c.is_alphanumeric() || " -_./,'()+&!?@=;:".contains(c);
    let plain = text.starts_with(char::is_alphabetic)
        && text.chars().all(inner)
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !NO_TEXT.contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { quoted(text) }
}

fn toml(fields: &Document) -> Option<String> {
    let mut out = String::from("+++\n");
    let mut tables = String::new();
    for (key, value) in fields {
        // What stands below the head of a table belongs to it, so that tables come last.
        if let Bson::Document(inner) = value {
            let _ = writeln!(tables, "\n[{}]", toml_key(key));
            for (key, value) in inner {
                let _ = writeln!(tables, "{} = {}", toml_key(key), toml_value(value)?);
            }
        } else {
            let _ = writeln!(out, "{} = {}", toml_key(key), toml_value(value)?);
        }
    }
    out.push_str(&tables);
    out.push_str("+++\n");
    Some(out)
}

fn toml_key(key: &str) -> String {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if bare { key.to_owned() } else { quoted(key) }
}

fn toml_value(value: &Bson) -> Option<String> {
    Some(match value {
        Bson::Null => return None,
        Bson::String(text) => quoted(text),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => number.to_string(),
        Bson::Boolean(flag) => flag.to_string(),
        Bson::DateTime(at) => instant(*at),
        Bson::Double(number) => double(*number).unwrap_or_else(|| quoted(&other(value))),
        Bson::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(toml_value).collect();
            format!("[{}]", items?.join(", "))
        }
        Bson::Document(inner) if inner.is_empty() => "{}".to_owned(),
        Bson::Document(inner) => {
            let pairs: Option<Vec<String>> = inner
                .iter()
                .map(|(key, value)| Some(format!("{} = {}", toml_key(key), toml_value(value)?)))
                .collect();
            format!("{{ {} }}", pairs?.join(", "))
        }
        value => quoted(&other(value)),
    })
}

fn json(fields: &Document) -> Option<String> {
    let object = json_value(&Bson::Document(fields.clone()));
    // Escapes what the other formats escape too; between braces there is nothing else to be escaped.
    Some(format!("{}\n", serde_json::to_string_pretty(&object).ok()?))
}

fn json_value(value: &Bson) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Bson::Null => Value::Null,
        Bson::String(text) => Value::from(text.as_str()),
        Bson::Int32(number) => Value::from(*number),
        Bson::Int64(number) => Value::from(*number),
        Bson::Boolean(flag) => Value::from(*flag),
        Bson::DateTime(at) => Value::from(instant(*at)),
        Bson::Double(number) if number.is_finite() => Value::from(*number + 0.0),
        Bson::Array(items) => Value::Array(items.iter().map(json_value).collect()),
        Bson::Document(inner) => {
            Value::Object(inner.iter().map(|(key, value)| (key.clone(), json_value(value))).collect())
        }
        value => Value::from(other(value)),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;
    use proptest::prelude::*;

    use super::super::{Entry, Kind, Node, Reading, Value, fold_key, read};
    use super::*;

    /// What was read, as what was written.
    fn value_of(node: &Node) -> Bson {
        match &node.value {
            Value::List(items) => Bson::Array(items.iter().map(value_of).collect()),
            Value::Map(entries) => Bson::Document(document_of(entries)),
            Value::Scalar(scalar) => match scalar.kind {
                Kind::Null => Bson::Null,
                Kind::Bool(flag) => Bson::Boolean(flag),
                Kind::Int(number) => Bson::Int64(number),
                Kind::Float(number) => Bson::Double(number),
                Kind::DateTime => Bson::String(format!("date {}", scalar.text)),
                _ => Bson::String(scalar.text.clone()),
            },
        }
    }

    fn document_of(entries: &[Entry]) -> Document {
        entries.iter().map(|entry| (entry.key.clone(), value_of(&entry.node))).collect()
    }

    fn read_back(text: &str) -> Document {
        let source = format!("{text}body\n");
        match read(&source) {
            Reading::Block { entries, body_start, problems, .. } => {
                assert!(problems.is_empty(), "{problems:?}\n{text}");
                assert_eq!(source.get(body_start..), Some("body\n"), "{text}");
                document_of(&entries)
            }
            other => panic!("{other:?}\n{text}"),
        }
    }

    #[test]
    fn the_three_formats_look_as_a_person_writes_them() {
        let fields = doc! {
            "title": "Keeping apples: how", "date": bson::DateTime::from_millis(1_000),
            "tags": ["fruit", "1.10"], "weight": 3, "extra": { "a b": true, "deep": { "x": 0.5 } },
        };
        assert_eq!(
            write(Format::Yaml, &fields).unwrap(),
            "---\ntitle: \"Keeping apples: how\"\ndate: 1970-01-01T00:00:01Z\ntags:\n  - fruit\n  - \"1.10\"\n\
             weight: 3\nextra:\n  a b: true\n  deep:\n    x: 0.5\n---\n"
        );
        assert_eq!(
            write(Format::Toml, &fields).unwrap(),
            "+++\ntitle = \"Keeping apples: how\"\ndate = 1970-01-01T00:00:01Z\ntags = [\"fruit\", \"1.10\"]\n\
             weight = 3\n\n[extra]\n\"a b\" = true\ndeep = { x = 0.5 }\n+++\n"
        );
        assert_eq!(
            write(Format::Json, &doc! { "title": "A", "n": 1.0, "none": [] }).unwrap(),
            "{\n  \"title\": \"A\",\n  \"n\": 1.0,\n  \"none\": []\n}\n"
        );
        assert_eq!(write(Format::Toml, &doc! { "a": [Bson::Null] }), None);
    }

    #[test]
    fn text_that_looks_like_something_else_stays_text() {
        let texts = [
            "",
            " ",
            "true",
            "No",
            "~",
            "null",
            "1",
            "0x1F",
            ".inf",
            "2024-01-02",
            "a: b",
            "a #b",
            "- a",
            "[a]",
            "{a}",
            "&a",
            "*a",
            "!a",
            "|",
            ">",
            "'",
            "\"",
            "%a",
            "@a",
            "`a",
            "a:",
            "a ",
            "---",
            "...",
            "a\nb",
            "a\r\nb\r",
            "\u{feff}",
            "\u{85}\u{2028}",
            "\u{7f}\u{1b}[2J",
            "봄",
            "é",
            "a\\",
            "<<",
            "=",
            "?",
            "? a",
            "y",
            "1e3",
            "+++",
            "a\tb",
            "😀",
        ];
        for format in [Format::Yaml, Format::Toml, Format::Json] {
            for text in texts {
                let fields = doc! { "key": text, "list": [text], "map": { format!("k{text}"): text } };
                assert_eq!(read_back(&write(format, &fields).unwrap()), fields, "{format:?} {text:?}");
            }
        }
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,6}( [a-z:#,-]{1,4}){0,3}",
            "[^\0]{0,12}",
            "[0-9:.eE+xT_-]{1,10}",
            "[ \t\r\n\"'\\\\:#&*!|>%@`{}\\[\\],?<=~-]{0,6}",
        ]
        .prop_filter("no NUL", |text: &String| !text.contains('\0'))
    }

    fn value() -> impl Strategy<Value = Bson> {
        let leaf = prop_oneof![
            text().prop_map(Bson::String),
            any::<i64>().prop_map(Bson::Int64),
            any::<bool>().prop_map(Bson::Boolean),
            prop::num::f64::NORMAL.prop_map(Bson::Double),
            (-1000_i32..1000).prop_map(|number| Bson::Double(f64::from(number) / 8.0 + 0.0)),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
                prop::collection::btree_map(text(), inner, 0..4)
                    .prop_map(|map| Bson::Document(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(map in prop::collection::btree_map(text(), value(), 1..6)) {
            // Keys at the top are matched loosely, and given once.
            let mut seen = std::collections::BTreeSet::new();
            let fields: Document =
                map.into_iter().filter(|(key, _)| seen.insert(fold_key(key))).collect();
            for format in [Format::Yaml, Format::Toml, Format::Json] {
                let written = write(format, &fields).unwrap();
                prop_assert_eq!(read_back(&written), fields.clone(), "{}", written);
            }
        }
    }
}
