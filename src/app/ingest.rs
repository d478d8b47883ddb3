//! `ingest`: make the store say what the tree says.
//!
//! Files first, then the run's row, then a look at the other runs, then heads and plan, then the
//! writes (`DESIGN` 5). Begin at [`run`].

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::gather::{self, Gathered};
use super::host::Host;
use super::observe::{self, Policies};
use super::open;
use super::summary::{self, Ended};
use crate::apply::promote::{AssetFolder, Promoter};
use crate::apply::retry::RetryPolicy;
use crate::apply::run::{Begin, Row, Rows, State};
use crate::apply::statement::Writer;
use crate::apply::{Applied, Executor, Guards, Supervisor};
use crate::catalog::Catalog;
use crate::catalog::links::PostLinks;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::{self, Observed, Operation, Others, Plan, Policy};
use crate::report::event::{Event, RunReport};
use crate::store::document::Head;
use crate::store::{Fault, Store};

/// How long a run's lease lasts without being moved on.
const LEASE: Duration = Duration::from_mins(2);

/// What a run was about and how it ended.
pub struct Outcome {
    /// The plan; of a run that stopped at its files it has no operations.
    pub plan: Plan,
    /// How it ended.
    pub report: RunReport,
}

/// Ingests. Everything that happens is told to `events`; the outcome has it whole.
pub async fn run(
    settings: &Settings,
    host: &Host,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Outcome, Failure> {
    let gathered = gather::gather(settings, host.clock.now())?;
    for diagnostic in &gathered.catalog.diagnostics {
        events(&Event::Problem(diagnostic));
    }
    let store = open::open(settings).await?;
    let (revision, counter) = settings.source_revision();
    let policies = Policies { settings, revision };
    let policy = policies.policy(&gathered, store.as_ref());
    events(&Event::Target(&policy.target));
    if !gathered.catalog.invalid.is_empty() && !settings.policy.keep_going {
        let plan = Plan::of_files(&gathered.catalog, &policy);
        return Ok(Outcome { report: summary::refused(Exit::Invalid), plan });
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let run = Run { counter, ..Run::new(settings, host, store.as_ref(), events, gathered, revision) };
    run.ingest(policies).await
}

/// One run at work.
struct Run<'a> {
    settings: &'a Settings,
    host: &'a Host,
    store: &'a dyn Store,
    events: &'a (dyn Fn(&Event<'_>) + Sync),
    gathered: Gathered,
    executor: Executor<'a>,
    rows: Rows<'a>,
    counter: Option<String>,
}

