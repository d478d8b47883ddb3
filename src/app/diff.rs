//! `diff`: what `ingest` would do, and nothing written.

use std::collections::HashMap;
use std::sync::Arc;

use bson::Document;
use rayon::prelude::*;

use super::gather::{self, Gathered};
use super::host::Host;

use super::observe::{self, Policies};
use super::open;
use super::operation;
use crate::apply::Executor;
use crate::apply::planner::{DOCUMENTS_AT_A_TIME, Planner, TreePlanner};
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::plan::change::{self, FieldChange};
use crate::plan::compose::Composer;
use crate::plan::{self, Observed, Operation, Others, Plan};
use crate::report::event::Event;
use crate::store::Store;

/// A plan with what each of its changes changes.
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// The fields that differ, one entry an operation of the plan.
    pub changes: Vec<Vec<FieldChange>>,
    /// Makes the documents that are shown whole.
    pub composer: Composer,
    /// How it ended.
    pub exit: Exit,
}

/// Plans against the store and reads what is needed to show the differences.
pub async fn run(
    settings: &Settings,
    host: &Host,
    exit_code: bool,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Outcome, Failure> {
    let gathered = gather::gather(settings, host.clock.now())?;
    let store = open::open(settings)?;
    let (revision, _) = settings.source_revision();
    events(&Event::Target(&store.target()));
    gathered.notes.iter().for_each(|note| events(&Event::Note(note)));
    for diagnostic in &gathered.catalog.diagnostics {
        events(&Event::Problem(diagnostic));
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let mut executor = operation::executor(settings, host, store.as_ref(), events, revision);
    executor.composer = gathered.composer();
    let (mut plan, observed) = planned(settings, host, &executor, &gathered).await?;
    observe::note_defaults(&mut plan, &observed, settings, &gathered.catalog);
    observe::note_settings(&mut plan);
    if let Some(broken) = plan::check::check(&plan).first() {
        return Err(Failure::new(Exit::Failed, format!("the plan is not sound: {broken}"))
            .help("this is a defect of idempost; please report it"));
    }
    if let Some(message) = observe::over_prune_limit(&plan, settings) {
        plan.notes.push(message);
    }
    events(&Event::Planned(&plan));
    let changes = changes(&plan, &executor, store.as_ref()).await?;
    let exit = exit(&plan, settings, exit_code);
    Ok(Outcome { plan, changes, composer: executor.composer.clone(), exit })
}

/// Connects and plans the tree against the store as it is now. The executor has the tree's composer.
pub(super) async fn planned(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    gathered: &Gathered,
) -> Result<(Plan, Observed), Failure> {
    let told = |fault| open::failure(&fault);
    executor.persist(|| executor.store.connect()).await.map_err(told)?;
    let policy = Policies { settings, revision: executor.revision }.policy(gathered, executor.store);
    let rows = operation::rows(settings, host, executor.store);
    let planner = TreePlanner {
        catalog: &gathered.catalog,
        links: &gathered.links,
        policy: &policy,
        composer: &executor.composer,
        repair: settings.policy.repair,
    };
    let observed = planner.observe(executor, &rows, Others::default()).await.map_err(told)?;
    Ok((planner.plan(&observed), observed))
}

/// Reads the stored documents of what is updated, makes the new ones, and compares, some at a time.
pub(super) async fn changes(
    plan: &Plan,
    executor: &Executor<'_>,
    store: &dyn Store,
) -> Result<Vec<Vec<FieldChange>>, Failure> {
    let wanted: Vec<&Operation> = plan
        .operations
        .iter()
        .map(AsRef::as_ref)
        .filter(|operation| operation.content.is_some() && operation.seen.is_some())
        .collect();
    let mut by_id: HashMap<&str, Vec<FieldChange>> = HashMap::new();
    for some in wanted.chunks(DOCUMENTS_AT_A_TIME) {
        let ids: Vec<String> = some.iter().map(|operation| operation.id.clone()).collect();
        let stored =
            executor.persist(|| store.documents(&ids)).await.map_err(|fault| open::failure(&fault))?;
        let stored: HashMap<&str, &Document> =
            stored.iter().filter_map(|before| Some((before.get_str("_id").ok()?, before))).collect();
        let compared: Vec<(&str, Vec<FieldChange>)> = some
            .par_iter()
            .filter_map(|operation| compared(operation, &executor.composer, &stored).transpose())
            .collect::<Result<_, Box<Diagnostic>>>()
            .map_err(|problem| told(&problem))?;
        by_id.extend(compared);
    }
    let of = |operation: &Arc<Operation>| by_id.remove(operation.id.as_str()).unwrap_or_default();
    Ok(plan.operations.iter().map(of).collect())
}

/// The fields that one operation changes; `None` where its post is not stored any more.
fn compared<'p>(
    operation: &'p Operation,
    composer: &Composer,
    stored: &HashMap<&str, &Document>,
) -> Result<Option<(&'p str, Vec<FieldChange>)>, Box<Diagnostic>> {
    let Some(before) = stored.get(operation.id.as_str()) else { return Ok(None) };
    let content = composer.compose(operation)?;
    Ok(content.map(|content| (operation.id.as_str(), change::fields(before, &content.fields))))
}

/// A tree that changes while it is looked at has no differences that hold.
fn told(problem: &Diagnostic) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {}", problem.file, problem.message))
        .help("look again once the tree is at rest")
}

/// What `ingest` would end with where it would refuse; else 2 for changes, if that was asked for.
fn exit(plan: &Plan, settings: &Settings, exit_code: bool) -> Exit {
    let keep_going = settings.policy.keep_going;
    let mut exit = Exit::Done;
    if plan.summary.invalid > 0 {
        exit = exit.and(if keep_going { Exit::Partly } else { Exit::Invalid });
    }
    if plan.summary.conflict > 0 {
        exit = exit.and(if keep_going { Exit::Partly } else { Exit::Conflict });
    }
    if observe::over_prune_limit(plan, settings).is_some() {
        exit = exit.and(Exit::Limit);
    }
    if exit_code && plan.has_changes() {
        exit = exit.and(Exit::Changes);
    }
    exit
}
