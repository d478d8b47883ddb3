//! For people: a line a post, problems with their source lines, counts that add up.
//!
//! Results go to standard output, progress and messages to standard error. Where problems are the result
//! (`check`), they are on standard output.

mod lines;
mod plan;
mod text;
mod verify;

use std::io::{self, Write};

use super::event::{Checked, End, Event, FailedPost, RunReport};
use super::paint::{ERROR, FAINT, HELP, Paint, STRONG, WARNING};
use super::progress::Progress;
use super::snippet::{plain, snippet};
use super::{Output, Purpose, Renderer, Told, count};
use crate::catalog::Skipped;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Exit, Failure};
use crate::plan::change::FieldChange;
use crate::plan::{Action, Orphan, Plan, Summary};

/// The renderer for people.
pub struct Human {
    output: Output,
    progress: Progress,
    told: Told,
}

impl Human {
    /// Makes it; the bar is shown if `output` says so.
    pub fn new(output: Output) -> Self {
        let progress = Progress::new(output.progress && !output.quiet);
        Human { output, progress, told: Told::default() }
    }

    fn tell(&mut self, text: &str) -> io::Result<()> {
        let Human { output, progress, .. } = self;
        progress.past(|| output.err.write_all(text.as_bytes()))
    }

    fn result(&mut self, text: &str) -> io::Result<()> {
        let Human { output, progress, .. } = self;
        progress.past(|| output.out.write_all(text.as_bytes()))
    }

    /// Writes a finished result as it is.
    pub(super) fn write_result(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Human { output, progress, .. } = self;
        progress.past(|| output.out.write_all(bytes))?;
        output.out.flush()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        if self.output.quiet {
            return Ok(());
        }
        let label = self.output.paint_err.style(WARNING, "note");
        self.tell(&format!("{label}: {}\n", plain(text)))
    }

    fn wants(&self, diagnostic: &Diagnostic) -> bool {
        !self.output.quiet || diagnostic.is_error()
    }

    fn problem(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        if !self.told.fresh(diagnostic) || !self.wants(diagnostic) {
            return Ok(());
        }
        let text = snippet(diagnostic, &self.output.root, self.output.paint_err);
        self.tell(&format!("{text}\n"))
    }

    fn problems(&mut self, plan: &Plan) -> io::Result<()> {
        plan.diagnostics.iter().try_for_each(|diagnostic| self.problem(diagnostic))
    }

    /// A line for each post of the plan, then the orphans.
    fn plan_lines(&mut self, plan: &Plan, changes: &[Vec<FieldChange>]) -> io::Result<()> {
        let text = plan::text(plan, changes, &self.output);
        self.result(&text)
    }

    fn check(&mut self, checked: &Checked<'_>) -> io::Result<()> {
        let paint = self.output.paint_out;
        let mut text = String::new();
        for diagnostic in checked.diagnostics.iter().filter(|diagnostic| self.wants(diagnostic)) {
            text.push_str(&snippet(diagnostic, &self.output.root, paint));
            text.push('\n');
        }
        if self.output.verbose > 0 {
            let shown = lines::Lines {
                paint,
                verbose: self.output.verbose,
                root: &self.output.root,
                detail: self.output.view.detail,
                columns: self.output.view.columns,
                with_changes: false,
            };
            checked.skipped.iter().for_each(|skipped| shown.skipped(skipped, &mut text));
        }
        if !self.output.quiet {
            text.push_str(&files(checked.summary, checked.skipped));
            text.push_str(&problems_line(checked.diagnostics, paint));
        }
        self.result(&text)
    }

    fn planned(&mut self, plan: &Plan, changes: &[Vec<FieldChange>]) -> io::Result<()> {
        self.plan_lines(plan, changes)?;
        if self.output.quiet {
            return Ok(());
        }
        self.result(&plan_summary(plan))
    }

    fn ran(&mut self, plan: &Plan, run: &RunReport) -> io::Result<()> {
        let paint = self.output.paint_out;
        let mut text = String::new();
        if !self.output.quiet {
            text.push_str(&files_line(plan));
        }
        text.push_str(&run_line(&plan.summary, run, paint));
        if !self.output.quiet {
            text.push_str(&orphans_line(plan));
        }
        self.result(&text)?;
        if let Some(why) = &run.stopped {
            let label = self.output.paint_err.style(ERROR, "stopped");
            self.tell(&format!("{label}: {}\n", plain(why)))?;
        }
        if self.output.verbose > 0 {
            self.tell(&format!("run {}, operation {}\n", run.run_id, run.operation_id))?;
        }
        Ok(())
    }
}

