//! What `verify` finds: every stored post held against the tree, and every rule of the stored shape.
//!
//! Pure. Begin at [`findings`], which reads a plan of the whole tree (what differs from the source, and
//! what a repair would do about it) and the heads (what contradicts itself). [`mend`] adds to a plan what
//! no file asks for: claims that nobody holds any more, a `live` that disagrees with `status`, a second
//! live copy of a post. Documents of other makers and of other sources are told and never planned.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::change::FieldChange;
use super::decide::again;
use super::orphan::{archive, stored};
use super::{Action, Operation, Plan, Policy, Reason, Stamp};
use crate::identity::PostId;
use crate::post::date::PublishedAt;
use crate::store::document::{Head, Status};

/// Whether a finding is a difference, or only worth knowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The store is not as it should be: exit 5.
    Difference,
    /// Worth knowing; changes no exit.
    Note,
}

impl Level {
    /// The spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Difference => "difference",
            Level::Note => "note",
        }
    }
}

/// One thing that was found about one stored document, or about one post that is not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Stable; `docs/lifecycle.md` has them all.
    pub code: &'static str,
    /// How much it matters.
    pub level: Level,
    /// `_id`, as text.
    pub id: String,
    /// Slug; may be empty.
    pub slug: String,
    /// Language; may be empty.
    pub lang: String,
    /// The file that makes the post, or made it.
    pub file: Option<String>,
    /// One sentence with the values.
    pub detail: String,
    /// What to do; may be empty.
    pub help: String,
    /// The fields that differ: stored, and as the source makes them.
    pub fields: Vec<FieldChange>,
    /// What `--repair` does about it; `None`: nothing.
    pub repair: Option<Action>,
}

/// What was read of the stored documents beside their heads.
#[derive(Debug, Clone, Default)]
pub struct Looked {
    /// Posts whose content is not what their `contentHash` says, or not what their source makes.
    pub drifted: BTreeSet<String>,
    /// Posts whose `_id` is not that of their own fields, and the id that is.
    pub wrong_ids: BTreeMap<String, String>,
}

/// What is told of what was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents in the collection.
    pub stored: usize,
    /// Of this source, each compared with its digest.
    pub checked: usize,
    /// Of other sources: not compared.
    pub other_sources: usize,
    /// Written by somebody else.
    pub foreign: usize,
}

/// The id that a post has by its own fields; `None` where they are none of a post.
pub fn id_of(slug: &str, lang: &str, published_at_millis: i64) -> Option<String> {
    let at = PublishedAt::from_unix_millis(published_at_millis).ok()?;
    (!slug.is_empty() && !lang.is_empty()).then(|| PostId::of_texts(slug, lang, at).to_string())
}

/// Whether the post belongs to this source. One without a source belongs to whoever has none.
pub fn is_ours(head: &Head, policy: &Policy) -> bool {
    head.ingest.as_ref().is_some_and(|ingest| ingest.source == policy.origin.name)
}

/// Counts of the collection.
pub fn counts(heads: &[Head], policy: &Policy) -> Counts {
    let checked = heads.iter().filter(|head| is_ours(head, policy)).count();
    let foreign = heads.iter().filter(|head| head.ingest.is_none()).count();
    Counts { stored: heads.len(), checked, foreign, other_sources: heads.len() - checked - foreign }
}

