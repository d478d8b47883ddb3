//! Old revisions that come late, on a real store.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::proxy::Fate;
use crate::scene::{Kind, Scene, behind_a_proxy};

/// A tree at the same store.
fn tree(uri: &str, edition: &str) -> Scene {
    let scene = Scene::with_uri(uri.to_owned());
    scene.write(6, edition, false);
    scene
}

fn old_after_new(kind: Kind) {
    let newest = Scene::new(kind);
    newest.write(6, "text of nine", false);
    assert_eq!(newest.ingest(&["--revision", "9"]).exit, Some(0));
    let before = newest.stored();
    let old = tree(&newest.uri, "text of seven");
    let late = old.ingest(&["--revision", "7"]);
    assert_eq!(late.exit, Some(0), "{}", late.stderr);
    assert_eq!(late.json["summary"]["stale"], 6, "{}", late.json["summary"]);
    assert_eq!(newest.stored(), before, "the new text stays");
    // The same run without its revision would have put the old text back: the revision is what held it.
    assert_eq!(old.ingest(&[]).applied("update"), 6);
}

#[test]
fn an_old_job_that_runs_again_is_stale_in_mongodb() {
    old_after_new(Kind::Mongo);
}

#[test]
fn an_old_job_that_runs_again_is_stale_in_sqlite() {
    old_after_new(Kind::Sqlite);
}

/// Revision 5 wrote A; 7 is slow and wants B; 9 is back at A and finds it unchanged; then 7's batch lands.
#[tokio::test(flavor = "multi_thread")]
async fn a_held_batch_of_an_older_run_lands_on_nothing() {
    let (proxy, through, past) = behind_a_proxy().await;
    let first = past.clone();
    let five = tokio::task::spawn_blocking(move || {
        let five = tree(&first, "text A");
        assert_eq!(five.ingest(&["--revision", "5"]).exit, Some(0));
        five
    })
    .await
    .unwrap();
    let before = {
        let uri = past.clone();
        tokio::task::spawn_blocking(move || crate::scene::stored(&uri)).await.unwrap()
    };
    let gate = Arc::new(Notify::new());
    let held = Arc::clone(&gate);
    proxy.script(move |command| if command.is_write() { Fate::Hold(Arc::clone(&held)) } else { Fate::Pass });
    let seven = tokio::task::spawn_blocking(move || {
        let seven = tree(&through, "text B");
        let mut child = seven.spawn(&["--revision", "7", "--command-timeout", "60s"]);
        std::thread::sleep(std::time::Duration::from_millis(1_500));
        // The job is cancelled the hard way while its batch is on its way.
        child.kill().unwrap();
        child.wait().unwrap();
        seven
    })
    .await
    .unwrap();
    assert!(proxy.writes() >= 1, "the batch is on its way");
    let nine = tokio::task::spawn_blocking(move || {
        let ended = five.ingest(&["--revision", "9"]);
        assert_eq!(ended.exit, Some(0), "{}", ended.stderr);
        assert_eq!(
            ended.applied("restamp"),
            6,
            "the posts it would have left alone are fenced: {}",
            ended.json["applied"]
        );
        five
    })
    .await
    .unwrap();
    for _ in 0..20 {
        gate.notify_one();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let after = {
        let uri = past.clone();
        tokio::task::spawn_blocking(move || crate::scene::stored(&uri)).await.unwrap()
    };
    assert_eq!(after, before, "the old batch landed on nothing");
    tokio::task::spawn_blocking(move || nine.assert_settled("after the held batch")).await.unwrap();
    drop(seven);
}
