//! Operation ids and revisions: a repeated request does nothing again, a late run nothing at all.

use serde_json::Value;

use crate::blog::{Blog, POSTS};

on_both_stores!(
    a_repeated_operation_is_replayed,
    an_operation_id_is_not_used_for_something_else,
    an_operation_that_was_refused_may_be_tried_again,
    a_lower_revision_is_late,
    a_late_run_does_not_put_old_text_back,
    runs_are_listed,
);

fn a_repeated_operation_is_replayed(blog: &Blog) {
    let first = blog.ingest(0, &["--operation-id", "push-41"]);
    assert_eq!((&first["replayed"], &first["operationId"]), (&false.into(), &"push-41".into()), "{first}");
    let told = blog.refused(0, &["--operation-id", "push-41", "--format", "json"]);
    let again = told.json();
    assert_eq!(again["replayed"], true, "{told}");
    assert_eq!(again["runId"], first["runId"], "{told}");
    assert_eq!(again["applied"], first["applied"], "what the first attempt did is told: {told}");
    assert_eq!(again["applied"]["create"], POSTS, "{told}");

    // Also where the store was changed meanwhile by others: the request was fulfilled.
    let id = blog.stored.find("pears", "en").get_str("_id").unwrap().to_owned();
    blog.stored.plant(&id, bson::doc! { "views": 1 });
    assert_eq!(blog.refused(0, &["--operation-id", "push-41", "--format", "json"]).json()["replayed"], true);
}

fn an_operation_id_is_not_used_for_something_else(blog: &Blog) {
    blog.ingest(0, &["--operation-id", "push-41"]);
    blog.edit("plums.md", "Stone them.", "Dry them.");
    blog.refused(5, &["--operation-id", "push-41"]).says(&["push-41", "something else", "choose a new one"]);
    assert_eq!(blog.ingest(0, &["--operation-id", "push-42"])["applied"]["update"], 1);
    // The same files with another policy are another intent.
    blog.refused(5, &["--operation-id", "push-42", "--keep-going"]);
}

fn an_operation_that_was_refused_may_be_tried_again(blog: &Blog) {
    blog.ingested();
    let pears = std::fs::read(blog.path("pears.md")).unwrap();
    blog.edit("pears.md", "2031-03-05T08:00:00Z", "2031-03-08T08:00:00Z");
    blog.refused(5, &["--operation-id", "push-43"]);
    let again = blog.refused(5, &["--operation-id", "push-43", "--format", "json"]).json();
    assert_eq!(again["replayed"], false, "what was refused is judged anew: {again}");
    blog.write("pears.md", pears);
}

fn a_lower_revision_is_late(blog: &Blog) {
    assert_eq!(blog.ingest(0, &["--revision", "7"])["applied"]["create"], POSTS);
    let revision = |slug: &str| {
        blog.stored.find(slug, "en").get_document("ingest").unwrap().get_i64("revision").unwrap()
    };
    assert_eq!(revision("pears"), 7);
    blog.edit("pears.md", "title: Pears", "title: Old pears");
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nOld.\n");
    let told = blog.refused(0, &["--revision", "5", "--format", "json"]);
    let late = told.json();
    assert_eq!((&late["summary"]["stale"], &late["summary"]["unchanged"]), (&2.into(), &3.into()), "{told}");
    assert!(late["applied"].as_object().unwrap().values().all(|number| *number == 0), "{told}");
    blog.refused(0, &["--revision", "5"]).says(&["revision 7 is newer", "stale"]);
    // The same revision again, as when a job is run anew, is not late.
    assert_eq!(blog.ingest(0, &["--revision", "7"])["applied"]["update"], 1);
}

/// The newer run found the post unchanged and never wrote it; the older must leave it alone all the same.
fn a_late_run_does_not_put_old_text_back(blog: &Blog) {
    blog.ingest(0, &["--revision", "3"]);
    let watch = blog.stored.watch();
    assert_eq!(blog.ingest(0, &["--revision", "8"])["summary"]["unchanged"], POSTS);
    assert_eq!(watch.written(), [] as [String; 0], "in the usual case nothing is touched");
    blog.edit("plums.md", "Stone them.", "An old text.");
    blog.refused(0, &["--revision", "6"]).says(&["revision 8 is newer"]);
    let newer: Value = blog.ingest(0, &["--revision", "9"]);
    assert_eq!(newer["applied"]["update"], 1, "{newer}");
}

fn runs_are_listed(blog: &Blog) {
    let first = blog.ingest(0, &["--operation-id", "push-1"]);
    let second = blog.ingest(0, &[]);
    let told = blog.run(&["runs"]);
    assert_eq!(told.exit, 0, "{told}");
    let run = |value: &Value| value["runId"].as_str().unwrap().to_owned();
    told.says(&[&run(&first), &run(&second)]);
    let shown = blog.run(&["runs", "show", "push-1"]);
    assert_eq!(shown.exit, 0, "{shown}");
    shown.says(&[&run(&first)]);
}