/// Everything that is found, differences first, then in order of file, id and code. `plan` is of the whole tree with
/// `looked.drifted` as drift and nothing pruned unless that was asked for; `changes` has the fields of its
/// operations; `now` is in Unix milliseconds.
pub fn findings(
    plan: &Plan,
    changes: &[Vec<FieldChange>],
    heads: &[Head],
    looked: &Looked,
    policy: &Policy,
    now: i64,
) -> Vec<Finding> {
    let mut out = Vec::new();
    for (at, operation) in plan.operations.iter().enumerate() {
        let fields = changes.get(at).map_or(&[][..], Vec::as_slice);
        out.extend(of_operation(operation, fields, now));
    }
    let by_id: HashMap<&str, &Operation> = by_id(plan);
    orphans(plan, &by_id, &mut out);
    drifted(plan, changes, heads, looked, &by_id, &mut out);
    let stored: HashMap<&str, &Head> = heads.iter().map(|head| (head.id.as_str(), head)).collect();
    for head in heads {
        match &head.ingest {
            None => out.push(foreign(head)),
            Some(_) if is_ours(head, policy) => {
                out.extend(wrong_id(head, looked, &by_id));
                out.extend(status(head));
                out.extend(claim(head, now));
                out.extend(pointer(head, &stored));
            }
            Some(_) => {}
        }
    }
    duplicates(heads, policy, &by_id, &mut out);
    translations(heads, policy, &mut out);
    out.sort_by(|a, b| (a.level, &a.file, &a.id, a.code).cmp(&(b.level, &b.file, &b.id, b.code)));
    out
}

fn by_id(plan: &Plan) -> HashMap<&str, &Operation> {
    plan.operations.iter().map(|operation| (operation.id.as_str(), operation.as_ref())).collect()
}

/// What differs between the tree and the store, as the plan says it.
fn of_operation(operation: &Operation, fields: &[FieldChange], now: i64) -> Option<Finding> {
    let reason = &operation.reason;
    let repair = operation.action.writes().then_some(operation.action);
    let (code, detail) = match (operation.action, reason.code) {
        (Action::Create, _) => ("missing", "the tree has this post and the store has not".to_owned()),
        (Action::Update, "drift") => ("drift", drift_detail(fields)),
        (Action::Update, "publishing") => return publishing(operation, now),
        (Action::Update | Action::Restamp, "pipeline") => {
            ("pipeline", "it was made by another pipeline than this one".to_owned())
        }
        (Action::Update, what) => ("outdated", format!("the {what} changed since it was stored")),
        (Action::Restamp, _) => ("path", reason.detail.clone()),
        (Action::Restore, _) => {
            ("archived", "the tree has this post and the stored one is archived".to_owned())
        }
        (Action::Archive, "draft") => {
            ("draft", "its file is now a draft and the stored post is live".to_owned())
        }
        (Action::Conflict, code) => (code, reason.detail.clone()),
        // Orphans are told by themselves, pruned or not.
        (Action::Archive | Action::Unchanged | Action::Stale, _) => return None,
    };
    Some(Finding {
        code,
        level: Level::Difference,
        id: operation.id.clone(),
        slug: operation.slug.clone(),
        lang: operation.lang.clone(),
        file: operation.file.clone(),
        detail,
        help: reason.help.clone(),
        fields: fields.to_vec(),
        repair,
    })
}

fn drift_detail(fields: &[FieldChange]) -> String {
    let names: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
    match names.as_slice() {
        [] => "its `contentHash` is not that of its content".to_owned(),
        names => format!("somebody else changed {}", names.join(", ")),
    }
}

/// A post that was inserted as the lock and never became active.
fn publishing(operation: &Operation, now: i64) -> Option<Finding> {
    let claim = operation.seen.as_ref()?.claim.as_ref();
    let held = claim.is_some_and(|claim| claim.until > now);
    let by = claim.map_or("nobody", |claim| claim.run_id.as_str());
    Some(Finding {
        code: "claim",
        level: if held { Level::Note } else { Level::Difference },
        id: operation.id.clone(),
        slug: operation.slug.clone(),
        lang: operation.lang.clone(),
        file: operation.file.clone(),
        detail: if held {
            format!("run {by} is just publishing it")
        } else {
            format!("run {by} began to publish it and never ended: readers do not see it")
        },
        help: String::new(),
        fields: Vec::new(),
        repair: (!held).then_some(operation.action),
    })
}

