//! A store around a store, for tests: it loses requests and replies, delays, repeats and reorders writes,
//! and lets them land after their sender has given up or died.
//!
//! What befalls a call is drawn from a seed ([`FaultStore::new`]) or told by a test
//! ([`FaultStore::scripted`]). A write lives in a task of its own: dropping the caller's future does not
//! take it back, as it would not over a network. All pauses are tokio's time, so that a test with paused
//! time needs none of the clock's. It never invents an effect that the inner store did not have, and no
//! command of `idempost` uses it.

mod schedule;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bson::Document;
use tokio::sync::watch;

use super::document::Head;
use super::foreign::Foreign;
use super::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};
pub use schedule::{Call, Fate, FaultRates, Method, Script};
use schedule::{Drawn, Schedule, Source};

/// The store around a store. Cloning shares the schedule.
#[derive(Clone)]
pub struct FaultStore {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for FaultStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultStore").field("inner", &self.shared.inner.target()).finish_non_exhaustive()
    }
}

struct Shared {
    inner: Arc<dyn Store>,
    state: Mutex<State>,
    /// Writes that are under way or will land later.
    pending: watch::Sender<usize>,
}

struct State {
    schedule: Schedule,
    calls: BTreeMap<Method, u64>,
    fates: BTreeMap<&'static str, u64>,
}

impl FaultStore {
    /// Faults drawn from `seed`: the same seed and the same order of calls give the same faults.
    pub fn new(inner: Arc<dyn Store>, seed: u64, rates: FaultRates) -> Self {
        Self::with(inner, Schedule::new(Source::Rates(rates), seed))
    }

    /// Faults as the script tells, with no pauses but theirs.
    pub fn scripted(inner: Arc<dyn Store>, script: impl FnMut(Call) -> Fate + Send + 'static) -> Self {
        Self::with(inner, Schedule::new(Source::Script(Box::new(script)), 0))
    }

    fn with(inner: Arc<dyn Store>, schedule: Schedule) -> Self {
        let state = State { schedule, calls: BTreeMap::new(), fates: BTreeMap::new() };
        let pending = watch::Sender::new(0);
        FaultStore { shared: Arc::new(Shared { inner, state: Mutex::new(state), pending }) }
    }

    /// How often each fate befell a call, by [`Fate::name`].
    pub fn fates(&self) -> BTreeMap<&'static str, u64> {
        self.shared.state().fates.clone()
    }

    /// How often `write` was called.
    pub fn writes(&self) -> u64 {
        self.shared.state().calls.get(&Method::Write).copied().unwrap_or(0)
    }

    /// Writes that are under way or will land later.
    pub fn pending(&self) -> usize {
        *self.shared.pending.borrow()
    }

    /// Waits until every write has landed.
    pub async fn settled(&self) {
        let mut pending = self.shared.pending.subscribe();
        // The sender lives as long as `self`.
        let _ = pending.wait_for(|count| *count == 0).await;
    }

    /// Runs a write with what befalls it. `again` must do the same each time it is called.
    async fn befall<T, F>(
        &self,
        method: Method,
        again: impl Fn(Arc<dyn Store>) -> F + Send + Sync + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let drawn = self.shared.draw(method, 1);
        let shared = Arc::clone(&self.shared);
        self.shared
            .task(async move {
                pause(drawn.before).await;
                let inner = Arc::clone(&shared.inner);
                match drawn.fate {
                    Fate::NotSent | Fate::NotApplied | Fate::LostRequest => return Err(told(drawn.fate)),
                    Fate::Late(by) => {
                        shared.later(by, async move { drop(again(inner).await) });
                        return Err(told(drawn.fate));
                    }
                    _ => {}
                }
                let done = again(Arc::clone(&inner)).await;
                if let Fate::Duplicate(by) = drawn.fate {
                    shared.later(by, async move { drop(again(inner).await) });
                }
                pause(drawn.after).await;
                match drawn.fate {
                    Fate::LostReply | Fate::NotDurable => done.and_then(|_| Err(told(drawn.fate))),
                    _ => done,
                }
            })
            .await
    }

    async fn reading<T>(&self, read: impl Future<Output = Result<T, Fault>> + Send) -> Result<T, Fault> {
        let (before, after, fails) = self.shared.state().schedule.read();
        pause(before).await;
        if fails {
            return Err(Fault::new(Class::NotApplied, "the read failed (drawn)"));
        }
        let found = read.await;
        pause(after).await;
        found
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self, method: Method, size: usize) -> Drawn {
        let mut state = self.state();
        let count = state.calls.entry(method).or_default();
        let call = Call { method, number: *count, size };
        *count += 1;
        let drawn = state.schedule.write(call);
        *state.fates.entry(drawn.fate.name()).or_default() += 1;
        drawn
    }

    /// Runs a write in a task of its own and waits for it.
    async fn task<T: Send + 'static>(
        self: &Arc<Self>,
        write: impl Future<Output = Result<T, Fault>> + Send + 'static,
    ) -> Result<T, Fault> {
        let counted = Counted::new(Arc::clone(self));
        let task = tokio::spawn(async move {
            let done = write.await;
            drop(counted);
            done
        });
        task.await
            .unwrap_or_else(|lost| Err(Fault::new(Class::Unknown, format!("the write was lost: {lost}"))))
    }

    /// Runs a write after a pause, with nobody waiting for it.
    fn later(self: &Arc<Self>, by: Duration, write: impl Future<Output = ()> + Send + 'static) {
        let counted = Counted::new(Arc::clone(self));
        tokio::spawn(async move {
            pause(by).await;
            write.await;
            drop(counted);
        });
    }

    async fn write(self: Arc<Self>, batch: Vec<Statement>, drawn: Drawn) -> Result<Vec<Effect>, Fault> {
        pause(drawn.before).await;
        let mut effects: Vec<Effect> = vec![Effect::Untold; batch.len()];
        let pick = |places: &[usize]| -> Vec<Statement> {
            places.iter().filter_map(|place| batch.get(*place)).cloned().collect()
        };
        let repeat = |by: Duration, statements: Vec<Statement>| {
            let inner = Arc::clone(&self.inner);
            if !statements.is_empty() {
                self.later(by, async move { drop(inner.write(&statements).await) });
            }
        };
        let mut parts = drawn.parts.iter();
        match drawn.fate {
            Fate::NotSent | Fate::NotApplied | Fate::LostRequest => return Err(told(drawn.fate)),
            Fate::Late(by) => {
                repeat(by, batch.clone());
                return Err(told(drawn.fate));
            }
            Fate::Partial(_) | Fate::PartialLost => {
                let done = parts.next().map(|places| pick(places)).unwrap_or_default();
                let left = parts.next().map(|places| pick(places)).unwrap_or_default();
                if !done.is_empty() {
                    self.inner.write(&done).await?;
                }
                if let Fate::Partial(by) = drawn.fate {
                    repeat(by, left);
                }
                pause(drawn.after).await;
                return Err(told(drawn.fate));
            }
            _ => {}
        }
        for (at, places) in parts.filter(|places| !places.is_empty()).enumerate() {
            if at > 0 {
                pause(drawn.between).await;
            }
            let done = self.inner.write(&pick(places)).await?;
            for (place, effect) in places.iter().zip(done) {
                if let Some(slot) = effects.get_mut(*place) {
                    *slot = effect;
                }
            }
        }
        if let Fate::Duplicate(by) = drawn.fate {
            repeat(by, batch);
        }
        pause(drawn.after).await;
        if matches!(drawn.fate, Fate::LostReply | Fate::NotDurable) {
            return Err(told(drawn.fate));
        }
        for (effect, told) in effects.iter_mut().zip(drawn.told) {
            if !told && !matches!(effect, Effect::Failed(_)) {
                *effect = Effect::Untold;
            }
        }
        Ok(effects)
    }
}

