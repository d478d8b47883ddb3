//! `plan(catalog, observed, policy) -> Plan`: a pure function that leaves nothing to decide.
//!
//! Begin at [`plan`]. It reads no clock and no store; what the store holds comes in as [`Observed`].
//! It holds no document: an operation names what its document is a function of, and `compose` makes it,
//! the same bytes whenever it is asked. `decide` says what becomes of one post, `guard` is all of the
//! refusals, `orphan` is about what the store has and the tree has not, `check` holds the invariants of
//! the result; `lifecycle` is the table of transitions. `by_hand` plans what a person asks for without a tree,
//! `subject` finds the post that was meant; `change` and `text` say how what is stored and what is written
//! differ.

pub mod by_hand;
pub mod change;
pub mod check;
pub mod compose;
mod decide;
mod guard;
pub mod lifecycle;
mod orphan;
pub mod pipeline;
pub mod saved;
pub mod subject;
pub mod text;
pub mod undo;
pub mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::links::PostLinks;
use crate::catalog::{Catalog, Skipped};
use crate::diagnostic::Diagnostic;
use crate::post::links::Asset;
use crate::store::document::{Claim, Head, Ingest, Status};
use crate::store::{Limits, Target};
use compose::{Composer, Written};
use lifecycle::By;
use pipeline::Pipeline;

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
    /// All of them.
    const ALL: [Action; 8] = [
        Action::Create,
        Action::Update,
        Action::Restamp,
        Action::Restore,
        Action::Archive,
        Action::Unchanged,
        Action::Stale,
        Action::Conflict,
    ];

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
/// `fence`, `force`, `back`, `draft`, `gone`, `equal`, `late`, `path`, `by-hand`, or a conflict's name
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
    /// Who asks for it: what the transition table is asked with.
    pub by: By,
    /// Why.
    pub reason: Reason,
    /// `ingest.version` that must be stored; `None`: the post must not be there.
    pub expected_version: Option<i64>,
    /// The reader-facing fields to write; `None` where they stay as they are.
    pub content: Option<Written>,
    /// What the store held under this id when the plan was made.
    pub seen: Option<Seen>,
    /// What the write leaves beside the content; `None` exactly where nothing is written.
    pub stamp: Option<Stamp>,
}

/// What planning saw of a stored post: enough to tell later whether it is still the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// `ingest.version`.
    pub version: i64,
    /// `status`.
    pub status: Status,
    /// `sourceHash`.
    pub source_hash: Option<String>,
    /// `ingest.revision`.
    pub revision: Option<i64>,
    /// `ingest.claim`.
    pub claim: Option<Claim>,
}

/// What a write leaves beside the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The status afterwards.
    pub status: Status,
    /// The bookkeeping afterwards, but for run and operation, which the run fills in, and for the digest of
    /// a content that is composed only when it is sent.
    pub ingest: Ingest,
    /// The assets that must be stored before the post may be active.
    pub assets: Vec<Asset>,
}

/// What planning looks at in the store.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// The heads of the whole collection.
    pub heads: Vec<Head>,
    /// The identity settings remembered for this source, if it was ingested before.
    pub settings: Option<IdentitySettings>,
    /// What the other runs of this source make necessary.
    pub others: Others,
    /// Posts whose stored content is not what their `contentHash` says, where somebody looked
    /// (`--repair`).
    pub drifted: BTreeSet<String>,
}

/// What the rows of the other runs of this source say (`DESIGN` 5, late runs).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Others {
    /// Unfinished runs of a lower revision that no run has fenced yet: every post that would be left
    /// alone is re-stamped.
    pub fence: bool,
    /// Every run whose row is unfinished: a post that one of them wrote last is never left alone, and
    /// archived where a lower revision made it live and the tree lacks it.
    pub unfinished: BTreeSet<String>,
    /// Those of them with a lower revision than ours.
    pub lower: BTreeSet<String>,
    /// A higher revision that has a row: this run is late.
    pub late: Option<Late>,
}

