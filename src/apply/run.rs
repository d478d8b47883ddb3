//! The rows by which runs know of each other (`DESIGN` 5): operations, revisions, fences.
//!
//! Every run that may write inserts its row, looks at the rows of its source, and only then reads the
//! heads and plans. Since all insert before they look and look before they plan, of two runs at least
//! the newer knows of the older. Age alone never makes a row harmless.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};

use super::Clock;
use crate::plan::{IdentitySettings, Late, Others};
use crate::store::document::integer;
use crate::store::history::Image;
use crate::store::{Class, Fault, Inserted, Side, Store};

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// At work, or died.
    Running,
    /// Everything is in.
    Done,
    /// Some posts failed or were refused.
    Partial,
    /// Nothing, or not enough, is in.
    Failed,
}

impl State {
    /// The stored spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Done => "done",
            State::Partial => "partial",
            State::Failed => "failed",
        }
    }

    fn from_stored(text: &str) -> Self {
        match text {
            "done" => State::Done,
            "partial" => State::Partial,
            "failed" => State::Failed,
            _ => State::Running,
        }
    }
}

/// One attempt of one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// `_id`: a new monotonic ULID.
    pub run_id: String,
    /// Counts the writes of the row.
    pub version: i64,
    /// Whose posts; empty where no source is named.
    pub source: String,
    /// Which intent; unique with source and attempt.
    pub operation_id: String,
    /// Attempts of the operation, from 1.
    pub attempt: i64,
    /// What the operation is about.
    pub fingerprint: String,
    /// `ingest`.
    pub verb: String,
    /// Source revision.
    pub revision: Option<i64>,
    /// Who counts the revisions, for example `github:deploy`.
    pub counter: Option<String>,
    /// Commit of the checkout, where a CI told it.
    pub commit: Option<String>,
    /// Branch or tag.
    pub reference: Option<String>,
    /// Where the CI shows the run.
    pub ci_run: Option<String>,
    /// Unix milliseconds.
    pub started: i64,
    /// The run shows that it is alive by moving this on; Unix milliseconds.
    pub lease_until: i64,
    /// How far it got.
    pub state: State,
    /// Unfinished: something of it may still reach the store.
    pub open: bool,
    /// A newer run has moved on every post that this one may still reach.
    pub fenced: bool,
    /// Exit code, once ended.
    pub exit: Option<i64>,
    /// The run's JSON report, once ended.
    pub result: Option<String>,
}

impl Row {
    /// The stored form.
    pub fn to_document(&self) -> Document {
        let mut out = doc! {
            "_id": &self.run_id,
            "version": self.version,
            "source": &self.source,
            "operationId": &self.operation_id,
            "attempt": self.attempt,
            "fingerprint": &self.fingerprint,
            "verb": &self.verb,
        };
        if let Some(revision) = self.revision {
            out.insert("revision", revision);
        }
        let told = [
            ("counter", &self.counter),
            ("commit", &self.commit),
            ("ref", &self.reference),
            ("ciRun", &self.ci_run),
        ];
        for (key, value) in told {
            if let Some(value) = value {
                out.insert(key, value);
            }
        }
        out.insert("startedAt", bson::DateTime::from_millis(self.started));
        out.insert("leaseUntil", bson::DateTime::from_millis(self.lease_until));
        out.insert("state", self.state.as_str());
        out.insert("open", self.open);
        out.insert("fenced", self.fenced);
        if let Some(exit) = self.exit {
            out.insert("exit", exit);
        }
        if let Some(result) = &self.result {
            out.insert("result", result);
        }
        out
    }