fn orphans(plan: &Plan, by_id: &HashMap<&str, &Operation>, out: &mut Vec<Finding>) {
    for orphan in &plan.orphans {
        let archived = by_id.get(orphan.id.as_str()).filter(|operation| operation.action == Action::Archive);
        out.push(Finding {
            code: "orphan",
            level: Level::Difference,
            id: orphan.id.clone(),
            slug: orphan.slug.clone(),
            lang: orphan.lang.clone(),
            file: Some(orphan.path.clone()),
            detail: "it is live and no file makes it".to_owned(),
            help: "bring the file back, or archive the post with `--repair --prune`".to_owned(),
            fields: Vec::new(),
            repair: archived.map(|operation| operation.action),
        });
    }
}

/// Drift of posts that the plan writes for another reason, or not at all.
fn drifted(
    plan: &Plan,
    changes: &[Vec<FieldChange>],
    heads: &[Head],
    looked: &Looked,
    by_id: &HashMap<&str, &Operation>,
    out: &mut Vec<Finding>,
) {
    let places: HashMap<&str, usize> =
        plan.operations.iter().enumerate().map(|(at, operation)| (operation.id.as_str(), at)).collect();
    for head in heads.iter().filter(|head| looked.drifted.contains(&head.id)) {
        let operation = by_id.get(head.id.as_str());
        if operation.is_some_and(|operation| operation.reason.code == "drift") {
            continue;
        }
        let rewritten = operation.filter(|operation| operation.content.is_some());
        let at = rewritten.and_then(|_| places.get(head.id.as_str()));
        out.push(Finding {
            detail: match rewritten {
                Some(operation) => format!(
                    "its `contentHash` is not that of its content; it is written anyway ({})",
                    operation.reason.code
                ),
                None => {
                    "its `contentHash` is not that of its content, and no file says what it was".to_owned()
                }
            },
            help: match rewritten {
                Some(_) => String::new(),
                None => "bring its file back, or take the stored post for what it is".to_owned(),
            },
            fields: at.and_then(|at| changes.get(*at)).cloned().unwrap_or_default(),
            repair: rewritten.map(|operation| operation.action),
            ..about(head, "drift", Level::Difference)
        });
    }
}

fn about(head: &Head, code: &'static str, level: Level) -> Finding {
    Finding {
        code,
        level,
        id: head.id.clone(),
        slug: head.slug.clone(),
        lang: head.lang.clone(),
        file: head.ingest.as_ref().map(|ingest| ingest.path.clone()).filter(|path| !path.is_empty()),
        detail: String::new(),
        help: String::new(),
        fields: Vec::new(),
        repair: None,
    }
}

/// A document that idempost never wrote. One without a slug is a counter or the like, beside the posts.
fn foreign(head: &Head) -> Finding {
    if head.slug.is_empty() && !head.live {
        return Finding {
            detail: "idempost did not write it; it has no slug".to_owned(),
            ..about(head, "foreign", Level::Note)
        };
    }
    Finding {
        detail: "idempost did not write it: readers may see it beside the posts of the tree".to_owned(),
        help: "move it to another collection, or remove it if it is not wanted".to_owned(),
        ..about(head, "foreign", Level::Difference)
    }
}

fn wrong_id(head: &Head, looked: &Looked, by_id: &HashMap<&str, &Operation>) -> Option<Finding> {
    let right = looked.wrong_ids.get(&head.id)?;
    // A post that is written anew gets back the date that its id was derived from.
    let rewritten = by_id.get(head.id.as_str()).filter(|operation| operation.content.is_some());
    Some(Finding {
        detail: format!("its slug, lang and publishedAt make the id {right}"),
        help: match rewritten {
            Some(_) => String::new(),
            None => "put its slug, lang or publishedAt back, or remove the document".to_owned(),
        },
        repair: rewritten.map(|operation| operation.action),
        ..about(head, "wrong-id", Level::Difference)
    })
}

