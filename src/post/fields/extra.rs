//! `extra`: every other key of the front matter, under names that every engine can store.
//!
//! # Names
//!
//! A key is *unsafe* if it is empty, holds `.` or NUL, begins with `$`, begins and ends with `__`
//! (four bytes or more), holds `%` followed by two hex digits, or is `%` alone. A safe key is
//! stored as it is. An unsafe one is stored with each of these bytes written as `%` and two
//! upper-case hex digits: every `%`, `.` and NUL; a leading `$`; the first `_` of a `__…__`. The empty
//! key is stored as `%`. No two keys have one stored name, and [`original_name`] gives the key back.

use bson::{Bson, Document};

use crate::diagnostic::Diagnostic;
use crate::post::front_matter::{Entry, Kind, NESTING_LEVELS_MAX, Node, Scalar, Value};

/// The name under which a key is stored.
pub fn stored_name(key: &str) -> String {
    let dunder = key.len() >= 4 && key.starts_with("__") && key.ends_with("__");
    let unsafe_key = key.is_empty()
        || key == "%"
        || key.contains(['.', '\0'])
        || key.starts_with('$')
        || dunder
        || holds_escape(key);
    if !unsafe_key {
        return key.to_owned();
    }
    if key.is_empty() {
        return "%".to_owned();
    }
    let mut name = String::with_capacity(key.len() + 8);
    for (at, c) in key.char_indices() {
        match c {
            '%' => name.push_str("%25"),
            '.' => name.push_str("%2E"),
            '\0' => name.push_str("%00"),
            '$' if at == 0 => name.push_str("%24"),
            '_' if at == 0 && dunder => name.push_str("%5F"),
            other => name.push(other),
        }
    }
    name
}

/// The key that is stored under a name: the inverse of [`stored_name`].
pub fn original_name(name: &str) -> String {
    if name == "%" {
        return String::new();
    }
    let mut key = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        let (head, tail) = rest.split_at(at);
        key.push_str(head);
        if let Some(byte) = escape_at_start(tail) {
            key.push(char::from(byte));
            rest = tail.get(3..).unwrap_or("");
        } else {
            key.push('%');
            rest = tail.get(1..).unwrap_or("");
        }
    }
    key.push_str(rest);
    key
}

fn holds_escape(key: &str) -> bool {
    key.match_indices('%').any(|(at, _)| key.get(at..).is_some_and(|tail| escape_at_start(tail).is_some()))
}

/// The byte that `%XX` at the start of `text` means. Only ASCII is ever escaped.
fn escape_at_start(text: &str) -> Option<u8> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u8::from_str_radix(digits, 16).ok()
}

/// Adds one key to `extra`. A key that is there already keeps its value, with a warning.
pub fn add(extra: &mut Document, entry: &Entry, levels: usize, problems: &mut Vec<Diagnostic>) {
    // Null is the same as absent.
    if is_null(&entry.node) {
        return;
    }
    let name = stored_name(&entry.key);
    if name != entry.key {
        problems.push(
            Diagnostic::warning(
                "key-renamed",
                format!("the key `{}` cannot be stored by every engine", entry.key.escape_default()),
            )
            .help(format!("it is stored as `extra.{name}`; rename it to be rid of this"))
            .at(entry.key_span.clone()),
        );
    }
    if extra.contains_key(&name) {
        problems.push(
            Diagnostic::warning(
                "extra-twice",
                format!("`{}` is given at the top as well, and that one is kept", entry.key),
            )
            .help("give it once, or under another name")
            .at(entry.key_span.clone()),
        );
        return;
    }
    if let Some(value) = value(&entry.node, levels, problems) {
        extra.insert(name, value);
    }
}

fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(Scalar { kind: Kind::Null, .. }))
}

/// The stored form of a value; `None` where it is nested too deeply, which is an error.
fn value(node: &Node, levels: usize, problems: &mut Vec<Diagnostic>) -> Option<Bson> {
    if levels > NESTING_LEVELS_MAX {
        problems.push(
            // As the readers of front matter say it, so that it is told once.
            Diagnostic::error(
                "nesting-too-deep",
                format!("values nested more than {NESTING_LEVELS_MAX} levels deep"),
            )
            .help("make the value flatter")
            .at(node.span.clone()),
        );
        return None;
    }
    Some(match &node.value {
        Value::Scalar(scalar) => self::scalar(scalar, node, problems),
        Value::List(items) => {
            Bson::Array(items.iter().filter_map(|item| value(item, levels + 1, problems)).collect())
        }
        Value::Map(entries) => {
            let mut document = Document::new();
            for entry in entries {
                add(&mut document, entry, levels + 1, problems);
            }
            Bson::Document(document)
        }
    })
}

fn scalar(scalar: &Scalar, node: &Node, problems: &mut Vec<Diagnostic>) -> Bson {
    match scalar.kind {
        Kind::Null => Bson::Null,
        Kind::Bool(flag) => Bson::Boolean(flag),
        // The narrower type where it fits, so that a document read back from JSON is equal.
        Kind::Int(number) => i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32),
        // Adding zero turns a negative zero into a positive one.
        Kind::Float(number) => Bson::Double(number + 0.0),
        Kind::BigInt | Kind::NonFinite => {
            problems.push(
                Diagnostic::warning(
                    "number-as-text",
                    format!("`{}` is kept as text: no engine stores such a number without loss", scalar.text),
                )
                .help("quote it to be rid of this")
                .at(node.span.clone()),
            );
            Bson::String(scalar.text.clone())
        }
        Kind::Text | Kind::DateTime | Kind::LocalTime => Bson::String(scalar.text.clone()),
    }
}
