//! `archive` and `restore`: what a person asks for, post by post.
//!
//! No tree is read; a post is named as in [`super::subject`]. Begin at [`run`].

use std::path::Path;

use super::host::Host;
use super::observe::Policies;
use super::operation::{self, Ended};
use super::{open, subject};
use crate::apply::by_hand::ByHandPlanner;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::lifecycle::By;
use crate::plan::{Action, Observed, Plan};
use crate::report::event::Event;
use crate::source;
use crate::store::document::{Head, Status};

/// What was asked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// [`By::Archive`] or [`By::Restore`].
    pub by: By,
    /// The posts as they were typed.
    pub posts: &'a [String],
    /// Nothing is written.
    pub dry_run: bool,
}

/// Archives or restores. A person's word has no revision: it is no state of the tree.
pub async fn run(
    settings: &Settings,
    host: &Host,
    cwd: &Path,
    asked: Asked<'_>,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Ended, Failure> {
    let store = open::open(settings)?;
    events(&Event::Target(&store.target()));
    let executor = operation::executor(settings, host, store.as_ref(), events, None);
    executor.persist(|| store.connect()).await.map_err(|fault| open::failure(&fault))?;
    let heads = executor.persist(|| store.heads()).await.map_err(|fault| open::failure(&fault))?;
    let ids = subject::stored(settings, cwd, asked.posts, &heads, |head| fits(head, asked.by))?;
    drop(heads);
    let policy = Policies { settings, revision: None }.without_tree(store.as_ref(), host.clock.now());
    let planner = ByHandPlanner { ids: &ids, by: asked.by, policy: &policy };
    let review = |plan: &mut Plan, _: &Observed| {
        note_files(plan, settings);
        (plan.summary.conflict > 0).then_some(Exit::Conflict)
    };
    let verb = asked.by.as_str();
    let wanted = operation::Asked { verb, about: ids.clone(), planner: &planner, review: &review };
    operation::look_or_carry_out(settings, host, &executor, wanted, asked.dry_run).await
}

/// Whether the post is one that this can be asked of: of several of one name that one is meant.
fn fits(head: &Head, by: By) -> bool {
    if by == By::Restore { head.status == Status::Archived } else { head.status.is_live() }
}

/// What the next push will make of it.
fn note_files(plan: &mut Plan, settings: &Settings) {
    let mut gone: Vec<&str> = Vec::new();
    let mut there: Vec<&str> = Vec::new();
    for operation in plan.operations.iter().filter(|operation| operation.action.writes()) {
        let Some(file) = operation.file.as_deref() else { continue };
        let is_there = source::open_asset(&settings.content.root.value, file).is_ok();
        match operation.action {
            Action::Restore if !is_there => gone.push(file),
            Action::Archive | Action::Restamp if is_there => there.push(file),
            _ => {}
        }
    }
    let shown = |files: &[&str]| match files {
        [one] => format!("{one} is"),
        [one, rest @ ..] => format!("{one} and {} more files are", rest.len()),
        [] => String::new(),
    };
    let mut notes = Vec::new();
    if !there.is_empty() {
        notes.push(format!(
            "{} still in the tree: ingesting leaves the post archived until `idempost restore`",
            shown(&there)
        ));
    }
    if !gone.is_empty() {
        notes.push(format!(
            "{} not in the tree: the next `ingest --prune` archives the post again",
            shown(&gone)
        ));
    }
    plan.notes.extend(notes);
}
