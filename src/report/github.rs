//! Annotations of GitHub Actions: workflow commands that put each problem beside its line; and, where the
//! runner names files for them, the step's summary and its outputs.
//!
//! The form and its escapes are those of GitHub's documentation of workflow commands. GitHub shows ten
//! annotations of a kind for a step and drops the rest without a word: here the rest are lines of the log
//! and stand in the summary.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::event::{End, Event};
use super::markdown::{self, Place};
use super::snippet::plain;
use super::{Output, Renderer, Stream, Told, count, human, verify, with_root};
use crate::diagnostic::{Diagnostic, Severity};
use crate::plan::verify::Level;
use crate::plan::{Action, Plan, Summary};

/// Annotations of one kind that GitHub shows for a step.
pub const ANNOTATIONS_MAX: usize = 10;
/// Characters of an annotation's message; GitHub takes some 64 KiB of it.
const MESSAGE_CHARS_MAX: usize = 4_000;

/// The renderer of `--format github`: annotations, and the summary as a person reads it.
pub struct Github {
    human: human::Human,
    out: Vec<u8>,
    summary: Option<Stream>,
    outputs: Option<Stream>,
    root: String,
    told: Told,
    /// Annotations so far, by kind.
    annotations: BTreeMap<&'static str, usize>,
}

impl Github {
    /// Makes it.
    pub fn new(mut output: Output) -> Self {
        let root = output.root.clone();
        let (summary, outputs) = (output.summary.take(), output.outputs.take());
        let output = Output { progress: false, quiet: true, ..output };
        Github {
            human: human::Human::new(output),
            out: Vec::new(),
            summary,
            outputs,
            root,
            told: Told::default(),
            annotations: BTreeMap::new(),
        }
    }

    fn problem(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        if !self.told.fresh(diagnostic) {
            return Ok(());
        }
        let command = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let message = if diagnostic.help.is_empty() {
            diagnostic.message.clone()
        } else {
            format!("{}\n{}", diagnostic.message, diagnostic.help)
        };
        let file = with_root(&self.root, &diagnostic.file);
        let place = (Some(file).filter(|_| !diagnostic.file.is_empty()), diagnostic.line, diagnostic.column);
        self.annotate(command, place, diagnostic.code, &message)
    }

    fn problems(&mut self, diagnostics: &[Diagnostic]) -> io::Result<()> {
        diagnostics.iter().try_for_each(|diagnostic| self.problem(diagnostic))
    }

    fn conflicts(&mut self, plan: &Plan) -> io::Result<()> {
        for operation in plan.operations.iter().filter(|operation| operation.action == Action::Conflict) {
            let file = operation.file.as_deref().map(|file| with_root(&self.root, file));
            let message = format!("{}\n{}", operation.reason.detail, operation.reason.help);
            self.annotate("error", (file, operation.line, None), operation.reason.code, message.trim())?;
        }
        Ok(())
    }

    fn annotate(
        &mut self,
        command: &'static str,
        (file, line, column): (Option<String>, Option<u32>, Option<u32>),
        title: &str,
        message: &str,
    ) -> io::Result<()> {
        let number = self.annotations.entry(command).or_insert(0);
        *number += 1;
        if *number > ANNOTATIONS_MAX {
            let place = file.map(|file| format!(" {}", plain(&file))).unwrap_or_default();
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let first = message.lines().next().unwrap_or_default();
            return writeln!(
                self.out,
                "{}",
                no_command(&format!("{command}{place}{line} {title}: {}", plain(first)))
            );
        }
        let mut properties = Vec::new();
        if let Some(file) = file {
            properties.push(format!("file={}", property(&file)));
        }
        if let Some(line) = line {
            properties.push(format!("line={line}"));
        }
        if let Some(column) = column {
            properties.push(format!("col={column}"));
        }
        properties.push(format!("title={}", property(title)));
        let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
        let lines: Vec<String> = message.lines().map(plain).collect();
        writeln!(self.out, "::{command} {}::{}", properties.join(","), data(&lines.join("\n")))
    }

    /// How many annotations GitHub would have dropped.
    fn dropped(&mut self) -> io::Result<()> {
        let dropped: Vec<String> = self
            .annotations
            .iter()
            .filter_map(|(kind, number)| {
                Some((kind, number.checked_sub(ANNOTATIONS_MAX).filter(|rest| *rest > 0)?))
            })
            .map(|(kind, rest)| count(rest, kind))
            .collect();
        if dropped.is_empty() {
            return Ok(());
        }
        writeln!(
            self.out,
            "GitHub shows {ANNOTATIONS_MAX} annotations of a kind; {} more stand above and in the step's summary",
            dropped.join(", ")
        )
    }

    fn flush(&mut self) -> io::Result<()> {
        let annotations = std::mem::take(&mut self.out);
        self.human.write_result(&annotations)
    }

