//! One change of a plan as the page shows it: the line in the list, and what is behind it.

use bson::{Bson, Document};
use serde_json::{Value, json};

use super::super::with_root;
use super::rendered::{self, Extent};
use super::text;
use crate::plan::change::{self, FieldChange};
use crate::plan::{Action, Operation};

/// Bytes of the report up to which rendered bodies are shown whole.
const WHOLE_BYTES_MAX: usize = 16 << 20;
/// Bytes of the report up to which rendered bodies are shown.
const RENDERED_BYTES_MAX: usize = 32 << 20;
/// Bytes of the report up to which the text of bodies is shown.
const TEXT_BYTES_MAX: usize = 48 << 20;
/// Characters of a field's value that are shown.
const VALUE_CHARS_MAX: usize = 500;
/// Fields that follow from others, or that have a view of their own.
const NOT_LISTED: [&str; 13] = [
    "_id",
    "body",
    "html",
    "toc",
    "excerpt",
    "wordCount",
    "readingMinutes",
    "sourceHash",
    "slug",
    "lang",
    "frontMatter",
    "frontMatter.bom",
    "frontMatter.lineEnds",
];

/// A change's line and detail.
pub(super) struct Entry {
    /// What the list holds.
    pub head: Value,
    /// What is read when the change is opened.
    pub detail: Value,
}

/// What is shown of one operation. `spent` is how many bytes the details before it take.
/// `content` is the document that it writes, where there is one.
pub(super) fn entry(
    operation: &Operation,
    content: Option<&Document>,
    changes: &[FieldChange],
    root: &str,
    spent: usize,
) -> Entry {
    let made = if operation.action == Action::Create { content.map(created) } else { None };
    let changes = made.as_deref().unwrap_or(changes);
    let mut left_out: Vec<String> = Vec::new();
    let fields: Vec<Value> = changes
        .iter()
        .filter(|change| !NOT_LISTED.contains(&change.path.as_str()))
        .map(|change| {
            json!([text::shown(&change.path), value(change.before.as_ref()), value(change.after.as_ref())])
        })
        .collect();
    let (mut added, mut removed, mut hunks) = (0, 0, Vec::new());
    if let Some(body) = of(changes, "body") {
        let texts = text::compare(string(body.before.as_ref()), string(body.after.as_ref()));
        (added, removed) = (texts.added, texts.removed);
        if spent < TEXT_BYTES_MAX {
            hunks = texts.hunks;
            if texts.left_out > 0 {
                left_out.push(format!("{} more lines of the text", texts.left_out));
            }
        } else {
            left_out.push("the text, since the report would be too big: narrow it with a PATH".to_owned());
        }
    }
    let html = rows(content, changes, spent, &mut left_out);
    let file = operation.file.as_deref().map(|file| with_root(root, file));
    let title = content
        .and_then(|content| content.get_str("title").ok())
        .map_or_else(|| operation.slug.clone(), str::to_owned);
    Entry {
        head: json!([
            operation.action.as_str(),
            file.as_deref().map(text::shown),
            text::shown(&operation.slug),
            operation.lang,
            operation.id,
            operation.reason.code,
            text::shown(&title),
            added,
            removed,
        ]),
        detail: json!({
            "why": operation.reason.detail,
            "help": operation.reason.help,
            "fields": fields,
            "text": hunks,
            "rendered": html,
            "leftOut": left_out,
        }),
    }
}

/// Every field of a new post.
fn created(content: &Document) -> Vec<FieldChange> {
    change::fields(&Document::new(), content)
}

/// The rendered bodies, where both may be shown.
fn rows(
    content: Option<&Document>,
    changes: &[FieldChange],
    spent: usize,
    left_out: &mut Vec<String>,
) -> Vec<Value> {
    let Some(html) = of(changes, "html") else { return Vec::new() };
    let raw = |value: Option<&Bson>| value.and_then(Bson::as_str) == Some("raw");
    let trust = of(changes, "htmlTrust");
    let trusted = content.and_then(|content| content.get("htmlTrust"));
    if raw(trusted) || trust.is_some_and(|trust| raw(trust.before.as_ref()) || raw(trust.after.as_ref())) {
        left_out.push("the rendered body, since raw HTML is allowed in it".to_owned());
        return Vec::new();
    }
    if spent >= RENDERED_BYTES_MAX {
        left_out
            .push("the rendered body, since the report would be too big: narrow it with a PATH".to_owned());
        return Vec::new();
    }
    let extent = if spent < WHOLE_BYTES_MAX { Extent::Whole } else { Extent::Changes };
    let side = |value: &Option<Bson>| value.as_ref().and_then(Bson::as_str).map(str::to_owned);
    let (before, after) = (side(&html.before), side(&html.after));
    rendered::rows(before.as_deref(), after.as_deref(), extent).unwrap_or_else(|| {
        left_out.push("the rendered body, which is too long".to_owned());
        Vec::new()
    })
}

fn of<'c>(changes: &'c [FieldChange], path: &str) -> Option<&'c FieldChange> {
    changes.iter().find(|change| change.path == path)
}

fn string(value: Option<&Bson>) -> &str {
    value.and_then(Bson::as_str).unwrap_or_default()
}

/// A value as a person reads it; null where the field is absent.
fn value(value: Option<&Bson>) -> Value {
    let Some(value) = value else { return Value::Null };
    let text = match value {
        Bson::String(text) => text.clone(),
        Bson::DateTime(at) => {
            at.try_to_rfc3339_string().unwrap_or_else(|_| at.timestamp_millis().to_string())
        }
        other => other.clone().into_relaxed_extjson().to_string(),
    };
    let cut: String = text.chars().take(VALUE_CHARS_MAX).collect();
    let more = if cut.len() < text.len() { " …" } else { "" };
    let lines: Vec<String> = cut.lines().map(text::shown).collect();
    json!(lines.join("\n") + more)
}
