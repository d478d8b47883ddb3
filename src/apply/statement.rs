//! A planned operation as the statement that is sent. Pure; the same operation of the same run always
//! gives the same statement.

use bson::Document;

use crate::identity::ContentHash;
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

/// Prepares the one write of an operation, or its last one where assets come first. `content` is what
/// was composed for it. `None` where the operation writes nothing.
pub fn prepare(operation: &Operation, content: Option<Content>, writer: &Writer) -> Option<Prepared> {
    let left = left(operation, content.as_ref().map(|content| &content.content_hash), writer)?;
    let fields = content.map(|content| content.fields);
    Some(Prepared { statement: statement(operation, fields, &left), left })
}

/// What the one write of an operation leaves, when its content has this digest.
pub fn left(operation: &Operation, content_hash: Option<&ContentHash>, writer: &Writer) -> Option<Left> {
    let stamp = operation.stamp.as_ref()?;
    let makes_live =
        stamp.status.is_live() && operation.seen.as_ref().is_none_or(|seen| seen.status != Status::Active);
    Some(Left {
        status: stamp.status.clone(),
        ingest: Ingest {
            live_by: makes_live.then(|| writer.run_id.clone()),
            ..signed(stamp, content_hash, writer)
        },
    })
}

/// Prepares the first write of an operation whose assets are not all stored: the post as `publishing`
/// where it is new, the claim alone where it is stored.
pub fn prepare_claim(
    operation: &Operation,
    content: Option<Content>,
    writer: &Writer,
    until: i64,
) -> Option<Prepared> {
    let stamp = operation.stamp.as_ref()?;
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
