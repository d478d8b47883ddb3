//! The planner of `archive` and `restore`.

use std::sync::Arc;

use super::planner::Planner;
use crate::plan::by_hand::{again_by_hand, plan};
use crate::plan::lifecycle::By;
use crate::plan::{Observed, Operation, Plan, Policy};

/// Plans what a person asks for these posts.
pub struct ByHandPlanner<'a> {
    /// The posts.
    pub ids: &'a [String],
    /// [`By::Archive`] or [`By::Restore`].
    pub by: By,
    /// Whose posts, and where.
    pub policy: &'a Policy,
}

impl Planner for ByHandPlanner<'_> {
    fn plan(&self, observed: &Observed) -> Plan {
        plan(self.ids, self.by, observed, self.policy)
    }

    fn plan_again(&self, operation: &Operation, observed: &Observed) -> Option<Arc<Operation>> {
        again_by_hand(&operation.id, self.by, observed, self.policy)
    }

    fn nothing(&self) -> Plan {
        Plan::without_tree(Vec::new(), 0, self.policy)
    }
}
