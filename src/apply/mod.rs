//! The executor: sends what a plan says, settles what it does not know, and tells what it did.
//!
//! Begin at [`Executor::apply`]. A batch is composed (`compose`), sent and settled before its documents are
//! let go, so that only what is in flight is in memory. It decides nothing about posts: every statement comes from the plan
//! (`statement`), every doubt is settled by reading back (`settle`), every pause by `retry`. `run`
//! keeps the rows by which runs know of each other; `promote` stores assets before a post is shown, each
//! of them once (`assets`).
//! Nothing here prints, and nothing but this module sends twice.

pub mod assets;
mod batch;
pub mod by_hand;
mod compose;
mod cut;
pub mod history;
pub mod job;
pub mod planner;
pub mod promote;
pub mod retry;
pub mod run;
pub mod settle;
pub mod statement;
pub mod undo;
pub mod verify;

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use rand::{Rng, RngExt, SeedableRng, rngs::SmallRng};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::identity::ContentHash;
use crate::plan::compose::Composer;
use crate::plan::{Action, Operation, Others, Plan};
use crate::report::event::{Event, FailedPost};
use crate::store::document::Head;
use crate::store::{Class, Fault, Store};
use assets::Promoter;
use retry::RetryPolicy;
use statement::Writer;

/// What the time is; tests bring their own.
pub trait Clock: Send + Sync {
    /// Unix milliseconds.
    fn now(&self) -> i64;
}

/// What the executor asks of the run that it works for.
#[async_trait]
pub trait Supervisor: Send + Sync {
    /// Looks at the rows of the other runs of the source.
    async fn look(&self) -> Result<Others, Fault>;

    /// Plans one post again, with fresh heads in place of those that the plan saw. `None`: there is
    /// nothing left to do for it.
    fn plan_again(&self, operation: &Operation, fresh: &[Head], others: &Others) -> Option<Arc<Operation>>;

    /// Tells that the run is alive: called before each batch.
    async fn alive(&self);

    /// Keeps what these posts are, before they are written. `again`: they were planned again after a lost
    /// race.
    async fn remember(&self, writes: &[history::Write<'_>], again: bool) -> Result<(), Fault> {
        let _ = (writes, again);
        Ok(())
    }
}

/// The guards of `DESIGN` 5, each of which a test takes out to see that it is needed. All are on in
/// every run.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Guards {
    pub look_before_each_batch: bool,
    pub look_at_end: bool,
    pub take_back: bool,
    pub read_back: bool,
    pub matched_create_is_no_success: bool,
    pub own_write_by_version: bool,
    pub claim: bool,
    pub row_first: bool,
    pub fence: bool,
    pub fence_archived: bool,
    pub unsettled_stays_open: bool,
}

impl Default for Guards {
    fn default() -> Self {
        Guards {
            look_before_each_batch: true,
            look_at_end: true,
            take_back: true,
            read_back: true,
            matched_create_is_no_success: true,
            own_write_by_version: true,
            claim: true,
            row_first: true,
            fence: true,
            fence_archived: true,
            unsettled_stays_open: true,
        }
    }
}

/// How one planned post ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// In the store as planned (or as planned again).
    Applied(Action),
    /// Already there, by another run.
    ByOther,
    /// The race was lost to other content, or a guard refused it after planning again.
    Conflict(FailedPost),
    /// Failed for another reason.
    Failed(FailedPost, Class),
    /// Not sent: the run was stopped first.
    NotTried,
    /// Not sent, or taken back: a newer run has begun.
    Stale,
}

/// What an application of a plan did.
#[derive(Debug, Clone, Default)]
pub struct Applied {
    /// (operation as last planned, how it ended), in the order of the plan.
    pub settled: Vec<(Arc<Operation>, Settled)>,
    /// Commands sent again.
    pub retries: u32,
    /// Writes whose outcome is not known: the run's row stays unfinished.
    pub unsettled: bool,
    /// A newer run was seen while this one was at work.
    pub late: Option<crate::plan::Late>,
    /// The run made no progress within its deadline.
    pub out_of_time: bool,
}

