//! What puts back what one run changed: `undo`.
//!
//! Pure. Begin at [`plan`]. It is made from the run's before-images and the heads, with the guards of every
//! plan: a post that somebody changed after that run is a conflict, told by name, and never written over. A
//! post that is already as it was is left alone, so that an undo may be asked for twice. Undoing a create
//! archives; nothing is deleted.

use std::sync::Arc;

use super::by_hand::{NOT_DRAWN, slug_live};
use super::compose::Written;
use super::decide::again;
use super::guard::{self, Stored};
use super::lifecycle::{self, By};
use super::orphan::{archive, stored};
use super::{Action, Observed, Operation, Plan, Policy, Reason, Stamp};
use crate::identity::ContentHash;
use crate::store::document::{Head, Ingest, Status, content_of};
use crate::store::history::{Before, Image};

/// The reason of what an undo writes, and of what is already undone.
pub const UNDO: &str = "undo";
/// The reason of a refusal: somebody changed the post after that run.
pub const CHANGED_SINCE: &str = "changed-since";
/// The reason of a refusal: the stored document is not there any more.
pub const GONE_SINCE: &str = "gone-since";
/// The reason of a refusal: what the post was is not kept.
pub const NOT_KEPT: &str = "not-kept";

/// Plans the undoing of the run whose images these are.
pub fn plan(images: &[Image], observed: &Observed, policy: &Policy) -> Plan {
    let store = Stored::new(&observed.heads, policy);
    let operations = images.iter().filter_map(|image| one(image, &store, observed, policy)).collect();
    Plan::without_tree(operations, store.live_of_source(), policy)
}

/// The same for one post, on fresh heads. `None`: nothing is left to do.
pub fn plan_again(image: &Image, observed: &Observed, policy: &Policy) -> Option<Arc<Operation>> {
    one(image, &Stored::new(&observed.heads, policy), observed, policy).map(Arc::new)
}

fn one(image: &Image, store: &Stored<'_>, observed: &Observed, policy: &Policy) -> Option<Operation> {
    let Some(head) = store.by_id(&image.post_id) else {
        return gone(image);
    };
    let ingest = head.ingest.as_ref()?;
    let file = Some(ingest.path.clone()).filter(|path| !path.is_empty());
    let operation = match (guard::not_ours(head, store), &image.before) {
        (Some(reason), _) => stored(head, Action::Conflict, reason),
        (None, Before::Absent) => unmade(image, head, ingest, policy)?,
        (None, Before::TooLarge) => stored(head, Action::Conflict, not_kept()),
        (None, Before::Post(before)) => {
            let was = Head::from_document(before);
            if was.version() == ingest.version && ingest.run_id != image.run_id {
                // The write never came.
                return None;
            }
            if was.status == Status::Publishing {
                // The run finished what another had begun: before that nobody saw it.
                unmade(image, head, ingest, policy)?
            } else {
                let content = content_of(before);
                let hash = ContentHash::of_fields(&content);
                let drifted = observed.drifted.contains(&head.id);
                let was = Was { head: was, content, hash, drifted };
                let back = put_back(image, head, ingest, &was, store, policy);
                // An edit past idempost leaves the version as it is: only the content tells of it.
                let over = drifted && back.content.is_some();
                if over { stored(head, Action::Conflict, edited_since(image)) } else { back }
            }
        }
    };
    Some(Operation { file, by: By::Undo, ..operation })
}

/// What a post was.
struct Was {
    head: Head,
    content: bson::Document,
    hash: ContentHash,
    /// What is stored now was edited past idempost.
    drifted: bool,
}

/// A post that the run made is archived.
fn unmade(image: &Image, head: &Head, ingest: &Ingest, policy: &Policy) -> Option<Operation> {
    if ingest.version == 1 && ingest.run_id != image.run_id {
        // The create never came, and another run made the post.
        return None;
    }
    if head.status == Status::Archived && ingest.content_hash == image.content_hash {
        return Some(stored(head, Action::Unchanged, Reason::of(UNDO)));
    }
    if !is_left(image, head, ingest) {
        return Some(stored(head, Action::Conflict, changed_since(image, head, ingest)));
    }
    if let Some(refused) = not_drawn(head, &Status::Archived) {
        return Some(refused);
    }
    Some(archive(head, None, Reason::of(UNDO), policy))
}