    /// The files that the runner reads at the end of the step. The result is told where they cannot be written, too.
    fn files(&mut self, end: &End<'_>) -> io::Result<()> {
        let mut told = Ok(());
        if let Some(summary) = &mut self.summary {
            let text = markdown::text(end, &self.root, Place::Summary) + "\n";
            told = summary.write_all(text.as_bytes()).and_then(|()| summary.flush());
        }
        if let Some(outputs) = &mut self.outputs {
            let lines: Vec<String> =
                values(end).into_iter().map(|(name, value)| format!("{name}={value}\n")).collect();
            told = told.and(outputs.write_all(lines.concat().as_bytes()).and_then(|()| outputs.flush()));
        }
        if let Err(error) = told {
            let message = format!("the step's summary or outputs cannot be written: {error}");
            self.annotate("warning", (None, None, None), "idempost", &message)?;
        }
        Ok(())
    }
}

impl Renderer for Github {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Problem(diagnostic) => self.problem(diagnostic)?,
            Event::Planned(plan) => {
                self.problems(&plan.diagnostics)?;
                self.conflicts(plan)?;
            }
            Event::Failed(failed) => {
                let file = failed.file.as_deref().map(|file| with_root(&self.root, file));
                self.annotate("error", (file, None, None), &failed.class, &failed.message)?;
            }
            Event::Note(note) => self.annotate("notice", (None, None, None), "idempost", note)?,
            Event::Target(_) | Event::Reading { .. } | Event::Applied { .. } | Event::Retrying { .. } => {}
        }
        self.flush()
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        match end {
            End::Check(checked) => self.problems(checked.diagnostics)?,
            End::Plan { plan, .. } | End::Run { plan, .. } => self.problems(&plan.diagnostics)?,
            End::Verified(verified) => {
                self.problems(&verified.plan.diagnostics)?;
                for finding in verified.findings {
                    let kind = if finding.level == Level::Difference { "error" } else { "notice" };
                    let file = finding.file.as_deref().map(|file| with_root(&self.root, file));
                    self.annotate(kind, (file, None, None), finding.code, &verify::message(finding))?;
                }
            }
            End::Failed(_) => {}
        }
        if let End::Failed(failure) = end {
            let message = format!("{}\n{}", failure.message, failure.help);
            self.annotate("error", (None, None, None), "idempost", message.trim())?;
            self.files(end)?;
            return self.flush();
        }
        self.dropped()?;
        self.files(end)?;
        let line = human::summary_text(end);
        self.out.extend(line.as_bytes());
        self.flush()
    }
}

/// The step's outputs: numbers and ids alone, so that nothing of a file can add a line.
fn values(end: &End<'_>) -> Vec<(&'static str, String)> {
    match end {
        End::Check(checked) => {
            let number = |severity| checked.diagnostics.iter().filter(|one| one.severity == severity).count();
            vec![
                ("posts", checked.summary.posts.to_string()),
                ("invalid", checked.summary.invalid.to_string()),
                ("errors", number(Severity::Error).to_string()),
                ("warnings", number(Severity::Warning).to_string()),
            ]
        }
        End::Plan { plan, .. } => {
            let Summary { create, update, restamp, restore, archive, .. } = plan.summary;
            counts(&plan.summary, [create, update, restamp, restore, archive])
        }
        End::Run { plan, run, .. } => {
            let done = |action: Action| {
                run.applied.iter().filter(|(applied, _)| *applied == action).map(|(_, number)| number).sum()
            };
            let applied = [Action::Create, Action::Update, Action::Restamp, Action::Restore, Action::Archive];
            let mut out = counts(&plan.summary, applied.map(done));
            out.push(("failed", run.failed.len().to_string()));
            out.push(("run-id", run.run_id.clone()));
            out
        }
        End::Verified(verified) => {
            let is = |level| verified.findings.iter().filter(|finding| finding.level == level).count();
            vec![
                ("differences", is(Level::Difference).to_string()),
                ("notes", is(Level::Note).to_string()),
                ("checked", verified.counts.checked.to_string()),
                ("foreign", verified.counts.foreign.to_string()),
            ]
        }
        End::Failed(_) => Vec::new(),
    }
}

fn counts(
    summary: &Summary,
    [created, updated, restamped, restored, archived]: [usize; 5],
) -> Vec<(&'static str, String)> {
    let numbers = [
        ("changes", created + updated + restamped + restored + archived),
        ("created", created),
        ("updated", updated),
        ("restamped", restamped),
        ("restored", restored),
        ("archived", archived),
        ("unchanged", summary.unchanged),
        ("stale", summary.stale),
        ("conflicts", summary.conflict),
        ("invalid", summary.invalid),
        ("orphans", summary.orphans),
    ];
    numbers.into_iter().map(|(name, number)| (name, number.to_string())).collect()
}

/// A line that the runner takes for no command: those of today begin a line, those of old may stand anywhere.
fn no_command(line: &str) -> String {
    line.replace("##[", "## [")
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
