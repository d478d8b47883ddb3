//! `diff`: what `ingest` would do, and nothing written.

use std::collections::HashMap;

use bson::Document;

use super::gather;
use super::host::Host;

use super::observe::{self, Policies};
use super::open;
use super::operation;
use crate::apply::Executor;
use crate::apply::planner::{DOCUMENTS_AT_A_TIME, Planner, TreePlanner};
use crate::apply::run::Rows;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::change::{self, FieldChange};
use crate::plan::{self, Others, Plan};
use crate::report::event::Event;
use crate::store::Store;

/// A plan with what each of its changes changes.
pub struct Outcome {
    /// The plan.
    pub plan: Plan,
    /// The fields that differ, one entry an operation of the plan.
    pub changes: Vec<Vec<FieldChange>>,
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
    let policies = Policies { settings, revision };
    events(&Event::Target(&store.target()));
    gathered.notes.iter().for_each(|note| events(&Event::Note(note)));
    for diagnostic in &gathered.catalog.diagnostics {
        events(&Event::Problem(diagnostic));
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let executor = operation::executor(settings, host, store.as_ref(), events, revision);
    executor.persist(|| store.connect()).await.map_err(|fault| open::failure(&fault))?;
    let policy = policies.policy(&gathered, store.as_ref());
    let rows = Rows {
        store: store.as_ref(),
        clock: host.clock.as_ref(),
        source: settings.source.value.clone().unwrap_or_default(),
    };
    let planner = TreePlanner {
        catalog: &gathered.catalog,
        links: &gathered.links,
        policy: &policy,
        repair: settings.policy.repair,
    };
    let observed =
        planner.observe(&executor, &rows, Others::default()).await.map_err(|fault| open::failure(&fault))?;
    let mut plan = planner.plan(&observed);
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
    Ok(Outcome { plan, changes, exit })
}

/// Reads the stored documents of what is updated, and compares.
async fn changes(
    plan: &Plan,
    executor: &Executor<'_>,
    store: &dyn Store,
) -> Result<Vec<Vec<FieldChange>>, Failure> {
    let stored: Vec<String> = plan
        .operations
        .iter()
        .filter(|operation| operation.content.is_some() && operation.seen.is_some())
        .map(|operation| operation.id.clone())
        .collect();
    let contents: HashMap<&str, &Document> = plan
        .operations
        .iter()
        .filter_map(|operation| Some((operation.id.as_str(), operation.content.as_ref()?)))
        .collect();
    let mut by_id: HashMap<String, Vec<FieldChange>> = HashMap::new();
    for ids in stored.chunks(DOCUMENTS_AT_A_TIME) {
        let documents =
            executor.persist(|| store.documents(ids)).await.map_err(|fault| open::failure(&fault))?;
        for before in &documents {
            let id = before.get_str("_id").unwrap_or_default();
            if let Some(after) = contents.get(id) {
                by_id.insert(id.to_owned(), change::fields(before, after));
            }
        }
    }
    Ok(plan.operations.iter().map(|operation| by_id.remove(&operation.id).unwrap_or_default()).collect())
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
