//! One explanation, for people and for programs.

#![allow(clippy::format_push_string, clippy::collapsible_if, reason = "short texts, put together once")]

use std::io::Write;

use serde_json::Value;

use super::Explained;
use crate::cli::Format;
use crate::post::date::PublishedAt;
use crate::report::json;
use crate::report::paint::Paint;
use crate::report::snippet::{plain, snippet};

/// Prints one file's explanation.
pub fn print(explained: &Explained, root: &str, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    if format == Format::Json {
        return json::write_pretty(out, &explained.object);
    }
    let object = &explained.object;
    let text = |key: &str| match object.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let from = |key: &str| {
        let rule = object.get("from").and_then(|from| from.get(key)).and_then(Value::as_str);
        rule.map_or_else(String::new, |rule| format!("   ({rule})"))
    };
    let head = text("file").unwrap_or_else(|| "no file makes this post".to_owned());
    writeln!(out, "{}", plain(&head))?;
    if let Some(reason) = text("skipped") {
        writeln!(out, "  skipped      {reason}")?;
    }
    for (name, key) in [
        ("id", "id"),
        ("slug", "slug"),
        ("lang", "lang"),
        ("publishedAt", "publishedAtMs"),
        ("title", "title"),
        ("sourceHash", "sourceHash"),
        ("pipeline", "pipeline"),
        ("translations", "translationKey"),
    ] {
        let value = match key {
            "publishedAtMs" => object.get(key).and_then(Value::as_i64).map(|millis| {
                let shown = PublishedAt::from_unix_millis(millis)
                    .map_or_else(|_| String::new(), PublishedAt::to_rfc3339);
                format!("{shown} = {millis} ms")
            }),
            "translationKey" => text("translationKey").or_else(|| text("translationPath")),
            _ => text(key),
        };
        if let Some(value) = value {
            writeln!(out, "  {name:<12} {}{}", plain(&value), from(name))?;
        }
    }
    for asset in object.get("assets").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| asset.get(key).and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "  asset        {} {}", text("path"), text("sha256"))?;
    }
    for (name, value) in hashed(object).into_iter().chain(store(object)) {
        writeln!(out, "  {name:<12} {}", plain(&value))?;
    }
    for diagnostic in &explained.diagnostics {
        write!(out, "{}", snippet(diagnostic, root, Paint::default()))?;
    }
    Ok(())
}

/// Which bytes `sourceHash` is over.
fn hashed(object: &Value) -> Option<(&'static str, String)> {
    let hashed = object.get("hashed").filter(|hashed| hashed.is_object())?;
    let number = |key: &str| hashed.get(key).and_then(Value::as_u64).unwrap_or(0);
    let mut left_out = Vec::new();
    if hashed.get("bom") == Some(&Value::Bool(true)) {
        left_out.push("a byte-order mark".to_owned());
    }
    match number("crlf") {
        0 => {}
        1 => left_out.push("one CR before its LF".to_owned()),
        more => left_out.push(format!("{more} CRs before their LF")),
    }
    let (bytes, of) = (number("bytes"), number("fileBytes"));
    let text = if left_out.is_empty() {
        format!("all {of} bytes")
    } else {
        format!("{bytes} of {of} bytes, without {}", left_out.join(" and "))
    };
    Some(("hashed", text))
}

/// What the store holds, and what the next run would do.
fn store(object: &Value) -> Vec<(&'static str, String)> {
    let Some(store) = object.get("store").filter(|store| store.is_object()) else { return Vec::new() };
    let text = |value: &Value, key: &str| {
        value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let mut out = Vec::new();
    if let Some(target) = store.get("target") {
        if let (Some(uri), Some(collection)) = (text(target, "store"), text(target, "collection")) {
            out.push(("store", format!("{uri}, collection {collection}")));
        }
    }
    if let Some(error) = text(store, "error") {
        out.push(("store", format!("not looked at: {error}")));
        return out;
    }
    match store.get("stored").filter(|stored| stored.is_object()) {
        None if object.get("id").is_some_and(Value::is_string) => {
            out.push(("stored", "nothing under this id".to_owned()));
        }
        None => {}
        Some(stored) => {
            let mut told = text(stored, "status").unwrap_or_else(|| "without a status".to_owned());
            match stored.get("version").and_then(Value::as_i64) {
                Some(version) => told.push_str(&format!(", version {version}")),
                None => told.push_str(", not written by idempost"),
            }
            for (key, word) in [
                ("path", "from"),
                ("source", "of source"),
                ("runId", "by run"),
                ("supersededBy", "replaced by"),
            ] {
                if let Some(value) = text(stored, key) {
                    told.push_str(&format!(", {word} {value}"));
                }
            }
            out.push(("stored", told));
            for (name, key) in [("", "sourceHash"), ("", "pipeline")] {
                // What is the same is not told twice.
                if let Some(value) =
                    text(stored, key).filter(|value| text(object, key).as_ref() != Some(value))
                {
                    out.push((name, format!("its {key} is {value}")));
                }
            }
        }
    }
    if let Some(next) = store.get("next").filter(|next| next.is_object()) {
        let action = text(next, "action").unwrap_or_default();
        let mut told = if action == "none" { "nothing".to_owned() } else { action };
        if let Some(reason) = text(next, "reason") {
            told.push_str(&format!(" ({reason})"));
        }
        if let Some(detail) = text(next, "detail") {
            told.push_str(&format!(": {detail}"));
        }
        out.push(("next run", told));
        if let Some(help) = text(next, "help") {
            out.push(("", help));
        }
    }
    out
}