    /// The stored report; null where there is none, or where it is no JSON.
    pub fn report(&self) -> serde_json::Value {
        self.result.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Whether the revisions of two rows have an order: two CI counters have none between them.
    fn counts_with(&self, other: &Row) -> bool {
        self.counter.is_none() || other.counter.is_none() || self.counter == other.counter
    }

    /// Reads a row; `None` for what is no row of a run (the settings of a source).
    pub fn from_document(document: &Document) -> Option<Self> {
        let text = |key: &str| document.get_str(key).ok().map(str::to_owned);
        let number = |key: &str| integer(document.get(key));
        let attempt = number("attempt").filter(|attempt| *attempt > 0)?;
        Some(Row {
            run_id: text("_id")?,
            version: number("version")?,
            source: text("source").unwrap_or_default(),
            operation_id: text("operationId")?,
            attempt,
            fingerprint: text("fingerprint").unwrap_or_default(),
            verb: text("verb").unwrap_or_default(),
            revision: number("revision"),
            counter: text("counter"),
            commit: text("commit"),
            reference: text("ref"),
            ci_run: text("ciRun"),
            started: number("startedAt").unwrap_or(0),
            lease_until: number("leaseUntil").unwrap_or(0),
            state: State::from_stored(document.get_str("state").unwrap_or_default()),
            // A row that does not say that it is closed is not.
            open: document.get_bool("open").unwrap_or(true),
            fenced: document.get_bool("fenced").unwrap_or(false),
            exit: number("exit"),
            result: text("result"),
        })
    }
}

/// The rows of one source in one store.
pub struct Rows<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// What the time is.
    pub clock: &'a dyn Clock,
    /// Whose; empty where no source is named.
    pub source: String,
}

/// Whether a run may begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Begin {
    /// The row is in.
    Started(Box<Row>),
    /// The operation ended before: its result is returned, nothing is touched.
    Replay(Box<Row>),
    /// Another process is at work on the operation until then (Unix milliseconds) or longer.
    Busy(i64),
    /// The operation id was used for something else.
    Reused(Box<Row>),
}

