//! A plan in a file: the object of `diff --format json` with the flags it was made under, and each change with what
//! it was made from and the whole document that it leaves.
//!
//! It is written change by change, so that a large plan is never in memory as text. [`read`] takes it back.

pub mod read;
mod strict;

use std::io::{self, Write};

use bson::Bson;
use serde_json::{Value, json};

use super::json;
use crate::diagnostic::Diagnostic;
use crate::plan::change::FieldChange;
use crate::plan::compose::Composer;
use crate::plan::saved::{self, Flags};
use crate::plan::{Action, Operation, Plan};

/// Writes a plan.
pub fn write(
    out: &mut dyn Write,
    plan: &Plan,
    changes: &[Vec<FieldChange>],
    composer: &Composer,
    flags: Flags,
) -> io::Result<()> {
    let Value::Object(mut object) = json::plan(&Plan { operations: Vec::new(), ..plan.clone() }, &[]) else {
        return Ok(());
    };
    object.remove("changes");
    out.write_all(b"{\n")?;
    for (key, value) in object.iter().take_while(|(key, _)| *key != "orphans") {
        pair(out, key, value)?;
    }
    pair(out, "flags", &json!({ "prune": flags.prune, "force": flags.force, "repair": flags.repair }))?;
    out.write_all(b"\"changes\": [")?;
    let mut first = true;
    for (at, operation) in plan.operations.iter().enumerate() {
        if operation.action == Action::Unchanged {
            continue;
        }
        out.write_all(if first { b"\n" } else { b",\n" })?;
        first = false;
        let fields = changes.get(at).map_or(&[][..], Vec::as_slice);
        serde_json::to_writer(&mut *out, &change(operation, fields, composer)?)?;
    }
    out.write_all(b"\n],\n")?;
    let rest: Vec<(&String, &Value)> = object.iter().skip_while(|(key, _)| *key != "orphans").collect();
    for (at, (key, value)) in rest.iter().enumerate() {
        if at + 1 < rest.len() {
            pair(out, key, value)?;
        } else {
            write!(out, "{}: ", json!(key))?;
            serde_json::to_writer(&mut *out, value)?;
        }
    }
    out.write_all(b"\n}\n")
}

fn pair(out: &mut dyn Write, key: &str, value: &Value) -> io::Result<()> {
    write!(out, "{}: ", json!(key))?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b",\n")
}

fn change(operation: &Operation, fields: &[FieldChange], composer: &Composer) -> io::Result<Value> {
    let told = |problem: Box<Diagnostic>| io::Error::other(format!("{}: {}", problem.file, problem.message));
    let content = composer.compose(operation).map_err(told)?.map(|content| content.fields);
    let document = saved::document(operation, content.as_ref());
    let mut value = json::change(operation, fields);
    if let Value::Object(object) = &mut value {
        let seen = operation.seen.as_ref().map(|seen| {
            json!({ "version": seen.version, "status": seen.status.as_str(), "sourceHash": seen.source_hash })
        });
        object.insert("seen".to_owned(), json!(seen));
        let document = document.map(|document| Bson::Document(document).into_canonical_extjson());
        object.insert("document".to_owned(), json!(document));
    }
    Ok(value)
}