impl Renderer for Human {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Target(target) if !self.output.quiet => {
                let label = self.output.paint_err.style(STRONG, "target");
                // Which engine answers is known once it has been asked.
                let engine = match target.engine.as_str() {
                    "unknown" => String::new(),
                    engine => format!(", engine {engine}"),
                };
                self.tell(&format!(
                    "{label}: {}, database {}, collection {}{}\n",
                    target.store, target.database, target.collection, engine
                ))
            }
            Event::Target(_) => Ok(()),
            Event::Reading { done, all } => {
                self.progress.step("reading", *done, *all);
                Ok(())
            }
            // `check` tells the problems as its result, in `finish`.
            Event::Problem(_) if self.output.purpose == Purpose::Check => Ok(()),
            Event::Problem(diagnostic) => self.problem(diagnostic),
            Event::Planned(plan) => {
                self.problems(plan)?;
                for note in &plan.notes {
                    self.note(note)?;
                }
                if self.output.purpose == Purpose::Apply {
                    self.plan_lines(plan, &[])?;
                }
                Ok(())
            }
            Event::Applied { done, all, .. } => {
                self.progress.step("writing", *done, *all);
                Ok(())
            }
            Event::Failed(failed) => {
                let text = failed_line(failed, self.output.paint_err);
                self.tell(&text)
            }
            Event::Retrying { message, attempt, pause } => self.note(&format!(
                "attempt {attempt} failed ({message}); trying again in {} ms",
                pause.as_millis()
            )),
            Event::Note(text) => self.note(text),
        }
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        self.progress.clear();
        match end {
            End::Check(checked) => self.check(checked),
            End::Plan { plan, changes, .. } => {
                self.problems(plan)?;
                self.planned(plan, changes)
            }
            End::Run { plan, run, .. } => {
                self.problems(plan)?;
                self.ran(plan, run)
            }
            End::Verified(verified) => {
                self.problems(verified.plan)?;
                for note in &verified.plan.notes {
                    self.note(note)?;
                }
                let text = verify::text(verified, &self.output);
                self.result(&text)
            }
            End::Failed(failure) => {
                let text = failure_text(failure, self.output.paint_err);
                self.tell(&text)
            }
        }?;
        self.output.out.flush()?;
        self.output.err.flush()
    }
}

/// The counts at the end, for formats that tell the rest in their own way.
pub(super) fn summary_text(end: &End<'_>) -> String {
    match end {
        End::Check(checked) => {
            files(checked.summary, checked.skipped) + &problems_line(checked.diagnostics, Paint::OFF)
        }
        End::Plan { plan, .. } => plan_summary(plan),
        End::Run { plan, run, .. } => {
            let summary = &plan.summary;
            files_line(plan) + &run_line(summary, run, Paint::OFF) + &orphans_line(plan)
        }
        End::Verified(verified) => {
            let plan = verified.plan;
            files_line(plan) + &verify::summary(verified, Paint::OFF)
        }
        End::Failed(failure) => failure_text(failure, Paint::OFF),
    }
}

fn plan_summary(plan: &Plan) -> String {
    let summary = &plan.summary;
    let head = if changes_nothing(summary) { "nothing to do" } else { "to do" };
    files_line(plan) + &format!("{head}: {}\n", counts(summary)) + &orphans_line(plan)
}

/// A failure as every verb tells it on standard error.
pub fn failure_text(failure: &Failure, paint: Paint) -> String {
    let mut text = format!("{}: {}\n", paint.style(ERROR, "error"), plain(&failure.message));
    for line in failure.help.lines() {
        text.push_str(&format!("  {} {}\n", paint.style(HELP, "help:"), plain(line)));
    }
    text
}

fn failed_line(failed: &FailedPost, paint: Paint) -> String {
    let file = failed.file.as_deref().unwrap_or(&failed.id);
    let often = if failed.attempts > 1 { format!(" ({} attempts)", failed.attempts) } else { String::new() };
    format!(
        "{} {} {}: {}{often}\n",
        paint.style(ERROR, "failed"),
        plain(file),
        failed.class,
        plain(&failed.message)
    )
}

fn files_line(plan: &Plan) -> String {
    // A verb that reads no tree has no files to count.
    if plan.source.root.is_empty() { String::new() } else { files(&plan.summary, &plan.skipped) }
}