/// Applies plans to one store for one run.
pub struct Executor<'a> {
    /// Where to.
    pub store: &'a dyn Store,
    /// What the time is.
    pub clock: &'a dyn Clock,
    /// When to send again.
    pub retry: RetryPolicy,
    /// Statements in one batch; the store's own limit is a limit too.
    pub batch: usize,
    /// Batches at a time.
    pub in_flight: usize,
    /// Who writes.
    pub writer: Writer,
    /// Source revision of the run.
    pub revision: Option<i64>,
    /// Set by the first signal: nothing new is begun.
    pub cancel: CancellationToken,
    /// Where events go.
    pub events: &'a (dyn Fn(&Event<'_>) + Sync),
    /// Makes the documents when they are sent.
    pub composer: Composer,
    /// Who stores assets, where an asset store is configured.
    pub promoter: Option<&'a dyn Promoter>,
    /// How long a claim on a post lasts without being renewed.
    pub claim: Duration,
    /// For tests of the guards.
    pub guards: Guards,
    /// Changed by the executor alone.
    pub state: State,
}

/// What the executor counts while at work.
pub struct State {
    progress: Mutex<Instant>,
    retries: AtomicU32,
    unsettled: AtomicBool,
    out_of_time: AtomicBool,
    done: AtomicU32,
    late: Mutex<Option<crate::plan::Late>>,
    /// Digests of what was made live, where it may have to be taken back.
    digests: Mutex<HashMap<String, ContentHash>>,
    rng: Mutex<SmallRng>,
}

impl State {
    /// Fresh counts; `seed` feeds the jitter.
    pub fn new(seed: u64) -> Self {
        State {
            progress: Mutex::new(Instant::now()),
            retries: AtomicU32::new(0),
            unsettled: AtomicBool::new(false),
            out_of_time: AtomicBool::new(false),
            done: AtomicU32::new(0),
            late: Mutex::new(None),
            digests: Mutex::default(),
            rng: Mutex::new(SmallRng::seed_from_u64(seed)),
        }
    }
}

