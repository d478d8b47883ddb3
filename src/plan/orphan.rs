//! What the store has and the tree has not, or no longer says: orphans, drafts, removed fields, and
//! the posts that a fence has to touch although no file makes them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::decide::{again, must_not_be_left, seen};
use super::guard::{Stored, Tree};
use super::lifecycle::By;
use super::{Action, Observed, Operation, Orphan, Plan, Policy, Reason, Stamp};
use crate::catalog::Catalog;
use crate::post::Skip;
use crate::store::document::{Head, Status};

/// `frozen-field-removed`: the file of a live post is still there and has now no date or no front
/// matter. That is an edit, not a deletion.
pub(super) fn removed_fields(
    plan: &mut Plan,
    catalog: &Catalog,
    store: &Stored<'_>,
    tree: &Tree<'_>,
    policy: &Policy,
) {
    for skipped in &catalog.skipped {
        let what = match skipped.reason {
            Skip::Undated => "no date",
            Skip::NoFrontMatter => "no front matter",
            Skip::Empty => "no text at all",
            _ => continue,
        };
        if policy.only.as_ref().is_some_and(|only| !only.contains(&skipped.file)) {
            continue;
        }
        for head in store.made_by(&skipped.file).iter().filter(|head| !tree.makes_id(&head.id)) {
            let reason = Reason {
                code: "frozen-field-removed",
                detail: format!(
                    "the file has now {what}, but the post {} that it made (slug {:?}, lang {:?}) is live",
                    head.id, head.slug, head.lang
                ),
                help: "put the front matter with the same date back; to take the post down set `draft: true` or remove \
                       the file"
                    .to_owned(),
            };
            let mut operation = stored(head, Action::Conflict, reason);
            operation.file = Some(skipped.file.clone());
            plan.operations.push(Arc::new(operation));
        }
    }
}

/// A live post whose file is now a draft is archived, pruning or not.
pub(super) fn drafts(
    plan: &mut Plan,
    catalog: &Catalog,
    store: &Stored<'_>,
    tree: &Tree<'_>,
    policy: &Policy,
) {
    for skipped in catalog.skipped.iter().filter(|skipped| skipped.reason == Skip::Draft) {
        if policy.only.as_ref().is_some_and(|only| !only.contains(&skipped.file)) {
            continue;
        }
        let by_id = catalog
            .held
            .iter()
            .filter(|(_, post)| post.file == skipped.file)
            .filter_map(|(_, post)| store.by_id(&post.id.to_string()))
            .filter(|head| head.live && store.is_ours(head));
        // A draft that lost its date or changed its slug still takes down what it once made.
        let by_path = store
            .made_by(&skipped.file)
            .iter()
            .copied()
            .filter(|head| !catalog.posts.iter().any(|post| post.id.to_string() == head.id))
            .filter(|head| !tree.makes_id(&head.id));
        let heads: Vec<&Head> = by_id.chain(by_path).collect();
        for head in heads {
            let archived = archive(head, Some(&skipped.file), Reason::of("draft"), policy);
            plan.operations.push(Arc::new(archived));
        }
    }
}

/// Lists live posts of this source which no file makes; archives them where that is asked for, or
/// where an older run that never ended made them live.
pub(super) fn orphans(
    plan: &mut Plan,
    catalog: &Catalog,
    store: &Stored<'_>,
    tree: &Tree<'_>,
    observed: &Observed,
    policy: &Policy,
) {
    let taken: BTreeSet<String> = plan.operations.iter().map(|operation| operation.id.clone()).collect();
    let protected = protected(plan, catalog, store, tree);
    for head in store.heads().filter(|head| head.live && store.is_ours(head)) {
        let Some(ingest) = &head.ingest else { continue };
        if tree.makes_id(&head.id) || taken.contains(&head.id) {
            continue;
        }
        let made_by_older = made_live_by_older(head, observed);
        // A refused file stands for the post that it would have replaced, and what an unreadable file makes
        // is not known. But what an older run made live after this run's commit is nobody's: left here it
        // would stay, since that run cannot take it back any more.
        // A file that makes the same slug and language under another date is refused, or not planned now.
        let has_file = protected.contains(head.id.as_str())
            || tree.is_invalid(&ingest.path)
            || tree.makes(&head.slug, &head.lang);
        if !made_by_older && has_file {
            continue;
        }
        plan.orphans.push(Orphan {
            id: head.id.clone(),
            slug: head.slug.clone(),
            lang: head.lang.clone(),
            path: ingest.path.clone(),
        });
        if made_by_older {
            plan.operations.push(Arc::new(archive(head, None, Reason::of("fence"), policy)));
        } else if policy.prune && policy.only.is_none() {
            let gone = archive(head, None, Reason::of("gone"), policy);
            plan.operations.push(Arc::new(Operation { by: By::Prune, ..gone }));
        }
    }
}

