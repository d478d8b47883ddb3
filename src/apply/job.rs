//! One run from its row to its end: row, look, heads, plan, writes, row closed (`DESIGN` 5, late
//! runs). The order is the guarantee; nothing here knows files, flags or a terminal.
//!
//! Begin at [`Job::run`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::history::{Keeper, Write};
use super::planner::Planner;
use super::run::{Begin, Row, Rows, State};
use super::{Applied, Executor, Supervisor, lock};
use crate::error::Exit;
use crate::plan::{Action, Late, Observed, Operation, Others, Plan};
use crate::report::event::Event;
use crate::store::Fault;
use crate::store::document::{Head, Status};

/// How long a run's lease lasts without being moved on.
pub const LEASE: Duration = Duration::from_mins(2);

/// Everything that one run needs beside its executor.
pub struct Job<'a> {
    /// Sends and settles.
    pub executor: &'a Executor<'a>,
    /// The rows of the source.
    pub rows: &'a Rows<'a>,
    /// Makes the plan of the verb.
    pub planner: &'a dyn Planner,
    /// How long ended rows are kept, in milliseconds.
    pub keep: i64,
    /// How many bytes of before-images are kept of the run; none where it is 0.
    pub history: u64,
    /// Looks at the plan before it is applied, may add to it, and may refuse it with an exit.
    pub review: &'a (dyn Fn(&mut Plan, &Observed) -> Option<Exit> + Sync),
}

/// How a run ended.
#[derive(Debug)]
pub enum Ended {
    /// It was applied, as far as it went.
    Applied {
        /// What was planned.
        plan: Box<Plan>,
        /// What was done.
        applied: Applied,
        /// A newer run that has a row.
        late: Option<Late>,
    },
    /// The plan was refused and nothing was written.
    Refused(Box<Plan>, Exit),
    /// The operation ended before; its row has the result.
    Replay(Box<Row>),
    /// The operation id was used for something else.
    Reused(Box<Row>),
    /// Interrupted before anything was planned.
    Interrupted,
}

/// How a run's row is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// How far it got.
    pub state: State,
    /// The exit.
    pub exit: Exit,
    /// The report that a repeated request gets.
    pub result: Option<String>,
}

