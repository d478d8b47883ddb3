//! Many runs against one hostile store, in virtual time, by a seeded scheduler, checked against a model.
//!
//! `IDEMPOST_SEEDS=A..B` chooses the seeds; a failing seed prints itself and replays with
//! `IDEMPOST_SEEDS=N..N+1`. `scripts/simulate` runs a hundred thousand.

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
    for (seed, wrong) in failed.iter().take(5) {
        eprintln!("seed {seed}: {:#?}\n{:#?}", Scenario::of(*seed), wrong);
    }
    assert!(failed.is_empty(), "{} seeds fail, the first is {}", failed.len(), failed[0].0);
}