impl<'a> Run<'a> {
    fn new(
        settings: &'a Settings,
        host: &'a Host,
        store: &'a dyn Store,
        events: &'a (dyn Fn(&Event<'_>) + Sync),
        gathered: Gathered,
        revision: Option<i64>,
    ) -> Self {
        let executor = executor(settings, host, store, events, revision);
        let rows = Rows {
            store,
            clock: host.clock.as_ref(),
            source: settings.source.value.clone().unwrap_or_default(),
        };
        Run { settings, host, store, events, gathered, executor, rows, counter: None }
    }

    async fn ingest(mut self, policies: Policies<'_>) -> Result<Outcome, Failure> {
        self.executor.persist(|| self.store.connect()).await.map_err(|fault| open::failure(&fault))?;
        let ready =
            self.executor.persist(|| self.store.ensure_ready()).await.map_err(|fault| open::failure(&fault))?;
        for warning in &ready.warnings {
            (self.events)(&Event::Note(warning));
        }
        // The engine's limits are known only now.
        let policy = policies.policy(&self.gathered, self.store);
        let row = self.row(&policy);
        let row = match self.begin(row).await? {
            Begun::Row(row) => *row,
            Begun::Ended(outcome) => return Ok(*outcome),
        };
        let folder = self.settings.assets_store.value.clone().map(|folder| AssetFolder {
            root: self.settings.content.root.value.clone(),
            folder,
        });
        self.executor.promoter = folder.as_ref().map(|folder| folder as &dyn Promoter);
        let planned = self.plan(&policy, &row).await;
        let (plan, observed) = match planned {
            Ok(planned) => planned,
            Err(failure) => {
                self.close(&row, State::Failed, false, failure.exit, None).await;
                return Err(failure);
            }
        };
        let ended = self.refusal(&plan);
        let (report, state, open) = match ended {
            Some(exit) => (summary::refused_by(&plan, exit, &self.executor.writer), State::Failed, false),
            None => self.apply(&plan, &observed, &policy, &row).await,
        };
        let fenced = !open && state == State::Done && report.exit == Exit::Done;
        if fenced && observed.others.fence {
            // Failing to mark only means that the next run fences once more.
            let _ = self.executor.persist(|| self.rows.mark_fenced(&observed.others.lower)).await;
        }
        self.close(&row, state, open, report.exit, Some(&report)).await;
        if state == State::Done {
            let _ = self.executor.persist(|| self.rows.remember(&policy.settings)).await;
            let keep = i64::try_from(self.settings.runs_keep.value.as_millis()).unwrap_or(i64::MAX);
            let _ = self.executor.persist(|| self.rows.forget(keep)).await;
        }
        Ok(Outcome { plan, report })
    }

    /// Plans, after the look that has to come first.
    async fn plan(&self, policy: &Policy, row: &Row) -> Result<(Plan, Observed), Failure> {
        let others =
            self.executor.persist(|| self.rows.look(row)).await.map_err(|fault| open::failure(&fault))?;
        let observed = observe::observe(&self.executor, self.store, &self.rows, others, self.settings).await?;
        let mut plan = plan::plan(&self.gathered.catalog, &self.gathered.links, &observed, policy);
        observe::note_defaults(&mut plan, &observed, self.settings, &self.gathered.catalog);
        observe::checked(&plan)?;
        (self.events)(&Event::Planned(&plan));
        Ok((plan, observed))
    }

    /// Why a plan is not applied, if it is not.
    fn refusal(&self, plan: &Plan) -> Option<Exit> {
        let keep_going = self.settings.policy.keep_going;
        let too_big = plan.summary.invalid > self.gathered.catalog.invalid.len();
        if too_big && !keep_going {
            return Some(Exit::Invalid);
        }
        if let Some(message) = observe::over_prune_limit(plan, self.settings) {
            (self.events)(&Event::Note(&message));
            return Some(Exit::Limit);
        }
        (plan.summary.conflict > 0 && !keep_going).then_some(Exit::Conflict)
    }

    async fn apply(
        &self,
        plan: &Plan,
        observed: &Observed,
        policy: &Policy,
        row: &Row,
    ) -> (RunReport, State, bool) {
        let watch = Watch {
            rows: &self.rows,
            row,
            catalog: &self.gathered.catalog,
            links: &self.gathered.links,
            observed: Mutex::new(observed.clone()),
            policy,
            lease: AtomicI64::new(row.lease_until),
        };
        let applied = self.executor.apply(plan, &watch).await;
        let late = applied.late.clone().or_else(|| observed.others.late.clone());
        let ended = Ended {
            plan,
            applied: &applied,
            late: late.as_ref(),
            interrupted: self.host.interrupted(),
            invalid: plan.summary.invalid,
        };
        let report = summary::report(&ended, &self.executor.writer);
        let state = summary::state(&report, &applied);
        (report, state, is_open(&applied))
    }

    fn row(&self, policy: &Policy) -> Row {
        let now = self.host.clock.now();
        Row {
            run_id: self.executor.writer.run_id.clone(),
            version: 1,
            source: self.rows.source.clone(),
            operation_id: self.executor.writer.operation_id.clone(),
            attempt: 1,
            fingerprint: fingerprint(self.settings, policy, &self.gathered),
            verb: "ingest".to_owned(),
            revision: self.executor.revision,
            counter: self.counter.clone(),
            started: now,
            lease_until: now.saturating_add(millis(LEASE)),
            state: State::Running,
            open: true,
            fenced: false,
            exit: None,
            result: None,
        }
    }

    /// Inserts the row, waits for the same operation at work elsewhere, or returns what it did.
    async fn begin(&self, row: Row) -> Result<Begun, Failure> {
        loop {
            let begun = self.executor.persist(|| self.rows.begin(row.clone())).await;
            match begun.map_err(|fault| open::failure(&fault))? {
                Begin::Started(row) => return Ok(Begun::Row(row)),
                Begin::Replay(row) => {
                    let policies = Policies { settings: self.settings, revision: self.executor.revision };
                    let plan = Plan::of_files(&self.gathered.catalog, &policies.policy(&self.gathered, self.store));
                    return Ok(Begun::Ended(Box::new(Outcome { report: summary::replay(&row), plan })));
                }
                Begin::Reused(row) => {
                    return Err(Failure::new(
                        Exit::Conflict,
                        format!(
                            "operation id {:?} was used by run {} for something else (other files, target or flags)",
                            row.operation_id, row.run_id
                        ),
                    )
                    .help("an operation id names one intent: choose a new one for a new intent"));
                }
                Begin::Busy(until) => {
                    if self.host.cancel.is_cancelled() {
                        let exit = self.host.interrupted().unwrap_or(Exit::Interrupted);
                        return Err(Failure::new(exit, "interrupted while waiting for the same operation"));
                    }
                    let left = u64::try_from(until.saturating_sub(self.host.clock.now())).unwrap_or(0);
                    tokio::time::sleep(Duration::from_millis(left.clamp(20, 500))).await;
                }
            }
        }
    }

    /// Closes the row. A row that cannot be closed stays unfinished, which later runs take care of.
    async fn close(&self, row: &Row, state: State, open: bool, exit: Exit, report: Option<&RunReport>) {
        let result = report.map(summary::stored);
        let closed = self
            .executor
            .persist(|| {
                self.rows.change(&row.run_id, |row| {
                    row.state = state;
                    row.open = open;
                    row.exit = Some(i64::from(exit.code()));
                    row.result.clone_from(&result);
                })
            })
            .await;
        if let Err(fault) = closed {
            (self.events)(&Event::Note(&format!("the run's row stays unfinished: {fault}")));
        }
    }
}

