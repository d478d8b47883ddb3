//! `watch` for people: a line a post as it is stored, problems when they come and when they are gone.
//!
//! One renderer for all runs of a watch, so that what stays as it was is told once.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::event::{End, Event};
use super::human::failure_text;
use super::paint::{CHANGED, ERROR, FAINT, GONE, NEW, STRONG, WARNING};
use super::snippet::{plain, snippet};
use super::{Output, Renderer, count, with_root};
use crate::diagnostic::Diagnostic;
use crate::plan::{Action, Operation, Plan};

/// The renderer of a watch.
pub struct Watching {
    output: Output,
    begun: bool,
    ran: bool,
    /// What was told in the run before, and what is told in this one.
    before: BTreeSet<String>,
    now: BTreeSet<String>,
}

impl Watching {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        Watching { output, begun: false, ran: false, before: BTreeSet::new(), now: BTreeSet::new() }
    }

    /// Whether this was not told in this run or the one before.
    fn is_news(&mut self, what: String) -> bool {
        let known = self.before.contains(&what);
        self.now.insert(what) && !known
    }

    fn tell(&mut self, text: &str) -> io::Result<()> {
        self.output.err.write_all(text.as_bytes())?;
        self.output.err.flush()
    }

    fn result(&mut self, text: &str) -> io::Result<()> {
        self.output.out.write_all(text.as_bytes())?;
        self.output.out.flush()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        if self.output.quiet {
            return Ok(());
        }
        let label = self.output.paint_err.style(WARNING, "note");
        self.tell(&format!("{label}: {}\n", plain(text)))
    }

    fn problem(&mut self, diagnostic: &Diagnostic) -> io::Result<()> {
        let Diagnostic { file, line, code, message, .. } = diagnostic;
        if (self.output.quiet && !diagnostic.is_error())
            || !self.is_news(format!("{file}\0{line:?}\0{code}\0{message}"))
        {
            return Ok(());
        }
        let text = snippet(diagnostic, &self.output.root, self.output.paint_err);
        self.tell(&format!("{text}\n"))
    }

    fn conflict(&mut self, operation: &Operation) -> io::Result<()> {
        let reason = &operation.reason;
        if !self.is_news(format!("{}\0{}\0{}", operation.id, reason.code, reason.detail)) {
            return Ok(());
        }
        let file = self.file(operation.file.as_deref(), &operation.id);
        let mut text = self.line("conflict", &format!("{file} ({})", reason.code));
        for line in [&reason.detail, &reason.help].into_iter().filter(|line| !line.is_empty()) {
            text.push_str(&format!("          {}\n", plain(line)));
        }
        self.result(&text)
    }

    fn planned(&mut self, plan: &Plan) -> io::Result<()> {
        plan.diagnostics.iter().try_for_each(|diagnostic| self.problem(diagnostic))?;
        for note in &plan.notes {
            if self.is_news(note.clone()) {
                self.note(note)?;
            }
        }
        let refused = plan.operations.iter().filter(|operation| operation.action == Action::Conflict);
        refused.into_iter().try_for_each(|operation| self.conflict(operation))
    }

    fn file(&self, file: Option<&str>, id: &str) -> String {
        file.map_or_else(|| id.to_owned(), |file| with_root(&self.output.root, file))
    }

    fn line(&self, word: &str, what: &str) -> String {
        let style = match word {
            "created" | "restored" => NEW,
            "updated" => CHANGED,
            "archived" => GONE,
            "restamped" => FAINT,
            _ => ERROR,
        };
        let pad = " ".repeat(9_usize.saturating_sub(word.len()));
        format!("{}{pad} {}\n", self.output.paint_out.style(style, word), plain(what))
    }

    fn ran(&mut self, plan: &Plan) -> io::Result<()> {
        self.planned(plan)?;
        let first = !std::mem::replace(&mut self.ran, true);
        if first {
            let summary = &plan.summary;
            let text = format!(
                "{} in {}; what is saved now is stored, Ctrl-C ends it\n",
                count(summary.posts, "post"),
                count(summary.files, "file")
            );
            self.tell(&text)?;
        } else if self.now.is_empty() && !self.before.is_empty() {
            self.tell("no problems left\n")?;
        }
        self.before = std::mem::take(&mut self.now);
        Ok(())
    }
}

impl Renderer for Watching {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Target(target) => {
                if std::mem::replace(&mut self.begun, true) || self.output.quiet {
                    return Ok(());
                }
                let label = self.output.paint_err.style(STRONG, "watching");
                let text = format!(
                    "{label} {}, target {}, database {}, collection {}\n",
                    plain(&self.output.root),
                    target.store,
                    target.database,
                    target.collection
                );
                self.tell(&text)
            }
            Event::Problem(diagnostic) => self.problem(diagnostic),
            Event::Planned(plan) => self.planned(plan),
            Event::Applied { id, file, action, .. } => {
                let word = match action {
                    Action::Create => "created",
                    Action::Update => "updated",
                    Action::Restore => "restored",
                    Action::Archive => "archived",
                    _ => "restamped",
                };
                let file = self.file(*file, id);
                let text = self.line(word, &file);
                self.result(&text)
            }
            Event::Failed(failed) => {
                let file = self.file(failed.file.as_deref(), &failed.id);
                let text = self.line("failed", &format!("{file}: {} ({})", failed.message, failed.class));
                self.result(&text)
            }
            Event::Retrying { message, attempt, pause } => self.note(&format!(
                "attempt {attempt} failed ({message}); trying again in {} ms",
                pause.as_millis()
            )),
            Event::Note(text) => self.note(text),
            Event::Reading { .. } => Ok(()),
        }
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        match end {
            End::Run { plan, run, .. } => {
                self.ran(plan)?;
                match &run.stopped {
                    Some(why) => self.note(why),
                    None => Ok(()),
                }
            }
            End::Failed(failure) => {
                let text = failure_text(failure, self.output.paint_err);
                self.tell(&text)
            }
            End::Check(_) | End::Plan { .. } | End::Verified(_) => Ok(()),
        }
    }
}