/// `live` is there exactly with a live status.
fn status(head: &Head) -> Option<Finding> {
    let told = head.status.as_str();
    if let Status::Other(_) = head.status {
        return Some(Finding {
            detail: format!("status {told:?} is none that idempost writes"),
            help: "put back the status that it had: active, archived or superseded".to_owned(),
            ..about(head, "status", Level::Difference)
        });
    }
    if head.live == head.status.is_live() {
        return None;
    }
    let detail = if head.live {
        format!(
            "`live` is true with status {told:?}: it takes its slug from others and readers do not see it"
        )
    } else {
        format!("status is {told:?} without `live`: nothing stops a second post under its slug")
    };
    Some(Finding { detail, repair: Some(Action::Restamp), ..about(head, "status", Level::Difference) })
}

/// A claim that outlived its run on a post that is not `publishing` (those are told with their file).
fn claim(head: &Head, now: i64) -> Option<Finding> {
    let claim = head.ingest.as_ref()?.claim.as_ref()?;
    if head.status == Status::Publishing || claim.until > now {
        return None;
    }
    Some(Finding {
        detail: format!("run {} left a claim on it that has expired", claim.run_id),
        repair: Some(Action::Restamp),
        ..about(head, "claim", Level::Difference)
    })
}

/// `supersededBy` names a live post, and stands exactly with its status.
fn pointer(head: &Head, stored: &HashMap<&str, &Head>) -> Option<Finding> {
    let detail = match (&head.status, &head.superseded_by) {
        (Status::Superseded, None) => "it is superseded and names no successor".to_owned(),
        (Status::Superseded, Some(by)) => match stored.get(by.as_str()) {
            None => format!("it is superseded by {by}, which is not stored"),
            // A chain of moves ends at one that is live; each link is looked at by itself.
            Some(next) if next.live || next.status == Status::Superseded => return None,
            Some(next) => {
                format!("it is superseded by {by}, which is {:?} and not live", next.status.as_str())
            }
        },
        (Status::Staged, _) => "it was staged by a move that never ended".to_owned(),
        (_, Some(by)) => format!("it is {:?} and names a successor, {by}", head.status.as_str()),
        (_, None) => return None,
    };
    Some(Finding {
        detail,
        help: "the next `idempost ingest` completes a move that died; else bring the successor back"
            .to_owned(),
        ..about(head, "pointer", Level::Difference)
    })
}

/// Two live documents under one (slug, lang), and one file that made two live posts.
fn duplicates(heads: &[Head], policy: &Policy, by_id: &HashMap<&str, &Operation>, out: &mut Vec<Finding>) {
    for (kept, other) in doubles(heads, policy, by_id) {
        let help = match (is_ours(other, policy), kept_is_made(kept, by_id)) {
            (true, true) => String::new(),
            (true, false) => "no file makes either: archive the one that is not wanted".to_owned(),
            (false, _) => "it is not of this source: remove it by hand, or archive it there".to_owned(),
        };
        out.push(Finding {
            detail: format!(
                "it is live beside {}: readers see {:?} in {} twice",
                kept.id, kept.slug, kept.lang
            ),
            repair: help.is_empty().then_some(Action::Archive),
            help,
            ..about(other, "duplicate", Level::Difference)
        });
    }
    let mut by_path: BTreeMap<&str, Vec<&Head>> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.live && is_ours(head, policy)) {
        let path = head.ingest.as_ref().map_or("", |ingest| ingest.path.as_str());
        by_path.entry(path).or_default().push(head);
    }
    for (path, heads) in by_path.into_iter().filter(|(_, heads)| heads.len() > 1) {
        let Some(kept) = heads.iter().find(|head| kept_is_made(head, by_id)) else { continue };
        let others = heads.iter().filter(|head| head.id != kept.id);
        for other in others.filter(|other| other.slug != kept.slug || other.lang != kept.lang) {
            out.push(Finding {
                detail: format!("{path} made it and {} too: one post under two ids", kept.id),
                help: "archive the one that is not wanted".to_owned(),
                ..about(other, "duplicate", Level::Difference)
            });
        }
    }
}

