//! One value of the front matter read as what its field holds.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::table::Shape;
use crate::diagnostic::Diagnostic;
use crate::post::date::{self, Instant};
use crate::post::front_matter::{Kind, Node, Scalar, Value, fold_key};

/// A value of a known field.
#[derive(Debug, Clone, PartialEq)]
pub enum Typed {
    /// Text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// A date.
    Date(Instant),
    /// A boolean.
    Flag(bool),
}

/// Reads `node` as `shape`. `Ok(None)`: the same as absent. `Err`: errors were added to `problems`.
/// `name` is the key as written, for messages.
pub fn read(
    node: &Node,
    shape: Shape,
    name: &str,
    timezone: &TimeZone,
    problems: &mut Vec<Diagnostic>,
) -> Result<Option<Typed>, ()> {
    if is_null(node) {
        return Ok(None);
    }
    let result = match shape {
        Shape::Text => text(node, name).and_then(|text| match text.trim() {
            "" => Err(Box::new(
                Diagnostic::error("empty-value", format!("`{name}` is empty"))
                    .help(format!("write something after `{name}`, or take the line out"))
                    .at(node.span.clone()),
            )),
            _ => Ok(Some(Typed::Text(text))),
        }),
        Shape::OptionalText => {
            text(node, name).map(|text| (!text.trim().is_empty()).then_some(Typed::Text(text)))
        }
        Shape::Date => self::date(node, name, timezone).map(|date| Some(Typed::Date(date))),
        Shape::Flag => flag(node, name).map(|flag| Some(Typed::Flag(flag))),
        // A status that is no text is somebody else's; the caller keeps it in `extra`.
        Shape::Status => Ok(scalar_text(node).map(|text| Typed::Text(text.trim().to_lowercase()))),
        Shape::Labels => {
            return list(node, name, Items::Labels, problems).map(|texts| Some(Typed::Texts(texts)));
        }
        Shape::Names => {
            return list(node, name, Items::Names, problems).map(|texts| Some(Typed::Texts(texts)));
        }
        Shape::Texts => {
            return list(node, name, Items::Texts, problems).map(|texts| Some(Typed::Texts(texts)));
        }
        Shape::Image => image(node, name).map(|text| (!text.trim().is_empty()).then_some(Typed::Text(text))),
    };
    result.map_err(|problem| problems.push(*problem))
}

/// Whether a value is null, which is the same as absent.
pub fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(Scalar { kind: Kind::Null, .. }))
}

/// Whether a value is `true` or `false`.
pub fn bool_of(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Scalar(Scalar { kind: Kind::Bool(flag), .. }) => Some(*flag),
        _ => None,
    }
}

/// The text of a scalar that is not null.
pub fn scalar_text(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar(scalar) if scalar.kind != Kind::Null => Some(&scalar.text),
        _ => None,
    }
}

/// What stands there, in words.
fn found(node: &Node) -> &'static str {
    match &node.value {
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
        Value::Scalar(scalar) => match scalar.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "true or false",
            Kind::Int(_) | Kind::BigInt | Kind::Float(_) | Kind::NonFinite => "a number",
            Kind::Text => "text",
            Kind::DateTime => "a date",
            Kind::LocalTime => "a time without a day",
        },
    }
}

fn wrong_type(node: &Node, name: &str, wanted: &str, help: String) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("wrong-type", format!("`{name}` must be {wanted}, and this is {}", found(node)))
            .help(help)
            .at(node.span.clone()),
    )
}

fn text(node: &Node, name: &str) -> Result<String, Box<Diagnostic>> {
    scalar_text(node).map(str::to_owned).ok_or_else(|| {
        let help = match &node.value {
            Value::Map(_) => {
                format!("write `{name}: text`; quote a text that holds `: ` or begins with `{{`")
            }
            _ => format!("write `{name}: text`; quote a text that begins with `[`"),
        };
        wrong_type(node, name, "text", help)
    })
}

fn flag(node: &Node, name: &str) -> Result<bool, Box<Diagnostic>> {
    if let Some(flag) = bool_of(node) {
        return Ok(flag);
    }
    let written = scalar_text(node).unwrap_or("");
    let meant = match written.trim().to_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    };
    let help = match meant {
        Some(flag) => format!("write `{name}: {flag}`, without quotes"),
        None => format!("write `{name}: true` or `{name}: false`"),
    };
    let message = if written.is_empty() {
        format!("`{name}` must be true or false, and this is {}", found(node))
    } else {
        format!("`{name}` must be true or false, and this is the {} `{written}`", word(node))
    };
    Err(Box::new(Diagnostic::error("wrong-type", message).help(help).at(node.span.clone())))
}

