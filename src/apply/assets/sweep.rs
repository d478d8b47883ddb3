//! Takes away what no post shows any more: garbage collection by reachability, after a grace period.
//!
//! What keeps an object: a post of the collection in any status (an archived one may come back), a row of
//! the history (an undo shows what was), and having been asked for within the grace period. An object is
//! marked as `deleting` by compare-and-set first, then the posts are read once more, then it is deleted,
//! then its row. A run that wants it meanwhile either marked it as used before, and the mark fails, or
//! meets the mark, and waits. Begin at [`Sweep::run`].

use std::collections::BTreeSet;
use std::time::Duration;

use bson::{Bson, Document, doc};

use super::row::{Row, State};
use super::{USED_EVERY, millis};
use crate::apply::Clock;
use crate::store::document::Claim;
use crate::store::history::Image;
use crate::store::objects::Objects;
use crate::store::{Fault, Side, Store};

/// The shortest grace period: a run may rely on a mark that is [`USED_EVERY`] old, and then has this much
/// less to bring its post in; clocks may differ by as much again.
pub const GRACE_MIN: Duration = Duration::from_hours(3);
const _: () = assert!(GRACE_MIN.as_secs() >= 3 * USED_EVERY.as_secs());

/// How long a mark stands before others may take it for one of a sweep that died.
const MARK: Duration = Duration::from_mins(3);
/// How long one deletion may take. What is left of a mark is more than that, or nothing is deleted.
const DELETE_TIMEOUT: Duration = Duration::from_secs(30);
/// Marks at a time.
const MARKS_MAX: usize = 200;
/// Posts read at a time.
const POSTS_AT_ONCE: usize = 200;

/// One object that nothing shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// Its row.
    pub row: Row,
    /// What became of it.
    pub fate: Fate,
}

/// What became of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Only looked at.
    WouldGo,
    /// Deleted.
    Gone,
    /// Somebody wanted it meanwhile.
    Wanted,
    /// It could not be deleted; why.
    Failed(String),
}

/// What a sweep found and did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Rows of objects that something shows.
    pub reachable: usize,
    /// Rows of objects that nothing shows and that were asked for within the grace period, or that
    /// somebody is at work on.
    pub young: usize,
    /// Rows of another asset store than the configured one: left alone.
    pub elsewhere: usize,
    /// The others, in order of digest.
    pub unreachable: Vec<Unreachable>,
}

/// Whether objects are deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only told.
    Look,
    /// Deleted.
    Delete,
}

/// One sweep over one collection and its asset store.
pub struct Sweep<'a> {
    /// Posts, history and rows.
    pub store: &'a dyn Store,
    /// The objects.
    pub objects: &'a dyn Objects,
    /// What the time is.
    pub clock: &'a dyn Clock,
    /// Who sweeps.
    pub run_id: String,
    /// How long an object stays after it was last asked for.
    pub grace: Duration,
}

