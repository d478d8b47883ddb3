//! A saved plan is read as one would a stranger's: every key is looked at, nothing is guessed, and what
//! is wrong is told with its place.

use std::collections::BTreeSet;
use std::sync::Arc;

use bson::{Bson, Document};
use serde_json::{Map, Value};

use super::super::json::FORMAT_VERSION;
use super::super::snippet::plain;
use super::strict::Strict;
use crate::catalog::Skipped;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Exit, Failure};
use crate::plan::change::FieldChange;
use crate::plan::compose::Written;
use crate::plan::lifecycle::By;
use crate::plan::saved::{self, Flags, Saved};
use crate::plan::{Action, Operation, Origin, Orphan, Plan, Reason, Seen, Summary};
use crate::post::Skip;
use crate::store::Target;
use crate::store::document::{Status, content_of};

/// The largest plan that is read, in bytes.
pub const PLAN_BYTES_MAX: u64 = 1 << 30;
/// Longest name of a reason or a problem.
const CODE_CHARS_MAX: usize = 64;
/// Most different names in one plan.
const CODES_MAX: usize = 500;
/// Characters of a mistake that are told.
const MISTAKE_CHARS_MAX: usize = 300;

const ACTIONS: [Action; 8] = [
    Action::Create,
    Action::Update,
    Action::Restamp,
    Action::Restore,
    Action::Archive,
    Action::Unchanged,
    Action::Stale,
    Action::Conflict,
];
const SKIPS: [Skip; 15] = [
    Skip::Draft,
    Skip::Future,
    Skip::Undated,
    Skip::NoFrontMatter,
    Skip::Empty,
    Skip::Hidden,
    Skip::NodeModules,
    Skip::Backup,
    Skip::Section,
    Skip::Readme,
    Skip::License,
    Skip::Ignored,
    Skip::Link,
    Skip::NotAPost,
    Skip::MissingAsset,
];

/// What is wrong with a plan, and where in it.
struct Mistake(String);

type Read<T> = Result<T, Mistake>;

/// Reads a plan; `shown` names the file in messages.
///
/// # Errors
/// Exit 64 where it is no plan of this format, 5 where one was edited.
pub fn plan(bytes: &[u8], shown: &str) -> Result<Saved, Failure> {
    let usage = |what: String| {
        let what: String = what.chars().take(MISTAKE_CHARS_MAX).collect();
        Failure::usage(format!("{shown} is no saved plan: {}", plain(&what)))
            .help("a plan is saved by `idempost diff --out plan.json`; was the file cut short?")
    };
    let Strict(value) = serde_json::from_slice(bytes).map_err(|error| usage(error.to_string()))?;
    let Value::Object(object) = &value else { return Err(usage("it is no object".to_owned())) };
    match object.get("formatVersion").and_then(Value::as_u64) {
        Some(version) if version == u64::from(FORMAT_VERSION) => {}
        Some(version) => {
            let by = object.get("toolVersion").and_then(Value::as_str).unwrap_or("another version");
            return Err(Failure::usage(format!(
                "{shown} has format {version}, made by idempost {}; this is {}, which reads format {FORMAT_VERSION}",
                plain(&by.chars().take(CODE_CHARS_MAX).collect::<String>()),
                env!("CARGO_PKG_VERSION")
            ))
            .help("plan again with this version, or use the one that made the plan"));
        }
        None => return Err(usage("it has no formatVersion".to_owned())),
    }
    let saved = Reader::default().saved(object).map_err(|Mistake(what)| usage(what))?;
    if saved.flags.is_some() {
        sound(&saved, shown)?;
    }
    Ok(saved)
}

/// What can be told of a plan alone: that `diff` wrote it so.
fn sound(saved: &Saved, shown: &str) -> Result<(), Failure> {
    let mut ids = BTreeSet::new();
    for (operation, document) in saved.plan.operations.iter().zip(&saved.documents) {
        let twice = operation.action.writes() && !ids.insert(&operation.id);
        let what = if twice {
            Some("its id is in the plan twice")
        } else {
            saved::unsound(operation, document.as_ref())
        };
        if let Some(what) = what {
            let id: String = operation.id.chars().take(CODE_CHARS_MAX).collect();
            return Err(Failure::new(
                Exit::Conflict,
                format!("{shown} was changed after it was saved: the change of {}: {what}", plain(&id)),
            )
            .help("nothing was written; plan again from a tree that you trust"));
        }
    }
    Ok(())
}

/// Reads the parts.
#[derive(Default)]
struct Reader {
    codes: BTreeSet<&'static str>,
}