/// (the one that stays, the one too many) for each live document that shares its slug and language.
fn doubles<'a>(
    heads: &'a [Head],
    policy: &Policy,
    by_id: &HashMap<&str, &Operation>,
) -> Vec<(&'a Head, &'a Head)> {
    let mut live: BTreeMap<(&str, &str), Vec<&Head>> = BTreeMap::new();
    for head in heads.iter().filter(|head| head.live) {
        live.entry((&head.slug, &head.lang)).or_default().push(head);
    }
    let mut out = Vec::new();
    for mut group in live.into_values().filter(|group| group.len() > 1) {
        // What a file makes stays, then what is ours; ids decide between equals.
        group.sort_by_key(|head| (!kept_is_made(head, by_id), !is_ours(head, policy), head.id.as_str()));
        if let Some((kept, others)) = group.split_first() {
            out.extend(others.iter().map(|other| (*kept, *other)));
        }
    }
    out
}

fn kept_is_made(head: &Head, by_id: &HashMap<&str, &Operation>) -> bool {
    by_id.get(head.id.as_str()).is_some_and(|operation| {
        operation.file.is_some() && !matches!(operation.action, Action::Conflict | Action::Archive)
    })
}

/// A live translation whose group has members and none of them is live: it is a translation of nothing.
fn translations(heads: &[Head], policy: &Policy, out: &mut Vec<Finding>) {
    let mut groups: BTreeMap<&str, Vec<&Head>> = BTreeMap::new();
    for head in heads.iter().filter(|head| is_ours(head, policy)) {
        if let Some(key) = &head.translation_key {
            groups.entry(key).or_default().push(head);
        }
    }
    for (key, group) in groups {
        let live: Vec<&&Head> = group.iter().filter(|head| head.status.is_live()).collect();
        if let [alone] = live.as_slice()
            && group.iter().any(|head| head.lang != alone.lang)
        {
            out.push(Finding {
                detail: format!("every other translation of {key:?} was taken down"),
                ..about(alone, "translation", Level::Note)
            });
        }
    }
}

/// Adds to a plan of the whole tree what no file asks for. Nothing but posts of this source is touched.
pub fn mend(plan: &mut Plan, heads: &[Head], policy: &Policy, now: i64) {
    let too_many: BTreeSet<&str> = {
        let by_id = by_id(plan);
        doubles(heads, policy, &by_id)
            .into_iter()
            .filter(|(kept, _)| kept_is_made(kept, &by_id))
            .map(|(_, other)| other.id.as_str())
            .collect()
    };
    let mut wanted: BTreeMap<&str, Operation> = BTreeMap::new();
    for head in heads.iter().filter(|head| is_ours(head, policy)) {
        if too_many.contains(head.id.as_str()) && head.status.is_live() {
            wanted.insert(&head.id, archive(head, None, Reason::of("duplicate"), policy));
        } else if let Some(finding) = status(head).or_else(|| claim(head, now))
            && finding.repair.is_some()
        {
            wanted.insert(&head.id, restamp(head, finding.code, policy));
        }
    }
    for planned in &mut plan.operations {
        let Some(operation) = wanted.remove(planned.id.as_str()) else { continue };
        // What writes the post anyway mends it too; but nothing archives what is archived.
        let archived_twice = planned.action == Action::Archive
            && planned.seen.as_ref().is_some_and(|seen| seen.status == Status::Archived);
        if planned.action == Action::Unchanged || archived_twice {
            let file = planned.file.clone();
            *planned = Arc::new(Operation { file, ..operation });
        }
    }
    plan.operations.extend(wanted.into_values().map(Arc::new));
    plan.recount();
}

fn restamp(head: &Head, code: &'static str, policy: &Policy) -> Operation {
    let mut operation = stored(head, Action::Restamp, Reason::of(code));
    let before = head.ingest.clone().unwrap_or_default();
    operation.stamp =
        Some(Stamp { status: head.status.clone(), ingest: again(&before, policy), assets: Vec::new() });
    operation
}