impl Rows<'_> {
    /// Inserts the row of a new attempt, unless the operation is finished, at work, or something else.
    /// The row's `attempt` is set here.
    pub async fn begin(&self, mut row: Row) -> Result<Begin, Fault> {
        let filter = doc! { "source": &self.source, "operationId": &row.operation_id };
        let earlier = self.read(&filter).await?;
        // Our own row, when the reply to its insert was lost.
        if let Some(ours) = earlier.iter().find(|earlier| earlier.run_id == row.run_id) {
            return Ok(Begin::Started(Box::new(ours.clone())));
        }
        if let Some(other) = earlier.iter().find(|earlier| earlier.fingerprint != row.fingerprint) {
            return Ok(Begin::Reused(Box::new(other.clone())));
        }
        if let Some(ended) =
            earlier.iter().find(|earlier| matches!(earlier.state, State::Done | State::Partial))
        {
            return Ok(Begin::Replay(Box::new(ended.clone())));
        }
        let now = self.clock.now();
        if let Some(alive) = earlier
            .iter()
            .filter(|earlier| earlier.state == State::Running && earlier.lease_until > now)
            .max_by_key(|earlier| earlier.lease_until)
        {
            return Ok(Begin::Busy(alive.lease_until));
        }
        row.attempt = earlier.iter().map(|earlier| earlier.attempt).max().unwrap_or(0) + 1;
        match self.store.row_insert(Side::Runs, &row.to_document()).await? {
            Inserted::New => Ok(Begin::Started(Box::new(row))),
            // Another process took this attempt, or it is ours and the reply was lost: the caller
            // begins again and finds out.
            Inserted::Existed => Ok(Begin::Busy(now)),
        }
    }

    /// Looks at the other rows of the source, as the run of `row`.
    pub async fn look(&self, row: &Row) -> Result<Others, Fault> {
        let mut others = Others::default();
        let open = self.read(&doc! { "source": &self.source, "open": true }).await?;
        for other in open.iter().filter(|other| other.run_id != row.run_id) {
            others.unfinished.insert(other.run_id.clone());
            if let (Some(ours), Some(theirs)) = (row.revision, other.revision)
                && theirs < ours
                && row.counts_with(other)
            {
                others.lower.insert(other.run_id.clone());
                others.fence |= !other.fenced;
            }
        }
        if let Some(ours) = row.revision {
            let higher = self.read(&doc! { "source": &self.source, "revision": { "$gt": ours } }).await?;
            others.late = higher
                .iter()
                .filter(|other| row.counts_with(other))
                .max_by_key(|other| (other.revision, other.state != State::Failed))
                .map(|other| Late {
                    revision: other.revision.unwrap_or(ours),
                    run_id: other.run_id.clone(),
                    failed: other.state == State::Failed,
                });
        }
        Ok(others)
    }

    /// Changes a row by compare-and-set, reading it again when somebody else changed it meanwhile
    /// (another run may mark it fenced at any time).
    pub async fn change(&self, run_id: &str, change: impl Fn(&mut Row)) -> Result<Row, Fault> {
        loop {
            let rows = self.read(&doc! { "_id": run_id }).await?;
            let Some(mut row) = rows.into_iter().next() else {
                return Err(Fault::new(Class::Permanent, format!("the row of run {run_id} is gone"))
                    .help("somebody deleted it from the runs collection; run again"));
            };
            let expected = row.version;
            let before = row.clone();
            change(&mut row);
            if row == before {
                return Ok(row);
            }
            row.version = expected.saturating_add(1);
            if self.store.row_replace(Side::Runs, expected, &row.to_document()).await? {
                return Ok(row);
            }
        }
    }

    /// Marks the rows of older runs as fenced, once this run has ended well.
    pub async fn mark_fenced(&self, runs: &BTreeSet<String>) -> Result<(), Fault> {
        for run_id in runs {
            self.change(run_id, |row| row.fenced = true).await?;
        }
        Ok(())
    }

    /// Forgets ended rows older than `keep` milliseconds. Open rows and the highest revision are kept
    /// for ever.
    pub async fn forget(&self, keep: i64) -> Result<usize, Fault> {
        let before = bson::DateTime::from_millis(self.clock.now().saturating_sub(keep));
        let old = self.read(&doc! { "source": &self.source, "startedAt": { "$lt": before } }).await?;
        if old.is_empty() {
            return Ok(0);
        }
        let highest = old.iter().filter_map(|row| row.revision).max();
        let gone: Vec<String> = old
            .iter()
            .filter(|row| !row.open && (row.revision.is_none() || row.revision != highest))
            .map(|row| row.run_id.clone())
            .collect();
        for run_id in &gone {
            // The images first: a row that is still there is forgotten by a later run.
            let images = self.store.rows(Side::History, &Image::of_run(run_id)).await?;
            let ids: Vec<String> =
                images.iter().filter_map(|image| Some(image.get_str("_id").ok()?.to_owned())).collect();
            if !ids.is_empty() {
                self.store.row_delete(Side::History, &ids).await?;
            }
        }
        if !gone.is_empty() {
            self.store.row_delete(Side::Runs, &gone).await?;
        }
        Ok(gone.len())
    }

    /// All rows of the source, the oldest first.
    pub async fn all(&self) -> Result<Vec<Row>, Fault> {
        self.read(&doc! { "source": &self.source }).await
    }

    async fn read(&self, filter: &Document) -> Result<Vec<Row>, Fault> {
        let rows = self.store.rows(Side::Runs, filter).await?;
        Ok(rows.iter().filter_map(Row::from_document).collect())
    }

    /// The identity settings remembered for the source.
    pub async fn settings(&self) -> Result<Option<IdentitySettings>, Fault> {
        let rows = self.store.rows(Side::Runs, &doc! { "_id": self.settings_id() }).await?;
        Ok(rows.first().map(|row| IdentitySettings {
            values: row
                .get_document("settings")
                .map(|settings| {
                    settings
                        .iter()
                        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                        .collect()
                })
                .unwrap_or_default(),
        }))
    }

    /// Remembers the identity settings of the source.
    pub async fn remember(&self, settings: &IdentitySettings) -> Result<(), Fault> {
        let id = self.settings_id();
        let stored = self.store.rows(Side::Runs, &doc! { "_id": &id }).await?;
        let values: Document =
            settings.values.iter().map(|(name, value)| (name.clone(), Bson::from(value.as_str()))).collect();
        let version = stored.first().and_then(|row| integer(row.get("version")));
        // Attempt 0 of no operation: outside the unique key of the runs.
        let row = doc! {
            "_id": &id,
            "version": version.unwrap_or(0) + 1,
            "source": &self.source,
            "operationId": "",
            "attempt": 0_i64,
            "settings": values,
        };
        match version {
            Some(version) => {
                if stored.first().and_then(|row| row.get_document("settings").ok())
                    != row.get_document("settings").ok()
                {
                    self.store.row_replace(Side::Runs, version, &row).await?;
                }
            }
            None => {
                self.store.row_insert(Side::Runs, &row).await?;
            }
        }
        Ok(())
    }

    fn settings_id(&self) -> String {
        format!("settings:{}", self.source)
    }
}
