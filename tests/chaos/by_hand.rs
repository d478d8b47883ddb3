//! `archive` and `restore`, killed before and after each of their writes: run again, they end in the same state.

use crate::scene::{Kind, Scene, stored};

const POSTS: usize = 3;

/// The statuses of all posts after a run that was killed at write `at`, and run again; whether it came so far.
async fn killed(verb: &'static str, at: usize, after: bool) -> bool {
    let scene = Scene::new(Kind::Mongo);
    scene.write(POSTS, "first", false);
    let before = if verb == "restore" { &["entry-000", "entry-001"][..] } else { &[] };
    let scene = tokio::task::spawn_blocking(move || {
        assert_eq!(scene.ingest(&[]).exit, Some(0));
        if !before.is_empty() {
            assert_eq!(scene.run("archive", before).exit, Some(0));
        }
        scene
    })
    .await
    .unwrap();
    let posts = ["entry-000", "entry-001", "--batch", "1"];
    let reached = scene.killed_at_write(verb, &posts, at, after).await;
    let what = format!("{verb}, killed {} write {at}", if after { "after" } else { "before" });
    tokio::task::spawn_blocking(move || {
        let ended = scene.run(verb, &posts);
        assert_eq!(ended.exit, Some(0), "{what}: {}", ended.stderr);
        let status = |document: &bson::Document| document.get_str("status").unwrap().to_owned();
        let statuses: Vec<String> = stored(&scene.uri).values().map(status).collect();
        let wanted = if verb == "archive" { "archived" } else { "active" };
        assert_eq!(
            statuses.iter().filter(|status| *status == wanted).count(),
            if verb == "archive" { 2 } else { POSTS }
        );
        let again = scene.run(verb, &posts);
        assert_eq!(again.json["summary"]["unchanged"], 2, "{what}: {}", again.json);
        // What the dead run left is no trouble for a push, and what was archived by hand stays so.
        let push = scene.ingest(&[]);
        assert_eq!(push.exit, Some(0), "{what}: {}", push.stderr);
        assert_eq!(push.applied("restore"), 0, "{what}: {}", push.json);
        let after: Vec<String> = stored(&scene.uri).values().map(status).collect();
        assert_eq!(after, statuses, "{what}");
    })
    .await
    .unwrap();
    reached
}

async fn killed_at_every_write(verb: &'static str) {
    let mut at = 0;
    while killed(verb, at, false).await {
        killed(verb, at, true).await;
        at += 1;
    }
    println!("{verb}: killed before and after each of {at} writes");
    assert!(at >= 4, "row, two posts, row: only {at} writes were seen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn archiving_killed_at_any_write_ends_in_the_same_state() {
    killed_at_every_write("archive").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn restoring_killed_at_any_write_ends_in_the_same_state() {
    killed_at_every_write("restore").await;
}
