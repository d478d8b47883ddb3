//! A plan that was saved, and what of it still holds.
//!
//! A saved plan is no licence to write. It says what somebody has seen and wants, and nothing that it holds
//! is ever sent: the plan that is applied is made anew from the tree and the store, and [`hold`] leaves
//! of it what the saved one says too, word by word. So a document, an id, a version or a status that was
//! tampered with is found by what it is compared with, and can only make less be written.

use std::collections::BTreeMap;
use std::sync::Arc;

use bson::{Bson, Document};
use rayon::prelude::*;

use super::change::FieldChange;
use super::compose::Composer;
use super::{Action, Observed, Operation, Plan, Reason, Seen, Summary};
use crate::identity::ContentHash;
use crate::store::document::{Ingest, OWNED_FIELDS, Status, content_of};

/// The reason of a post that is left alone because its saved plan does not hold any more.
pub const STALE: &str = "plan-stale";

/// The flags that shape a plan: a saved one is applied under the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// `--prune`.
    pub prune: bool,
    /// `--force`.
    pub force: bool,
    /// `--repair`.
    pub repair: bool,
}

/// A plan as it was read from its file.
#[derive(Debug, Clone)]
pub struct Saved {
    /// Version of the tool that made it.
    pub tool_version: String,
    /// The flags; `None` where the plan was printed and not saved.
    pub flags: Option<Flags>,
    /// The plan; its operations have what is shown, and nothing that could be applied.
    pub plan: Plan,
    /// The fields that differ, one entry an operation.
    pub changes: Vec<Vec<FieldChange>>,
    /// What the writing operations leave, one entry an operation.
    pub documents: Vec<Option<Document>>,
}

/// What is stored after an operation, as a saved plan keeps it: the content, and the bookkeeping but for
/// what each run writes for itself. `None` where nothing is written.
pub fn document(operation: &Operation, content: Option<&Document>) -> Option<Document> {
    let stamp = operation.stamp.as_ref()?;
    let mut whole = content.cloned().unwrap_or_default();
    whole.insert("status", stamp.status.as_str());
    if stamp.status.is_live() {
        whole.insert("live", true);
    }
    let mut ingest = Ingest { revision: None, claim: None, live_by: None, ..stamp.ingest.clone() };
    if let Some(content) = content {
        ingest.content_hash = ContentHash::of_fields(content).to_string();
    }
    let mut ingest = ingest.to_document();
    ingest.remove("runId");
    ingest.remove("operationId");
    whole.insert("ingest", ingest);
    let in_order =
        OWNED_FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), whole.get(field)?.clone())));
    Some(in_order.collect())
}

/// What holds of a saved plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Posts that moved since: they are refused.
    pub moved: usize,
    /// Posts that are already as the plan wants them.
    pub done: usize,
    /// Posts that the tree would write too and the plan does not name: they are left alone.
    pub beside: usize,
}

/// Leaves of a fresh plan what the saved one says too. What moved is refused as a conflict with
/// [`STALE`]. A late run's plan is left as it is: it writes nothing.
pub fn hold(plan: &mut Plan, saved: &Saved, observed: &Observed, composer: &Composer) -> Held {
    let mut held = Held::default();
    if observed.others.late.is_some() {
        return held;
    }
    let entries: BTreeMap<&str, Entry<'_>> = saved
        .plan
        .operations
        .iter()
        .zip(&saved.documents)
        .filter(|(operation, _)| operation.action.writes())
        .map(|(operation, document)| {
            (operation.id.as_str(), Entry { operation, document: document.as_ref() })
        })
        .collect();
    let fresh = std::mem::take(&mut plan.operations);
    let verdicts: Vec<Verdict> = fresh
        .par_iter()
        .map(|operation| judge(operation, entries.get(operation.id.as_str()), composer))
        .collect();
    let mut named: Vec<&str> = Vec::new();
    for (operation, verdict) in fresh.iter().zip(verdicts) {
        if entries.contains_key(operation.id.as_str()) {
            named.push(&operation.id);
        }
        match verdict {
            Verdict::Stays => plan.operations.push(Arc::clone(operation)),
            Verdict::Done => {
                held.done += 1;
                plan.operations.push(Arc::clone(operation));
            }
            Verdict::Beside => held.beside += 1,
            Verdict::Moved(why) => {
                held.moved += 1;
                plan.operations.push(Arc::new(refused(operation, why)));
            }
        }
    }
    for (id, entry) in entries.iter().filter(|(id, _)| !named.contains(id)) {
        match gone(id, entry, observed) {
            None => held.done += 1,
            Some(why) => {
                held.moved += 1;
                plan.operations.push(Arc::new(refused(entry.operation, why)));
            }
        }
    }
    plan.operations.sort_by(|a, b| (&a.file, &a.id).cmp(&(&b.file, &b.id)));
    count_again(plan);
    held
}

