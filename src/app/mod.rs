//! One file a verb. Picks the store, owns clock, chance and signals; no rule of the domain lives here.

pub mod check;
pub mod diff;
pub mod gather;
pub mod host;
pub mod ingest;
pub mod observe;
pub mod open;
pub mod runs;
pub mod summary;
