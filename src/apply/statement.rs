//! A planned operation as the statement that is sent. Pure; the same operation of the same run always
//! gives the same statement.

use bson::{Bson, Document};

use crate::plan::{Action, Operation, Stamp};
use crate::store::Statement;
use crate::store::document::{Claim, Ingest, LIFECYCLE_FIELDS, OWNED_FIELDS, Status};

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

/// Prepares the one write of an operation, or its last one where assets come first. `None` where the
/// operation writes nothing.
pub fn prepare(operation: &Operation, writer: &Writer) -> Option<Prepared> {
    let stamp = operation.stamp.as_ref()?;
    let makes_live =
        stamp.status.is_live() && operation.seen.as_ref().is_none_or(|seen| seen.status != Status::Active);
    let left = Left {
        status: stamp.status.clone(),
        ingest: Ingest { live_by: makes_live.then(|| writer.run_id.clone()), ..signed(stamp, writer) },
    };
    Some(Prepared { statement: statement(operation, &left), left })
}

/// Prepares the first write of an operation whose assets are not all stored: the post as `publishing`
/// where it is new, the claim alone where it is stored.
pub fn prepare_claim(operation: &Operation, writer: &Writer, until: i64) -> Option<Prepared> {
    let stamp = operation.stamp.as_ref()?;
    let claim = Claim { run_id: writer.run_id.clone(), until };
    let status = operation.seen.as_ref().map_or(Status::Publishing, |seen| seen.status.clone());
    let mut ingest = Ingest { claim: Some(claim), ..signed(stamp, writer) };
    if operation.action == Action::Create {
        ingest.live_by = Some(writer.run_id.clone());
        let left = Left { status, ingest };
        return Some(Prepared { statement: statement(operation, &left), left });
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

fn signed(stamp: &Stamp, writer: &Writer) -> Ingest {
    Ingest {
        run_id: writer.run_id.clone(),
        operation_id: writer.operation_id.clone(),
        ..stamp.ingest.clone()
    }
}

fn statement(operation: &Operation, left: &Left) -> Statement {
    match (&operation.action, &operation.content) {
        (Action::Create, Some(content)) => Statement::Create { document: whole(content, left) },
        (_, content) => {
            let mut set = lifecycle(left);
            let mut unset = Vec::new();
            if !left.status.is_live() {
                unset.push("live".to_owned());
            }
            if let Some(content) = content {
                for field in OWNED_FIELDS.iter().filter(|field| !LIFECYCLE_FIELDS.contains(field)) {
                    match content.get(field) {
                        _ if ["_id", "slug", "lang"].contains(field) => {}
                        Some(value) => {
                            set.insert(*field, value.clone());
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
fn whole(content: &Document, left: &Left) -> Document {
    let lifecycle = lifecycle(left);
    let mut out = Document::new();
    for field in OWNED_FIELDS {
        let value: Option<&Bson> = content.get(field).or_else(|| lifecycle.get(field));
        if let Some(value) = value {
            out.insert(field, value.clone());
        }
    }
    out
}
