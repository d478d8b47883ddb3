//! Many runs against one hostile store, in virtual time, by a seeded scheduler, checked against a model.
//!
//! `IDEMPOST_SEEDS=A..B` chooses the seeds; a failing seed prints itself and replays with
//! `IDEMPOST_SEEDS=N..N+1`. `scripts/simulate` runs a hundred thousand.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

#[path = "simulation/claims.rs"]
mod claims;
#[path = "simulation/hostile.rs"]
mod hostile;
#[path = "simulation/scenario.rs"]
mod scenario;
#[path = "simulation/world.rs"]
mod world;

use std::ops::Range;
use std::sync::Mutex;

use rayon::prelude::*;
use scenario::Scenario;
use world::{Mutation, simulate};

/// Seeds of the test command.
const SEEDS: Range<u64> = 0..1_000;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("IDEMPOST_SEEDS") else { return SEEDS };
    let (from, to) = text.split_once("..").expect("IDEMPOST_SEEDS is written A..B");
    from.parse().expect("a number")..to.parse().expect("a number")
}

#[test]
fn no_seed_loses_an_edit_or_puts_old_text_back() {
    let failed: Mutex<Vec<(u64, Vec<String>)>> = Mutex::new(Vec::new());
    seeds().into_par_iter().for_each(|seed| {
        let wrong = simulate(&Scenario::of(seed), Mutation::default());
        if !wrong.is_empty() {
            failed.lock().unwrap().push((seed, wrong));
        }
    });
    let mut failed = failed.into_inner().unwrap();
    failed.sort();
    for (seed, wrong) in failed.iter().take(3) {
        eprintln!("seed {seed}: {:#?}\n{:#?}", Scenario::of(*seed), wrong);
    }
    assert!(failed.is_empty(), "{} seeds fail, the first is {}", failed.len(), failed[0].0);
}

/// A guard by the name that `docs/guarantees.md` gives it, how it is taken out, and seeds that need it.
type Guard = (&'static str, fn(&mut Mutation), [u64; 2]);

const GUARDS: [Guard; 15] = [
    ("version", |one| one.below.no_version_guard = true, [87, 132]),
    ("unique index", |one| one.no_unique_index = true, [678, 692]),
    ("revision", |one| one.no_revisions = true, [13, 26]),
    ("read-back", |one| one.guards.read_back = false, [17, 50]),
    ("claim", |one| one.guards.claim = false, [87, 132]),
    ("row before look", |one| one.guards.row_first = false, [30, 111]),
    ("fence", |one| one.guards.fence = false, [280, 308]),
    ("fence of archived posts", |one| one.guards.fence_archived = false, [104, 134]),
    ("look before each batch", |one| one.guards.look_before_each_batch = false, [2537, 3180]),
    ("look at the end", |one| one.guards.look_at_end = false, [31, 1145]),
    ("taking back", |one| one.guards.take_back = false, [31, 1145]),
    ("a matched create is no success", |one| one.guards.matched_create_is_no_success = false, [17, 50]),
    ("own write by version", |one| one.guards.own_write_by_version = false, [420, 437]),
    ("an unsettled run stays open", |one| one.guards.unsettled_stays_open = false, [44, 104]),
    ("rows do not age", |one| one.below.rows_age = true, [44, 114]),
];

fn without(change: fn(&mut Mutation)) -> Mutation {
    let mut mutation = Mutation::default();
    change(&mut mutation);
    mutation
}

/// Each guard is needed: taken out, its seeds fail; with it they do not.
#[test]
fn without_any_one_guard_a_named_seed_fails() {
    for (name, change, seeds) in GUARDS {
        for seed in seeds {
            let scenario = Scenario::of(seed);
            assert_eq!(simulate(&scenario, Mutation::default()), Vec::<String>::new(), "{name}: seed {seed}");
            let fails = !simulate(&scenario, without(change)).is_empty();
            assert!(
                fails,
                "{name}: seed {seed} does without it; these need it: {:?}",
                seeds_that_need(change)
            );
        }
    }
}

/// The first seeds that need a guard, for whoever changes the scenarios.
fn seeds_that_need(change: fn(&mut Mutation)) -> Vec<u64> {
    let mutation = without(change);
    let fails = |seed: &u64| !simulate(&Scenario::of(*seed), mutation).is_empty();
    (0..5_000_u64).into_par_iter().filter(fails).collect::<Vec<u64>>().into_iter().take(8).collect()
}

/// What the simulation found, once each: a claimed post of an older run that a refused file stood for was
/// re-stamped and stayed in publication (3171); a fence that lost its race to an older run's restore took
/// the restored post for its own (4604, 9974).
#[test]
fn seeds_that_found_a_defect_stay_good() {
    for seed in [3_171, 4_604, 9_974, 10_604] {
        assert_eq!(simulate(&Scenario::of(seed), Mutation::default()), Vec::<String>::new(), "seed {seed}");
    }
}
