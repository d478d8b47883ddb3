//! The vocabulary: everything that happens in a run, as it happens. Renderers turn it into text, JSON
//! lines and annotations; nothing else prints.

use std::time::Duration;

use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::error::Failure;
use crate::plan::change::FieldChange;
use crate::plan::compose::Composer;
use crate::plan::verify::{Counts, Finding};
use crate::plan::{Action, Plan, Summary};
use crate::store::Target;

/// What happened.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// First: where the run writes.
    Target(&'a Target),
    /// Files read so far, of all.
    Reading {
        /// Read.
        done: usize,
        /// All.
        all: usize,
    },
    /// A problem of a file. A renderer tells a problem once, also where the plan holds it again.
    Problem(&'a Diagnostic),
    /// The plan is made and checked.
    Planned(&'a Plan),
    /// A post is in the store as planned.
    Applied {
        /// `_id`.
        id: &'a str,
        /// The file.
        file: Option<&'a str>,
        /// What was done.
        action: Action,
        /// Posts settled so far.
        done: usize,
        /// Posts to settle.
        all: usize,
    },
    /// A post is not in the store as planned.
    Failed(&'a FailedPost),
    /// A command is sent again after a pause.
    Retrying {
        /// What went wrong, with its class.
        message: &'a str,
        /// Attempt that failed, from 1.
        attempt: u32,
        /// The pause.
        pause: Duration,
    },
    /// A thing a person should know.
    Note(&'a str),
}

/// What `check` found.
#[derive(Debug, Clone, Copy)]
pub struct Checked<'a> {
    /// Counts of files; those of a store are zero.
    pub summary: &'a Summary,
    /// Skipped files among those that were asked for, in order of path.
    pub skipped: &'a [Skipped],
    /// Problems of the files that were asked for, in order of file, line, column.
    pub diagnostics: &'a [Diagnostic],
}

/// What `verify` found, and what it mended.
#[derive(Debug, Clone, Copy)]
pub struct Verified<'a> {
    /// The tree against the store: source, target, files.
    pub plan: &'a Plan,
    /// Differences first, then what is worth knowing.
    pub findings: &'a [Finding],
    /// Counts of the collection.
    pub counts: Counts,
    /// What was applied, with `--repair`.
    pub repaired: Option<(&'a Plan, &'a RunReport)>,
    /// The exit.
    pub exit: crate::error::Exit,
}

/// How a verb ended: what is told last.
#[derive(Debug, Clone, Copy)]
pub enum End<'a> {
    /// `check`.
    Check(&'a Checked<'a>),
    /// `diff`, and `ingest --dry-run`.
    Plan {
        /// The plan.
        plan: &'a Plan,
        /// The fields that differ, one entry an operation of the plan.
        changes: &'a [Vec<FieldChange>],
        /// Makes the documents that are shown whole.
        composer: &'a Composer,
    },
    /// `ingest`.
    Run {
        /// The plan that was applied.
        plan: &'a Plan,
        /// The fields that differed, one entry an operation; empty where nobody looked.
        changes: &'a [Vec<FieldChange>],
        /// Makes the documents that are shown whole.
        composer: &'a Composer,
        /// What became of it.
        run: &'a RunReport,
    },
    /// `verify`.
    Verified(&'a Verified<'a>),
    /// It failed before there was a result.
    Failed(&'a Failure),
}

/// One post that could not be written, in the report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPost {
    /// `_id`.
    pub id: String,
    /// The file.
    pub file: Option<String>,
    /// Class of the fault, or `conflict`.
    pub class: String,
    /// What happened.
    pub message: String,
    /// How often it was tried.
    pub attempts: u32,
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// Which run.
    pub run_id: String,
    /// Which intent.
    pub operation_id: String,
    /// The stored result of an earlier run was returned.
    pub replayed: bool,
    /// Counts of what was applied, by action: create, update, restamp, restore, archive.
    pub applied: Vec<(Action, usize)>,
    /// Posts that were already as wanted, by another run.
    pub settled_by_others: usize,
    /// Posts that failed.
    pub failed: Vec<FailedPost>,
    /// Posts that were not tried.
    pub not_tried: usize,
    /// Commands sent again.
    pub retries: u32,
    /// Why it stopped early, if it did.
    pub stopped: Option<String>,
    /// The exit.
    pub exit: crate::error::Exit,
}
