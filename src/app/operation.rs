//! One writing verb from its connection to its report: what `ingest` and every other verb that writes
//! have in common.
//!
//! Begin at [`connect`], then [`carry_out`]. A verb brings a planner, what it is about, and its review
//! of the plan.

use sha2::{Digest, Sha256};

use super::diff;
use super::host::Host;
use super::open;
use super::summary;
use crate::apply::job::{self, Closing, Ended as JobEnded, Job};
use crate::apply::planner::Planner;
use crate::apply::retry::RetryPolicy;
use crate::apply::run::{Row, Rows, State};
use crate::apply::statement::Writer;
use crate::apply::{Applied, Executor, Guards};
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::change::FieldChange;
use crate::plan::compose::Composer;
use crate::plan::{self, Late, Observed, Others, Plan};
use crate::report::event::{Event, RunReport};
use crate::store::{Fault, Store, Target};

/// What a run was about and how it ended.
pub struct Outcome {
    /// The plan; of a run that stopped at its files it has no operations.
    pub plan: Plan,
    /// Makes the documents that are shown whole.
    pub composer: Composer,
    /// How it ended.
    pub report: RunReport,
}

/// How a verb ended that can be asked what it would do.
pub enum Ended {
    /// Nothing was written: `--dry-run`.
    Looked {
        /// What would be done.
        plan: Box<Plan>,
        /// The fields that would change, one entry an operation.
        changes: Vec<Vec<FieldChange>>,
        /// Makes the documents that are shown whole.
        composer: Composer,
        /// 5 where the plan is refused, else 0.
        exit: Exit,
    },
    /// It was carried out.
    Ran(Box<Outcome>),
}

/// Looks at a plan before it is applied, may add to it, and may refuse it with an exit.
pub type Review<'a> = dyn Fn(&mut Plan, &Observed) -> Option<Exit> + Sync + 'a;

/// One writing verb.
pub struct Asked<'a> {
    /// The verb, as it stands in the run's row.
    pub verb: &'static str,
    /// Everything that tells this intent from another of the same verb, source and target.
    pub about: Vec<String>,
    /// Makes the plan.
    pub planner: &'a dyn Planner,
    /// Looks at the plan. That it is sound is checked in any case.
    pub review: &'a Review<'a>,
}

/// Connects and makes the collections ready. The engine's name and limits are known only then.
pub async fn connect(executor: &Executor<'_>) -> Result<(), Failure> {
    let told = |fault: Fault| open::failure(&fault);
    executor.persist(|| executor.store.connect()).await.map_err(told)?;
    let ready = executor.persist(|| executor.store.ensure_ready()).await.map_err(told)?;
    for warning in &ready.warnings {
        (executor.events)(&Event::Note(warning));
    }
    Ok(())
}

/// The rows of the configured source.
pub fn rows<'a>(settings: &Settings, host: &'a Host, store: &'a dyn Store) -> Rows<'a> {
    let source = settings.source.value.clone().unwrap_or_default();
    Rows { store, clock: host.clock.as_ref(), source }
}

/// What a verb would do, with nothing written and no row: `--dry-run`. The store is connected.
async fn look(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    asked: Asked<'_>,
) -> Result<Ended, Failure> {
    let told = |fault: Fault| open::failure(&fault);
    let rows = rows(settings, host, executor.store);
    let observed = asked.planner.observe(executor, &rows, Others::default()).await.map_err(told)?;
    let mut plan = asked.planner.plan(&observed);
    if let Some(exit) = unsound(&plan, executor.events) {
        return Err(Failure::new(exit, "the plan is not sound"));
    }
    let exit = (asked.review)(&mut plan, &observed).unwrap_or(Exit::Done);
    (executor.events)(&Event::Planned(&plan));
    let changes = diff::changes(&plan, executor, executor.store).await?;
    Ok(Ended::Looked { plan: Box::new(plan), changes, composer: executor.composer.clone(), exit })
}

/// Looks ([`look`]) or carries out, for a verb that can be asked what it would do. The store is connected.
pub async fn look_or_carry_out(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    asked: Asked<'_>,
    dry_run: bool,
) -> Result<Ended, Failure> {
    if dry_run {
        return look(settings, host, executor, asked).await;
    }
    connect(executor).await?;
    let outcome = carry_out(settings, host, executor, asked).await?;
    Ok(Ended::Ran(Box::new(outcome)))
}

