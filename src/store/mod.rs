//! The port: what the rest of the house may ask of a store, and what a store may answer.
//!
//! Adapters (`mongo`, `sqlite`, `memory`, and the test stores) pass one contract suite,
//! `tests/contract`. A store never retries, never decides, and never overwrites what a guard does not
//! match; `apply` does the rest.

pub mod document;
pub mod fault;
mod fields;
pub mod foreign;
pub mod history;
pub mod memory;
pub mod mongo;
pub mod objects;
pub mod size;
pub mod sqlite;

use std::time::Duration;

use async_trait::async_trait;
use bson::Document;

use document::Head;
use foreign::Foreign;

/// What stands behind the port, told before a run and never with credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// URI without user, password and options: `mongodb://host:27017`, `sqlite:idempost.db`.
    pub store: String,
    /// Database; for SQLite the file's stem.
    pub database: String,
    /// Collection of the posts.
    pub collection: String,
    /// Engine profile, for example `mongodb`, `documentdb`, `ferretdb1`, `sqlite`, `memory`.
    pub engine: String,
}

/// What a store can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Statements in one batch.
    pub statements_max: usize,
    /// Bytes of one batch, all of it.
    pub batch_bytes_max: usize,
    /// Bytes of one stored document.
    pub document_bytes_max: usize,
    /// Levels of nesting of one stored document.
    pub nesting_levels_max: usize,
    /// Whether the unique partial index on live (slug, lang) is there.
    pub unique_live: bool,
}

/// How an error is answered (`ENGINES` 1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Nothing left this machine: send again after a pause.
    NotSent,
    /// The engine says that it did nothing: send again after a pause.
    NotApplied,
    /// It may or may not have been done: read back first.
    Unknown,
    /// Done, but perhaps not yet on a majority: read back, or send again.
    AppliedNotDurable,
    /// A unique index or a guard refused it: read back, decide, never repeat blindly.
    Conflict,
    /// It will never work: stop this post or this run.
    Permanent,
    /// The engine does not let us in, or not do this.
    Auth,
}

impl Class {
    /// The spelling in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Class::NotSent => "not-sent",
            Class::NotApplied => "not-applied",
            Class::Unknown => "unknown-outcome",
            Class::AppliedNotDurable => "applied-not-durable",
            Class::Conflict => "conflict",
            Class::Permanent => "permanent",
            Class::Auth => "auth",
        }
    }
}

/// An error of a store, classified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// How to answer it.
    pub class: Class,
    /// The engine's code where there is one.
    pub code: Option<i32>,
    /// What the engine or the driver said, without credentials.
    pub message: String,
    /// What to do, in one line; may be empty.
    pub help: String,
    /// The pause that the server asks for.
    pub retry_after: Option<Duration>,
}

impl Fault {
    /// A fault with a class and a message.
    pub fn new(class: Class, message: impl Into<String>) -> Self {
        Fault { class, code: None, message: message.into(), help: String::new(), retry_after: None }
    }

    /// With the engine's code.
    #[must_use]
    pub fn code(mut self, code: i32) -> Self {
        self.code = Some(code);
        self
    }

    /// With what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}

/// One guarded, repeatable write of one post (`DESIGN` 5). The filter of both kinds is equality on
/// `{_id, slug, lang}`; `Update` adds equality on `ingest.version`.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Upsert with `$setOnInsert`: makes the document if none with this identity is there.
    Create {
        /// The whole document, `_id`, `slug` and `lang` included.
        document: Document,
    },
    /// No upsert: changes the document that still has the expected version.
    Update {
        /// `_id`.
        id: String,
        /// Part of the filter.
        slug: String,
        /// Part of the filter.
        lang: String,
        /// `ingest.version` that must be stored.
        expected_version: i64,
        /// `$set`; keys may be dotted paths under `ingest`.
        set: Document,
        /// `$unset`; keys as in `set`.
        unset: Vec<String>,
    },
}

impl Statement {
    /// The post's `_id`.
    pub fn id(&self) -> &str {
        match self {
            Statement::Create { document } => document.get_str("_id").unwrap_or_default(),
            Statement::Update { id, .. } => id,
        }
    }
}

