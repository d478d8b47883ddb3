//! Annotations of GitHub Actions: workflow commands that put each problem beside its line.
//!
//! The form and its escapes are those of GitHub's documentation of workflow commands.

use std::io::{self, Write};

use super::event::{End, Event};
use super::{Output, Renderer, Told, human, with_root};
use crate::diagnostic::{Diagnostic, Severity};
use crate::plan::{Action, Plan};

/// The renderer of `--format github`: annotations, and the summary as a person reads it.
pub struct Github {
    human: human::Human,
    out: Vec<u8>,
    root: String,
    told: Told,
}

impl Github {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        let root = output.root.clone();
        let output = Output { progress: false, quiet: true, ..output };
        Github { human: human::Human::new(output), out: Vec::new(), root, told: Told::default() }
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
        command: &str,
        (file, line, column): (Option<String>, Option<u32>, Option<u32>),
        title: &str,
        message: &str,
    ) -> io::Result<()> {
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
        writeln!(self.out, "::{command} {}::{}", properties.join(","), data(message))
    }

    fn flush(&mut self) -> io::Result<()> {
        let annotations = std::mem::take(&mut self.out);
        self.human.write_result(&annotations)
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
            End::Failed(_) => {}
        }
        if let End::Failed(failure) = end {
            let message = format!("{}\n{}", failure.message, failure.help);
            self.annotate("error", (None, None, None), "idempost", message.trim())?;
            return self.flush();
        }
        let line = human::summary_text(end);
        self.out.extend(line.as_bytes());
        self.flush()
    }
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