enum Begun {
    Row(Box<Row>),
    Ended(Box<Outcome>),
}

/// What the executor asks while it is at work.
struct Watch<'a> {
    rows: &'a Rows<'a>,
    row: &'a Row,
    catalog: &'a Catalog,
    links: &'a [PostLinks],
    observed: Mutex<Observed>,
    policy: &'a Policy,
    lease: AtomicI64,
}

#[async_trait]
impl Supervisor for Watch<'_> {
    async fn look(&self) -> Result<Others, Fault> {
        self.rows.look(self.row).await
    }

    fn plan_again(&self, operation: &Operation, fresh: &[Head], others: &Others) -> Option<Operation> {
        let mut observed = self.observed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ids: BTreeSet<&str> =
            fresh.iter().map(|head| head.id.as_str()).chain([operation.id.as_str()]).collect();
        observed.heads.retain(|head| !ids.contains(head.id.as_str()));
        observed.heads.extend(fresh.iter().cloned());
        observed.others = others.clone();
        plan::plan_again(operation, self.catalog, self.links, &observed, self.policy)
    }

    async fn alive(&self) {
        let now = self.rows.clock.now();
        let until = self.lease.load(Ordering::Relaxed);
        if until.saturating_sub(now) > millis(LEASE) / 2 {
            return;
        }
        let next = now.saturating_add(millis(LEASE));
        self.lease.store(next, Ordering::Relaxed);
        // A lease that cannot be moved on now is moved on with the next batch.
        let _ = self.rows.change(&self.row.run_id, |row| row.lease_until = next).await;
    }
}

fn is_open(applied: &Applied) -> bool {
    applied.unsettled
}

fn retry_policy(settings: &Settings) -> RetryPolicy {
    RetryPolicy {
        deadline: settings.retry.deadline.value,
        attempts: settings.retry.attempts.value,
        backoff_min: settings.retry.backoff.value.0,
        backoff_max: settings.retry.backoff.value.1,
    }
}

/// The executor of one run, with an id of its own.
pub fn executor<'a>(
    settings: &Settings,
    host: &'a Host,
    store: &'a dyn Store,
    events: &'a (dyn Fn(&Event<'_>) + Sync),
    revision: Option<i64>,
) -> Executor<'a> {
    let run_id = summary::new_run_id(host.clock.now(), host.seed);
    let operation_id = settings.operation_id.clone().unwrap_or_else(|| run_id.clone());
    Executor {
        store,
        clock: host.clock.as_ref(),
        retry: retry_policy(settings),
        batch: settings.limits.batch.value,
        in_flight: settings.limits.in_flight.value,
        writer: Writer { run_id, operation_id },
        revision,
        cancel: host.cancel.clone(),
        events,
        promoter: None,
        claim: settings.assets_claim.value,
        guards: Guards::default(),
        state: crate::apply::State::new(host.seed),
    }
}

/// What an operation is about: verb, source, target, policy, pipeline, and the digest of every file and
/// its assets. Not time, revision or tool.
fn fingerprint(settings: &Settings, policy: &Policy, gathered: &Gathered) -> String {
    let target = &policy.target;
    let flags = settings.policy;
    let mut parts: Vec<String> = vec![
        "ingest".to_owned(),
        policy.origin.name.clone().unwrap_or_default(),
        target.store.clone(),
        target.database.clone(),
        target.collection.clone(),
        format!(
            "{} {} {} {} {} {} {}",
            flags.keep_going, flags.allow_empty, flags.strict_links, flags.prune, flags.repair, flags.force,
            settings.limits.prune.value
        ),
        settings.content.narrow.join("\n"),
        policy.pipeline.to_string(),
    ];
    for (post, links) in gathered.catalog.posts.iter().zip(&gathered.links) {
        parts.push(post.file.clone());
        parts.push(post.source_hash.to_string());
        parts.push(links.assets_hash.as_ref().map(ToString::to_string).unwrap_or_default());
    }
    let mut hasher = Sha256::new();
    for part in &parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    format!("f1:{}", hex::encode(hasher.finalize()))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
