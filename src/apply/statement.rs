//! A planned operation as the statement that is sent. Pure; the same operation of the same run always
//! gives the same statement.

use bson::Document;

use crate::identity::ContentHash;
use crate::plan::lifecycle::{self, By};
use crate::plan::{Action, Operation, Stamp};
use crate::store::Statement;
use crate::store::document::{Claim, Content, Ingest, LIFECYCLE_FIELDS, OWNED_FIELDS, Status};

/// Who writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The run.
    pub run_id: String,
    /// Its operation.
    pub operation_id: String,
}

/// What a statement leaves behind: what its read-back is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Status afterwards.
    pub status: Status,
    /// Bookkeeping afterwards.
    pub ingest: Ingest,
}

/// A statement ready to be sent, and what it will have left.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// What is sent.
    pub statement: Statement,
    /// What is then stored.
    pub left: Left,
}

/// Why the lifecycle refuses what an operation writes; `None`: it may. Asked wherever a statement is made,
/// whatever the plan was checked for before.
pub fn refused(operation: &Operation) -> Option<String> {
    let to = &operation.stamp.as_ref()?.status;
    let from = operation.seen.as_ref().map(|seen| &seen.status);
    let may = lifecycle::allowed(from, to, operation.by);
    (!may).then(|| lifecycle::refusal(from, to, operation.by))
}

/// Prepares the one write of an operation, or its last one where assets come first. `content` is what
/// was composed for it. `None` where the operation writes nothing, or may not ([`refused`]).
pub fn prepare(operation: &Operation, content: Option<Content>, writer: &Writer) -> Option<Prepared> {
    let left = left(operation, content.as_ref().map(|content| &content.content_hash), writer)?;
    let fields = content.map(|content| content.fields);
    Some(Prepared { statement: statement(operation, fields, &left), left })
}

/// What the one write of an operation leaves, when its content has this digest.
pub fn left(operation: &Operation, content_hash: Option<&ContentHash>, writer: &Writer) -> Option<Left> {
    let stamp = operation.stamp.as_ref().filter(|_| refused(operation).is_none())?;
    let makes_live =
        stamp.status.is_live() && operation.seen.as_ref().is_none_or(|seen| seen.status != Status::Active);
    Some(Left {
        status: stamp.status.clone(),
        ingest: Ingest {
            live_by: makes_live.then(|| writer.run_id.clone()),
            archived_by: archived_by(operation, stamp, writer),
            ..signed(stamp, content_hash, writer)
        },
    })
}

/// Who archived it by hand, as it stands afterwards: this run, or whoever did before; of what is not
/// archived nobody.
fn archived_by(operation: &Operation, stamp: &Stamp, writer: &Writer) -> Option<String> {
    match operation.by {
        _ if stamp.status != Status::Archived => None,
        By::Archive => Some(writer.run_id.clone()),
        _ => stamp.ingest.archived_by.clone(),
    }
}

/// Prepares the first write of an operation whose assets are not all stored: the post as `publishing`
/// where it is new, the claim alone where it is stored.
pub fn prepare_claim(
    operation: &Operation,
    content: Option<Content>,
    writer: &Writer,
    until: i64,
) -> Option<Prepared> {
    let stamp = operation.stamp.as_ref().filter(|_| refused(operation).is_none())?;
    let claim = Claim { run_id: writer.run_id.clone(), until };
    let status = operation.seen.as_ref().map_or(Status::Publishing, |seen| seen.status.clone());
    let digest = content.as_ref().map(|content| &content.content_hash);
    let mut ingest = Ingest { claim: Some(claim), ..signed(stamp, digest, writer) };
    if operation.action == Action::Create {
        ingest.live_by = Some(writer.run_id.clone());
        let left = Left { status, ingest };
        let fields = content.map(|content| content.fields);
        return Some(Prepared { statement: statement(operation, fields, &left), left });
    }
    let set = claim_fields(&ingest);
    let left = Left { status, ingest };
    Some(Prepared { statement: update(operation, set, Vec::new()), left })
}

/// The fields that a claim alone sets: the content and what describes it stay as they are.
fn claim_fields(ingest: &Ingest) -> Document {
    let whole = ingest.to_document();
    let mut set = Document::new();
    for key in ["version", "runId", "operationId", "revision", "claim"] {
        if let Some(value) = whole.get(key) {
            set.insert(format!("ingest.{key}"), value.clone());
        }
    }
    set
}