struct Entry<'a> {
    operation: &'a Operation,
    document: Option<&'a Document>,
}

enum Verdict {
    Stays,
    Done,
    Beside,
    Moved(String),
}

fn judge(operation: &Operation, entry: Option<&Entry<'_>>, composer: &Composer) -> Verdict {
    let Some(entry) = entry else {
        // A fence is no change that anybody reviews: it keeps an older run's writes out.
        let stays = !operation.action.writes() || operation.reason.code == "fence";
        return if stays { Verdict::Stays } else { Verdict::Beside };
    };
    match operation.action {
        Action::Conflict => Verdict::Stays,
        Action::Unchanged if is_wanted(operation.seen.as_ref(), entry) => Verdict::Done,
        Action::Unchanged => {
            Verdict::Moved("nothing is to be written any more, and not for this plan's doing".to_owned())
        }
        _ => match differs(operation, entry, composer) {
            None => Verdict::Stays,
            Some(why) => Verdict::Moved(why),
        },
    }
}

/// Whether the stored post holds what the plan wants: somebody applied it already.
fn is_wanted(seen: Option<&Seen>, entry: &Entry<'_>) -> bool {
    let (Some(seen), Some(document)) = (seen, entry.document) else { return false };
    let hash = document.get_str("sourceHash").ok();
    document.get_str("status").ok() == Some(seen.status.as_str())
        && (hash.is_none() || hash == seen.source_hash.as_deref())
        && entry.operation.expected_version.is_none_or(|version| seen.version > version)
}

/// In what the operation of now differs from that of the plan.
fn differs(now: &Operation, entry: &Entry<'_>, composer: &Composer) -> Option<String> {
    let then = entry.operation;
    let version = |version: Option<i64>| {
        version.map_or_else(|| "no post".to_owned(), |number| format!("version {number}"))
    };
    if now.expected_version != then.expected_version {
        let (then, now) = (version(then.expected_version), version(now.expected_version));
        return Some(format!("the plan saw {then}, the store has {now}"));
    }
    let told = |seen: &Seen| {
        let source = seen.source_hash.as_deref().unwrap_or("none");
        format!("version {} ({}, source {source})", seen.version, seen.status.as_str())
    };
    let (saw, sees) = (then.seen.as_ref().map(told), now.seen.as_ref().map(told));
    if saw != sees {
        let none = || "nothing".to_owned();
        return Some(format!(
            "the plan saw {}, the store has {}",
            saw.unwrap_or_else(none),
            sees.unwrap_or_else(none)
        ));
    }
    if now.action != then.action || now.reason.code != then.reason.code {
        return Some(format!(
            "the plan says {} ({}), now it is {} ({})",
            then.action.as_str(),
            then.reason.code,
            now.action.as_str(),
            now.reason.code
        ));
    }
    if (&now.slug, &now.lang, &now.file) != (&then.slug, &then.lang, &then.file) {
        return Some("the plan names another slug, language or file".to_owned());
    }
    let content = match composer.compose(now) {
        Ok(content) => content.map(|content| content.fields),
        Err(problem) => return Some(problem.message),
    };
    let (Some(fresh), Some(planned)) = (document(now, content.as_ref()), entry.document) else {
        return Some("the plan holds no document for it".to_owned());
    };
    let fields: Vec<&str> =
        OWNED_FIELDS.into_iter().filter(|field| !same(field, fresh.get(field), planned.get(field))).collect();
    if fields.is_empty() && fresh.len() == planned.len() {
        return None;
    }
    Some(format!("the tree makes another document than the plan holds: {}", fields.join(", ")))
}

