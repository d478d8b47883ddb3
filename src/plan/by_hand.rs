//! What a person asks for, post by post, without a tree: `archive` and `restore`.
//!
//! Pure. Begin at [`plan`]. A post that was archived by hand remembers it (`ingest.archivedBy`, the run), and
//! ingesting leaves it archived ([`stays`]): the next push of the tree does not bring it back. One that
//! `--prune` or a draft archived comes back by itself with its file.

use std::sync::Arc;

use super::decide::{Given, again, must_not_be_left, seen};
use super::guard::{self, Stored};
use super::lifecycle::{self, By};
use super::orphan::{archive, stored};
use super::{Action, Observed, Operation, Plan, Policy, Reason, Stamp};
use crate::store::document::{Head, Ingest, Status};

/// The reason of a post that stays as somebody put it by hand.
pub const BY_HAND: &str = "by-hand";
/// The reason of a refusal: the lifecycle draws no such way.
pub const NOT_DRAWN: &str = "not-drawn";
/// The reason of a refusal: another post is live under the slug and language.
pub const SLUG_LIVE: &str = "slug-live";

/// Posts that a note names.
const NAMED_MAX: usize = 3;

/// A post of the tree that somebody archived by hand: it is left, whatever its file says now; a fence moves
/// its version on.
pub(super) fn stays(left: Operation, head: &Head, ingest: &Ingest, given: &Given<'_>) -> Operation {
    let mut operation = Operation {
        reason: told(head, ingest),
        expected_version: Some(ingest.version),
        seen: Some(seen(head)),
        ..left
    };
    if must_not_be_left(ingest, given.observed) {
        operation.action = Action::Restamp;
        operation.reason = Reason::of("fence");
        let ingest = again(ingest, given.policy);
        operation.stamp = Some(Stamp { status: Status::Archived, ingest, assets: Vec::new() });
    }
    operation
}

fn told(head: &Head, ingest: &Ingest) -> Reason {
    let run_id = ingest.archived_by.as_deref().unwrap_or_default();
    let detail = format!("archived by hand (run {run_id}); `idempost restore {}` brings it back", head.id);
    Reason { code: BY_HAND, detail, help: String::new() }
}

/// Says once how many posts of the tree stay archived.
pub(super) fn note(plan: &mut Plan) {
    let stay: Vec<String> = plan
        .operations
        .iter()
        .filter(|operation| operation.reason.code == BY_HAND && operation.file.is_some())
        .map(|operation| format!("{}:{}", operation.slug, operation.lang))
        .collect();
    let Some((first, _)) = stay.split_first() else { return };
    let mut named = stay.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    if stay.len() > NAMED_MAX {
        named.push_str(", …");
    }
    plan.notes.push(format!(
        "{} archived by hand and left so ({named}); `idempost restore {first}` brings one back",
        if stay.len() == 1 {
            "1 post of the tree was".to_owned()
        } else {
            format!("{} posts of the tree were", stay.len())
        },
    ));
}

/// Plans what `by` ([`By::Archive`] or [`By::Restore`]) asks for each of these posts.
pub fn plan(ids: &[String], by: By, observed: &Observed, policy: &Policy) -> Plan {
    let store = Stored::new(&observed.heads, policy);
    let operations = ids.iter().filter_map(|id| one(id, by, &store, policy)).collect();
    Plan::without_tree(operations, store.live_of_source(), policy)
}

/// The same intent for one post, on fresh heads. `None`: its document is gone.
pub fn again_by_hand(id: &str, by: By, observed: &Observed, policy: &Policy) -> Option<Arc<Operation>> {
    one(id, by, &Stored::new(&observed.heads, policy), policy).map(Arc::new)
}

fn one(id: &str, by: By, store: &Stored<'_>, policy: &Policy) -> Option<Operation> {
    let head = store.by_id(id)?;
    let file = head.ingest.as_ref().map(|ingest| ingest.path.clone()).filter(|path| !path.is_empty());
    let operation = match guard::not_ours(head, store) {
        Some(reason) => stored(head, Action::Conflict, reason),
        None if by == By::Restore => restored(head, store, policy),
        None => archived(head, policy),
    };
    Some(Operation { file, by, ..operation })
}

fn archived(head: &Head, policy: &Policy) -> Operation {
    let ingest = head.ingest.clone().unwrap_or_default();
    if head.status == Status::Archived && ingest.archived_by.is_some() {
        return stored(head, Action::Unchanged, told(head, &ingest));
    }
    if let Some(refused) = not_drawn(head, &Status::Archived, By::Archive) {
        return refused;
    }
    if head.status == Status::Archived {
        // The tree archived it, and would bring it back: from now on it stays.
        let mut operation = stored(head, Action::Restamp, Reason::of(BY_HAND));
        let ingest = again(&ingest, policy);
        operation.stamp = Some(Stamp { status: Status::Archived, ingest, assets: Vec::new() });
        return operation;
    }
    archive(head, None, Reason::of(BY_HAND), policy)
}

fn restored(head: &Head, store: &Stored<'_>, policy: &Policy) -> Operation {
    if head.status == Status::Active {
        return stored(head, Action::Unchanged, Reason::of("equal"));
    }
    if let Some(refused) = not_drawn(head, &Status::Active, By::Restore) {
        return refused;
    }
    if let Some(live) = store.live_beside(&head.slug, &head.lang, &head.id) {
        return stored(head, Action::Conflict, slug_live(head, live));
    }
    let mut operation = stored(head, Action::Restore, Reason::of(BY_HAND));
    let ingest = head.ingest.as_ref().map(|ingest| again(ingest, policy)).unwrap_or_default();
    operation.stamp = Some(Stamp { status: Status::Active, ingest, assets: Vec::new() });
    operation
}

/// Another post is live under the slug and language.
pub(super) fn slug_live(head: &Head, live: &Head) -> Reason {
    Reason {
        code: SLUG_LIVE,
        detail: format!(
            "{:?} in {} is live as {}: readers would see it twice",
            head.slug, head.lang, live.id
        ),
        help: format!("archive that one first: `idempost archive {}`", live.id),
    }
}

fn not_drawn(head: &Head, to: &Status, by: By) -> Option<Operation> {
    if lifecycle::allowed(Some(&head.status), to, by) {
        return None;
    }
    let help = match &head.status {
        Status::Superseded => match &head.superseded_by {
            Some(by) => format!("it was moved: the post is {by} now"),
            None => "`idempost verify` tells what is wrong with it".to_owned(),
        },
        Status::Publishing => {
            "a run is publishing it, or died in it: `idempost ingest` finishes it".to_owned()
        }
        Status::Staged => "a move that was not finished: `idempost ingest` completes it".to_owned(),
        _ => "`idempost verify` tells what is wrong with it".to_owned(),
    };
    let detail = lifecycle::refusal(Some(&head.status), to, by);
    Some(stored(head, Action::Conflict, Reason { code: NOT_DRAWN, detail, help }))
}
