//! Many runs against one hostile store, in virtual time, by a seeded scheduler, checked against a model.
//!
//! `IDEMPOST_SEEDS=A..B` chooses the seeds; a failing seed prints itself and replays with
//! `IDEMPOST_SEEDS=N..N+1`. `scripts/simulate` runs a hundred thousand.

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

/// The guards, each taken out, by the name that `docs/guarantees.md` gives it.
fn mutations() -> Vec<(&'static str, Mutation)> {
    let with = |change: fn(&mut Mutation)| {
        let mut mutation = Mutation::default();
        change(&mut mutation);
        mutation
    };
    vec![
        ("version", with(|one| one.below.no_version_guard = true)),
        ("unique index", with(|one| one.no_unique_index = true)),
        ("revision", with(|one| one.no_revisions = true)),
        ("read-back", with(|one| one.guards.read_back = false)),
        ("claim", with(|one| one.guards.claim = false)),
        ("row before look", with(|one| one.guards.row_first = false)),
        ("fence", with(|one| one.guards.fence = false)),
        ("fence of archived posts", with(|one| one.guards.fence_archived = false)),
        ("look before each batch", with(|one| one.guards.look_before_each_batch = false)),
        ("look at the end", with(|one| one.guards.look_at_end = false)),
        ("taking back", with(|one| one.guards.take_back = false)),
        ("a matched create is no success", with(|one| one.guards.matched_create_is_no_success = false)),
        ("own write by version", with(|one| one.guards.own_write_by_version = false)),
        ("an unsettled run stays open", with(|one| one.guards.unsettled_stays_open = false)),
    ]
}

/// Finds seeds that fail under each mutation, for whoever changes the scenarios:
/// `IDEMPOST_SEEDS=0..20000 cargo test --test simulation search -- --ignored --nocapture`.
#[test]
#[ignore = "a search, not a check"]
fn search() {
    for (name, mutation) in mutations() {
        let found: Vec<u64> = seeds()
            .into_par_iter()
            .filter(|seed| !simulate(&Scenario::of(*seed), mutation).is_empty())
            .collect();
        println!("{name}: {} seeds, {:?}", found.len(), &found[..found.len().min(6)]);
    }
}
