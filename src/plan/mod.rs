//! `plan(catalog, observed, policy) -> Plan`: a pure function that leaves nothing to decide.

pub mod change;
pub mod check;
pub mod lifecycle;

use bson::Document;

use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::store::Target;

/// What is done with a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Not stored.
    Create,
    /// Stored, something it is made from differs.
    Update,
    /// Only bookkeeping differs, or a fence.
    Restamp,
    /// Stored as archived, the source is back.
    Restore,
    /// Live in the store, gone from this source or now a draft.
    Archive,
    /// Equal.
    Unchanged,
    /// This run is late.
    Stale,
    /// The guard refused it.
    Conflict,
}

impl Action {
    /// The spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Restamp => "restamp",
            Action::Restore => "restore",
            Action::Archive => "archive",
            Action::Unchanged => "unchanged",
            Action::Stale => "stale",
            Action::Conflict => "conflict",
        }
    }

    /// Whether the store is written.
    pub fn writes(self) -> bool {
        matches!(self, Action::Create | Action::Update | Action::Restamp | Action::Restore | Action::Archive)
    }
}

/// Why, with the decision; `code` is stable: `new`, `source`, `assets`, `links`, `pipeline`, `drift`,
/// `fence`, `force`, `back`, `draft`, `gone`, `equal`, `late`, `path`, or a conflict's name
/// (`frozen-date`, `frozen-slug`, `frozen-lang`, `frozen-field-removed`, `id-taken`, `other-source`,
/// `foreign-collection`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Stable.
    pub code: &'static str,
    /// One sentence for a person, with the values that differ. Empty where the code says it all.
    pub detail: String,
    /// What to do, for conflicts.
    pub help: String,
}

/// One post's part of a plan.
#[derive(Debug, Clone)]
pub struct Operation {
    /// `_id`.
    pub id: String,
    /// Slug.
    pub slug: String,
    /// Language.
    pub lang: String,
    /// The file, where one makes it.
    pub file: Option<String>,
    /// Line of the field that a conflict is about.
    pub line: Option<u32>,
    /// What is done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// `ingest.version` that must be stored; `None`: the post must not be there.
    pub expected_version: Option<i64>,
    /// The reader-facing fields to write; `None` where they stay as they are.
    pub content: Option<Document>,
}

/// A live post of this source that no file makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// `_id`.
    pub id: String,
    /// Slug.
    pub slug: String,
    /// Language.
    pub lang: String,
    /// The file that made it.
    pub path: String,
}

/// Counts of a plan. `posts + skipped + invalid = files`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files walked.
    pub files: usize,
    /// Files that are posts.
    pub posts: usize,
    /// Files skipped.
    pub skipped: usize,
    /// Files with errors.
    pub invalid: usize,
    /// By action.
    pub create: usize,
    /// By action.
    pub update: usize,
    /// By action.
    pub restamp: usize,
    /// By action.
    pub restore: usize,
    /// By action.
    pub archive: usize,
    /// By action.
    pub unchanged: usize,
    /// By action.
    pub stale: usize,
    /// By action.
    pub conflict: usize,
    /// Live posts of this source which no file makes.
    pub orphans: usize,
}

/// Where the posts come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// `source` of the configuration.
    pub name: Option<String>,
    /// The content root as configured, with `/`.
    pub root: String,
    /// Commit of the checkout where CI names one.
    pub commit: Option<String>,
}

/// What a run would do, whole.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where the posts come from.
    pub source: Origin,
    /// Where they go.
    pub target: Target,
    /// Everything beside the sources that shapes documents.
    pub pipeline: String,
    /// Counts.
    pub summary: Summary,
    /// One a post, in order of path then id.
    pub operations: Vec<Operation>,
    /// In order of path then id.
    pub orphans: Vec<Orphan>,
    /// All problems of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// All skipped files.
    pub skipped: Vec<Skipped>,
    /// Things a person should know that belong to no file (defaults that froze ids, lost guards).
    pub notes: Vec<String>,
}