/// Runs the job of a verb and tells how it ended. The store is connected and ready.
pub async fn carry_out(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    asked: Asked<'_>,
) -> Result<Outcome, Failure> {
    let told = |fault: Fault| open::failure(&fault);
    let writer = executor.writer.clone();
    let composer = executor.composer.clone();
    let rows = rows(settings, host, executor.store);
    let row = row(executor, &rows, settings, &asked);
    let review = |plan: &mut Plan, observed: &Observed| {
        let refused = (asked.review)(plan, observed);
        unsound(plan, executor.events).or(refused)
    };
    let job = Job {
        executor,
        rows: &rows,
        planner: asked.planner,
        keep: i64::try_from(settings.runs_keep.value.as_millis()).unwrap_or(i64::MAX),
        history: settings.limits.history_bytes.value,
        review: &review,
    };
    let closing = |plan: &Plan, applied: &Applied, late: Option<&Late>| {
        let ended = summary::Ended { plan, applied, late, interrupted: host.interrupted() };
        let report = summary::report(&ended, &writer);
        Closing {
            state: summary::state(&report, applied),
            exit: report.exit,
            result: Some(summary::stored(plan, &report)),
        }
    };
    match job.run(row, closing).await.map_err(told)? {
        JobEnded::Applied { plan, applied, late } => {
            let ended = summary::Ended {
                plan: &plan,
                applied: &applied,
                late: late.as_ref(),
                interrupted: host.interrupted(),
            };
            let report = summary::report(&ended, &writer);
            Ok(Outcome { plan: *plan, composer, report })
        }
        JobEnded::Refused(plan, exit) => {
            let report = summary::refused_by(&plan, exit, &writer);
            Ok(Outcome { plan: *plan, composer, report })
        }
        JobEnded::Replay(row) => {
            let mut plan = asked.planner.nothing();
            plan.summary.unchanged = summary::replayed_unchanged(&row);
            Ok(Outcome { plan, composer, report: summary::replay(&row) })
        }
        JobEnded::Reused(row) => Err(Failure::new(
            Exit::Conflict,
            format!(
                "operation id {:?} was used by run {} for something else (another verb, other files, target or flags)",
                row.operation_id, row.run_id
            ),
        )
        .help("an operation id names one intent: choose a new one for a new intent")),
        JobEnded::Interrupted => {
            let exit = host.interrupted().unwrap_or(Exit::Interrupted);
            Err(Failure::new(exit, "interrupted while waiting for the same operation at work elsewhere"))
        }
    }
}

/// A plan that breaks an invariant is never applied.
fn unsound(plan: &Plan, events: &(dyn Fn(&Event<'_>) + Sync)) -> Option<Exit> {
    let broken = plan::check::check(plan);
    let first = broken.first()?;
    events(&Event::Note(&format!(
        "the plan is not sound, nothing was written: {first}. This is a defect of idempost; please report it"
    )));
    Some(Exit::Failed)
}

fn row(executor: &Executor<'_>, rows: &Rows<'_>, settings: &Settings, asked: &Asked<'_>) -> Row {
    let now = executor.clock.now();
    Row {
        run_id: executor.writer.run_id.clone(),
        version: 1,
        source: rows.source.clone(),
        operation_id: executor.writer.operation_id.clone(),
        attempt: 1,
        fingerprint: fingerprint(asked.verb, &rows.source, &executor.store.target(), &asked.about),
        verb: asked.verb.to_owned(),
        revision: executor.revision,
        counter: settings.source_revision().1,
        commit: settings.provenance.commit.clone(),
        reference: settings.provenance.reference.clone(),
        ci_run: settings.provenance.run.clone(),
        started: now,
        lease_until: now.saturating_add(job::lease_millis()),
        state: State::Running,
        open: true,
        fenced: false,
        exit: None,
        result: None,
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
        retry: RetryPolicy {
            deadline: settings.retry.deadline.value,
            attempts: settings.retry.attempts.value,
            backoff_min: settings.retry.backoff.value.0,
            backoff_max: settings.retry.backoff.value.1,
        },
        batch: settings.limits.batch.value,
        in_flight: settings.limits.in_flight.value,
        writer: Writer { run_id, operation_id },
        revision,
        cancel: host.cancel.clone(),
        events,
        composer: Composer::of_given(),
        promoter: None,
        claim: settings.assets_claim.value,
        guards: Guards::default(),
        state: crate::apply::State::new(host.seed),
    }
}

/// What an operation is about: verb, source, target, and what the verb adds. Not time, revision or tool.
fn fingerprint(verb: &str, source: &str, target: &Target, about: &[String]) -> String {
    let head = [verb, source, &target.store, &target.database, &target.collection];
    let mut hasher = Sha256::new();
    for part in head.into_iter().chain(about.iter().map(String::as_str)) {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    format!("f1:{}", hex::encode(hasher.finalize()))
}
