//! One JSON object on standard output (`DESIGN` 11). Keys keep their spelling and are only ever added to;
//! `formatVersion` says when that is not so. No clock, and lists in order of path, then id.
//!
//! The shapes are functions of plain values, so that tests hold them to `schemas/*.json`.

use std::io::{self, Write};

use bson::Bson;
use serde_json::{Map, Value, json};

use super::event::{Checked, End, Event, FailedPost, RunReport};
use super::human::failure_text;
use super::paint::Paint;
use super::snippet::plain;
use super::{Output, Renderer, Stream};
use crate::catalog::Skipped;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Failure;
use crate::plan::change::FieldChange;
use crate::plan::saved::Flags;
use crate::plan::{Action, Operation, Plan, Summary};
use crate::post::decode::Hashed;
use crate::post::links::Asset;
use crate::post::{Parsed, Skip};
use crate::store::Target;
use crate::store::document::Head;

/// The version of every JSON shape here.
pub const FORMAT_VERSION: u32 = 1;

/// The renderer of `--format json`.
pub struct Json {
    out: Stream,
    err: Stream,
    paint_err: Paint,
    quiet: bool,
    saves: Option<Flags>,
}

impl Json {
    /// Makes it. There is no bar and no colour in the output.
    pub fn new(output: Output) -> Self {
        Json {
            out: output.out,
            err: output.err,
            paint_err: output.paint_err,
            quiet: output.quiet,
            saves: output.saves,
        }
    }
}

impl Renderer for Json {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        // What is not in the object is a message.
        match event {
            Event::Note(text) if !self.quiet => writeln!(self.err, "note: {}", plain(text)),
            Event::Retrying { message, attempt, .. } if !self.quiet => {
                writeln!(self.err, "note: attempt {attempt} failed: {}", plain(message))
            }
            _ => Ok(()),
        }
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        if let (Some(flags), End::Plan { plan, changes, composer }) = (self.saves, end) {
            let mut out = io::BufWriter::new(&mut self.out);
            super::saved::write(&mut out, plan, changes, composer, flags)?;
            return out.flush();
        }
        let value = match end {
            End::Check(checked) => check(checked),
            End::Plan { plan: planned, changes, .. } => plan(planned, changes),
            End::Run { plan, changes, run: ran, .. } => run(plan, changes, ran),
            End::Verified(verified) => super::verify::object(verified),
            End::Failed(failed) => {
                self.err.write_all(failure_text(failed, self.paint_err).as_bytes())?;
                failure(failed)
            }
        };
        write_pretty(&mut self.out, &value)?;
        self.out.flush()
    }
}

/// Writes one object with two blanks of indent and a line end.
pub fn write_pretty(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The object of `check`.
pub fn check(checked: &Checked<'_>) -> Value {
    let number =
        |severity| checked.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    json!({
        "formatVersion": FORMAT_VERSION,
        "toolVersion": env!("CARGO_PKG_VERSION"),
        "summary": {
            "files": checked.summary.files,
            "posts": checked.summary.posts,
            "skipped": checked.summary.skipped,
            "invalid": checked.summary.invalid,
            "errors": number(Severity::Error),
            "warnings": number(Severity::Warning),
        },
        "diagnostics": diagnostics(checked.diagnostics),
        "skipped": skipped(checked.skipped),
    })
}

/// The object of `diff`.
pub fn plan(plan: &Plan, changes: &[Vec<FieldChange>]) -> Value {
    Value::Object(plan_object(plan, changes))
}

fn plan_object(plan: &Plan, changes: &[Vec<FieldChange>]) -> Map<String, Value> {
    let operations: Vec<Value> = plan
        .operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| operation.action != Action::Unchanged)
        .map(|(at, operation)| change(operation, changes.get(at).map_or(&[], Vec::as_slice)))
        .collect();
    let orphans: Vec<Value> = plan
        .orphans
        .iter()
        .map(|orphan| json!({ "id": orphan.id, "slug": orphan.slug, "lang": orphan.lang, "path": orphan.path }))
        .collect();
    object([
        ("formatVersion", json!(FORMAT_VERSION)),
        ("toolVersion", json!(env!("CARGO_PKG_VERSION"))),
        (
            "source",
            json!({ "name": plan.source.name, "root": plan.source.root, "commit": plan.source.commit }),
        ),
        ("target", target(&plan.target)),
        ("pipeline", json!(plan.pipeline)),
        ("summary", summary(&plan.summary)),
        ("changes", Value::Array(operations)),
        ("orphans", Value::Array(orphans)),
        ("diagnostics", diagnostics(&plan.diagnostics)),
        ("skipped", skipped(&plan.skipped)),
        ("notes", json!(plan.notes)),
    ])
}

