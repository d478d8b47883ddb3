//! Ingest, edit, ingest again: what is written, and what is not.

use bson::{Bson, doc};

use crate::blog::{Blog, POSTS};

on_both_stores!(
    a_second_run_writes_nothing,
    an_edited_body_is_one_update,
    an_edit_is_refused_nowhere_else,
    a_key_that_left_the_front_matter_is_gone,
    a_moved_file_is_restamped,
    a_forced_run_writes_equal_posts,
    what_a_diff_shows_is_what_a_run_does,
);

const NONE: [String; 0] = [];

fn a_second_run_writes_nothing(blog: &Blog) {
    let first = blog.run(&["ingest"]);
    assert_eq!(first.exit, 0, "{first}");
    first.says(&[
        "4 created",
        "create     content/apples.md (new)",
        "4 files: 4 posts, 0 skipped, 0 invalid",
    ]);
    assert_eq!(blog.stored.documents().len(), POSTS);

    let before = blog.stored.bytes();
    let watch = blog.stored.watch();
    let again = blog.run(&["ingest"]);
    assert_eq!(again.exit, 0, "{again}");
    again.says(&["nothing changed: 4 unchanged"]);

    let elsewhere = tempfile::tempdir().unwrap();
    let config = blog.folder().join("idempost.toml");
    let from_elsewhere = blog.run_in(elsewhere.path(), &["ingest", "--config", config.to_str().unwrap()]);
    assert_eq!(from_elsewhere.exit, 0, "{from_elsewhere}");
    from_elsewhere.says(&["nothing changed: 4 unchanged"]);

    blog.touch();
    let touched = blog.run_in(&blog.path("ko"), &["ingest"]);
    assert_eq!(touched.exit, 0, "{touched}");
    touched.says(&["nothing changed: 4 unchanged"]);

    assert_eq!(watch.written(), NONE);
    assert_eq!(blog.stored.bytes(), before);

    // The control: had a post been written, even as it was, the watch would have told.
    let watch = blog.stored.watch();
    let mut document = blog.stored.find("pears", "en");
    document.insert("seenByTest", true);
    blog.stored.put(&document);
    assert_eq!(watch.written(), [document.get_str("_id").unwrap()]);
    assert_ne!(blog.stored.bytes(), before);
}

fn an_edited_body_is_one_update(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("apples", "en").get_str("_id").unwrap().to_owned();
    let theirs = doc! { "views": 7_i64, "likes": { "by": ["ann", "bo"], "last": Bson::Null } };
    blog.stored.plant(&id, theirs.clone());
    let before = blog.stored.documents();

    blog.edit("apples.md", "Lay them apart.", "Wrap each in paper.");
    let watch = blog.stored.watch();
    let run = blog.ingest(0, &[]);
    assert_eq!(watch.written(), [id.as_str()]);
    assert_eq!(run["applied"]["update"], 1, "{run}");
    assert_eq!(run["changes"].as_array().unwrap().len(), 1, "{run}");
    assert_eq!(run["changes"][0]["reason"], "source", "{run}");

    let after = blog.stored.get(&id);
    assert!(after.get_str("body").unwrap().contains("Wrap each in paper."));
    assert!(after.get_str("html").unwrap().contains("Wrap each in paper."));
    assert_eq!(after.get_document("ingest").unwrap().get_i64("version").unwrap(), 2);
    for (field, value) in theirs {
        assert_eq!(after.get(&field), Some(&value), "a field of somebody else's survives");
    }
    let others = |documents: Vec<bson::Document>| -> Vec<bson::Document> {
        documents.into_iter().filter(|document| document.get_str("_id").ok() != Some(id.as_str())).collect()
    };
    assert_eq!(others(blog.stored.documents()), others(before));
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
}

/// Everything but slug, lang and date may be edited at any time.
fn an_edit_is_refused_nowhere_else(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("plums", "en").get_str("_id").unwrap().to_owned();
    let rewritten = "---\ntitle: Other plums\nslug: plums\ndate: '2031-03-06T00:00:00+09:00'\ntags: [a, b]\n\
                     authors: [Ann]\ncover: https://example.com/plum.png\nupdated: 2031-05-01\nhidden: true\n---\n\nNew.\n";
    blog.write("plums.md", rewritten);
    let run = blog.ingest(0, &[]);
    assert_eq!((&run["applied"]["update"], &run["applied"]["create"]), (&1.into(), &0.into()), "{run}");
    let after = blog.stored.get(&id);
    assert_eq!(after.get_str("title").unwrap(), "Other plums");
    assert_eq!(after.get("tags"), Some(&Bson::from(vec!["a", "b"])));
    assert_eq!(after.get("unlisted"), Some(&Bson::Boolean(true)));
}

