//! The planner of `undo`.

use std::sync::Arc;

use super::planner::Planner;
use crate::plan::undo::{plan, plan_again};
use crate::plan::{Observed, Operation, Plan, Policy};
use crate::store::history::Image;

/// Plans the undoing of one run. Its images do not change any more: they are read before.
pub struct UndoPlanner<'a> {
    /// What posts were before the run.
    pub images: &'a [Image],
    /// Whose posts, and where.
    pub policy: &'a Policy,
}

impl Planner for UndoPlanner<'_> {
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