impl Reader {
    fn saved(mut self, object: &Map<String, Value>) -> Read<Saved> {
        let flags = if object.contains_key("flags") {
            let flags = map(object, "flags", "")?;
            let flag = |key| boolean(flags, key, "flags.");
            Some(Flags { prune: flag("prune")?, force: flag("force")?, repair: flag("repair")? })
        } else {
            None
        };
        let mut plan = Plan {
            source: source(object)?,
            target: target(object)?,
            pipeline: text(object, "pipeline", "")?,
            summary: summary(object)?,
            operations: Vec::new(),
            orphans: Vec::new(),
            diagnostics: Vec::new(),
            skipped: Vec::new(),
            live: 0,
            notes: Vec::new(),
            settings_change: None,
        };
        let (mut changes, mut documents) = (Vec::new(), Vec::new());
        for (at, value) in list(object, "changes", "")?.iter().enumerate() {
            let (operation, fields, document) =
                self.change(item(value, &format!("changes[{at}]"))?, &format!("changes[{at}]."))?;
            plan.operations.push(Arc::new(operation));
            changes.push(fields);
            documents.push(document);
        }
        for (at, value) in list(object, "orphans", "")?.iter().enumerate() {
            let place = format!("orphans[{at}].");
            let one = item(value, &place)?;
            let text = |key| text(one, key, &place);
            plan.orphans.push(Orphan {
                id: text("id")?,
                slug: text("slug")?,
                lang: text("lang")?,
                path: text("path")?,
            });
        }
        for (at, value) in list(object, "diagnostics", "")?.iter().enumerate() {
            let place = format!("diagnostics[{at}].");
            plan.diagnostics.push(self.diagnostic(item(value, &place)?, &place)?);
        }
        for (at, value) in list(object, "skipped", "")?.iter().enumerate() {
            let place = format!("skipped[{at}].");
            let one = item(value, &place)?;
            let reason = text(one, "reason", &place)?;
            let known = SKIPS.into_iter().find(|skip| skip.as_str() == reason);
            let reason =
                known.ok_or_else(|| Mistake(format!("{place}reason is {reason:?}, which is none")))?;
            plan.skipped.push(Skipped { file: text(one, "file", &place)?, reason });
        }
        for (at, value) in list(object, "notes", "")?.iter().enumerate() {
            plan.notes
                .push(value.as_str().ok_or_else(|| wrong(&format!("notes[{at}]"), "a text"))?.to_owned());
        }
        Ok(Saved { tool_version: text(object, "toolVersion", "")?, flags, plan, changes, documents })
    }

    fn change(
        &mut self,
        one: &Map<String, Value>,
        place: &str,
    ) -> Read<(Operation, Vec<FieldChange>, Option<Document>)> {
        let action = text(one, "action", place)?;
        let action = ACTIONS
            .into_iter()
            .find(|known| known.as_str() == action)
            .ok_or_else(|| Mistake(format!("{place}action is {action:?}, which is none")))?;
        let document = match one.get("document") {
            None | Some(Value::Null) => None,
            Some(value) => Some(document(value, &format!("{place}document"))?),
        };
        let mut fields = Vec::new();
        for (at, value) in list(one, "fields", place)?.iter().enumerate() {
            let place = format!("{place}fields[{at}].");
            let field = item(value, &place)?;
            let value = |key| match field.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => stored(value, &format!("{place}{key}")).map(Some),
            };
            fields.push(FieldChange {
                path: text(field, "path", &place)?,
                before: value("before")?,
                after: value("after")?,
            });
        }
        let content = document.as_ref().map(content_of).filter(|content| content.contains_key("body"));
        let code = self.code(one, "reason", place)?;
        let operation = Operation {
            id: text(one, "id", place)?,
            slug: text(one, "slug", place)?,
            lang: text(one, "lang", place)?,
            file: optional_text(one, "file", place)?,
            line: optional_number(one, "line", place)?.and_then(|line| u32::try_from(line).ok()),
            action,
            by: if code == "gone" { By::Prune } else { By::Ingest },
            reason: Reason { code, detail: text(one, "detail", place)?, help: text(one, "help", place)? },
            expected_version: optional_number(one, "expectedVersion", place)?,
            content: content.map(|content| Written::Given(Box::new(content))),
            seen: seen(one, place)?,
            stamp: None,
        };
        Ok((operation, fields, document))
    }

    fn diagnostic(&mut self, one: &Map<String, Value>, place: &str) -> Read<Diagnostic> {
        let code = self.code(one, "code", place)?;
        let message = text(one, "message", place)?;
        let mut out = match text(one, "severity", place)?.as_str() {
            severity if severity == Severity::Error.as_str() => Diagnostic::error(code, message),
            _ => Diagnostic::warning(code, message),
        };
        let number = |key| -> Read<Option<u32>> {
            Ok(optional_number(one, key, place)?.and_then(|number| u32::try_from(number).ok()))
        };
        out.file = text(one, "file", place)?;
        out.line = number("line")?;
        out.column = number("column")?;
        out.help = text(one, "help", place)?;
        Ok(out)
    }

    /// A stable name. It is kept for the life of the process, as names in the program's own text are, so
    /// that their number and length are bounded.
    fn code(&mut self, one: &Map<String, Value>, key: &str, place: &str) -> Read<&'static str> {
        let text = text(one, key, place)?;
        if let Some(known) = self.codes.get(text.as_str()) {
            return Ok(known);
        }
        let plain =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
        if text.is_empty()
            || text.len() > CODE_CHARS_MAX
            || !text.chars().all(plain)
            || self.codes.len() >= CODES_MAX
        {
            return Err(Mistake(format!("{place}{key} is no name of one")));
        }
        let kept: &'static str = Box::leak(text.into_boxed_str());
        self.codes.insert(kept);
        Ok(kept)
    }
}

