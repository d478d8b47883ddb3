//! Before-images: what each post was before this run writes it, stored before the write, so that `undo` can
//! put it back (`DESIGN` 6).
//!
//! Begin at [`Keeper::keep`]. A row whose write never came is harmless: `undo` sees that the post is as it
//! was. What is read and held is the documents of one part of a batch.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bson::Document;

use super::batch::Pending;
use super::cut::{BATCH_BYTES, cut};
use super::planner::DOCUMENTS_AT_A_TIME;
use super::{Executor, Supervisor};
use crate::plan::lifecycle::By;
use crate::plan::{Action, Operation};
use crate::report::event::Event;
use crate::store::history::{Before, Image};
use crate::store::size::bytes_of;
use crate::store::{Class, Fault, Inserted, Side};

/// A write that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Write<'a> {
    /// What is done.
    pub operation: &'a Operation,
    /// `ingest.contentHash` that it leaves.
    pub content_hash: &'a str,
}

/// Keeps the before-images of one run.
#[derive(Debug)]
pub struct Keeper {
    bytes_max: u64,
    bytes: AtomicU64,
    told: AtomicBool,
}

impl Keeper {
    /// A keeper of so many bytes; of none where it is 0.
    pub fn new(bytes_max: u64) -> Self {
        Keeper { bytes_max, bytes: AtomicU64::new(0), told: AtomicBool::new(false) }
    }

    /// Stores what these posts are now. `again`: they were planned again, and what was kept of them may be
    /// older than what is stored now.
    pub async fn keep(
        &self,
        executor: &Executor<'_>,
        writes: &[Write<'_>],
        again: bool,
    ) -> Result<(), Fault> {
        if self.bytes_max == 0 {
            return Ok(());
        }
        let writes: Vec<Write<'_>> = writes.iter().copied().filter(changes).collect();
        for some in writes.chunks(DOCUMENTS_AT_A_TIME) {
            let rows = self.rows(executor, some).await?;
            if again {
                for row in &rows {
                    replace(executor, row).await?;
                }
            } else {
                insert(executor, rows).await?;
            }
        }
        Ok(())
    }

    async fn rows(&self, executor: &Executor<'_>, writes: &[Write<'_>]) -> Result<Vec<Document>, Fault> {
        let store = executor.store;
        let limits = store.limits();
        let stored = |write: &&Write<'_>| write.operation.seen.is_some();
        let ids: Vec<String> = writes.iter().filter(stored).map(|write| write.operation.id.clone()).collect();
        let documents =
            if ids.is_empty() { Vec::new() } else { executor.persist(|| store.documents(&ids)).await? };
        let before: HashMap<&str, &Document> =
            documents.iter().filter_map(|document| Some((document.get_str("_id").ok()?, document))).collect();
        let image = |write: &Write<'_>| {
            let found = before.get(write.operation.id.as_str());
            let before = found.map_or(Before::Absent, |document| Before::of(document).within(&limits));
            let image = Image {
                run_id: executor.writer.run_id.clone(),
                post_id: write.operation.id.clone(),
                version: 1,
                status: write.operation.stamp.as_ref()?.status.clone(),
                content_hash: write.content_hash.to_owned(),
                before: self.bounded(before, executor),
            };
            Some(image.to_document())
        };
        Ok(writes.iter().filter_map(image).collect())
    }

    /// The image, as long as the run's images are within their bound.
    fn bounded(&self, before: Before, executor: &Executor<'_>) -> Before {
        let bytes = before.bytes();
        let sum = self.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let before = if bytes > 0 && sum > self.bytes_max { Before::TooLarge } else { before };
        if before == Before::TooLarge && !self.told.swap(true, Ordering::Relaxed) {
            (executor.events)(&Event::Note(
                "what posts were before this run is more than limits.history keeps: `undo` cannot put all of them back",
            ));
        }
        before
    }
}

/// Whether the write changes more than bookkeeping.
fn changes(write: &Write<'_>) -> bool {
    write.operation.action != Action::Restamp || write.operation.by != By::Ingest
}

async fn insert(executor: &Executor<'_>, rows: Vec<Document>) -> Result<(), Fault> {
    let limits = executor.store.limits();
    let bytes_max = BATCH_BYTES.min(limits.batch_bytes_max);
    for some in cut(rows, bytes_of, limits.statements_max.max(1), bytes_max) {
        executor.persist(|| executor.store.rows_insert(Side::History, &some)).await?;
    }
    Ok(())
}

/// Puts the row in the place of an older one of this run, unless what is stored now is of this run itself.
async fn replace(executor: &Executor<'_>, row: &Document) -> Result<(), Fault> {
    let store = executor.store;
    let id = row.get_str("_id").unwrap_or_default();
    if executor.persist(|| store.row_insert(Side::History, row)).await? == Inserted::New {
        return Ok(());
    }
    let writer = row.get_document("before").and_then(|before| before.get_document("ingest"));
    if writer.is_ok_and(|ingest| ingest.get_str("runId").ok() == Some(executor.writer.run_id.as_str())) {
        return Ok(());
    }
    let filter = bson::doc! { "_id": id };
    let stored = executor.persist(|| store.rows(Side::History, &filter)).await?;
    let Some(older) = stored.into_iter().next().and_then(Image::from_document) else { return Ok(()) };
    let mut row = row.clone();
    row.insert("version", older.version.saturating_add(1));
    executor.persist(|| store.row_replace(Side::History, older.version, &row)).await.map(|_| ())
}

impl Executor<'_> {
    /// Keeps what these posts are now. `Err`: it could not be done, and nothing was sent to them.
    pub(super) async fn remember(
        &self,
        pending: &[Pending],
        supervisor: &dyn Supervisor,
        again: bool,
    ) -> Result<(), Fault> {
        let writes: Vec<Write<'_>> = pending.iter().map(Pending::write).collect();
        supervisor.remember(&writes, again).await.map_err(|fault| {
            let class = if fault.class == Class::Unknown { Class::NotApplied } else { fault.class };
            let message = format!("what the post was could not be kept: {}", fault.message);
            Fault { class, message, ..fault }
        })
    }
}
