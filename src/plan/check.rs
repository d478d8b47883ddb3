//! The invariants of a plan, as a list of small functions. A plan that breaks one is a defect of ours
//! and is never applied.

use std::collections::{BTreeMap, BTreeSet};

use super::lifecycle::{self, By};
use super::{Action, Operation, Plan};
use crate::store::Statement;
use crate::store::document::Status;
use crate::store::size::bytes_of;

/// One invariant: what it says, and what breaks it.
type Invariant = (&'static str, fn(&Plan) -> Option<String>);

const INVARIANTS: [Invariant; 7] = [
    ("every id is in the plan once", ids_once),
    ("every file is a post, skipped or invalid", files_add_up),
    ("what writes has a stamp, and nothing else has one", stamps),
    ("only a create expects nothing in the store", expectations),
    ("every transition is drawn in the lifecycle", transitions),
    ("a version only ever grows by one", versions),
    ("no two live posts of the plan share slug and language", live_once),
];

/// All broken invariants, each in one sentence.
pub fn check(plan: &Plan) -> Vec<String> {
    INVARIANTS
        .iter()
        .filter_map(|(says, find)| find(plan).map(|broken| format!("{says}: {broken}")))
        .collect()
}

fn ids_once(plan: &Plan) -> Option<String> {
    let mut seen = BTreeSet::new();
    // A refused post stands beside the stored post that it would have replaced.
    plan.operations
        .iter()
        .filter(|operation| operation.action != Action::Conflict)
        .find(|operation| !seen.insert(&operation.id))
        .map(|operation| operation.id.clone())
}

fn files_add_up(plan: &Plan) -> Option<String> {
    let summary = &plan.summary;
    let sum = summary.posts + summary.skipped + summary.invalid;
    (sum != summary.files).then(|| {
        format!("{} + {} + {} is not {}", summary.posts, summary.skipped, summary.invalid, summary.files)
    })
}

fn stamps(plan: &Plan) -> Option<String> {
    find(plan, |operation| {
        let has_content = operation.content.is_some();
        let as_due = match operation.action {
            Action::Create | Action::Update => has_content,
            // By hand a post comes back as it is stored.
            Action::Restore => has_content || operation.by != By::Ingest,
            // What is undone may come back with its content.
            Action::Archive => !has_content || operation.by == By::Undo,
            _ => !has_content,
        };
        operation.action.writes() != operation.stamp.is_some() || !as_due
    })
}

fn expectations(plan: &Plan) -> Option<String> {
    find(plan, |operation| {
        operation.action.writes()
            && (operation.action == Action::Create) != operation.expected_version.is_none()
    })
}

fn transitions(plan: &Plan) -> Option<String> {
    find(plan, |operation| {
        let Some(stamp) = &operation.stamp else { return false };
        let from = operation.seen.as_ref().map(|seen| &seen.status);
        !lifecycle::allowed(from, &stamp.status, operation.by)
            || (operation.action == Action::Archive)
                != (stamp.status == Status::Archived && from != Some(&Status::Archived))
    })
}

fn versions(plan: &Plan) -> Option<String> {
    find(plan, |operation| {
        let Some(stamp) = &operation.stamp else { return false };
        stamp.ingest.version != operation.expected_version.map_or(1, |version| version.saturating_add(1))
    })
}

fn live_once(plan: &Plan) -> Option<String> {
    let mut live: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for operation in plan.operations.iter().filter(|operation| operation.action != Action::Conflict) {
        let status = match (&operation.stamp, &operation.seen) {
            (Some(stamp), _) => &stamp.status,
            (None, Some(seen)) => &seen.status,
            (None, None) => continue,
        };
        if status.is_live()
            && let Some(first) = live.insert((&operation.slug, &operation.lang), &operation.id)
        {
            return Some(format!("{first} and {}", operation.id));
        }
    }
    None
}

fn find(plan: &Plan, broken: impl Fn(&Operation) -> bool) -> Option<String> {
    plan.operations
        .iter()
        .find(|operation| broken(operation))
        .map(|operation| format!("{} ({})", operation.id, operation.action.as_str()))
}

/// The statement's own bytes may not be more than a batch takes; asserted where batches are made.
pub fn statement_bytes(statement: &Statement) -> usize {
    match statement {
        Statement::Create { document } => bytes_of(document).saturating_add(256),
        Statement::Update { set, unset, .. } => bytes_of(set)
            .saturating_add(unset.iter().map(|key| key.len() + 16).sum::<usize>())
            .saturating_add(512),
    }
}
