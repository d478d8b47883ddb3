//! What editors and git do to files, and when it is in the store.

use std::time::Duration;

use crate::scene::{Scene, post};

/// A save is in the store within a second: of several, since a machine may be busy with something else.
fn is_stored_at_once(scene: &Scene) {
    let _watch = scene.watch(&[], &[]);
    let mut took: Vec<Duration> = (0..5)
        .map(|number| {
            // A pause, as between two saves by hand.
            std::thread::sleep(Duration::from_millis(150));
            scene.save("first.md", "first", &format!("Title {number}"))
        })
        .collect();
    took.sort();
    println!("from save to store: {took:?}");
    assert!(took[2] < Duration::from_secs(1), "{took:?}");
}

#[test]
fn a_save_is_in_sqlite_within_a_second() {
    is_stored_at_once(&Scene::sqlite());
}

#[test]
fn a_save_is_in_mongodb_within_a_second() {
    is_stored_at_once(&Scene::mongo());
}

#[test]
fn a_save_by_rename_and_a_renamed_post() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    // As vim, emacs and most others save: written beside, then renamed over.
    std::fs::write(scene.file(".first.md.tmp-1"), post("Renamed over", "x")).unwrap();
    std::fs::rename(scene.file(".first.md.tmp-1"), scene.file("first.md")).unwrap();
    scene.until_title("first", "Renamed over");
    // As vim does with a backup: the old file is moved away first.
    std::fs::rename(scene.file("first.md"), scene.file("first.md~")).unwrap();
    std::fs::write(scene.file("first.md"), post("Backed up", "x")).unwrap();
    scene.until_title("first", "Backed up");
    std::fs::remove_file(scene.file("first.md~")).unwrap();
    // A post keeps its id with its slug, wherever its file is.
    let text = "---\ntitle: Moved\nslug: first\ndate: 2031-03-04\n---\n\nx\n";
    std::fs::write(scene.file("second.md"), text).unwrap();
    std::fs::remove_file(scene.file("first.md")).unwrap();
    scene.until_title("first", "Moved");
    watch.until("content/second.md");
    let (exit, told) = watch.end("-INT");
    assert_eq!(exit, Some(130), "{told}");
    assert!(!told.contains("conflict"), "{told}");
}

#[test]
fn what_editors_leave_makes_no_run() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    for name in ["4913", ".first.md.swp", "first.md~", ".#first.md", "#first.md#", "first.md.tmp"] {
        std::fs::write(scene.file(name), post("Not this", "x")).unwrap();
    }
    // A save that changes nothing is read, and is no run.
    scene.write("first.md", &post("First", "One."));
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(scene.runs().len(), 1, "{}", watch.told());
    assert_eq!(scene.title("first").as_deref(), Some("First"));
    // The control: a real save is one more run.
    scene.save("first.md", "first", "Saved");
    watch.until("updated");
    assert_eq!(scene.runs().len(), 2);
}

#[test]
fn a_burst_is_few_runs_and_new_folders_are_seen() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&[], &[]);
    for number in 0..500 {
        scene.write(&format!("year-{}/deep/post-{number}.md", number % 7), &post("Checked out", "x"));
    }
    scene.until_title("post-499", "Checked out");
    for _ in 0..500 {
        watch.until("created");
    }
    let runs = scene.runs().len();
    println!("500 files: {runs} runs");
    assert!(runs <= 6, "{runs} runs");
    scene.save("year-8/deeper/still/late.md", "late", "In a new folder");
}

#[test]
fn a_run_of_a_watch_carries_no_revision() {
    let scene = Scene::sqlite();
    let ci = [("GITHUB_ACTIONS", "true"), ("GITHUB_RUN_NUMBER", "41"), ("GITHUB_WORKFLOW", "publish")];
    let _watch = scene.watch(&[], &ci);
    let runs = scene.runs();
    assert!(!runs.is_empty() && runs.iter().all(|row| !row.contains_key("revision")), "{runs:?}");
}

#[test]
fn events_one_a_line() {
    let scene = Scene::sqlite();
    let mut watch = scene.watch(&["--format", "ndjson"], &[]);
    scene.save("first.md", "first", "For a program");
    watch.until("\"event\":\"applied\"");
    let (exit, told) = watch.end("-TERM");
    assert_eq!(exit, Some(143), "{told}");
    for line in told.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(line["event"].is_string(), "{line}");
    }
}
