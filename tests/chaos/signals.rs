//! Ctrl-C and SIGTERM.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::proxy::{Fate, Proxy};
use crate::scene::{Ended, Scene, behind_a_proxy};

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A run whose every write takes a while, so that a signal comes in its middle.
async fn slow(each: Duration) -> (Proxy, Scene, String) {
    let (proxy, through, past) = behind_a_proxy().await;
    proxy.script(move |command| if command.is_write() { Fate::Delay(each) } else { Fate::Pass });
    let scene = Scene::with_uri(through);
    scene.write(30, "one text", false);
    (proxy, scene, past)
}

async fn drains(signal: &'static str, exit: i32) {
    let (proxy, mut scene, past) = slow(Duration::from_millis(200)).await;
    let ended: Ended = {
        let child = scene.spawn(&["--batch", "2", "--in-flight", "1"]);
        while proxy.writes() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        send(signal, &child);
        tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap().into()
    };
    assert_eq!(ended.exit, Some(exit), "{}", ended.stderr);
    let created = ended.applied("create");
    assert!((2..30).contains(&created), "it stopped in the middle: {created}");
    scene.uri = past;
    tokio::task::spawn_blocking(move || {
        assert_eq!(scene.stored().len() as u64, created, "what it tells is what is in");
        let next = scene.ingest(&[]);
        assert_eq!(next.exit, Some(0), "{}", next.stderr);
        assert_eq!(next.applied("create"), 30 - created, "the next run makes the rest");
        scene.assert_as_clean("after a signal");
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_finishes_what_is_in_flight_and_reports() {
    drains("-INT", 130).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sigterm_finishes_what_is_in_flight_and_reports() {
    drains("-TERM", 143).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once_and_nothing_is_lost() {
    let (proxy, mut scene, past) = slow(Duration::from_secs(20)).await;
    let mut child = scene.spawn(&["--batch", "2", "--in-flight", "1"]);
    while proxy.writes() < 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    send("-INT", &child);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(child.try_wait().unwrap().is_none(), "the first one waits for what is in flight");
    let started = Instant::now();
    send("-INT", &child);
    let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
    assert_eq!(status.code(), Some(130));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    drop(proxy);
    scene.uri = past;
    tokio::task::spawn_blocking(move || {
        assert_eq!(scene.ingest(&[]).exit, Some(0));
        scene.assert_as_clean("after two signals");
    })
    .await
    .unwrap();
}
