//! The invariants of a plan.