/// The counts of a plan.
pub fn summary(summary: &Summary) -> Value {
    json!({
        "files": summary.files,
        "posts": summary.posts,
        "skipped": summary.skipped,
        "invalid": summary.invalid,
        "create": summary.create,
        "update": summary.update,
        "restamp": summary.restamp,
        "restore": summary.restore,
        "archive": summary.archive,
        "unchanged": summary.unchanged,
        "stale": summary.stale,
        "conflict": summary.conflict,
        "orphans": summary.orphans,
    })
}

/// One change of a plan.
pub fn change(operation: &Operation, fields: &[FieldChange]) -> Value {
    json!({
        "id": operation.id,
        "slug": operation.slug,
        "lang": operation.lang,
        "file": operation.file,
        "line": operation.line,
        "action": operation.action.as_str(),
        "reason": operation.reason.code,
        "detail": operation.reason.detail,
        "help": operation.reason.help,
        "expectedVersion": operation.expected_version,
        "fields": self::fields(fields),
    })
}

/// Fields that differ, with both values.
pub fn fields(fields: &[FieldChange]) -> Value {
    let field = |field: &FieldChange| json!({ "path": field.path, "before": bson(field.before.as_ref()), "after": bson(field.after.as_ref()) });
    fields.iter().map(field).collect()
}

/// The object of `ingest`: the plan's keys and the run's.
pub fn run(plan: &Plan, changes: &[Vec<FieldChange>], run: &RunReport) -> Value {
    let mut out = plan_object(plan, changes);
    let done = [Action::Create, Action::Update, Action::Restamp, Action::Restore, Action::Archive];
    let applied: Map<String, Value> = done
        .iter()
        .map(|action| {
            let number: usize =
                run.applied.iter().filter(|(applied, _)| applied == action).map(|(_, number)| number).sum();
            (action.as_str().to_owned(), json!(number))
        })
        .collect();
    out.extend(object([
        ("runId", json!(run.run_id)),
        ("operationId", json!(run.operation_id)),
        ("replayed", json!(run.replayed)),
        ("applied", Value::Object(applied)),
        ("settledByOthers", json!(run.settled_by_others)),
        ("failed", run.failed.iter().map(failed).collect()),
        ("notTried", json!(run.not_tried)),
        ("retries", json!(run.retries)),
        ("stopped", json!(run.stopped)),
        ("exit", json!(run.exit.code())),
    ]));
    Value::Object(out)
}

/// One post that could not be written.
pub fn failed(failed: &FailedPost) -> Value {
    json!({
        "id": failed.id,
        "file": failed.file,
        "class": failed.class,
        "message": failed.message,
        "attempts": failed.attempts,
    })
}

/// What is told where there is no result.
pub fn failure(failure: &Failure) -> Value {
    json!({
        "formatVersion": FORMAT_VERSION,
        "toolVersion": env!("CARGO_PKG_VERSION"),
        "error": { "message": failure.message, "help": failure.help },
        "exit": failure.exit.code(),
    })
}

/// Everything that `explain FILE` knows about a file.
#[derive(Debug, Clone, Copy)]
pub struct PostReport<'a> {
    /// The file, read by itself.
    pub parsed: &'a Parsed,
    /// Its problems, those found against the whole tree among them.
    pub diagnostics: &'a [Diagnostic],
    /// Why it is no post, if it is skipped.
    pub skipped: Option<Skip>,
    /// Everything beside the source that shapes the document.
    pub pipeline: &'a str,
    /// The assets it refers to.
    pub assets: &'a [Asset],
    /// The rendered body.
    pub html: Option<&'a str>,
    /// What of its bytes is hashed.
    pub hashed: Option<Hashed>,
    /// What the store holds and what the next run would do; `None` where nobody looked.
    pub store: Option<&'a StoreReport<'a>>,
}

/// What `explain` saw in the store.
#[derive(Debug, Clone, Default)]
pub struct StoreReport<'a> {
    /// The store, if it could be looked at.
    pub target: Option<Target>,
    /// Why it could not be.
    pub error: Option<String>,
    /// What is stored under the id.
    pub stored: Option<&'a Head>,
    /// What the next run would do.
    pub next: Option<&'a Operation>,
    /// In words, where no operation says it.
    pub left: Option<String>,
}

