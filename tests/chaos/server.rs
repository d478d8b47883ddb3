//! The server dies in mid-run and comes back on its data.

use std::time::{Duration, Instant};

use crate::common::server::{Options, Server, database_name};
use crate::scene::Scene;
use crate::size;

#[test]
fn a_server_that_is_killed_and_restarted_loses_nothing() {
    let server = Server::start(Options { sync_on_commit: true, ..Options::default() });
    for round in 0..size(2, 10) {
        let scene = Scene::with_uri(server.uri(&database_name()));
        // The test server does not survive dying while it makes a collection: that is its own.
        scene.write(60, "first text", false);
        assert_eq!(scene.ingest(&[]).exit, Some(0));
        scene.write(90, "second text", false);
        let started = Instant::now();
        let child = scene.spawn(&[
            "--batch",
            "3",
            "--in-flight",
            "1",
            "--deadline",
            "60s",
            "--command-timeout",
            "5s",
        ]);
        std::thread::sleep(Duration::from_millis(150 + 130 * round as u64));
        server.kill();
        std::thread::sleep(Duration::from_millis(500));
        server.restart();
        let ended: crate::scene::Ended = child.wait_with_output().unwrap().into();
        assert!(started.elapsed() < Duration::from_secs(90), "round {round}: {:?}", started.elapsed());
        assert!(matches!(ended.exit, Some(0 | 75)), "round {round}: {:?} {}", ended.exit, ended.stderr);
        let next = scene.ingest(&[]);
        assert_eq!(next.exit, Some(0), "round {round}: {} {}", next.json["failed"], next.stderr);
        scene.assert_as_clean(&format!("round {round}"));
        println!("server killed in mid-run: exit {:?} after {:?}", ended.exit, started.elapsed());
    }
}

#[test]
fn a_server_that_stays_away_ends_the_run_in_time() {
    let server = Server::start(Options { sync_on_commit: true, ..Options::default() });
    let scene = Scene::with_uri(server.uri(&database_name()));
    scene.write(10, "one text", false);
    server.kill();
    let started = Instant::now();
    let ended = scene.ingest(&["--attempts", "2", "--command-timeout", "1s", "--deadline", "5s"]);
    assert_eq!(ended.exit, Some(75), "{} {}", ended.json, ended.stderr);
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    server.restart();
    assert_eq!(scene.ingest(&[]).exit, Some(0));
    scene.assert_as_clean("after the server is back");
}
