//! A strict model of a store, for tests: the oracle of property tests and of the simulation.
//!
//! It does what the port says and refuses everything that some engine might refuse: null values,
//! empty identities, repeated ids, keys that an engine cannot hold, a `live` that disagrees with
//! `status`, versions that run backwards, and writes before [`Store::ensure_ready`]. It keeps a log of
//! all writes that changed something. It never fails by itself; `fault` makes it.
//!
//! A clone is the same store: many runs may share it. Begin at [`MemoryStore::new`].

mod check;
mod foreign;
mod state;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bson::Document;

use super::document::{Head, integer};
use super::foreign::Foreign;
use super::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};
use state::State;
pub use state::{Change, Kind, Place};

/// Statements in one batch, unless the builder says otherwise.
pub const STATEMENTS_MAX: usize = 1_000;
/// Bytes of one batch, unless the builder says otherwise.
pub const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024 - 16 * 1024;
/// Bytes of one document, unless the builder says otherwise.
pub const DOCUMENT_BYTES_MAX: usize = 15 * 1024 * 1024;
/// Levels of nesting of one document, unless the builder says otherwise.
pub const NESTING_LEVELS_MAX: usize = 40;

/// The store. Cloning shares it.
#[derive(Debug, Clone)]
pub struct MemoryStore {
    limits: Limits,
    state: Arc<Mutex<State>>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryStore {
    /// An empty store with the usual limits and the unique index.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Another set of limits, or no unique index.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Every document of the collection by `_id`, for comparisons.
    pub fn snapshot(&self) -> BTreeMap<String, Document> {
        self.state().posts.clone()
    }

    /// Every row of a side collection by `_id`.
    pub fn snapshot_rows(&self, side: Side) -> BTreeMap<String, Document> {
        self.state().rows.get(&side).cloned().unwrap_or_default()
    }

    /// Every write that changed something, oldest first: what a change stream would tell.
    pub fn log(&self) -> Vec<Change> {
        self.state().log.clone()
    }

    /// The writes to posts alone.
    pub fn post_log(&self) -> Vec<Change> {
        let mut log = self.log();
        log.retain(|change| change.place == Place::Posts);
        log
    }

    /// How often each method of the port was called.
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.state().calls.clone()
    }

    /// Puts a document in as somebody else would: no guard, no rule, not even one on types. It replaces
    /// what is there under its `_id`.
    pub fn plant(&self, document: Document) {
        self.state().plant(document);
    }

    /// A panic in one test thread says nothing about the data of the others.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn called(&self, method: &'static str) -> MutexGuard<'_, State> {
        let mut state = self.state();
        *state.calls.entry(method).or_default() += 1;
        state
    }

    fn writing(&self, method: &'static str) -> Result<MutexGuard<'_, State>, Fault> {
        let state = self.called(method);
        if state.ready {
            return Ok(state);
        }
        Err(Fault::new(Class::Permanent, "written before `ensure_ready`: there would be no unique index"))
    }
}

/// How a [`MemoryStore`] is made.
#[derive(Debug, Clone)]
pub struct Builder {
    limits: Limits,
}

impl Default for Builder {
    fn default() -> Self {
        Builder {
            limits: Limits {
                statements_max: STATEMENTS_MAX,
                batch_bytes_max: BATCH_BYTES_MAX,
                document_bytes_max: DOCUMENT_BYTES_MAX,
                nesting_levels_max: NESTING_LEVELS_MAX,
                unique_live: true,
            },
        }
    }
}

impl Builder {
    /// Without the unique partial index on live (slug, lang), as on an engine that has none.
    #[must_use]
    pub fn unique_live(mut self, unique_live: bool) -> Self {
        self.limits.unique_live = unique_live;
        self
    }

    /// Other limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The store, empty.
    pub fn build(self) -> MemoryStore {
        MemoryStore { limits: self.limits, state: Arc::default() }
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn target(&self) -> Target {
        Target {
            store: "memory:".to_owned(),
            database: "memory".to_owned(),
            collection: "posts".to_owned(),
            engine: "memory".to_owned(),
        }
    }

    fn limits(&self) -> Limits {
        self.limits.clone()
    }

    async fn connect(&self) -> Result<(), Fault> {
        drop(self.called("connect"));
        Ok(())
    }

    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        let mut state = self.called("ensure_ready");
        state.ready = true;
        let mut readiness = Readiness::default();
        if self.limits.unique_live {
            if let Some((slug, lang)) = state.live_twice() {
                return Err(Fault::new(
                    Class::Permanent,
                    format!(
                        "two live posts share slug `{slug}` and lang `{lang}`: no unique index can be made"
                    ),
                ));
            }
            readiness.indexes.push("unique (slug, lang) where live".to_owned());
        } else {
            readiness.warnings.push("no unique index on live (slug, lang)".to_owned());
        }
        Ok(readiness)
    }

    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        Ok(self.called("heads").posts.values().map(Head::from_document).collect())
    }

    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        Ok(self.called("heads_of").posts_of(ids).into_iter().map(Head::from_document).collect())
    }

    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        let state = self.called("heads_live");
        let heads = state.posts.values().map(Head::from_document);
        Ok(heads
            .filter(|head| {
                head.live && keys.iter().any(|(slug, lang)| *slug == head.slug && *lang == head.lang)
            })
            .collect())
    }

    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        Ok(self.called("documents").posts_of(ids).into_iter().cloned().collect())
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let mut state = self.writing("write")?;
        check::batch(batch, &self.limits)?;
        Ok(batch.iter().map(|statement| state.carry_out(statement, &self.limits)).collect())
    }

    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        Ok(self.called("rows").rows_of(side, filter))
    }

    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        let mut state = self.writing("row_insert")?;
        check::row(row, &self.limits)?;
        if integer(row.get("version")) != Some(1) {
            return Err(Fault::new(Class::Permanent, "a new row has `version` 1"));
        }
        Ok(state.row_insert(side, row))
    }

    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        let mut state = self.writing("row_replace")?;
        check::row(row, &self.limits)?;
        if integer(row.get("version")).is_none_or(|version| version <= expected) {
            return Err(Fault::new(Class::Permanent, "a replaced row carries a higher `version`"));
        }
        state.row_replace(side, expected, row)
    }

    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        self.writing("row_delete")?.row_delete(side, ids);
        Ok(())
    }

    fn foreign(&self) -> Option<&dyn Foreign> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
