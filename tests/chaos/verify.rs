//! `verify --repair` killed at every one of its writes, before the server has it and after.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bson::doc;
use mongodb::Client;

use crate::common::server::blocking;
use crate::proxy::{Command, Fate};
use crate::scene::{Scene, behind_a_proxy};

const POSTS: usize = 6;

/// Whether a command changes a document, of the posts or of a collection beside them.
fn writes(command: &Command) -> bool {
    matches!(command.name.as_str(), "update" | "insert" | "delete")
}

/// Ingests a tree, spoils what is stored and edits the tree: a repair has something of every kind to do.
async fn spoiled(through: &str, past: &str) -> Scene {
    let scene = Scene::with_uri(past.to_owned());
    scene.write(POSTS, "first", true);
    let mut scene = tokio::task::spawn_blocking(move || {
        assert_eq!(scene.ingest(&[]).exit, Some(0));
        scene
    })
    .await
    .unwrap();
    let posts = Client::with_uri_str(past).await.unwrap().default_database().unwrap();
    let posts = posts.collection::<bson::Document>("posts");
    let set = |slug: &str, change: bson::Document| {
        let (posts, slug) = (posts.clone(), slug.to_owned());
        async move { assert_eq!(posts.update_one(doc! { "slug": slug }, change).await.unwrap().modified_count, 1) }
    };
    set("entry-000", doc! { "$set": { "title": "By hand", "views": 3 } }).await;
    set("entry-001", doc! { "$unset": { "live": 1 } }).await;
    let until = bson::DateTime::from_millis(1);
    set("entry-002", doc! { "$set": { "ingest.claim": { "runId": "gone", "until": until } } }).await;
    assert_eq!(posts.delete_one(doc! { "slug": "entry-003" }).await.unwrap().deleted_count, 1);
    scene.write(1, "second", true);
    scene.uri = through.to_owned();
    scene
}

/// Kills a repair at its `at`-th write; `false` where it has no such write.
async fn killed_at(at: usize, fate: Fate) -> bool {
    let (proxy, through, past) = behind_a_proxy().await;
    let mut scene = spoiled(&through, &past).await;
    let (seen, reached) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (count, flag, kill_with) = (Arc::clone(&seen), Arc::clone(&reached), fate.clone());
    proxy.script(move |command| {
        if flag.load(Ordering::SeqCst) {
            return Fate::Freeze;
        }
        if writes(command) && count.fetch_add(1, Ordering::SeqCst) == at {
            flag.store(true, Ordering::SeqCst);
            return kill_with.clone();
        }
        Fate::Pass
    });
    let mut child = scene.command("verify", &["--repair", "--batch", "1"]).spawn().unwrap();
    let started = Instant::now();
    let ended = loop {
        assert!(started.elapsed() < Duration::from_secs(60), "write {at} of {}", seen.load(Ordering::SeqCst));
        let replied = !matches!(fate, Fate::DropReply) || proxy.replies_dropped() > 0;
        if reached.load(Ordering::SeqCst) && replied {
            break None;
        }
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let _ = child.kill();
    child.wait().unwrap();
    if let Some(status) = ended {
        assert_eq!(status.code(), Some(0), "it was never reached and ends well");
    }
    scene.uri.clone_from(&past);
    tokio::task::spawn_blocking(move || {
        let again = scene.run("verify", &["--repair"]);
        assert_eq!(again.exit, Some(0), "write {at}: {} {}", again.json["findings"], again.stderr);
        let look = scene.run("verify", &[]);
        assert_eq!(look.exit, Some(0), "write {at}: {}", look.json["findings"]);
        scene.assert_as_clean(&format!("killed at write {at} by {fate:?}"));
    })
    .await
    .unwrap();
    ended.is_none()
}

fn at_every_write(fate: &Fate) {
    let mut at = 0;
    while blocking(killed_at(at, fate.clone())) {
        at += 1;
        assert!(at < 100, "it has no end");
    }
    // A row at its beginning and its end, and the writes of the posts between.
    assert!(at >= 6, "only {at} writes were seen");
}

#[test]
fn a_repair_killed_before_any_of_its_writes_is_finished_by_the_next() {
    at_every_write(&Fate::Freeze);
}

#[test]
fn a_repair_killed_after_any_of_its_writes_is_finished_by_the_next() {
    at_every_write(&Fate::DropReply);
}