fn word(node: &Node) -> &'static str {
    match found(node) {
        "a number" => "number",
        "a date" => "date",
        _ => "text",
    }
}

fn date(node: &Node, name: &str, timezone: &TimeZone) -> Result<Instant, Box<Diagnostic>> {
    let help = || format!("write `{name}: 2024-05-22` or `{name}: 2024-05-22T09:30:00Z`");
    let Value::Scalar(scalar) = &node.value else {
        return Err(wrong_type(node, name, "a date", help()));
    };
    if matches!(scalar.kind, Kind::Bool(_) | Kind::LocalTime) {
        return Err(wrong_type(node, name, "a date", help()));
    }
    let written = scalar.text.trim();
    if written.is_empty() {
        return Err(Box::new(
            Diagnostic::error("date-empty", format!("`{name}` is empty"))
                .help(format!("{}, or take the line out", help()))
                .at(node.span.clone()),
        ));
    }
    // The range of an instant is checked there as well.
    date::parse(written, timezone).map_err(|problem| {
        let message = format!("`{name}`: {}", problem.message);
        Box::new(Diagnostic { message, ..*problem }.at(node.span.clone()))
    })
}

/// Keys of an object that stands for a picture, the likeliest first.
const IMAGE_KEYS: &[&str] = &["src", "url", "image", "path"];

/// The key of `node`, an object that stands for a picture, which holds its place.
pub fn image_key(node: &Node) -> Option<&'static str> {
    IMAGE_KEYS.iter().copied().find(|key| child_text(node, key).is_some())
}

fn image(node: &Node, name: &str) -> Result<String, Box<Diagnostic>> {
    let inner = image_key(node).and_then(|key| child_text(node, key));
    if let Some(inner) = inner {
        return Ok(inner.to_owned());
    }
    scalar_text(node).map(str::to_owned).ok_or_else(|| {
        wrong_type(
            node,
            name,
            "the path or URL of a picture",
            format!("write `{name}: picture.jpg`, or an object with `src`"),
        )
    })
}

fn child_text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    let Value::Map(entries) = &node.value else { return None };
    let entry = entries.iter().find(|entry| fold_key(&entry.key) == key)?;
    scalar_text(&entry.node)
}

/// What the items of a list are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// Comma-separated text is several; objects have `label` or `name`.
    Labels,
    /// A text is one; objects have `name`.
    Names,
    /// Texts alone.
    Texts,
}

impl Items {
    fn keys(self) -> &'static [&'static str] {
        match self {
            Items::Labels => &["label", "name"],
            Items::Names => &["name"],
            Items::Texts => &[],
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Items::Labels => "a list of texts, text with commas, or objects with `label` or `name`",
            Items::Names => "a name, a list of names, or objects with `name`",
            Items::Texts => "a text or a list of texts",
        }
    }
}

/// Trimmed, without empty and null ones, repeated ones once, in order.
fn list(node: &Node, name: &str, kind: Items, problems: &mut Vec<Diagnostic>) -> Result<Vec<String>, ()> {
    let mut texts: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let mut add = |text: &str| {
        let text = text.trim();
        if !text.is_empty() && seen.insert(text.to_owned()) {
            texts.push(text.to_owned());
        }
    };
    let before = problems.len();
    match &node.value {
        Value::List(items) => {
            for item in items.iter().filter(|item| !is_null(item)) {
                match item_text(item, kind) {
                    Some(text) => add(text),
                    None => problems.push(*wrong_item(item, name, kind)),
                }
            }
        }
        Value::Scalar(scalar) if kind == Items::Labels => scalar.text.split(',').for_each(&mut add),
        _ => match item_text(node, kind) {
            Some(text) => add(text),
            None => problems.push(*wrong_item(node, name, kind)),
        },
    }
    if problems.len() > before { Err(()) } else { Ok(texts) }
}

fn item_text(node: &Node, kind: Items) -> Option<&str> {
    scalar_text(node).or_else(|| kind.keys().iter().find_map(|key| child_text(node, key)))
}

fn wrong_item(node: &Node, name: &str, kind: Items) -> Box<Diagnostic> {
    let example = match kind {
        Items::Labels => format!("write `{name}: [one, two]`"),
        Items::Names => format!("write `{name}: [Ada Lovelace, Grace Hopper]`"),
        Items::Texts => format!("write `{name}: [/old/address]`"),
    };
    wrong_type(node, name, kind.wanted(), example)
}