/// An older run that never ended made the post live, and nobody has written it since.
fn made_live_by_older(head: &Head, observed: &Observed) -> bool {
    let live_by = head.ingest.as_ref().and_then(|ingest| ingest.live_by.as_ref());
    live_by.is_some_and(|run| observed.others.lower.contains(run))
}

/// The stored posts that a refused file stands for: they have a file, it only says something else.
fn protected<'a>(plan: &Plan, catalog: &Catalog, store: &Stored<'a>, tree: &Tree<'_>) -> BTreeSet<&'a str> {
    let refused: BTreeSet<&str> = plan
        .operations
        .iter()
        .filter(|operation| operation.action == Action::Conflict)
        .filter_map(|operation| operation.file.as_deref())
        .collect();
    let mut out = BTreeSet::new();
    for post in catalog.posts.iter().filter(|post| refused.contains(post.file.as_str())) {
        for head in store.heads().filter(|head| head.live) {
            let same_key = head.slug == post.slug.as_str() && head.lang == post.lang.as_str();
            let same_group = head.translation_key.is_some()
                && head.translation_key == post.meta.translation_key
                && head.lang == post.lang.as_str();
            if same_key || (same_group && !tree.makes(&head.slug, &head.lang)) {
                out.insert(head.id.as_str());
            }
        }
        out.extend(store.made_by(&post.file).iter().map(|head| head.id.as_str()));
    }
    for operation in plan.operations.iter().filter(|operation| operation.action == Action::Conflict) {
        if let Some(head) = store.by_id(&operation.id) {
            out.insert(head.id.as_str());
        }
    }
    out
}

/// A fence touches every post of the source that the plan would leave alone, whatever its status.
pub(super) fn fence_rest(plan: &mut Plan, store: &Stored<'_>, observed: &Observed, policy: &Policy) {
    if !observed.others.fence && observed.others.unfinished.is_empty() {
        return;
    }
    let taken: BTreeSet<String> = plan.operations.iter().map(|operation| operation.id.clone()).collect();
    for head in store.heads().filter(|head| store.is_ours(head) && !taken.contains(&head.id)) {
        let Some(ingest) = &head.ingest else { continue };
        let known = !matches!(head.status, Status::Other(_));
        if known && must_not_be_left(ingest, observed) {
            let mut operation = stored(head, Action::Restamp, Reason::of("fence"));
            operation.stamp = Some(Stamp {
                status: head.status.clone(),
                ingest: again(ingest, policy),
                assets: Vec::new(),
            });
            plan.operations.push(Arc::new(operation));
        }
    }
}

/// The same intent for a post without a file, on a fresh head: an archive is done where the post is
/// not live any more, a fence is made again. What an older run made live meanwhile is archived.
pub(super) fn again_without_file(
    operation: &Operation,
    store: &Stored<'_>,
    observed: &Observed,
    policy: &Policy,
) -> Option<Operation> {
    let head = store.by_id(&operation.id).filter(|head| store.is_ours(head))?;
    match operation.action {
        Action::Archive if head.live => {
            let again = archive(head, None, operation.reason.clone(), policy);
            Some(Operation { by: operation.by, ..again })
        }
        Action::Restamp if head.live && made_live_by_older(head, observed) => {
            Some(archive(head, None, operation.reason.clone(), policy))
        }
        Action::Restamp => {
            let mut next = stored(head, Action::Restamp, operation.reason.clone());
            let ingest = again(head.ingest.as_ref()?, policy);
            next.stamp = Some(Stamp { status: head.status.clone(), ingest, assets: Vec::new() });
            Some(next)
        }
        _ => None,
    }
}

pub(super) fn archive(head: &Head, file: Option<&str>, reason: Reason, policy: &Policy) -> Operation {
    let before = head.ingest.clone().unwrap_or_default();
    let mut operation = stored(head, Action::Archive, reason);
    operation.file = file.map(str::to_owned);
    operation.stamp =
        Some(Stamp { status: Status::Archived, ingest: again(&before, policy), assets: Vec::new() });
    operation
}

pub(super) fn stored(head: &Head, action: Action, reason: Reason) -> Operation {
    Operation {
        id: head.id.clone(),
        slug: head.slug.clone(),
        lang: head.lang.clone(),
        file: None,
        line: None,
        action,
        by: By::Ingest,
        reason,
        expected_version: Some(head.version()),
        content: None,
        seen: Some(seen(head)),
        stamp: None,
    }
}