/// A write that is not settled.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: Arc<Shared>) -> Self {
        shared.pending.send_modify(|count| *count += 1);
        Counted(shared)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.pending.send_modify(|count| *count -= 1);
    }
}

/// What the caller hears.
fn told(fate: Fate) -> Fault {
    let class = match fate {
        Fate::NotSent => Class::NotSent,
        Fate::NotApplied => Class::NotApplied,
        Fate::NotDurable => Class::AppliedNotDurable,
        _ => Class::Unknown,
    };
    Fault::new(class, format!("{} (drawn)", class.as_str()))
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

#[async_trait]
impl Store for FaultStore {
    fn target(&self) -> Target {
        self.shared.inner.target()
    }

    fn limits(&self) -> Limits {
        self.shared.inner.limits()
    }

    async fn connect(&self) -> Result<(), Fault> {
        self.reading(self.shared.inner.connect()).await
    }

    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        self.reading(self.shared.inner.ensure_ready()).await
    }

    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.reading(self.shared.inner.heads()).await
    }

    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        self.reading(self.shared.inner.heads_of(ids)).await
    }

    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        self.reading(self.shared.inner.heads_live(keys)).await
    }

    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        self.reading(self.shared.inner.documents(ids)).await
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let drawn = self.shared.draw(Method::Write, batch.len());
        let write = Arc::clone(&self.shared).write(batch.to_vec(), drawn);
        self.shared.task(write).await
    }

    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        self.reading(self.shared.inner.rows(side, filter)).await
    }

    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        let row = row.clone();
        self.befall(Method::RowInsert, move |inner| {
            let row = row.clone();
            async move { inner.row_insert(side, &row).await }
        })
        .await
    }

    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        let row = row.clone();
        self.befall(Method::RowReplace, move |inner| {
            let row = row.clone();
            async move { inner.row_replace(side, expected, &row).await }
        })
        .await
    }

    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        let ids = ids.to_vec();
        self.befall(Method::RowDelete, move |inner| {
            let ids = ids.clone();
            async move { inner.row_delete(side, &ids).await }
        })
        .await
    }

    /// Nothing befalls these.
    fn foreign(&self) -> Option<&dyn Foreign> {
        self.shared.inner.foreign()
    }
}

#[cfg(test)]
mod tests;
