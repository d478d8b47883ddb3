//! Events and their renderers. Nothing else in the house prints.
//!
//! The verbs tell a [`Renderer`] what happens ([`event::Event`]) and how it ended ([`event::End`]);
//! [`renderer`] makes the one that the format asks for. A renderer decides nothing and reads no clock, so
//! two equal runs print equal bytes (but for a run's own id).
#![expect(
    clippy::format_push_string,
    reason = "writing to a String cannot fail, and `write!` would hand back a Result to drop"
)]

pub mod event;
pub mod format;
pub mod github;
pub mod html;
pub mod human;
pub mod json;
pub mod markdown;
pub mod ndjson;
pub mod paint;
pub mod progress;
pub mod runner;
pub mod sarif;
pub mod saved;
pub mod snippet;
#[cfg(test)]
mod tests;
pub mod verify;
pub mod watching;

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::diagnostic::Diagnostic;
use crate::plan::saved::Flags;
use event::{End, Event};
use format::Format;
use paint::Paint;

/// A stream that is written to.
pub type Stream = Box<dyn Write + Send>;

/// Turns what happens into output of one format.
pub trait Renderer: Send {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>) -> io::Result<()>;

    /// The last thing that is told.
    fn finish(&mut self, end: &End<'_>) -> io::Result<()>;
}

/// Where a renderer writes, and how.
pub struct Output {
    /// Results.
    pub out: Stream,
    /// Progress and messages.
    pub err: Stream,
    /// Colours of results.
    pub paint_out: Paint,
    /// Colours of messages.
    pub paint_err: Paint,
    /// Errors and results alone.
    pub quiet: bool,
    /// How much more is said: 0, 1 or 2.
    pub verbose: u8,
    /// Whether a bar is shown on standard error.
    pub progress: bool,
    /// The content root as it is written before paths of files, so that a reader (and a tool) finds the
    /// file from where it stands; empty or `.`: nothing is put before them.
    pub root: String,
    /// What the verb is for.
    pub purpose: Purpose,
    /// The file that GitHub's runner shows as the step's summary, for its format.
    pub summary: Option<Stream>,
    /// The file from which GitHub's runner reads the step's outputs, for its format.
    pub outputs: Option<Stream>,
    /// How much of a plan is shown to a person.
    pub view: View,
    /// A plan is saved with these flags, for its application, and not only told: `diff --out` as JSON.
    pub saves: Option<Flags>,
}

/// How much of a plan is shown to a person, and on how wide a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct View {
    /// How much.
    pub detail: Detail,
    /// Columns of the terminal that results go to; `None` where it is none.
    pub columns: Option<usize>,
}

/// How much of a change is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Its fields, and the bodies compared.
    #[default]
    Full,
    /// Its fields; of bodies the number of lines (`--no-body`).
    Fields,
    /// The names of its fields (`--fields`).
    Names,
    /// A line with counts (`--stat`).
    Stat,
}

/// What a verb is for: decides what of the events is a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// `check`: the problems are the result.
    Check,
    /// `diff`: the plan is the result.
    Look,
    /// `ingest`: the plan is told before it is applied, what became of it is the result.
    Apply,
}

/// The renderer of a format.
pub fn renderer(format: Format, output: Output) -> Box<dyn Renderer> {
    match format {
        Format::Json => Box::new(json::Json::new(output)),
        Format::Ndjson => Box::new(ndjson::Ndjson::new(output)),
        Format::Github => Box::new(github::Github::new(output)),
        Format::Sarif => Box::new(sarif::Sarif::new(output)),
        Format::Markdown => Box::new(markdown::Markdown::new(output)),
        Format::Html => Box::new(html::Html::new(output)),
        Format::Human => Box::new(human::Human::new(output)),
    }
}

/// The problems that were told, so that none is told twice.
#[derive(Default)]
pub(crate) struct Told(BTreeSet<String>);

impl Told {
    /// Whether this one is new; it counts as told from now on.
    pub(crate) fn fresh(&mut self, diagnostic: &Diagnostic) -> bool {
        let Diagnostic { file, line, column, code, message, .. } = diagnostic;
        self.0.insert(format!("{file}\0{line:?}\0{column:?}\0{code}\0{message}"))
    }
}

/// A file's path below the content root, with the root before it.
pub(crate) fn with_root(root: &str, file: &str) -> String {
    match root.trim_end_matches('/') {
        "" if root.starts_with('/') => format!("/{file}"),
        "" | "." => file.to_owned(),
        root => format!("{root}/{file}"),
    }
}

/// The number of things with the right form of their name: `1 file`, `2 files`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