impl Job<'_> {
    /// Runs. `closing` says how the row is closed after what was applied. `Err`: a command that the
    /// run cannot do without failed for good; the row is closed as failed where that is possible.
    pub async fn run(
        &self,
        row: Row,
        closing: impl Fn(&Plan, &Applied, Option<&Late>) -> Closing,
    ) -> Result<Ended, Fault> {
        let executor = self.executor;
        let early = if executor.guards.row_first { None } else { Some(self.plan(&row).await?) };
        let row = match self.begin(row).await? {
            Started::Row(row) => *row,
            Started::Ended(ended) => return Ok(*ended),
        };
        let planned = match early {
            Some(early) => Ok(early),
            None => self.plan(&row).await,
        };
        let (mut plan, observed) = match planned {
            Ok(planned) => planned,
            Err(fault) => {
                let failed = Closing { state: State::Failed, exit: Exit::Failed, result: None };
                self.close(&row, &failed, false).await;
                return Err(fault);
            }
        };
        let refused = (self.review)(&mut plan, &observed);
        // A refused plan is told too: it holds what is refused, why, and what to do.
        (executor.events)(&Event::Planned(&plan));
        if let Some(exit) = refused {
            self.close(&row, &Closing { state: State::Failed, exit, result: None }, false).await;
            return Ok(Ended::Refused(Box::new(plan), exit));
        }
        let others = observed.others.clone();
        let watch = Watch {
            job: self,
            row: &row,
            observed: Mutex::new(observed),
            history: Keeper::new(self.history),
            lease: AtomicI64::new(row.lease_until),
        };
        let applied = executor.apply(&plan, &watch).await;
        drop(watch.observed.into_inner().unwrap_or_else(PoisonError::into_inner));
        let late = applied.late.clone().or_else(|| others.late.clone());
        let closing = closing(&plan, &applied, late.as_ref());
        let open = applied.unsettled && executor.guards.unsettled_stays_open;
        let fenced = self.planner.fences() && others.fence;
        if closing.state == State::Done && !open && late.is_none() && fenced {
            // Failing to mark only means that the next run fences once more.
            let _ = executor.persist(|| self.rows.mark_fenced(&others.lower)).await;
        }
        self.close(&row, &closing, open).await;
        if closing.state == State::Done {
            if let Some(settings) = self.planner.settings() {
                let _ = executor.persist(|| self.rows.remember(settings)).await;
            }
            let _ = executor.persist(|| self.rows.forget(self.keep)).await;
        }
        Ok(Ended::Applied { plan: Box::new(plan), applied, late })
    }

    /// Looks, then reads, then plans: in this order.
    async fn plan(&self, row: &Row) -> Result<(Plan, Observed), Fault> {
        let mut others = self.executor.persist(|| self.rows.look(row)).await?;
        if !self.executor.guards.fence {
            others = Others { late: others.late, ..Others::default() };
        }
        let observed = self.planner.observe(self.executor, self.rows, others).await?;
        let mut plan = self.planner.plan(&observed);
        if !self.executor.guards.fence_archived {
            plan.operations.retain(|operation| {
                let archived = operation.seen.as_ref().is_some_and(|seen| seen.status == Status::Archived);
                operation.action != Action::Restamp || !archived
            });
        }
        Ok((plan, observed))
    }

    /// Inserts the row, waits for the same operation at work elsewhere, or says how it ended.
    async fn begin(&self, row: Row) -> Result<Started, Fault> {
        loop {
            match self.executor.persist(|| self.rows.begin(row.clone())).await? {
                Begin::Started(row) => return Ok(Started::Row(row)),
                Begin::Replay(row) => return Ok(Started::Ended(Box::new(Ended::Replay(row)))),
                Begin::Reused(row) => return Ok(Started::Ended(Box::new(Ended::Reused(row)))),
                Begin::Busy(until) => {
                    if self.executor.cancel.is_cancelled() {
                        return Ok(Started::Ended(Box::new(Ended::Interrupted)));
                    }
                    let left = u64::try_from(until.saturating_sub(self.rows.clock.now())).unwrap_or(0);
                    tokio::time::sleep(Duration::from_millis(left.clamp(20, 500))).await;
                }
            }
        }
    }

    /// Closes the row. A row that cannot be closed stays unfinished, which later runs take care of.
    async fn close(&self, row: &Row, closing: &Closing, open: bool) {
        let closed = self
            .executor
            .persist(|| {
                self.rows.change(&row.run_id, |row| {
                    row.state = closing.state;
                    row.open = open;
                    row.exit = Some(i64::from(closing.exit.code()));
                    row.result.clone_from(&closing.result);
                })
            })
            .await;
        if let Err(fault) = closed {
            (self.executor.events)(&Event::Note(&format!("the run's row stays unfinished: {fault}")));
        }
    }
}

enum Started {
    Row(Box<Row>),
    Ended(Box<Ended>),
}

/// What the executor asks while it is at work.
struct Watch<'a> {
    job: &'a Job<'a>,
    row: &'a Row,
    observed: Mutex<Observed>,
    history: Keeper,
    lease: AtomicI64,
}

#[async_trait]
impl Supervisor for Watch<'_> {
    async fn look(&self) -> Result<Others, Fault> {
        self.job.rows.look(self.row).await
    }

    fn plan_again(&self, operation: &Operation, fresh: &[Head], others: &Others) -> Option<Arc<Operation>> {
        let mut observed = lock(&self.observed);
        let ids: BTreeSet<&str> =
            fresh.iter().map(|head| head.id.as_str()).chain([operation.id.as_str()]).collect();
        observed.heads.retain(|head| !ids.contains(head.id.as_str()));
        observed.heads.extend(fresh.iter().cloned());
        observed.others = others.clone();
        self.job.planner.plan_again(operation, &observed)
    }

    async fn remember(&self, writes: &[Write<'_>], again: bool) -> Result<(), Fault> {
        self.history.keep(self.job.executor, writes, again).await
    }

    async fn alive(&self) {
        let now = self.job.rows.clock.now();
        let until = self.lease.load(Ordering::Relaxed);
        if until.saturating_sub(now) > lease_millis() / 2 {
            return;
        }
        let next = now.saturating_add(lease_millis());
        self.lease.store(next, Ordering::Relaxed);
        // A lease that cannot be moved on now is moved on with the next batch.
        let _ = self.job.rows.change(&self.row.run_id, |row| row.lease_until = next).await;
    }
}

/// [`LEASE`] in milliseconds.
pub fn lease_millis() -> i64 {
    i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX)
}
