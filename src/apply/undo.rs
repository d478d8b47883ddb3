//! The planner of `undo`.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;

use super::Executor;
use super::planner::{Planner, drifted, observe};
use super::run::Rows;
use crate::plan::undo::{plan, plan_again};
use crate::plan::{Observed, Operation, Others, Plan, Policy};
use crate::store::Fault;
use crate::store::document::Head;
use crate::store::history::{Before, Image};

/// Plans the undoing of one run. Its images do not change any more: they are read before.
pub struct UndoPlanner<'a> {
    /// What posts were before the run.
    pub images: &'a [Image],
    /// Whose posts, and where.
    pub policy: &'a Policy,
}

#[async_trait]
impl Planner for UndoPlanner<'_> {
    /// Reads the documents that may be written over, and no others: what somebody changed in them past
    /// idempost is a later edit too.
    async fn observe(
        &self,
        executor: &Executor<'_>,
        rows: &Rows<'_>,
        others: Others,
    ) -> Result<Observed, Fault> {
        let mut observed = observe(executor, rows, others).await?;
        let changed: BTreeSet<&str> = self
            .images
            .iter()
            .filter(|image| matches!(image.before, Before::Post(_)))
            .map(|image| image.post_id.as_str())
            .collect();
        let heads: Vec<Head> =
            observed.heads.iter().filter(|head| changed.contains(head.id.as_str())).cloned().collect();
        observed.drifted = drifted(executor, executor.store, &heads).await?;
        Ok(observed)
    }

    fn plan(&self, observed: &Observed) -> Plan {
        plan(self.images, observed, self.policy)
    }

    fn plan_again(&self, operation: &Operation, observed: &Observed) -> Option<Arc<Operation>> {
        let image = self.images.iter().find(|image| image.post_id == operation.id)?;
        plan_again(image, observed, self.policy)
    }

    fn nothing(&self) -> Plan {
        Plan::without_tree(Vec::new(), 0, self.policy)
    }
}