fn a_key_that_left_the_front_matter_is_gone(blog: &Blog) {
    blog.edit("apples.md", "shelf: cellar\n", "shelf: cellar\nbasket: [a, b]\n");
    blog.ingested();
    let before = blog.stored.find("apples", "en");
    assert_eq!(before.get_str("summary").unwrap(), "Apart from each other");
    assert_eq!(before.get_document("extra").unwrap(), &doc! { "shelf": "cellar", "basket": ["a", "b"] });
    let id = before.get_str("_id").unwrap();
    // Somebody else's key in what is owned as a whole goes; beside it, it stays.
    blog.stored
        .plant(id, doc! { "extra": { "shelf": "cellar", "basket": ["a", "b"], "theirs": 1 }, "theirs": 1 });

    blog.edit("apples.md", "summary: Apart from each other\n", "");
    blog.edit("apples.md", "shelf: cellar\n", "");
    blog.ingest(0, &[]);
    let after = blog.stored.get(id);
    assert!(!after.contains_key("summary"), "{after}");
    assert_eq!(after.get_document("extra").unwrap(), &doc! { "basket": ["a", "b"] });
    assert_eq!(after.get_i32("theirs").unwrap(), 1);

    blog.edit("apples.md", "basket: [a, b]\n", "");
    blog.ingest(0, &[]);
    let after = blog.stored.get(id);
    assert!(!after.contains_key("extra"), "{after}");
    assert!(!after.iter().any(|(_, value)| *value == Bson::Null), "absent, never null: {after}");
}

fn a_moved_file_is_restamped(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.find("apples", "en");
    let id = before.get_str("_id").unwrap();
    // A link of another post would change with it.
    blog.edit("pears.md", "See [apples](apples.md).", "See nothing.");
    blog.ingest(0, &[]);

    blog.rename("apples.md", "fruit/stored/keeping.md");
    let watch = blog.stored.watch();
    let run = blog.ingest(0, &[]);
    assert_eq!(watch.written(), [id]);
    assert_eq!(run["applied"]["restamp"], 1, "{run}");
    assert_eq!(run["orphans"].as_array().unwrap().len(), 0, "{run}");
    let after = blog.stored.get(id);
    let stamp = after.get_document("ingest").unwrap();
    assert_eq!(stamp.get_str("path").unwrap(), "fruit/stored/keeping.md");
    let readers = |mut document: bson::Document| {
        document.remove("ingest");
        document
    };
    assert_eq!(readers(after), readers(before));
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
}

fn a_forced_run_writes_equal_posts(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.documents();
    let watch = blog.stored.watch();
    let run = blog.ingest(0, &["--force"]);
    assert_eq!(watch.written().len(), POSTS, "{run}");
    for (before, after) in before.into_iter().zip(blog.stored.documents()) {
        for (field, value) in before.iter().filter(|(field, _)| *field != "ingest") {
            assert_eq!(after.get(field), Some(value));
        }
    }
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
}

fn what_a_diff_shows_is_what_a_run_does(blog: &Blog) {
    blog.ingested();
    blog.edit("pears.md", "title: Pears", "title: Pears again");
    blog.edit("plums.md", "Stone them.", "Stone and dry them.");
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n");
    let before = blog.stored.bytes();
    let watch = blog.stored.watch();
    let diff = blog.run(&["diff", "--exit-code", "--format", "json"]);
    assert_eq!(diff.exit, 2, "{diff}");
    assert_eq!(blog.run(&["diff"]).exit, 0);
    assert_eq!(blog.run(&["ingest", "--dry-run"]).exit, 0);
    assert_eq!(watch.written(), NONE, "looking writes nothing");
    assert_eq!(blog.stored.bytes(), before);

    let shown = diff.json();
    let run = blog.ingest(0, &[]);
    let decided = |plan: &serde_json::Value| -> Vec<(String, String, String)> {
        let changes = plan["changes"].as_array().unwrap().iter();
        changes
            .map(|one| (one["file"].to_string(), one["action"].to_string(), one["id"].to_string()))
            .collect()
    };
    assert_eq!(decided(&shown), decided(&run));
    assert_eq!(decided(&shown).len(), 3);
    assert_eq!(shown["summary"], run["summary"]);
    let after = blog.run(&["diff", "--exit-code"]);
    assert_eq!(after.exit, 0, "{after}");
    after.says(&["nothing to do"]);
}
