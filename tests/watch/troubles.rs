//! What goes wrong while somebody writes.

use std::path::Path;
use std::time::Duration;

use crate::common::server::{Options, Server};
use crate::scene::{Scene, post};

#[test]
fn a_broken_save_is_shown_and_the_last_good_version_stays() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    scene.write("first.md", "---\ntitle: Broken\ndate: 2031-13-04\n---\n\nx\n");
    watch.until("date-impossible");
    watch.until("content/first.md:3");
    assert_eq!(scene.title("first").as_deref(), Some("First"));
    // The others go on, and what is known is not told again.
    scene.save("second.md", "second", "Second");
    watch.until("created");
    assert_eq!(watch.told().matches("date-impossible").count(), 1);
    scene.save("first.md", "first", "Mended");
    watch.until("no problems left");
}

fn copy_of(scene: &Scene, change: &str) -> std::path::PathBuf {
    let other = scene.path("other");
    std::fs::create_dir_all(other.join("content")).unwrap();
    std::fs::copy(scene.path("idempost.toml"), other.join("idempost.toml")).unwrap();
    std::fs::write(other.join("content/first.md"), post(change, "By somebody else.")).unwrap();
    other
}

fn others_are_not_overwritten(scene: &Scene) {
    let mut watch = scene.watch(&[], &[]);
    let other = copy_of(scene, "Theirs");
    let told = scene.run(Path::new(&other), &["ingest"]);
    assert!(told.contains("1 updated"), "{told}");
    // Another post is saved: theirs is in the way of nothing and stays.
    scene.save("second.md", "second", "Second");
    watch.until("conflict  content/first.md (changed-meanwhile)");
    assert_eq!(scene.title("first").as_deref(), Some("Theirs"));
    // Told once; saving something else is no answer to it.
    scene.save("second.md", "second", "Second again");
    watch.until("updated");
    assert_eq!(scene.title("first").as_deref(), Some("Theirs"));
    assert_eq!(watch.told().matches("conflict").count(), 1);
    // An edit of its file is.
    scene.save("first.md", "first", "Mine after all");
    watch.until("updated");
}

#[test]
fn a_post_that_another_run_wrote_is_a_conflict_in_sqlite() {
    others_are_not_overwritten(&Scene::sqlite());
}

#[test]
fn a_post_that_another_run_wrote_is_a_conflict_in_mongodb() {
    others_are_not_overwritten(&Scene::mongo());
}

#[test]
fn a_field_that_was_changed_by_hand_is_a_conflict() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    let path = scene.uri.trim_start_matches("sqlite:").to_owned();
    let store = rusqlite::Connection::open(path).unwrap();
    let sql = "update posts set doc = json_set(doc, '$.title', 'By hand') where slug = 'first'";
    assert_eq!(store.execute(sql, []).unwrap(), 1);
    scene.write("first.md", &post("Mine", "x"));
    watch.until("changed-meanwhile");
    assert_eq!(scene.title("first").as_deref(), Some("By hand"));
    scene.save("first.md", "first", "Mine, knowing theirs");
}

#[test]
fn a_root_that_goes_away_and_comes_back() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    std::fs::rename(scene.path("content"), scene.path("away")).unwrap();
    watch.until("is gone");
    assert_eq!(scene.title("first").as_deref(), Some("First"), "nothing is archived");
    std::fs::write(scene.path("away/first.md"), post("Back", "x")).unwrap();
    std::fs::rename(scene.path("away"), scene.path("content")).unwrap();
    scene.until_title("first", "Back");
    // It is watched again.
    scene.save("first.md", "first", "Back and saved");
    // Another folder in its place, at once.
    std::fs::create_dir(scene.path("next")).unwrap();
    std::fs::write(scene.path("next/first.md"), post("Next", "x")).unwrap();
    std::fs::rename(scene.path("content"), scene.path("old")).unwrap();
    std::fs::rename(scene.path("next"), scene.path("content")).unwrap();
    scene.until_title("first", "Next");
    scene.save("first.md", "first", "Next and saved");
    assert_eq!(watch.end("-INT").0, Some(130));
}

#[test]
fn a_server_that_is_lost_gets_what_was_saved_meanwhile() {
    let server = Server::start(Options { sync_on_commit: true, ..Options::default() });
    let scene = Scene::with_uri(server.uri("watched"));
    let mut watch = scene.watch(&[], &[]);
    server.kill();
    scene.write("first.md", &post("While it was away", "x"));
    watch.until("trying again in");
    scene.write("second.md", &post("This too", "x"));
    std::thread::sleep(Duration::from_millis(200));
    server.restart();
    scene.until_title("first", "While it was away");
    scene.until_title("second", "This too");
    scene.save("first.md", "first", "As before");
    let (exit, told) = watch.end("-TERM");
    assert_eq!(exit, Some(143), "{told}");
}

#[test]
fn a_signal_ends_it_while_the_store_is_away() {
    let server = Server::start(Options::default());
    let scene = Scene::with_uri(server.uri("watched"));
    let mut watch = scene.watch(&[], &[]);
    server.kill();
    scene.write("first.md", &post("Unheard", "x"));
    watch.until("trying again");
    let started = std::time::Instant::now();
    assert_eq!(watch.end("-INT").0, Some(130));
    assert!(started.elapsed() < Duration::from_secs(12), "{:?}", started.elapsed());
}
