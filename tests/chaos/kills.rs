//! `kill -9` at random moments, of first runs and of updates.

use std::time::Duration;

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use crate::scene::{Kind, Scene};
use crate::size;

const POSTS: usize = 15;

/// Kills until `wanted` of them came before their run's end.
fn kills(kind: Kind, wanted: usize) {
    let mut rng = SmallRng::seed_from_u64(20_240_301);
    let (mut first, mut updates, mut in_time) = (0, 0, 0);
    // How long a whole run takes here, so that the moments fall within it.
    let whole = {
        let scene = Scene::new(kind);
        scene.write(POSTS, "first", true);
        let started = std::time::Instant::now();
        assert_eq!(scene.ingest(&["--batch", "2"]).exit, Some(0));
        started.elapsed()
    };
    let mut round = 0;
    while in_time < wanted {
        round += 1;
        assert!(round <= wanted * 5, "only {in_time} of {round} kills came before the end");
        let scene = Scene::new(kind);
        scene.write(POSTS, "first", true);
        let update = round % 2 == 1;
        if update {
            assert_eq!(scene.ingest(&[]).exit, Some(0));
            scene.write(POSTS, "second", true);
        }
        let mut child = scene.spawn(&["--batch", "2"]);
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..whole.as_secs_f64() * 1.1)));
        in_time += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
        let clean = scene.ingest(&[]);
        assert_eq!(clean.exit, Some(0), "round {round}: {} {}", clean.json["failed"], clean.stderr);
        scene.assert_as_clean(&format!("round {round}"));
        *(if update { &mut updates } else { &mut first }) += 1;
    }
    println!("{kind:?}: {first} first runs and {updates} updates killed, {in_time} of them in mid-run");
}

#[test]
fn a_killed_run_is_finished_by_the_next_in_mongodb() {
    kills(Kind::Mongo, size(10, 250));
}

#[test]
fn a_killed_run_is_finished_by_the_next_in_sqlite() {
    kills(Kind::Sqlite, size(10, 250));
}