impl Sweep<'_> {
    /// Sweeps. Running it again, or after it was killed, is safe.
    pub async fn run(&self, mode: Mode) -> Result<Swept, Fault> {
        let reachable = self.reachable().await?;
        let rows = self.store.rows(Side::Assets, &Document::new()).await?;
        let now = self.clock.now();
        let mut swept = Swept::default();
        let mut candidates = Vec::new();
        for row in rows.iter().filter_map(Row::from_document) {
            if reachable.contains(&row.sha256) && row.state != State::Deleting {
                swept.reachable += 1;
            } else if !self.objects.is_near() && row.place != self.objects.place() {
                swept.elsewhere += 1;
            } else if self.is_held(&row, now) || self.is_young(&row, now) {
                swept.young += 1;
            } else {
                candidates.push(row);
            }
        }
        if mode == Mode::Look {
            swept.unreachable =
                candidates.into_iter().map(|row| Unreachable { row, fate: Fate::WouldGo }).collect();
            return Ok(swept);
        }
        for part in candidates.chunks(MARKS_MAX) {
            self.delete_all(part, &mut swept.unreachable).await?;
        }
        Ok(swept)
    }

    /// Whether somebody else is at work on it. Our own marks are of an attempt that a fault ended.
    fn is_held(&self, row: &Row, now: i64) -> bool {
        let ours = row.claim.as_ref().is_some_and(|claim| claim.run_id == self.run_id);
        row.is_claimed(now) && !ours
    }

    /// A mark of a sweep that died is old by itself.
    fn is_young(&self, row: &Row, now: i64) -> bool {
        row.state != State::Deleting && now.saturating_sub(row.used_at) <= millis(self.grace.max(GRACE_MIN))
    }

    /// Marks, reads the posts once more, deletes.
    async fn delete_all(&self, rows: &[Row], told: &mut Vec<Unreachable>) -> Result<(), Fault> {
        let mut marked = Vec::new();
        let until = self.clock.now().saturating_add(millis(MARK));
        for row in rows {
            let claim = Claim { run_id: self.run_id.clone(), until };
            let mark = row.next(State::Deleting, Some(claim));
            if self.replace(row, &mark).await? {
                marked.push((row, mark));
            } else {
                told.push(Unreachable { row: row.clone(), fate: Fate::Wanted });
            }
        }
        let reachable = self.reachable().await?;
        for (row, mark) in marked {
            let fate = if reachable.contains(&row.sha256) {
                // What was being deleted by a sweep that died may be gone: whoever wants it looks.
                let state = if row.state == State::Stored { State::Stored } else { State::Uploading };
                self.replace(&mark, &mark.next(state, None)).await?;
                Fate::Wanted
            } else {
                self.delete(&mark).await?
            };
            told.push(Unreachable { row: row.clone(), fate });
        }
        Ok(())
    }

    async fn delete(&self, mark: &Row) -> Result<Fate, Fault> {
        if !self.has_time(mark) {
            return Ok(Fate::Failed("the sweep took too long; sweep again".to_owned()));
        }
        match tokio::time::timeout(DELETE_TIMEOUT, self.objects.delete(&mark.name)).await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => return Ok(Fate::Failed(fault.message)),
            Err(_) => return Ok(Fate::Failed("the asset store did not answer in time".to_owned())),
        }
        let stored = self.store.rows(Side::Assets, &doc! { "_id": &mark.sha256 }).await?;
        let stands = stored.first().and_then(Row::from_document);
        if stands.as_ref().is_some_and(|row| row == mark) && self.has_time(mark) {
            self.store.row_delete(Side::Assets, std::slice::from_ref(&mark.sha256)).await?;
            return Ok(Fate::Gone);
        }
        if let Some(row) = stands.filter(|row| row.state == State::Stored) {
            // This process stood still for longer than its mark: what the row says may be wrong now.
            self.replace(&row, &row.next(State::Uploading, None)).await?;
        }
        Ok(Fate::Failed(
            "somebody took the mark for one of a sweep that died; ingest with --force".to_owned(),
        ))
    }

    fn has_time(&self, mark: &Row) -> bool {
        let needed = millis(DELETE_TIMEOUT).saturating_mul(2);
        mark.claim.as_ref().is_some_and(|claim| claim.until.saturating_sub(self.clock.now()) > needed)
    }

    async fn replace(&self, row: &Row, next: &Row) -> Result<bool, Fault> {
        self.store.row_replace(Side::Assets, row.version, &next.to_document()).await
    }

    /// The digests that a post or the history names.
    async fn reachable(&self) -> Result<BTreeSet<String>, Fault> {
        let mut found = BTreeSet::new();
        let ids: Vec<String> = self.store.heads().await?.into_iter().map(|head| head.id).collect();
        for part in ids.chunks(POSTS_AT_ONCE) {
            let documents = self.store.documents(part).await?;
            for document in &documents {
                digests(document, &mut found);
            }
        }
        // Run by run: what is kept of one is bounded. A run that begins now changes what was read above.
        for run in self.store.rows(Side::Runs, &Document::new()).await? {
            let Ok(run_id) = run.get_str("_id") else { continue };
            for row in self.store.rows(Side::History, &Image::of_run(run_id)).await? {
                digests(&row, &mut found);
            }
        }
        Ok(found)
    }
}

/// Every `sha256` anywhere in a document.
fn digests(document: &Document, found: &mut BTreeSet<String>) {
    for (key, value) in document {
        match value {
            Bson::String(text) if key == "sha256" => {
                found.insert(text.clone());
            }
            value => digests_of_value(value, found),
        }
    }
}

fn digests_of_value(value: &Bson, found: &mut BTreeSet<String>) {
    match value {
        Bson::Document(inner) => digests(inner, found),
        Bson::Array(items) => items.iter().for_each(|item| digests_of_value(item, found)),
        _ => {}
    }
}

impl Fate {
    /// The spelling in reports.
    pub fn as_str(&self) -> &'static str {
        match self {
            Fate::WouldGo => "would-delete",
            Fate::Gone => "deleted",
            Fate::Wanted => "wanted",
            Fate::Failed(_) => "failed",
        }
    }
}
