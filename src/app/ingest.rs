//! `ingest`: make the store say what the tree says.
//!
//! Files first, then the run's row, then a look at the other runs, then heads and plan, then the
//! writes (`DESIGN` 5). Begin at [`run`].

use sha2::{Digest, Sha256};

use super::gather::{self, Gathered};
use super::host::Host;
use super::observe::{self, Policies};
use super::open;
use super::summary;
use crate::apply::job::{self, Closing, Ended, Job};
use crate::apply::promote::{AssetFolder, Promoter};
use crate::apply::retry::RetryPolicy;
use crate::apply::run::{Row, Rows, State};
use crate::apply::statement::Writer;
use crate::apply::{Applied, Executor, Guards};
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::{self, Late, Observed, Plan, Policy};
use crate::report::event::{Event, RunReport};
use crate::store::{Fault, Store};

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
    let store = open::open(settings)?;
    let (revision, _) = settings.source_revision();
    let policies = Policies { settings, revision };
    let policy = policies.policy(&gathered, store.as_ref());
    events(&Event::Target(&policy.target));
    gathered.notes.iter().for_each(|note| events(&Event::Note(note)));
    for diagnostic in &gathered.catalog.diagnostics {
        events(&Event::Problem(diagnostic));
    }
    if !gathered.catalog.invalid.is_empty() && !settings.policy.keep_going {
        let plan = Plan::of_files(&gathered.catalog, &policy);
        return Ok(Outcome { report: summary::refused(Exit::Invalid), plan });
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let folder = settings
        .assets_store
        .value
        .clone()
        .map(|folder| AssetFolder { root: settings.content.root.value.clone(), folder });
    let mut executor = executor(settings, host, store.as_ref(), events, revision);
    executor.promoter = folder.as_ref().map(|folder| folder as &dyn Promoter);
    ingest(settings, host, store.as_ref(), &mut executor, &gathered, policies).await
}

/// Connects, runs the job, and tells how it ended.
async fn ingest(
    settings: &Settings,
    host: &Host,
    store: &dyn Store,
    executor: &mut Executor<'_>,
    gathered: &Gathered,
    policies: Policies<'_>,
) -> Result<Outcome, Failure> {
    let told = |fault: Fault| open::failure(&fault);
    let events = executor.events;
    executor.persist(|| store.connect()).await.map_err(told)?;
    let ready = executor.persist(|| store.ensure_ready()).await.map_err(told)?;
    for warning in &ready.warnings {
        events(&Event::Note(warning));
    }
    // The engine's name and limits are known only now.
    let policy = policies.policy(gathered, store);
    let writer = executor.writer.clone();
    let rows =
        Rows { store, clock: host.clock.as_ref(), source: policy.origin.name.clone().unwrap_or_default() };
    let row = row(executor, &rows, settings, &policy, gathered);
    let review = |plan: &mut Plan, observed: &Observed| {
        observe::note_defaults(plan, observed, settings, &gathered.catalog);
        observe::note_settings(plan);
        refusal(plan, settings, gathered, events)
    };
    let job = Job {
        executor,
        rows: &rows,
        catalog: &gathered.catalog,
        links: &gathered.links,
        policy: &policy,
        repair: settings.policy.repair,
        keep: i64::try_from(settings.runs_keep.value.as_millis()).unwrap_or(i64::MAX),
        review: &review,
    };
    let closing = |plan: &Plan, applied: &Applied, late: Option<&Late>| {
        let report = summary::report(
            &summary::Ended { plan, applied, late, interrupted: host.interrupted() },
            &writer,
        );
        Closing {
            state: summary::state(&report, applied),
            exit: report.exit,
            result: Some(summary::stored(plan, &report)),
        }
    };
    match job.run(row, closing).await.map_err(told)? {
        Ended::Applied { plan, applied, late } => {
            let ended = summary::Ended {
                plan: &plan,
                applied: &applied,
                late: late.as_ref(),
                interrupted: host.interrupted(),
            };
            let report = summary::report(&ended, &writer);
            Ok(Outcome { plan: *plan, report })
        }
        Ended::Refused(plan, exit) => {
            let report = summary::refused_by(&plan, exit, &writer);
            Ok(Outcome { plan: *plan, report })
        }
        Ended::Replay(row) => {
            let mut plan = Plan::of_files(&gathered.catalog, &policy);
            plan.summary.unchanged = summary::replayed_unchanged(&row);
            Ok(Outcome { plan, report: summary::replay(&row) })
        }
        Ended::Reused(row) => Err(Failure::new(
            Exit::Conflict,
            format!(
                "operation id {:?} was used by run {} for something else (other files, target or flags)",
                row.operation_id, row.run_id
            ),
        )
        .help("an operation id names one intent: choose a new one for a new intent")),
        Ended::Interrupted => {
            let exit = host.interrupted().unwrap_or(Exit::Interrupted);
            Err(Failure::new(exit, "interrupted while waiting for the same operation at work elsewhere"))
        }
    }
}

/// Why a plan is not applied, if it is not.
fn refusal(
    plan: &Plan,
    settings: &Settings,
    gathered: &Gathered,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Option<Exit> {
    let broken = plan::check::check(plan);
    if let Some(first) = broken.first() {
        events(&Event::Note(&format!(
            "the plan is not sound, nothing was written: {first}. This is a defect of idempost; please report it"
        )));
        return Some(Exit::Failed);
    }
    let keep_going = settings.policy.keep_going;
    let too_big = plan.summary.invalid > gathered.catalog.invalid.len();
    if too_big && !keep_going {
        return Some(Exit::Invalid);
    }
    if let Some(message) = observe::over_prune_limit(plan, settings) {
        events(&Event::Note(&message));
        return Some(Exit::Limit);
    }
    (plan.summary.conflict > 0 && !keep_going).then_some(Exit::Conflict)
}

fn row(
    executor: &Executor<'_>,
    rows: &Rows<'_>,
    settings: &Settings,
    policy: &Policy,
    gathered: &Gathered,
) -> Row {
    let now = executor.clock.now();
    Row {
        run_id: executor.writer.run_id.clone(),
        version: 1,
        source: rows.source.clone(),
        operation_id: executor.writer.operation_id.clone(),
        attempt: 1,
        fingerprint: fingerprint(settings, policy, gathered),
        verb: "ingest".to_owned(),
        revision: executor.revision,
        counter: settings.source_revision().1,
        started: now,
        lease_until: now.saturating_add(job::lease_millis()),
        state: State::Running,
        open: true,
        fenced: false,
        exit: None,
        result: None,
    }
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
            flags.keep_going,
            flags.allow_empty,
            flags.strict_links,
            flags.prune,
            flags.repair,
            flags.force,
            settings.limits.prune.value
        ),
        settings.content.narrow.join("\n"),
        settings.changed_since.clone().unwrap_or_default(),
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