fn source(object: &Map<String, Value>) -> Read<Origin> {
    let one = map(object, "source", "")?;
    Ok(Origin {
        name: optional_text(one, "name", "source.")?,
        root: text(one, "root", "source.")?,
        commit: optional_text(one, "commit", "source.")?,
    })
}

fn target(object: &Map<String, Value>) -> Read<Target> {
    let one = map(object, "target", "")?;
    let text = |key| text(one, key, "target.");
    Ok(Target {
        store: text("store")?,
        database: text("database")?,
        collection: text("collection")?,
        engine: text("engine")?,
    })
}

fn summary(object: &Map<String, Value>) -> Read<Summary> {
    let one = map(object, "summary", "")?;
    let count = |key: &str| {
        let number = one.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| wrong(&format!("summary.{key}"), "a count"))
    };
    Ok(Summary {
        files: count("files")?,
        posts: count("posts")?,
        skipped: count("skipped")?,
        invalid: count("invalid")?,
        create: count("create")?,
        update: count("update")?,
        restamp: count("restamp")?,
        restore: count("restore")?,
        archive: count("archive")?,
        unchanged: count("unchanged")?,
        stale: count("stale")?,
        conflict: count("conflict")?,
        orphans: count("orphans")?,
    })
}

fn seen(one: &Map<String, Value>, place: &str) -> Read<Option<Seen>> {
    if one.get("seen").is_none_or(Value::is_null) {
        return Ok(None);
    }
    let inner = format!("{place}seen.");
    let seen = map(one, "seen", place)?;
    let version = optional_number(seen, "version", &inner)?
        .ok_or_else(|| wrong(&format!("{inner}version"), "a number"))?;
    Ok(Some(Seen {
        version,
        status: Status::from_stored(&text(seen, "status", &inner)?),
        source_hash: optional_text(seen, "sourceHash", &inner)?,
        revision: None,
        claim: None,
    }))
}

fn document(value: &Value, place: &str) -> Read<Document> {
    match stored(value, place)? {
        Bson::Document(document) => Ok(document),
        _ => Err(wrong(place, "a document")),
    }
}

/// A value of Extended JSON.
fn stored(value: &Value, place: &str) -> Read<Bson> {
    Bson::try_from(value.clone()).map_err(|error| Mistake(format!("{place} is no Extended JSON: {error}")))
}

fn wrong(place: &str, wanted: &str) -> Mistake {
    Mistake(format!("{place} is not {wanted}"))
}

fn item<'a>(value: &'a Value, place: &str) -> Read<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| wrong(place.trim_end_matches('.'), "an object"))
}

fn map<'a>(object: &'a Map<String, Value>, key: &str, place: &str) -> Read<&'a Map<String, Value>> {
    object.get(key).and_then(Value::as_object).ok_or_else(|| wrong(&format!("{place}{key}"), "an object"))
}

fn list<'a>(object: &'a Map<String, Value>, key: &str, place: &str) -> Read<&'a Vec<Value>> {
    object.get(key).and_then(Value::as_array).ok_or_else(|| wrong(&format!("{place}{key}"), "a list"))
}

fn text(object: &Map<String, Value>, key: &str, place: &str) -> Read<String> {
    let found = object.get(key).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| wrong(&format!("{place}{key}"), "a text"))
}

fn optional_text(object: &Map<String, Value>, key: &str, place: &str) -> Read<Option<String>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => text(object, key, place).map(Some),
    }
}

fn optional_number(object: &Map<String, Value>, key: &str, place: &str) -> Read<Option<i64>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_i64().map(Some).ok_or_else(|| wrong(&format!("{place}{key}"), "a whole number"))
        }
    }
}

fn boolean(object: &Map<String, Value>, key: &str, place: &str) -> Read<bool> {
    object.get(key).and_then(Value::as_bool).ok_or_else(|| wrong(&format!("{place}{key}"), "true or false"))
}