/// What became of one statement of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// It did what it says: inserted, or matched.
    Applied,
    /// Create: a document with this identity was there already. Not a success: read back.
    Existed,
    /// Update: nothing matched the id and the version.
    Unmatched,
    /// The reply does not tell (for example a batch in which fewer documents matched than statements
    /// were sent): read back.
    Untold,
    /// Refused or failed; the class tells what may be done.
    Failed(Fault),
}

/// The collections beside the posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// `<collection>_runs`: one row a run, and one row of settings a source.
    Runs,
    /// `<collection>_assets`.
    Assets,
    /// `<collection>_groups`.
    Groups,
    /// `<collection>_history`.
    History,
    /// `<collection>_adopted`: originals that `adopt` keeps aside.
    Adopted,
}

impl Side {
    /// All of them.
    pub const ALL: [Side; 5] = [Side::Runs, Side::Assets, Side::Groups, Side::History, Side::Adopted];

    /// What is appended to the collection's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Side::Runs => "_runs",
            Side::Assets => "_assets",
            Side::Groups => "_groups",
            Side::History => "_history",
            Side::Adopted => "_adopted",
        }
    }
}

/// What became of the insert of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is in.
    New,
    /// A row with this `_id`, or with this unique key, is there already.
    Existed,
}

/// What `ensure_ready` found and made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readiness {
    /// Index name and what it is for, as read back.
    pub indexes: Vec<String>,
    /// What is lost on this engine, one sentence each.
    pub warnings: Vec<String>,
}

/// The port. Every method is one round of commands, never retried inside; each may be repeated.
///
/// Rows of a side collection are documents with a string `_id` and an integer `version`. In `Runs`,
/// `(source, operationId, attempt)` is unique; what is missing counts as null, so that there is one
/// row without an operation a source.
#[async_trait]
pub trait Store: Send + Sync {
    /// What it is.
    fn target(&self) -> Target;

    /// What it can take. Exact after `ensure_ready` or `connect`.
    fn limits(&self) -> Limits;

    /// Reaches the engine: authenticates, detects the profile. Writes nothing.
    async fn connect(&self) -> Result<(), Fault>;

    /// Makes collections and indexes where they are missing and reads them back.
    async fn ensure_ready(&self) -> Result<Readiness, Fault>;

    /// The heads of all posts of the collection, in order of `_id`; no body is read. A collection
    /// that does not exist has none.
    async fn heads(&self) -> Result<Vec<Head>, Fault>;

    /// The heads under these ids, in order of `_id`.
    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault>;

    /// The heads that are live under these (slug, lang), in order of `_id`.
    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault>;

    /// Whole documents under these ids, in order of `_id`.
    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault>;

    /// Sends one batch, unordered. `Err` is about the whole batch (its class says whether anything
    /// may have been done); `Ok` has one effect a statement, in their order. The store has been made
    /// ready before: a write would else make a collection without its unique index.
    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault>;

    /// Rows of a side collection whose top-level fields equal those of `filter`, in order of `_id`. A
    /// value `{"$gt": n}` or `{"$lt": n}` bounds an integer, a date or, byte by byte, a text; such bounds of
    /// `_id` are quick.
    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault>;

    /// Inserts a row. It has `_id`, `version: 1` and the side's unique key.
    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault>;

    /// Inserts many rows, as [`Store::row_insert`] each; those that are there already stay as they are. On
    /// `Err` some may be in.
    async fn rows_insert(&self, side: Side, rows: &[Document]) -> Result<(), Fault> {
        for row in rows {
            self.row_insert(side, row).await?;
        }
        Ok(())
    }

    /// Replaces the row `_id` if its `version` is `expected`; `row` carries the new version. `false`:
    /// nothing matched.
    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault>;

    /// Deletes rows by `_id`; missing ones are no error.
    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault>;

    /// What it can do with documents of other makers; `None`: nothing.
    fn foreign(&self) -> Option<&dyn Foreign> {
        None
    }
}
