//! The same facts as events, one JSON object a line, as they happen. Every line has `event`; the first
//! one names the format's version.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::event::{End, Event};
use super::json::{self, FORMAT_VERSION};
use super::verify;
use super::{Output, Purpose, Renderer, Stream, Told};
use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::plan::change::FieldChange;
use crate::plan::{Action, Plan};

/// The renderer of `--format ndjson`.
pub struct Ndjson {
    out: Stream,
    purpose: Purpose,
    begun: bool,
    skipped: bool,
    told: Told,
}

impl Ndjson {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        Ndjson {
            out: output.out,
            purpose: output.purpose,
            begun: false,
            skipped: false,
            told: Told::default(),
        }
    }

    fn line(&mut self, event: &str, facts: Value) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.line(
                "begin",
                json!({ "formatVersion": FORMAT_VERSION, "toolVersion": env!("CARGO_PKG_VERSION") }),
            )?;
        }
        let mut line = json!({ "event": event });
        if let (Value::Object(line), Value::Object(facts)) = (&mut line, facts) {
            line.extend(facts);
        }
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")?;
        // A reader at the other end of a pipe sees a line when it happens.
        self.out.flush()
    }

    fn files(&mut self, diagnostics: &[Diagnostic], skipped: &[Skipped]) -> io::Result<()> {
        diagnostics.iter().try_for_each(|diagnostic| self.problem(diagnostic))?;
        if std::mem::replace(&mut self.skipped, true) {
            return Ok(());
        }
        for file in skipped {
            self.line("skipped", json!({ "file": file.file, "reason": file.reason.as_str() }))?;
        }
        Ok(())
    }

    fn problem(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        if self.told.fresh(diagnostic) { self.line("problem", json::diagnostic(diagnostic)) } else { Ok(()) }
    }

    fn plan(&mut self, plan: &Plan, changes: &[Vec<FieldChange>]) -> io::Result<()> {
        self.files(&plan.diagnostics, &plan.skipped)?;
        let operations = plan.operations.iter().enumerate();
        for (at, operation) in operations.filter(|(_, operation)| operation.action != Action::Unchanged) {
            let fields = changes.get(at).map_or(&[][..], Vec::as_slice);
            self.line("change", json::change(operation, fields))?;
        }
        for orphan in &plan.orphans {
            self.line(
                "orphan",
                json!({ "id": orphan.id, "slug": orphan.slug, "lang": orphan.lang, "path": orphan.path }),
            )?;
        }
        for note in &plan.notes {
            self.line("note", json!({ "message": note }))?;
        }
        Ok(())
    }
}

impl Renderer for Ndjson {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Target(target) => self.line("target", json::target(target)),
            Event::Problem(diagnostic) => self.problem(diagnostic),
            Event::Planned(plan) if self.purpose == Purpose::Apply => self.plan(plan, &[]),
            // How far reading is, is for a bar; a plan that is only looked at is told at the end.
            Event::Reading { .. } | Event::Planned(_) => Ok(()),
            Event::Applied { id, file, action, .. } => {
                self.line("applied", json!({ "id": id, "file": file, "action": action.as_str() }))
            }
            Event::Failed(failed) => self.line("failed", json::failed(failed)),
            Event::Retrying { message, attempt, pause } => self.line(
                "retrying",
                json!({
                    "message": message,
                    "attempt": attempt,
                    "pauseMs": u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
                }),
            ),
            Event::Note(text) => self.line("note", json!({ "message": text })),
        }
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        match end {
            End::Check(checked) => {
                self.files(checked.diagnostics, checked.skipped)?;
                let object = json::check(checked);
                self.line("end", json!({ "summary": object.get("summary") }))
            }
            End::Plan { plan, changes, .. } => {
                self.plan(plan, changes)?;
                self.line("end", json!({ "summary": json::summary(&plan.summary) }))
            }
            End::Run { plan, run, .. } => {
                self.files(&plan.diagnostics, &plan.skipped)?;
                let mut object = json::run(plan, &[], run);
                if let Value::Object(object) = &mut object {
                    let told = ["summary", "runId", "operationId", "replayed", "applied", "settledByOthers"];
                    let more = ["failed", "notTried", "retries", "stopped", "exit"];
                    object.retain(|key, _| told.contains(&key.as_str()) || more.contains(&key.as_str()));
                }
                self.line("end", object)
            }
            End::Verified(verified) => {
                self.files(&verified.plan.diagnostics, &verified.plan.skipped)?;
                for finding in verified.findings {
                    self.line("finding", verify::finding(finding))?;
                }
                let object = verify::object(verified);
                let told =
                    ["summary", "repair", "exit"].map(|key| (key.to_owned(), object.get(key).cloned()));
                let told = told.into_iter().map(|(key, value)| (key, value.unwrap_or_default())).collect();
                self.line("end", Value::Object(told))
            }
            End::Failed(failure) => {
                let object = json::failure(failure);
                self.line("end", json!({ "error": object.get("error"), "exit": object.get("exit") }))
            }
        }
    }
}