fn put_back(
    image: &Image,
    head: &Head,
    ingest: &Ingest,
    was: &Was,
    store: &Stored<'_>,
    policy: &Policy,
) -> Operation {
    let before = was.head.ingest.clone().unwrap_or_default();
    // A run that wrote no content leaves what was edited, before it or after, and so does its undoing.
    let untouched = was.drifted && ingest.content_hash == before.content_hash;
    let same_content = untouched || ingest.content_hash == was.hash.as_str();
    let same_mark = ingest.archived_by == before.archived_by || was.head.status != Status::Archived;
    if head.status == was.head.status && same_content && same_mark {
        return stored(head, Action::Unchanged, Reason::of(UNDO));
    }
    if !is_left(image, head, ingest) {
        return stored(head, Action::Conflict, changed_since(image, head, ingest));
    }
    if let Some(refused) = not_drawn(head, &was.head.status) {
        return refused;
    }
    let action = match (&head.status, &was.head.status) {
        (Status::Archived, Status::Archived) if same_content => Action::Restamp,
        (_, Status::Archived) => Action::Archive,
        (Status::Active, _) => Action::Update,
        _ => Action::Restore,
    };
    if action == Action::Restore
        && let Some(live) = store.live_beside(&head.slug, &head.lang, &head.id)
    {
        return stored(head, Action::Conflict, slug_live(head, live));
    }
    let mut operation = stored(head, action, Reason::of(UNDO));
    // What describes the content comes back with it; whose post it is and how often it was written stays.
    let mut back = Ingest {
        source: ingest.source.clone(),
        version: ingest.version.saturating_add(1),
        revision: policy.revision.max(ingest.revision),
        ..again(&before, policy)
    };
    if !same_content {
        back.content_hash = String::new();
        operation.content = Some(Written::Given(Box::new(was.content.clone())));
    }
    operation.stamp = Some(Stamp { status: was.head.status.clone(), ingest: back, assets: Vec::new() });
    operation
}

/// Whether the post is still as the run left it; a re-stamp changes nothing of that.
fn is_left(image: &Image, head: &Head, ingest: &Ingest) -> bool {
    let published = image.status == Status::Active && head.status == Status::Publishing;
    (head.status == image.status || published) && ingest.content_hash == image.content_hash
}

fn gone(image: &Image) -> Option<Operation> {
    // Where nothing was there, nothing is missing.
    let Before::Post(before) = &image.before else { return None };
    let was = Head::from_document(before);
    let reason = Reason {
        code: GONE_SINCE,
        detail: format!("the document of {} was removed after run {}", image.post_id, image.run_id),
        help: "bring its file back and ingest it".to_owned(),
    };
    let mut operation = stored(&was, Action::Conflict, reason);
    operation.file =
        before.get_document("ingest").ok().and_then(|ingest| ingest.get_str("path").ok()).map(str::to_owned);
    operation.seen = None;
    operation.by = By::Undo;
    Some(operation)
}

fn changed_since(image: &Image, head: &Head, ingest: &Ingest) -> Reason {
    let what = if ingest.content_hash == image.content_hash {
        format!("it is {:?}", head.status.as_str())
    } else {
        "its content is another".to_owned()
    };
    Reason {
        code: CHANGED_SINCE,
        detail: format!(
            "run {} wrote it after run {}: {what} (version {})",
            ingest.run_id, image.run_id, ingest.version
        ),
        help: format!(
            "undo run {} first, or leave this post and undo the others with --keep-going",
            ingest.run_id
        ),
    }
}

fn edited_since(image: &Image) -> Reason {
    Reason {
        code: CHANGED_SINCE,
        detail: format!(
            "somebody changed a field that is ours in the store, not by a run, after run {}",
            image.run_id
        ),
        help: "`idempost verify` tells which; `idempost ingest --repair` takes the change back, and then the run can be \
               undone; or undo the others with --keep-going"
            .to_owned(),
    }
}

fn not_kept() -> Reason {
    Reason {
        code: NOT_KEPT,
        detail: "what it was is not kept: it was too large, or beyond limits.history of that run".to_owned(),
        help: "correct its file and ingest it, or undo the others with --keep-going".to_owned(),
    }
}

fn not_drawn(head: &Head, to: &Status) -> Option<Operation> {
    let moved = head.status == Status::Superseded || *to == Status::Superseded;
    if lifecycle::allowed(Some(&head.status), to, By::Undo) && !moved {
        return None;
    }
    let help = if moved {
        "that run moved the post: move it back with `idempost move`"
    } else {
        "`idempost verify` tells what is wrong with it"
    };
    let detail = lifecycle::refusal(Some(&head.status), to, By::Undo);
    Some(stored(head, Action::Conflict, Reason { code: NOT_DRAWN, detail, help: help.to_owned() }))
}