fn signed(stamp: &Stamp, content_hash: Option<&ContentHash>, writer: &Writer) -> Ingest {
    let mut ingest = Ingest {
        run_id: writer.run_id.clone(),
        operation_id: writer.operation_id.clone(),
        ..stamp.ingest.clone()
    };
    // A content that was given whole has its digest in the stamp.
    if let Some(digest) = content_hash.filter(|_| ingest.content_hash.is_empty()) {
        ingest.content_hash = digest.to_string();
    }
    ingest
}

fn statement(operation: &Operation, content: Option<Document>, left: &Left) -> Statement {
    match (&operation.action, content) {
        (Action::Create, Some(content)) => Statement::Create { document: whole(content, left) },
        (_, content) => {
            let mut set = lifecycle(left);
            let mut unset = Vec::new();
            if !left.status.is_live() {
                unset.push("live".to_owned());
            }
            if let Some(mut content) = content {
                for field in OWNED_FIELDS.iter().filter(|field| !LIFECYCLE_FIELDS.contains(field)) {
                    match content.remove(field) {
                        _ if ["_id", "slug", "lang"].contains(field) => {}
                        Some(value) => {
                            set.insert(*field, value);
                        }
                        None => unset.push((*field).to_owned()),
                    }
                }
            }
            update(operation, set, unset)
        }
    }
}

fn update(operation: &Operation, set: Document, unset: Vec<String>) -> Statement {
    Statement::Update {
        id: operation.id.clone(),
        slug: operation.slug.clone(),
        lang: operation.lang.clone(),
        expected_version: operation.expected_version.unwrap_or(0),
        set,
        unset,
    }
}

fn lifecycle(left: &Left) -> Document {
    let mut set = Document::new();
    set.insert("status", left.status.as_str());
    if left.status.is_live() {
        set.insert("live", true);
    }
    set.insert("ingest", left.ingest.to_document());
    set
}

/// The whole document of a new post, its fields in the order of [`OWNED_FIELDS`].
fn whole(mut content: Document, left: &Left) -> Document {
    let mut lifecycle = lifecycle(left);
    let mut out = Document::new();
    for field in OWNED_FIELDS {
        if let Some(value) = content.remove(field).or_else(|| lifecycle.remove(field)) {
            out.insert(field, value);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Reason, Seen};

    fn operation(from: Status, to: Status, by: By) -> Operation {
        let seen = Seen {
            version: 3,
            status: from,
            source_hash: Some("s1:0".to_owned()),
            revision: None,
            claim: None,
        };
        let ingest = Ingest { version: 4, archived_by: Some("r0".to_owned()), ..Ingest::default() };
        Operation {
            id: "01".to_owned(),
            slug: "pears".to_owned(),
            lang: "en".to_owned(),
            file: None,
            line: None,
            action: Action::Restamp,
            by,
            reason: Reason::of("fence"),
            expected_version: Some(3),
            content: None,
            seen: Some(seen),
            stamp: Some(Stamp { status: to, ingest, assets: Vec::new() }),
        }
    }

    /// Whatever a plan says, and whoever checked it.
    #[test]
    fn no_statement_is_made_of_what_the_lifecycle_refuses() {
        let all = [Status::Publishing, Status::Staged, Status::Active, Status::Archived, Status::Superseded];
        let writer = Writer { run_id: "r1".to_owned(), operation_id: "o1".to_owned() };
        let mut refusals = 0;
        for from in &all {
            for (to, by) in all.iter().flat_map(|to| By::ALL.map(|by| (to, by))) {
                let operation = operation(from.clone(), to.clone(), by);
                let may = lifecycle::allowed(Some(from), to, by);
                assert_eq!(prepare(&operation, None, &writer).is_some(), may, "{:?}", refused(&operation));
                assert_eq!(prepare_claim(&operation, None, &writer, 1).is_some(), may);
                assert_eq!(refused(&operation).is_none(), may);
                refusals += usize::from(!may);
            }
        }
        assert!(refusals > 80, "only {refusals}");
    }

    #[test]
    fn who_archived_by_hand_is_told_of_what_is_archived_alone() {
        let writer = Writer { run_id: "r1".to_owned(), operation_id: "o1".to_owned() };
        let by = |from, to, by| left(&operation(from, to, by), None, &writer).unwrap().ingest.archived_by;
        assert_eq!(by(Status::Active, Status::Archived, By::Archive).as_deref(), Some("r1"));
        assert_eq!(
            by(Status::Archived, Status::Archived, By::Ingest).as_deref(),
            Some("r0"),
            "a fence keeps it"
        );
        assert_eq!(by(Status::Archived, Status::Active, By::Restore), None);
    }
}