fn files(summary: &Summary, skipped: &[Skipped]) -> String {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for file in skipped {
        let reason = file.reason.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, number)) => *number += 1,
            None => reasons.push((reason, 1)),
        }
    }
    reasons.sort_unstable();
    let reasons: Vec<String> = reasons.iter().map(|(reason, number)| format!("{number} {reason}")).collect();
    // Where a part of the tree was asked for, its reasons would not add up to the count of the whole.
    let reasons = if reasons.is_empty() || skipped.len() != summary.skipped {
        String::new()
    } else {
        format!(" ({})", reasons.join(", "))
    };
    format!(
        "{}: {}, {} skipped{reasons}, {} invalid\n",
        count(summary.files, "file"),
        count(summary.posts, "post"),
        summary.skipped,
        summary.invalid
    )
}

fn problems_line(diagnostics: &[Diagnostic], paint: Paint) -> String {
    let number = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    if errors + warnings == 0 {
        return "no problems\n".to_owned();
    }
    let style = if errors > 0 { ERROR } else { WARNING };
    format!("{}\n", paint.style(style, format!("{}, {}", count(errors, "error"), count(warnings, "warning"))))
}

/// What will be done with posts.
const SHALL: [&str; 8] =
    ["create", "update", "restamp", "restore", "archive", "unchanged", "stale", "in conflict"];
/// What was done with posts.
const DONE: [&str; 5] = ["created", "updated", "restamped", "restored", "archived"];

/// Counts that are not zero; `unchanged` always.
fn counts(summary: &Summary) -> String {
    let numbers = [
        summary.create,
        summary.update,
        summary.restamp,
        summary.restore,
        summary.archive,
        summary.unchanged,
        summary.stale,
        summary.conflict,
    ];
    let told: Vec<String> = SHALL
        .iter()
        .zip(numbers)
        .filter(|(name, number)| *number > 0 || **name == "unchanged")
        .map(|(name, number)| format!("{number} {name}"))
        .collect();
    told.join(", ")
}

fn changes_nothing(summary: &Summary) -> bool {
    summary.create + summary.update + summary.restamp + summary.restore + summary.archive == 0
        && summary.stale + summary.conflict + summary.invalid == 0
}

/// Orphans that stay: those that the plan archives have a line of their own.
fn orphans_line(plan: &Plan) -> String {
    let left = remaining_orphans(plan).count();
    if left == 0 {
        return String::new();
    }
    format!(
        "{} in the store that no file makes; --prune archives what is gone for good\n",
        count(left, "live post")
    )
}

pub(super) fn remaining_orphans(plan: &Plan) -> impl Iterator<Item = &Orphan> {
    let archived = |id: &str| {
        plan.operations.iter().any(|operation| operation.action == Action::Archive && operation.id == id)
    };
    plan.orphans.iter().filter(move |orphan| !archived(&orphan.id))
}

fn run_line(summary: &Summary, run: &RunReport, paint: Paint) -> String {
    let done = [Action::Create, Action::Update, Action::Restamp, Action::Restore, Action::Archive];
    let mut told: Vec<String> = Vec::new();
    for (action, name) in done.iter().zip(DONE) {
        let number: usize =
            run.applied.iter().filter(|(applied, _)| applied == action).map(|(_, number)| number).sum();
        if number > 0 {
            told.push(format!("{number} {name}"));
        }
    }
    let nothing = told.is_empty();
    told.push(format!("{} unchanged", summary.unchanged));
    for (number, name) in [
        (run.settled_by_others, "settled by another run"),
        (summary.stale, "stale"),
        (summary.conflict, "in conflict"),
        (run.failed.len(), "failed"),
        (run.not_tried, "not tried"),
    ] {
        if number > 0 {
            told.push(format!("{number} {name}"));
        }
    }
    let head = match run.exit {
        Exit::Done if nothing => "nothing changed",
        Exit::Done => "done",
        Exit::Partly => "partly done",
        Exit::Interrupted | Exit::Terminated => "interrupted",
        Exit::Conflict => "conflict",
        _ if nothing => "nothing written",
        _ => "failed",
    };
    let style = if run.exit == Exit::Done { STRONG } else { ERROR };
    let mut line = format!("{}: {}", paint.style(style, head), told.join(", "));
    if run.retries > 0 {
        line.push_str(&format!("; {} sent again", count(run.retries as usize, "command")));
    }
    if run.replayed {
        line.push_str(&paint.style(FAINT, " (the result of an earlier run of this operation)"));
    }
    line.push('\n');
    line
}