/// The object of `explain FILE`. What could not be read is null.
pub fn post(report: &PostReport<'_>) -> Value {
    let facts = &report.parsed.facts;
    let meta = &facts.meta;
    let id = match (&facts.slug, &facts.lang, facts.published_at) {
        (Some(slug), Some(lang), Some(at)) => {
            Some(crate::identity::PostId::derive(slug, lang, at).to_string())
        }
        _ => None,
    };
    let assets: Vec<Value> = report
        .assets
        .iter()
        .map(|asset| {
            json!({
                "path": asset.path,
                "sha256": asset.sha256,
                "bytes": asset.bytes,
                "mime": asset.mime,
                "url": asset.url,
            })
        })
        .collect();
    let extra = Bson::Document(meta.extra.clone());
    Value::Object(object([
        ("formatVersion", json!(FORMAT_VERSION)),
        ("toolVersion", json!(env!("CARGO_PKG_VERSION"))),
        ("file", json!(report.parsed.file)),
        ("id", json!(id)),
        ("slug", json!(facts.slug.as_ref().map(crate::post::slug::Slug::as_str))),
        ("lang", json!(facts.lang.as_ref().map(crate::post::lang::Lang::as_str))),
        ("publishedAtMs", json!(facts.published_at.map(crate::post::date::PublishedAt::unix_millis))),
        ("title", json!(meta.title)),
        ("draft", json!(facts.draft)),
        ("sourceHash", json!(facts.source_hash.as_ref().map(crate::identity::SourceHash::as_str))),
        ("pipeline", json!(report.pipeline)),
        ("translationKey", json!(meta.translation_key)),
        ("translationPath", json!(facts.translation_path)),
        ("summary", json!(meta.summary)),
        ("tags", json!(meta.tags)),
        ("categories", json!(meta.categories)),
        ("authors", json!(meta.authors)),
        ("cover", json!(meta.cover)),
        ("canonicalUrl", json!(meta.canonical_url)),
        ("aliases", json!(meta.aliases)),
        ("updatedAtMs", json!(meta.updated_at)),
        ("expiresAtMs", json!(meta.expires_at)),
        ("unlisted", json!(meta.unlisted)),
        ("assets", Value::Array(assets)),
        ("extra", bson(Some(&extra))),
        ("html", json!(report.html)),
        (
            "from",
            json!({
                "slug": facts.from.slug,
                "lang": facts.from.lang,
                "publishedAt": facts.from.published_at,
            }),
        ),
        ("diagnostics", diagnostics(report.diagnostics)),
        ("skipped", json!(report.skipped.map(Skip::as_str))),
        ("hashed", report.hashed.map_or(Value::Null, hashed)),
        ("store", report.store.map_or(Value::Null, store)),
    ]))
}

fn hashed(hashed: Hashed) -> Value {
    json!({
        "fileBytes": hashed.file_bytes,
        "bytes": hashed.bytes,
        "bom": hashed.bom,
        "crlf": hashed.crlf,
    })
}

fn store(report: &StoreReport<'_>) -> Value {
    let stored = report.stored.map_or(Value::Null, |head| {
        let ingest = head.ingest.as_ref();
        json!({
            "id": head.id,
            "slug": head.slug,
            "lang": head.lang,
            "status": head.status.as_str(),
            "live": head.live,
            "sourceHash": head.source_hash,
            "supersededBy": head.superseded_by,
            "version": ingest.map(|ingest| ingest.version),
            "path": ingest.map(|ingest| &ingest.path),
            "source": ingest.and_then(|ingest| ingest.source.as_ref()),
            "pipeline": ingest.map(|ingest| &ingest.pipeline),
            "runId": ingest.map(|ingest| &ingest.run_id),
            "revision": ingest.and_then(|ingest| ingest.revision),
        })
    });
    let next = match (report.next, &report.left) {
        (Some(operation), _) => json!({
            "action": operation.action.as_str(),
            "reason": operation.reason.code,
            "detail": operation.reason.detail,
            "help": operation.reason.help,
        }),
        (None, Some(left)) => json!({ "action": "none", "reason": "", "detail": left, "help": "" }),
        (None, None) => Value::Null,
    };
    json!({
        "target": report.target.as_ref().map_or(Value::Null, target),
        "error": report.error,
        "stored": stored,
        "next": next,
    })
}

/// Which store.
pub fn target(target: &Target) -> Value {
    json!({
        "store": target.store,
        "database": target.database,
        "collection": target.collection,
        "engine": target.engine,
    })
}

/// Problems.
pub fn diagnostics(diagnostics: &[Diagnostic]) -> Value {
    diagnostics.iter().map(diagnostic).collect()
}

/// One problem.
pub fn diagnostic(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code,
        "severity": diagnostic.severity.as_str(),
        "file": diagnostic.file,
        "line": diagnostic.line,
        "column": diagnostic.column,
        "message": diagnostic.message,
        "help": diagnostic.help,
    })
}

/// Skipped files.
pub fn skipped(skipped: &[Skipped]) -> Value {
    skipped.iter().map(|file| json!({ "file": file.file, "reason": file.reason.as_str() })).collect()
}

/// A stored value as relaxed Extended JSON; an absent one as null.
fn bson(value: Option<&Bson>) -> Value {
    value.map_or(Value::Null, |value| value.clone().into_relaxed_extjson())
}

/// An object whose keys stand in this order.
fn object<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
