//! Claims on posts whose pictures are being stored, told by a clock that the test moves.

use std::time::Duration;

use idempost::error::Exit;
use tokio::time::Instant;

use super::hostile::Rates;
use super::scenario::{Planned, Scenario, Text};
use super::world::{CLAIM, Mutation, World};

/// One post with a picture, and a network that does its work.
fn scenario(seed: u64) -> Scenario {
    let text = Text { edition: 0, other_date: false, asset: true };
    let planned = |name: usize, revision: Option<i64>| Planned {
        name,
        revision,
        tree: vec![Some(text)],
        begins_millis: 0,
        killed_after_millis: None,
        batch: 1,
        in_flight: 1,
        attempts: 8,
    };
    Scenario {
        seed,
        rates: Rates::default(),
        with_revisions: false,
        equal_trees: true,
        first: None,
        first_archived: false,
        runs: vec![planned(0, None), planned(1, None)],
    }
}

fn in_virtual_time<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(test)
}

/// Seed 600: the object store takes 600 ms for a picture.
const SLOW: u64 = 600;

#[test]
fn a_claim_of_a_dead_run_is_waited_out_and_taken_over() {
    in_virtual_time(async {
        let scenario = scenario(SLOW);
        let world = World::new(&scenario, Mutation::default());
        world.ready().await;
        let mut dead = scenario.runs[0].clone();
        dead.killed_after_millis = Some(300);
        let begun = Instant::now();
        let killed = world.go(dead, Rates::default()).await;
        assert!(killed.killed, "it dies while it stores the picture");
        assert_eq!(world.statuses(), ["publishing"]);
        let next = world.go(scenario.runs[1].clone(), Rates::default()).await;
        assert_eq!(next.exit, Some(Exit::Done));
        assert!(begun.elapsed() >= CLAIM, "the claim was waited out: {:?}", begun.elapsed());
        assert!(begun.elapsed() < CLAIM * 3, "and not for much longer: {:?}", begun.elapsed());
        assert_eq!(world.statuses(), ["active"]);
    });
}

#[test]
fn a_claim_is_renewed_while_its_run_is_at_work() {
    in_virtual_time(async {
        // Storing takes longer than a claim lasts.
        let scenario = scenario(SLOW);
        let world = World::new(&scenario, Mutation::default()).with_slow_objects(CLAIM * 3);
        world.ready().await;
        let mut second = scenario.runs[1].clone();
        second.begins_millis = 200;
        let (one, two) = tokio::join!(
            world.go(scenario.runs[0].clone(), Rates::default()),
            world.go(second, Rates::default())
        );
        assert_eq!((one.exit, two.exit), (Some(Exit::Done), Some(Exit::Done)));
        assert_eq!(world.asked(), 1, "the loser makes no call to the object store");
        assert_eq!(world.statuses(), ["active"]);
    });
}

#[test]
fn a_higher_revision_takes_a_claim_over_at_once() {
    in_virtual_time(async {
        let scenario = scenario(SLOW);
        let world = World::new(&scenario, Mutation::default());
        world.ready().await;
        let mut dead = scenario.runs[0].clone();
        dead.revision = Some(3);
        dead.killed_after_millis = Some(300);
        assert!(world.go(dead, Rates::default()).await.killed);
        let mut newer = scenario.runs[1].clone();
        newer.revision = Some(4);
        let begun = Instant::now();
        assert_eq!(world.go(newer, Rates::default()).await.exit, Some(Exit::Done));
        assert!(begun.elapsed() < Duration::from_millis(SLOW) * 2, "{:?}", begun.elapsed());
        assert_eq!(world.statuses(), ["active"]);
    });
}
