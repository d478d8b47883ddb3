//! What a plan is made from beside the catalog: policy, heads, settings; and what a person is told
//! about it.

use std::collections::BTreeMap;

use super::gather::Gathered;
use crate::catalog::Catalog;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::pipeline::Pipeline;
use crate::plan::{Action, IdentitySettings, Observed, Origin, Plan, Policy};
use crate::store::Store;

/// Makes the policy of a plan.
#[derive(Clone, Copy)]
pub struct Policies<'a> {
    /// What was configured.
    pub settings: &'a Settings,
    /// Source revision of the run.
    pub revision: Option<i64>,
}

impl Policies<'_> {
    /// The policy against a store, whose limits may be known better later.
    pub fn policy(&self, gathered: &Gathered, store: &dyn Store) -> Policy {
        let pipeline = Pipeline::of(&gathered.rules, &gathered.link_policy);
        Policy { only: gathered.only.clone(), ..self.of(pipeline, store) }
    }

    /// The policy of a verb that reads no tree. `now` is in Unix milliseconds.
    pub fn without_tree(&self, store: &dyn Store, now: i64) -> Policy {
        self.of(Pipeline::of(&self.settings.rules(now), &self.settings.link_policy()), store)
    }

    fn of(&self, pipeline: Pipeline, store: &dyn Store) -> Policy {
        let settings = self.settings;
        Policy {
            origin: Origin {
                name: settings.source.value.clone(),
                root: settings.content.shown.clone(),
                commit: settings.provenance.commit.clone(),
            },
            target: store.target(),
            limits: store.limits(),
            pipeline,
            revision: self.revision,
            settings: identity_settings(settings),
            prune: settings.policy.prune,
            force: settings.policy.force,
            only: None,
        }
    }
}

/// The settings that shape identity, as they are remembered.
fn identity_settings(settings: &Settings) -> IdentitySettings {
    let values = BTreeMap::from([
        ("timezone".to_owned(), settings.timezone.value.clone()),
        ("default_lang".to_owned(), settings.default_lang.value.to_string()),
        ("slug_mode".to_owned(), format!("{:?}", settings.slug_mode.value).to_lowercase()),
        ("slug_pattern".to_owned(), settings.slug_pattern.value.as_str().to_owned()),
        ("preset".to_owned(), format!("{:?}", settings.preset.value).to_lowercase()),
    ]);
    IdentitySettings { values }
}

/// Pruning needs to know whose posts these are and what every file says.
pub fn check_prune(catalog: &Catalog, settings: &Settings) -> Result<(), Failure> {
    if !settings.policy.prune {
        return Ok(());
    }
    if settings.source.value.is_none() {
        return Err(Failure::usage("--prune needs `source`: without it two trees would prune each other")
            .help("set `source = \"…\"` in idempost.toml, or --source"));
    }
    if !settings.content.narrow.is_empty() {
        return Err(Failure::usage(
            "--prune cannot go with a PATH: what lies beside it would look as if it were gone",
        )
        .help("prune in a run over the whole content root"));
    }
    if let Some(first) = catalog.invalid.first() {
        return Err(Failure::new(
            Exit::Limit,
            format!("--prune refused: {} files have errors, the first is {first}", catalog.invalid.len()),
        )
        .help("what a broken file makes is not known; mend the files first"));
    }
    Ok(())
}

/// The message of a plan that archives more than is allowed, if it does.
pub fn over_prune_limit(plan: &Plan, settings: &Settings) -> Option<String> {
    let archived = plan
        .operations
        .iter()
        .filter(|operation| operation.action == Action::Archive && operation.reason.code != "fence")
        .count();
    let allowed = settings.limits.prune.value.posts(plan.live as u64);
    (archived as u64 > allowed).then(|| {
        format!(
            "{archived} of {} live posts would be archived, {allowed} are allowed; --max-prune {archived} allows it",
            plan.live
        )
    })
}

/// Identity settings that changed since the last run, told once for all the posts that they move.
pub fn note_settings(plan: &mut Plan) {
    let Some(change) = &plan.settings_change else { return };
    let changed: Vec<String> = change
        .changed
        .iter()
        .map(|(name, before, now)| format!("{name} was {before:?} and is {now:?}"))
        .collect();
    plan.notes.push(format!(
        "{}: {} live posts would get another id and are refused. These settings are part of every id: put them back, or \
         ingest into a new collection",
        changed.join(", "),
        change.posts
    ));
}

/// A first run that relied on defaults says which ids they froze.
pub fn note_defaults(plan: &mut Plan, observed: &Observed, settings: &Settings, catalog: &Catalog) {
    if observed.settings.is_some() || plan.summary.create == 0 {
        return;
    }
    let by_default = catalog
        .posts
        .iter()
        .filter(|post| post.from.lang.as_deref().is_some_and(|from| from.contains("default_lang")))
        .count();
    if settings.default_lang.is_default() && by_default > 0 {
        plan.notes.push(format!(
            "default_lang was not set: {by_default} posts get the language `{}`, which is frozen in their ids from now on",
            settings.default_lang.value
        ));
    }
    let local = catalog.posts.iter().filter(|post| post.from.local_date).count();
    if settings.timezone.is_default() && local > 0 {
        plan.notes.push(format!(
            "timezone was not set: {local} posts with local dates are read in {}, which is frozen in their ids from now on",
            settings.timezone.value
        ));
    }
}