/// A run of a higher revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    /// Its revision.
    pub revision: i64,
    /// Its run.
    pub run_id: String,
    /// It failed: nobody brings the newer state.
    pub failed: bool,
}

/// The settings that shape identity, remembered per source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IdentitySettings {
    /// Name of the setting to its value as configured, in order of name.
    pub values: BTreeMap<String, String>,
}

/// What a person asked for.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Where the posts come from.
    pub origin: Origin,
    /// Where they go.
    pub target: Target,
    /// What the store takes.
    pub limits: Limits,
    /// Everything beside the sources that shapes documents.
    pub pipeline: Pipeline,
    /// Source revision of this run.
    pub revision: Option<i64>,
    /// Identity settings of this run.
    pub settings: IdentitySettings,
    /// Archive orphans.
    pub prune: bool,
    /// Write equal posts too.
    pub force: bool,
    /// `Some`: only these files are planned. They are checked against the whole tree all the same.
    pub only: Option<BTreeSet<String>>,
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
    /// The content root as configured, with `/`; empty where no tree was read.
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
    /// One a post, in order of path then id. What becomes of them is told by the same, so that they are
    /// shared.
    pub operations: Vec<Arc<Operation>>,
    /// In order of path then id.
    pub orphans: Vec<Orphan>,
    /// All problems of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// All skipped files.
    pub skipped: Vec<Skipped>,
    /// Live posts of this source in the store: what the prune limit is a share of.
    pub live: usize,
    /// Things a person should know that belong to no file (defaults that froze ids, lost guards).
    pub notes: Vec<String>,
    /// The identity settings changed since the last run, and what that does.
    pub settings_change: Option<SettingsChange>,
}

/// Identity settings that differ from those remembered for the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// (setting, remembered, now).
    pub changed: Vec<(String, String, String)>,
    /// Posts that the guard refused because their id would change.
    pub posts: usize,
}

/// Makes the plan. `links` has one entry a post of the catalog, in their order. `composer` is asked where
/// only the document tells: whether another pipeline makes another content, and whether a very large
/// source makes a document that the store takes.
pub fn plan(
    catalog: &Catalog,
    links: &[Arc<PostLinks>],
    observed: &Observed,
    policy: &Policy,
    composer: &Composer,
) -> Plan {
    let store = guard::Stored::new(&observed.heads, policy);
    let tree = guard::Tree::new(catalog);
    let mut plan = Plan {
        source: policy.origin.clone(),
        target: policy.target.clone(),
        pipeline: policy.pipeline.to_string(),
        summary: Summary {
            files: catalog.files,
            posts: catalog.posts.len(),
            skipped: catalog.skipped.len(),
            invalid: catalog.invalid.len(),
            ..Summary::default()
        },
        operations: Vec::new(),
        orphans: Vec::new(),
        diagnostics: catalog.diagnostics.clone(),
        skipped: catalog.skipped.clone(),
        live: store.live_of_source(),
        notes: Vec::new(),
        settings_change: None,
    };
    let given = decide::Given { store: &store, tree: &tree, observed, policy, composer };
    decide::posts(&mut plan, catalog, links, &given);
    orphan::removed_fields(&mut plan, catalog, &store, &tree, policy);
    orphan::drafts(&mut plan, catalog, &store, &tree, policy);
    orphan::orphans(&mut plan, catalog, &store, &tree, observed, policy);
    orphan::fence_rest(&mut plan, &store, observed, policy);
    if let Some(late) = &observed.others.late {
        decide::all_stale(&mut plan, late);
    }
    finish(&mut plan, observed, policy);
    plan
}