/// Whether a field is as planned. A checkout of the same text may have other line ends.
fn same(field: &str, fresh: Option<&Bson>, planned: Option<&Bson>) -> bool {
    match (fresh, planned) {
        (Some(Bson::Document(fresh)), Some(Bson::Document(planned))) if field == "frontMatter" => {
            fresh.get("text") == planned.get("text")
        }
        _ => fresh == planned,
    }
}

/// Why a post of the saved plan has no operation now; `None` where it is already as wanted.
fn gone(id: &str, entry: &Entry<'_>, observed: &Observed) -> Option<String> {
    let Some(head) = observed.heads.iter().find(|head| head.id == id) else {
        return Some("no file makes it now, and the store has it not".to_owned());
    };
    let archives = entry.operation.action == Action::Archive;
    if archives && head.status == Status::Archived {
        return None;
    }
    Some(if archives {
        format!(
            "it is not to be archived any more; the store has version {} ({})",
            head.version(),
            head.status.as_str()
        )
    } else {
        "nothing is to be done with it now: its file is gone or was not planned".to_owned()
    })
}

fn refused(operation: &Operation, why: String) -> Operation {
    let reason = Reason {
        code: STALE,
        detail: why,
        help: "plan again (`idempost diff --out plan.json`); --partial applies the posts that did not move"
            .to_owned(),
    };
    Operation {
        action: Action::Conflict,
        reason,
        line: None,
        content: None,
        stamp: None,
        ..operation.clone()
    }
}

fn count_again(plan: &mut Plan) {
    let Summary { files, posts, skipped, invalid, orphans, .. } = plan.summary;
    plan.summary = Summary { files, posts, skipped, invalid, orphans, ..Summary::default() };
    let actions: Vec<Action> = plan.operations.iter().map(|operation| operation.action).collect();
    for action in actions {
        *plan.summary.count(action) += 1;
    }
}

/// What of one change cannot have been written by `diff`, if something: a plan file that was edited.
pub fn unsound(operation: &Operation, document: Option<&Document>) -> Option<&'static str> {
    use crate::identity::PostId;
    use crate::post::date::PublishedAt;
    use crate::post::lang::Lang;
    use crate::post::slug::Slug;
    let Some(document) = document.filter(|_| operation.action.writes()) else {
        return operation.action.writes().then_some("it writes, and has no document");
    };
    let text = |key: &str| document.get_str(key).ok();
    let ingest = document.get_document("ingest").ok();
    let version = ingest.and_then(|ingest| ingest.get_i64("version").ok());
    if version != Some(operation.expected_version.map_or(1, |version| version.saturating_add(1))) {
        return Some("its version does not follow the one that it expects");
    }
    let to = Status::from_stored(text("status").unwrap_or_default());
    if !super::lifecycle::allowed(operation.seen.as_ref().map(|seen| &seen.status), &to, operation.by) {
        return Some("no post goes from that status to this one");
    }
    if !matches!(operation.action, Action::Create | Action::Update | Action::Restore) {
        return None;
    }
    if text("_id") != Some(&operation.id)
        || text("slug") != Some(&operation.slug)
        || text("lang") != Some(&operation.lang)
    {
        return Some("its document has another id, slug or language");
    }
    let at = document
        .get_datetime("publishedAt")
        .ok()
        .map(|at| PublishedAt::from_unix_millis(at.timestamp_millis()));
    let derived = match (Slug::parse(&operation.slug).ok(), Lang::parse(&operation.lang), at) {
        (Some(slug), Ok(lang), Some(Ok(at))) => Some(PostId::derive(&slug, &lang, at).to_string()),
        _ => None,
    };
    if derived.as_deref() != Some(&operation.id) {
        return Some("its id does not come from its slug, language and date");
    }
    let says = ingest.and_then(|ingest| ingest.get_str("contentHash").ok());
    (says != Some(ContentHash::of_fields(&content_of(document)).as_str()))
        .then_some("its document is not what its contentHash is of")
}