/// A lock whose holder panicked still holds plain counts.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Executor<'_> {
    /// Applies every writing operation of the plan. Failures are in the result, never lost with it.
    pub async fn apply(&self, plan: &Plan, supervisor: &dyn Supervisor) -> Applied {
        let writing: Vec<&Arc<Operation>> =
            plan.operations.iter().filter(|operation| operation.action.writes()).collect();
        let all = writing.len();
        let (alone, together) = self.split(&writing).await;
        let batches = cut::batches(together, self.batch, &self.store.limits());
        let in_flight = self.in_flight.max(1);
        let mut settled: Vec<(Arc<Operation>, Settled)> = futures_util::stream::iter(batches)
            .map(|batch| self.settle_batch(batch, supervisor, all))
            .buffer_unordered(in_flight)
            .flat_map(futures_util::stream::iter)
            .collect()
            .await;
        let published: Vec<(Arc<Operation>, Settled)> = futures_util::stream::iter(alone)
            .map(|operation| self.publish(operation, supervisor, all))
            .buffer_unordered(in_flight)
            .collect()
            .await;
        settled.extend(published);
        if self.guards.look_at_end && self.is_late(supervisor).await && self.guards.take_back {
            self.take_back(&mut settled).await;
        }
        settled.sort_by(|a, b| (&a.0.file, &a.0.id).cmp(&(&b.0.file, &b.0.id)));
        Applied {
            settled,
            retries: self.state.retries.load(Ordering::Relaxed),
            unsettled: self.state.unsettled.load(Ordering::Relaxed),
            late: lock(&self.state.late).clone(),
            out_of_time: self.state.out_of_time.load(Ordering::Relaxed),
        }
    }

    /// Parts the operations into those whose assets have to be stored first and those that can be sent
    /// together.
    async fn split(&self, writing: &[&Arc<Operation>]) -> (Vec<Arc<Operation>>, Vec<Arc<Operation>>) {
        let mut alone = Vec::new();
        let mut together = Vec::new();
        let absent = self.absent_assets(writing).await;
        for operation in writing {
            let claimed = operation.seen.as_ref().is_some_and(|seen| {
                seen.status == crate::store::document::Status::Publishing || seen.claim.is_some()
            });
            let missing = promote::assets_of(operation).iter().any(|asset| absent.contains(&asset.sha256));
            if missing || (claimed && operation.content.is_some()) {
                alone.push(Arc::clone(operation));
            } else {
                together.push(Arc::clone(operation));
            }
        }
        (alone, together)
    }

    /// Repeats a command that may be repeated until it works, its budget is used up, or it cannot work.
    pub async fn persist<T, F>(&self, mut command: impl FnMut() -> F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let mut attempt = 1;
        loop {
            match command().await {
                Ok(value) => return Ok(value),
                Err(fault) => {
                    if !self.may_send_again(fault.class, attempt) {
                        return Err(exhausted(fault, attempt, self.idle()));
                    }
                    self.pause(attempt, Some(&fault)).await;
                    attempt += 1;
                }
            }
        }
    }

    fn may_send_again(&self, class: Class, attempt: u32) -> bool {
        let again = self.retry.again(class, attempt, self.idle());
        if !again && self.idle() >= self.retry.deadline {
            self.state.out_of_time.store(true, Ordering::Relaxed);
        }
        again
    }

    async fn pause(&self, attempt: u32, fault: Option<&Fault>) {
        let random = lock(&self.state.rng).random::<f64>();
        let pause = self.retry.pause(attempt, fault, random);
        self.state.retries.fetch_add(1, Ordering::Relaxed);
        let message = fault.map_or("the outcome is not known", |fault| fault.message.as_str());
        (self.events)(&Event::Retrying { message, attempt, pause });
        tokio::time::sleep(pause).await;
    }

    /// A seed for whoever needs chance of their own.
    pub fn seed(&self) -> u64 {
        lock(&self.state.rng).next_u64()
    }

    fn idle(&self) -> Duration {
        lock(&self.state.progress).elapsed()
    }

    fn progress(&self) {
        *lock(&self.state.progress) = Instant::now();
    }

    fn applied(&self, operation: &Operation, action: Action, all: usize) {
        self.progress();
        let done = self.state.done.fetch_add(1, Ordering::Relaxed) as usize + 1;
        (self.events)(&Event::Applied {
            id: &operation.id,
            file: operation.file.as_deref(),
            action,
            done,
            all,
        });
    }

    /// Looks at the other runs; once a newer one was seen this stays true. A look that fails is no
    /// reason to write: the caller's next command will fail as well, or the look at the end tells.
    async fn is_late(&self, supervisor: &dyn Supervisor) -> bool {
        if lock(&self.state.late).is_some() {
            return true;
        }
        if self.revision.is_none() {
            return false;
        }
        if let Ok(others) = self.persist(|| supervisor.look()).await {
            let late = others.late.is_some();
            if late {
                *lock(&self.state.late) = others.late;
            }
            late
        } else {
            self.state.unsettled.store(true, Ordering::Relaxed);
            false
        }
    }

    /// Takes back, by compare-and-set, what this run made live: a newer run has begun, which may not
    /// know of it.
    async fn take_back(&self, settled: &mut [(Arc<Operation>, Settled)]) {
        for (operation, ended) in settled.iter_mut() {
            if !matches!(ended, Settled::Applied(Action::Create | Action::Restore)) {
                continue;
            }
            let digest = lock(&self.state.digests).get(&operation.id).cloned();
            let Some(undo) = batch::undo(operation, digest.as_ref(), &self.writer) else { continue };
            let result = self.settle_one(undo).await;
            *ended = match result {
                Settled::Applied(_) | Settled::ByOther | Settled::Conflict(_) => Settled::Stale,
                other => other,
            };
        }
    }
}

/// The last fault, with how often and for how long it was tried.
fn exhausted(mut fault: Fault, attempts: u32, idle: Duration) -> Fault {
    if attempts > 1 {
        fault.message = format!(
            "{} (tried {attempts} times, {:.1} s without progress)",
            fault.message,
            idle.as_secs_f64()
        );
    }
    fault
}