/// Plans one post again after a race, from fresh heads: `None` where there is nothing left to do.
/// `observed` holds the fresh heads in place of the old ones.
pub fn plan_again(
    operation: &Operation,
    catalog: &Catalog,
    links: &[Arc<PostLinks>],
    observed: &Observed,
    policy: &Policy,
    composer: &Composer,
) -> Option<Arc<Operation>> {
    let Some(file) = &operation.file else {
        let store = guard::Stored::new(&observed.heads, policy);
        return orphan::again_without_file(operation, &store, observed, policy).map(Arc::new);
    };
    let policy = Policy { only: Some(BTreeSet::from([file.clone()])), ..policy.clone() };
    let plan = plan(catalog, links, observed, &policy, composer);
    plan.operations.into_iter().find(|again| again.id == operation.id)
}

/// Orders, counts, and compares the settings.
fn finish(plan: &mut Plan, observed: &Observed, policy: &Policy) {
    plan.orphans.sort_by(|a, b| (&a.path, &a.id).cmp(&(&b.path, &b.id)));
    plan.summary.orphans = plan.orphans.len();
    plan.recount();
    by_hand::note(plan);
    if let Some(before) = &observed.settings {
        let changed: Vec<(String, String, String)> = policy
            .settings
            .values
            .iter()
            .filter_map(|(name, now)| {
                let was = before.values.get(name)?;
                (was != now).then(|| (name.clone(), was.clone(), now.clone()))
            })
            .collect();
        let posts = plan.operations.iter().filter(|operation| operation.reason.is_frozen()).count();
        if !changed.is_empty() && posts > 0 {
            plan.settings_change = Some(SettingsChange { changed, posts });
        }
    }
}

impl Plan {
    /// The plan of a run that stops at its files: nothing is read from the store, nothing is decided.
    pub fn of_files(catalog: &Catalog, policy: &Policy) -> Self {
        let nothing = Observed::default();
        let policy = Policy { only: Some(BTreeSet::new()), ..policy.clone() };
        plan(catalog, &[], &nothing, &policy, &Composer::of_given())
    }
}

impl Summary {
    /// The count of an action.
    pub fn count(&mut self, action: Action) -> &mut usize {
        match action {
            Action::Create => &mut self.create,
            Action::Update => &mut self.update,
            Action::Restamp => &mut self.restamp,
            Action::Restore => &mut self.restore,
            Action::Archive => &mut self.archive,
            Action::Unchanged => &mut self.unchanged,
            Action::Stale => &mut self.stale,
            Action::Conflict => &mut self.conflict,
        }
    }
}

impl Reason {
    /// A reason that its code says whole.
    pub fn of(code: &'static str) -> Self {
        Reason { code, detail: String::new(), help: String::new() }
    }

    /// One of the three conflicts that `move` resolves.
    pub fn is_frozen(&self) -> bool {
        matches!(self.code, "frozen-date" | "frozen-slug" | "frozen-lang")
    }
}

impl Plan {
    /// Orders the operations and counts them.
    fn recount(&mut self) {
        self.operations.sort_by(|a, b| (&a.file, &a.id).cmp(&(&b.file, &b.id)));
        for action in Action::ALL {
            let number = self.operations.iter().filter(|operation| operation.action == action).count();
            *self.summary.count(action) = number;
        }
    }

    /// The plan of a verb that reads no tree: these operations and nothing else.
    pub fn without_tree(operations: Vec<Operation>, live: usize, policy: &Policy) -> Self {
        let mut plan = Plan {
            source: Origin { root: String::new(), ..policy.origin.clone() },
            target: policy.target.clone(),
            pipeline: policy.pipeline.to_string(),
            summary: Summary::default(),
            operations: operations.into_iter().map(Arc::new).collect(),
            orphans: Vec::new(),
            diagnostics: Vec::new(),
            skipped: Vec::new(),
            live,
            notes: Vec::new(),
            settings_change: None,
        };
        plan.recount();
        plan
    }

    /// Whether applying it would write anything.
    pub fn has_changes(&self) -> bool {
        self.operations.iter().any(|operation| operation.action.writes())
    }
}
