//! What `verify` found, for programs and for a pull request.
//!
//! The object's shape is `schemas/verify.json`.

use serde_json::{Map, Value, json};

use super::event::Verified;
use super::json::{self, FORMAT_VERSION};
use super::markdown::{Place, Section, cell, code, help, page};
use super::{count, with_root};
use crate::plan::verify::{Finding, Level};

/// The object of `verify`.
pub fn object(verified: &Verified<'_>) -> Value {
    let plan = verified.plan;
    json!({
        "formatVersion": FORMAT_VERSION,
        "toolVersion": env!("CARGO_PKG_VERSION"),
        "source": { "name": plan.source.name, "root": plan.source.root, "commit": plan.source.commit },
        "target": json::target(&plan.target),
        "summary": summary(verified),
        "findings": verified.findings.iter().map(finding).collect::<Vec<Value>>(),
        "repair": repair(verified),
        "diagnostics": json::diagnostics(&plan.diagnostics),
        "notes": plan.notes,
        "exit": verified.exit.code(),
    })
}

/// Counts: of files, of stored documents, and of findings by code.
pub fn summary(verified: &Verified<'_>) -> Value {
    let (counts, files) = (&verified.counts, &verified.plan.summary);
    let number = |level| verified.findings.iter().filter(|finding| finding.level == level).count();
    let mut codes: Map<String, Value> = Map::new();
    for finding in verified.findings {
        let known = codes.get(finding.code).and_then(Value::as_u64).unwrap_or(0);
        codes.insert(finding.code.to_owned(), json!(known + 1));
    }
    json!({
        "files": files.files,
        "posts": files.posts,
        "skipped": files.skipped,
        "invalid": files.invalid,
        "stored": counts.stored,
        "checked": counts.checked,
        "otherSources": counts.other_sources,
        "foreign": counts.foreign,
        "differences": number(Level::Difference),
        "notes": number(Level::Note),
        "codes": codes,
    })
}

/// One finding.
pub fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "level": finding.level.as_str(),
        "id": finding.id,
        "slug": finding.slug,
        "lang": finding.lang,
        "file": finding.file,
        "detail": finding.detail,
        "help": finding.help,
        "fields": json::fields(&finding.fields),
        "repair": finding.repair.map(crate::plan::Action::as_str),
    })
}

/// The run that mended, null where none was asked for.
fn repair(verified: &Verified<'_>) -> Value {
    let Some((plan, run)) = verified.repaired else { return Value::Null };
    let mut object = json::run(plan, &[], run);
    if let Value::Object(object) = &mut object {
        let told = ["changes", "runId", "operationId", "replayed", "applied", "settledByOthers"];
        let more = ["failed", "notTried", "retries", "stopped", "exit"];
        object.retain(|key, _| told.contains(&key.as_str()) || more.contains(&key.as_str()));
    }
    object
}

/// A page for a pull request or the summary of a step.
pub(super) fn markdown(verified: &Verified<'_>, root: &str, tail: &str, place: Place) -> String {
    let number = verified.findings.iter().filter(|finding| finding.level == Level::Difference).count();
    let title = if number == 0 { "no differences".to_owned() } else { count(number, "difference") };
    let target = &verified.plan.target;
    let to = format!("{} / {} / {}", target.store, target.database, target.collection);
    let head = format!("### idempost: {title}\n\nin {}\n\n", code(&to));
    let rows = verified.findings.iter().map(|finding| row(finding, root));
    let sections = [Section {
        head: "| found | post | id | what | repair |\n|---|---|---|---|---|\n".to_owned(),
        items: rows.collect(),
        what: "finding",
    }];
    page(&head, &sections, tail, place)
}

fn row(finding: &Finding, root: &str) -> String {
    let what = match &finding.file {
        Some(file) => with_root(root, file),
        None => finding.slug.clone(),
    };
    format!(
        "| **{}** | {} | {} | {}{} | {} |\n",
        finding.code,
        if what.is_empty() { String::new() } else { cell(&what) },
        cell(&finding.id),
        cell(&finding.detail),
        help(&finding.help).replace('|', "\\|"),
        finding.repair.map_or("", crate::plan::Action::as_str),
    )
}

/// What an annotation says of a finding.
pub(super) fn message(finding: &Finding) -> String {
    let text = format!("{} ({}): {}\n{}", finding.slug, finding.id, finding.detail, finding.help);
    text.trim().to_owned()
}
