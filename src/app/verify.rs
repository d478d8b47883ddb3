//! `verify`: every stored post held against its source; with `--repair` what is ours is mended, by a plan
//! that goes through the same job as every other write.
//!
//! Begin at [`run`]. Without `--repair` nothing is written, no row either. With it the plan is applied and
//! the store is looked at again: what is told is what is left.

use super::assets;
use super::gather::{self, Gathered};
use super::host::Host;
use super::observe::{self, Policies};
use super::operation::{self, Asked};
use super::{diff, ingest, open};
use crate::apply::Executor;
use crate::apply::planner::{Planner, TreePlanner};
use crate::apply::verify::{Depth, RepairPlanner, survey};
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::plan::verify::{self, Counts, Finding, Level};
use crate::plan::{Observed, Others, Plan, Policy};
use crate::report::event::{Event, RunReport};

/// What was found, and what was done about it.
pub struct Outcome {
    /// The plan of the tree against the store as it is now.
    pub plan: Plan,
    /// What is not as it should be, or worth knowing.
    pub findings: Vec<Finding>,
    /// Counts of the collection.
    pub counts: Counts,
    /// What was applied, with `--repair`.
    pub repaired: Option<(Plan, RunReport)>,
    /// How it ended.
    pub exit: Exit,
}

/// Compares, and mends where that is asked for.
pub async fn run(
    settings: &Settings,
    host: &Host,
    depth: Depth,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Outcome, Failure> {
    let gathered = gather::gather(settings, host.clock.now())?;
    let store = open::open(settings)?;
    let (revision, _) = settings.source_revision();
    events(&Event::Target(&store.target()));
    gathered.catalog.diagnostics.iter().for_each(|problem| events(&Event::Problem(problem)));
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let objects = assets::open(settings)?;
    let rows;
    let repair = settings.policy.repair;
    let mut repaired = None;
    if repair && (gathered.catalog.invalid.is_empty() || settings.policy.keep_going) {
        let mut executor = operation::executor(settings, host, store.as_ref(), events, revision);
        executor.composer = gathered.composer();
        if let Some(objects) = &objects {
            rows = assets::rows(settings, host, store.as_ref(), objects, &gathered.sources, &executor.writer);
            executor.promoter = Some(&rows);
        }
        repaired = Some(mend(settings, host, executor, &gathered, depth).await?);
    }
    let mut executor = operation::executor(settings, host, store.as_ref(), events, revision);
    executor.composer = gathered.composer();
    let mut outcome = look(settings, host, &executor, &gathered, depth).await?;
    if let Some((_, run)) = &repaired {
        // What was refused or lost stays a difference, and is among what is left.
        let stopped = !matches!(run.exit, Exit::Done | Exit::Conflict | Exit::Partly);
        if stopped || (run.exit == Exit::Partly && !run.failed.is_empty()) {
            outcome.exit = outcome.exit.and(run.exit);
        }
    }
    outcome.repaired = repaired;
    Ok(outcome)
}

/// Looks at everything; writes nothing.
async fn look(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    gathered: &Gathered,
    depth: Depth,
) -> Result<Outcome, Failure> {
    let told = |fault| open::failure(&fault);
    executor.persist(|| executor.store.connect()).await.map_err(told)?;
    let policy = Policies { settings, revision: executor.revision }.policy(gathered, executor.store);
    let rows = operation::rows(settings, host, executor.store);
    let tree = tree(gathered, &policy, executor);
    let (observed, looked) = survey(executor, &rows, &tree, depth, Others::default()).await.map_err(told)?;
    let mut plan = tree.plan(&observed);
    observe::note_settings(&mut plan);
    let changes = diff::changes(&plan, executor, executor.store).await?;
    let now = host.clock.now();
    let findings = verify::findings(&plan, &changes, &observed.heads, &looked, &policy, now);
    let mut exit = Exit::Done;
    if findings.iter().any(|finding| finding.level == Level::Difference) {
        exit = exit.and(Exit::Conflict);
    }
    if plan.diagnostics.iter().any(Diagnostic::is_error) {
        exit = exit.and(Exit::Invalid);
    }
    let counts = verify::counts(&observed.heads, &policy);
    Ok(Outcome { plan, findings, counts, repaired: None, exit })
}

fn tree<'a>(gathered: &'a Gathered, policy: &'a Policy, executor: &'a Executor<'_>) -> TreePlanner<'a> {
    TreePlanner {
        catalog: &gathered.catalog,
        links: &gathered.links,
        policy,
        composer: &executor.composer,
        repair: true,
    }
}

/// Applies what mends the posts of this source. What is refused is left; the look that follows tells.
async fn mend(
    settings: &Settings,
    host: &Host,
    executor: Executor<'_>,
    gathered: &Gathered,
    depth: Depth,
) -> Result<(Plan, RunReport), Failure> {
    operation::connect(&executor).await?;
    let policy = Policies { settings, revision: executor.revision }.policy(gathered, executor.store);
    let planner = RepairPlanner { tree: tree(gathered, &policy, &executor), depth, now: host.clock.now() };
    let events = executor.events;
    let review = |plan: &mut Plan, _: &Observed| {
        observe::note_settings(plan);
        ingest::refusal(plan, settings, gathered, events).filter(|exit| *exit != Exit::Conflict)
    };
    let mut about = ingest::about(settings, &policy, gathered);
    about.push(format!("{depth:?}"));
    let asked = Asked { verb: "verify", about, planner: &planner, review: &review };
    let outcome = operation::carry_out(settings, host, &executor, asked).await?;
    Ok((outcome.plan, outcome.report))
}
