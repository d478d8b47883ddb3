//! `ingest`: make the store say what the tree says.
//!
//! Files first, then the run's row, then a look at the other runs, then heads and plan, then the
//! writes (`DESIGN` 5); the order is `operation`'s and the job's. Begin at [`run`].

use super::gather::{self, Gathered};
use super::host::Host;
use super::observe::{self, Policies};
use super::open;
use super::operation::{self, Asked, Outcome};
use super::{assets, saved, summary};
use crate::apply::Executor;
use crate::apply::planner::TreePlanner;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::compose::Composer;
use crate::plan::{self, Observed, Plan, Policy};
use crate::report::event::Event;

/// Ingests. Everything that happens is told to `events`; the outcome has it whole.
pub async fn run(
    settings: &Settings,
    host: &Host,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Outcome, Failure> {
    let saved = settings.saved_plan.as_deref().map(saved::read).transpose()?;
    let gathered = gather::gather(settings, host.clock.now())?;
    let store = open::open(settings)?;
    let (revision, _) = settings.source_revision();
    let policies = Policies { settings, revision };
    let policy = policies.policy(&gathered, store.as_ref());
    if let Some(saved) = &saved {
        saved::check(saved, settings, &policy)?;
    }
    events(&Event::Target(&policy.target));
    gathered.notes.iter().for_each(|note| events(&Event::Note(note)));
    for diagnostic in &gathered.catalog.diagnostics {
        events(&Event::Problem(diagnostic));
    }
    if !gathered.catalog.invalid.is_empty() && !settings.policy.keep_going {
        let plan = Plan::of_files(&gathered.catalog, &policy);
        let composer = gathered.composer();
        return Ok(Outcome { report: summary::refused(Exit::Invalid), composer, plan });
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    observe::check_prune(&gathered.catalog, settings)?;
    let objects = assets::open(settings)?;
    let rows;
    let mut executor = operation::executor(settings, host, store.as_ref(), events, revision);
    executor.composer = gathered.composer();
    if let Some(objects) = &objects {
        rows = assets::rows(settings, host, store.as_ref(), objects, &gathered.sources, &executor.writer);
        executor.promoter = Some(&rows);
    }
    ingest(settings, host, &mut executor, &gathered, policies, saved.as_ref()).await
}

/// Connects and hands the tree's planner to the job.
async fn ingest(
    settings: &Settings,
    host: &Host,
    executor: &mut Executor<'_>,
    gathered: &Gathered,
    policies: Policies<'_>,
    saved: Option<&saved::Plan>,
) -> Result<Outcome, Failure> {
    operation::connect(executor).await?;
    // The engine's name and limits are known only now.
    let policy = policies.policy(gathered, executor.store);
    let composer = executor.composer.clone();
    let planner = TreePlanner {
        catalog: &gathered.catalog,
        links: &gathered.links,
        policy: &policy,
        composer: &composer,
        repair: settings.policy.repair,
    };
    let events = executor.events;
    let review = |plan: &mut Plan, observed: &Observed| {
        observe::note_defaults(plan, observed, settings, &gathered.catalog);
        observe::note_settings(plan);
        let moved = saved.map_or(0, |saved| hold(plan, saved, observed, &composer));
        let refused = refusal(plan, settings, gathered, events);
        refused.filter(|exit| *exit != Exit::Conflict || !settings.partial || plan.summary.conflict > moved)
    };
    let mut about = about(settings, &policy, gathered);
    about.extend(saved.map(|saved| format!("{} {}", saved.digest, settings.partial)));
    let asked = Asked { verb: "ingest", about, planner: &planner, review: &review };
    operation::carry_out(settings, host, executor, asked).await
}

/// Leaves of a plan what a saved one says too. How many posts moved since.
fn hold(plan: &mut Plan, saved: &saved::Plan, observed: &Observed, composer: &Composer) -> usize {
    let held = plan::saved::hold(plan, &saved.saved, observed, composer);
    if held.beside > 0 {
        let (are, is) = (held.beside, &saved.shown);
        plan.notes
            .push(format!("{are} more posts differ from the store and are not in {is}: they are left alone"));
    }
    if held.done > 0 {
        plan.notes.push(format!("{} posts are already as {} wants them", held.done, saved.shown));
    }
    held.moved
}

/// Why a plan is not applied, if it is not.
pub(super) fn refusal(
    plan: &Plan,
    settings: &Settings,
    gathered: &Gathered,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Option<Exit> {
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

/// What tells one ingest from another: policy, pipeline, and the digest of every file and its assets.
pub(super) fn about(settings: &Settings, policy: &Policy, gathered: &Gathered) -> Vec<String> {
    let flags = settings.policy;
    let mut parts: Vec<String> = vec![
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
    parts
}
