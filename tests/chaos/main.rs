//! Whole runs of the program on real stores, broken on purpose: lost replies, races, kills, a server that
//! dies, old revisions that come late. Every test ends with a plan in which everything is unchanged.
//!
//! The test command runs them small; `scripts/chaos` sets `IDEMPOST_CHAOS=full` and runs them whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout
)]

mod by_hand;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod kills;
mod late;
mod lost_replies;
#[path = "../faults/proxy.rs"]
#[allow(dead_code, reason = "each target uses a part of the proxy")]
mod proxy;
mod races;
mod scene;
mod server;
mod signals;
mod verify;

/// A size: small in the test command, whole in `scripts/chaos`.
pub fn size(small: usize, full: usize) -> usize {
    if std::env::var("IDEMPOST_CHAOS").is_ok_and(|text| text == "full") { full } else { small }
}
