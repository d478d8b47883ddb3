//! Who makes the plan of a run. Every verb that writes is a [`Planner`] and goes through the same job:
//! row, look, heads, plan, review, writes, row closed.
//!
//! Begin at [`Planner`]. A planner decides and never writes; what it decides from comes in as
//! [`Observed`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::Executor;
use super::run::Rows;
use crate::catalog::Catalog;
use crate::catalog::links::PostLinks;
use crate::identity::ContentHash;
use crate::plan::compose::Composer;
use crate::plan::{self, IdentitySettings, Observed, Operation, Others, Plan, Policy};
use crate::store::document::{Head, content_of};
use crate::store::{Fault, Store};

/// Documents that are read whole at a time, where whole documents are needed.
pub const DOCUMENTS_AT_A_TIME: usize = 200;

/// Makes the plan of one verb.
#[async_trait]
pub trait Planner: Send + Sync {
    /// Reads what the plan is made from. Called after the look at the other runs, never before. Heads
    /// and the remembered settings, unless a verb needs more.
    async fn observe(
        &self,
        executor: &Executor<'_>,
        rows: &Rows<'_>,
        others: Others,
    ) -> Result<Observed, Fault> {
        observe(executor, rows, others).await
    }

    /// Makes the plan.
    fn plan(&self, observed: &Observed) -> Plan;

    /// Plans one post again after a lost race, from fresh heads in the place of the old ones. `None`:
    /// there is nothing left to do for it.
    fn plan_again(&self, operation: &Operation, observed: &Observed) -> Option<Arc<Operation>>;

    /// The plan of a run that has nothing to do, told where an operation ended before.
    fn nothing(&self) -> Plan;

    /// Whether the plan touches every post that an older run could still write: only such a run may
    /// mark older rows as fenced.
    fn fences(&self) -> bool {
        false
    }

    /// The identity settings that are remembered once the run has ended well.
    fn settings(&self) -> Option<&IdentitySettings> {
        None
    }
}

/// Reads heads and remembered settings.
pub async fn observe(executor: &Executor<'_>, rows: &Rows<'_>, others: Others) -> Result<Observed, Fault> {
    let heads = executor.persist(|| executor.store.heads()).await?;
    let settings = executor.persist(|| rows.settings()).await?;
    Ok(Observed { heads, settings, others, drifted: BTreeSet::new() })
}

/// Plans the whole tree: `ingest` and `diff`.
pub struct TreePlanner<'a> {
    /// The whole content root.
    pub catalog: &'a Catalog,
    /// One entry a post of the catalog.
    pub links: &'a [Arc<PostLinks>],
    /// What a person asked for.
    pub policy: &'a Policy,
    /// Makes documents where only they tell what to do.
    pub composer: &'a Composer,
    /// Whether the content of every stored post is compared with its digest (`--repair`).
    pub repair: bool,
}

#[async_trait]
impl Planner for TreePlanner<'_> {
    async fn observe(
        &self,
        executor: &Executor<'_>,
        rows: &Rows<'_>,
        others: Others,
    ) -> Result<Observed, Fault> {
        let mut observed = observe(executor, rows, others).await?;
        if self.repair {
            observed.drifted = drifted(executor, executor.store, &observed.heads).await?;
        }
        Ok(observed)
    }

    fn plan(&self, observed: &Observed) -> Plan {
        plan::plan(self.catalog, self.links, observed, self.policy, self.composer)
    }

    fn plan_again(&self, operation: &Operation, observed: &Observed) -> Option<Arc<Operation>> {
        plan::plan_again(operation, self.catalog, self.links, observed, self.policy, self.composer)
    }

    fn nothing(&self) -> Plan {
        Plan::of_files(self.catalog, self.policy)
    }

    fn fences(&self) -> bool {
        true
    }

    fn settings(&self) -> Option<&IdentitySettings> {
        Some(&self.policy.settings)
    }
}

/// The posts whose stored content is not what their `contentHash` says: somebody else changed a field
/// that is ours.
pub async fn drifted(
    executor: &Executor<'_>,
    store: &dyn Store,
    heads: &[Head],
) -> Result<BTreeSet<String>, Fault> {
    let ours: Vec<&Head> = heads.iter().filter(|head| head.ingest.is_some()).collect();
    let mut out = BTreeSet::new();
    for chunk in ours.chunks(DOCUMENTS_AT_A_TIME) {
        let ids: Vec<String> = chunk.iter().map(|head| head.id.clone()).collect();
        for document in executor.persist(|| store.documents(&ids)).await? {
            let head = Head::from_document(&document);
            let says = head.ingest.as_ref().map(|ingest| ingest.content_hash.as_str());
            if says != Some(ContentHash::of_fields(&content_of(&document)).as_str()) {
                out.insert(head.id);
            }
        }
    }
    Ok(out)
}
