//! Saved plans: applied exactly, refused by post where one moved, and no licence to write for who edits one.

use std::io::Write;

use serde_json::{Value, json};

use crate::blog::{Blog, POSTS, Told, run};

on_both_stores!(
    a_saved_plan_is_applied_exactly_and_again,
    a_post_that_moved_is_refused_by_itself,
    a_plan_that_was_edited_writes_nothing,
    a_plan_for_something_else_is_refused,
    a_prune_is_said_by_who_applies_it,
);

/// Saves a plan and reads it back.
fn save(blog: &Blog, exit: i32, args: &[&str]) -> Value {
    let all: Vec<&str> = ["diff", "--out", "plan.json"].iter().chain(args).copied().collect();
    let told = blog.run(&all);
    assert_eq!(told.exit, exit, "{told}");
    plan(blog)
}

fn plan(blog: &Blog) -> Value {
    serde_json::from_slice(&std::fs::read(blog.folder().join("plan.json")).unwrap()).unwrap()
}

fn put(blog: &Blog, plan: &Value) {
    std::fs::write(blog.folder().join("plan.json"), plan.to_string()).unwrap();
}

fn valid(plan: &Value) {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas/plan.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(plan).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn a_saved_plan_is_applied_exactly_and_again(blog: &Blog) {
    let saved = save(blog, 0, &[]);
    valid(&saved);
    assert_eq!(saved["changes"].as_array().unwrap().len(), POSTS);
    assert_eq!(saved["changes"][0]["document"]["title"], "Keeping apples");
    assert!(!saved.to_string().contains("runId"), "what a run writes for itself is in no plan");
    let run = blog.ingest(0, &["--plan", "plan.json"]);
    assert_eq!(run["applied"]["create"], POSTS, "{run}");
    for change in saved["changes"].as_array().unwrap() {
        let stored = blog.stored.get(change["id"].as_str().unwrap());
        assert_eq!(stored.get_str("title").unwrap(), change["document"]["title"]);
    }
    // Asked for again it is done already.
    let run = blog.ingest(0, &["--plan", "plan.json"]);
    assert_eq!(
        (&run["applied"]["create"], &run["summary"]["unchanged"]),
        (&json!(0), &json!(POSTS)),
        "{run}"
    );

    // What the plan does not name is left alone.
    blog.edit("pears.md", "See", "Look at");
    save(blog, 0, &[]);
    blog.edit("plums.md", "Stone", "Halve");
    let told = blog.run(&["ingest", "--plan", "plan.json"]);
    assert_eq!(told.exit, 0, "{told}");
    told.says(&["1 updated", "1 more posts differ"]);
    assert!(blog.stored.find("plums", "en").get_str("body").unwrap().contains("Stone"));
    let told = blog.run(&["show", "plan.json"]);
    assert_eq!(told.exit, 0, "{told}");
    told.says(&["update     content/pears.md (source)", "[-See-]", "{+Look at+}"]);
    for format in ["json", "ndjson", "markdown", "html"] {
        let told = blog.run(&["show", "plan.json", "--format", format]);
        assert_eq!(told.exit, 0, "{told}");
        told.says(&["pears"]);
    }
    let shown = blog.run(&["show", "plan.json", "--format", "json"]).json();
    let fresh = plan(blog);
    for key in ["source", "target", "summary", "skipped", "orphans", "notes", "pipeline"] {
        assert_eq!(shown[key], fresh[key], "{key}");
    }
    assert_eq!(shown["changes"][0]["fields"], fresh["changes"][0]["fields"]);
}

fn a_post_that_moved_is_refused_by_itself(blog: &Blog) {
    blog.ingested();
    blog.edit("pears.md", "See", "Look at");
    blog.edit("plums.md", "Stone", "Halve");
    save(blog, 0, &[]);
    // Somebody writes one of the two meanwhile, and puts the tree as it was.
    blog.edit("plums.md", "Halve", "Quarter");
    assert_eq!(blog.ingest(0, &["content/plums.md"])["applied"]["update"], 1);
    blog.edit("plums.md", "Quarter", "Halve");
    let told = blog.refused(5, &["--plan", "plan.json"]);
    told.says(&["plums.md", "plan-stale", "the plan saw version 1, the store has version 2", "--partial"]);
    let told = blog.run(&["ingest", "--plan", "plan.json", "--partial"]);
    assert_eq!(told.exit, 3, "{told}");
    told.says(&["1 updated", "1 in conflict"]);
    assert!(blog.stored.find("pears", "en").get_str("body").unwrap().contains("Look at"));
    assert!(blog.stored.find("plums", "en").get_str("body").unwrap().contains("Quarter"));
    // A tree that says something else now is no tree of this plan either.
    save(blog, 0, &[]);
    blog.edit("plums.md", "Halve", "Eat");
    blog.refused(5, &["--plan", "plan.json"]).says(&["the tree makes another document", "body"]);
    blog.remove("plums.md");
    blog.refused(5, &["--plan", "plan.json"]).says(&["its file is gone"]);
}

fn a_plan_that_was_edited_writes_nothing(blog: &Blog) {
    blog.ingested();
    blog.edit("pears.md", "See", "Look at");
    let honest = save(blog, 0, &[]);
    let other = "01R5W9XY00Y4DZYBT109QKESM2";
    for (pointer, value) in [
        ("/changes/0/document/body", json!("owned")),
        ("/changes/0/document/title", json!("owned")),
        ("/changes/0/document/status", json!("superseded")),
        ("/changes/0/document/ingest/version", json!({ "$numberLong": "9" })),
        ("/changes/0/document/ingest/contentHash", json!("c1:00")),
        ("/changes/0/document/slug", json!("other")),
        ("/changes/0/document/views", json!(7)),
        ("/changes/0/id", json!(other)),
        ("/changes/0/slug", json!("other")),
        ("/changes/0/file", json!("apples.md")),
        ("/changes/0/expectedVersion", json!(7)),
        ("/changes/0/seen/version", json!(7)),
        ("/changes/0/seen/status", json!("archived")),
        ("/changes/0/seen/sourceHash", json!("s1:00")),
        ("/changes/0/action", json!("archive")),
        ("/changes/0/action", json!("create")),
        ("/changes/0/reason", json!("drift")),
        ("/changes/0/document", Value::Null),
    ] {
        let mut plan = honest.clone();
        match plan.pointer_mut(pointer) {
            Some(place) => *place = value.clone(),
            None => plan["changes"][0]["document"]["views"] = value.clone(),
        }
        put(blog, &plan);
        let told = blog.refused(5, &["--plan", "plan.json"]);
        assert!(told.err.contains("help:") || told.out.contains("help:"), "{pointer}: {told}");
        blog.run(&["ingest", "--plan", "plan.json", "--partial"]);
        assert!(
            blog.stored.find("pears", "en").get_str("body").unwrap().contains("See"),
            "{pointer}: {told}"
        );
    }
    // A change that the tree does not make cannot be added.
    let mut plan = honest.clone();
    let mut more = honest["changes"][0].clone();
    more["id"] = json!(blog.stored.find("apples", "en").get_str("_id").unwrap());
    plan["changes"].as_array_mut().unwrap().push(more);
    put(blog, &plan);
    blog.refused(5, &["--plan", "plan.json"]);
    // The control: untouched it is applied.
    put(blog, &honest);
    assert_eq!(blog.ingest(0, &["--plan", "plan.json"])["applied"]["update"], 1);
}

fn a_plan_for_something_else_is_refused(blog: &Blog) {
    let honest = save(blog, 0, &[]);
    let refused = |pointer: &str, value: Value, exit: i32, says: &str| {
        let mut plan = honest.clone();
        *plan.pointer_mut(pointer).unwrap() = value;
        put(blog, &plan);
        blog.refused(exit, &["--plan", "plan.json"]).says(&[says, "help:"]);
    };
    refused("/target/database", json!("other"), 64, "was made for");
    refused("/target/collection", json!("other"), 64, "was made for");
    refused("/source/name", json!("other"), 64, "for the source other");
    refused("/toolVersion", json!("99.0.0"), 5, "plan again with this version");
    refused("/formatVersion", json!(2), 64, "has format 2");
    refused("/pipeline", json!("9"), 5, "other settings");
    refused("/flags/force", json!(true), 64, "--force");
    put(blog, &honest);
    let told = blog.run(&["ingest", "--plan", "plan.json", "--collection", "elsewhere"]);
    assert_eq!(told.exit, 64, "{told}");
    for args in [&["-n"][..], &["content/pears.md"], &["--changed-since", "HEAD"]] {
        let all: Vec<&str> = ["ingest", "--plan", "plan.json"].iter().chain(args).copied().collect();
        assert_eq!(blog.run(&all).exit, 64);
    }
    // What was printed is not what was saved.
    let told = blog.run(&["diff", "--format", "json"]);
    std::fs::write(blog.folder().join("plan.json"), &told.out).unwrap();
    blog.refused(64, &["--plan", "plan.json"]).says(&["printed, and not saved", "--out plan.json"]);
    assert_eq!(blog.run(&["show", "plan.json"]).exit, 0);
}

fn a_prune_is_said_by_who_applies_it(blog: &Blog) {
    blog.ingested();
    blog.remove("plums.md");
    save(blog, 0, &["--prune"]);
    blog.refused(64, &["--plan", "plan.json"]).says(&["made with --prune"]);
    assert_eq!(blog.ingest(0, &["--plan", "plan.json", "--prune"])["applied"]["archive"], 1);
    let run = blog.ingest(0, &["--plan", "plan.json", "--prune"]);
    assert_eq!(run["applied"]["archive"], 0, "{run}");
}

#[test]
fn no_secret_is_in_a_plan() {
    let blog = Blog::on_server();
    let uri = blog.uri().replace("mongodb://", "mongodb://anne:hunter2@");
    let uri =
        if uri.contains('?') { format!("{uri}&authSource=admin") } else { format!("{uri}?authSource=admin") };
    let told = run(blog.folder(), &["diff", "--out", "plan.json"], &[("IDEMPOST_URI", &uri)]);
    // Whether the server lets her in or not: neither the plan nor a message holds the password.
    told.hides(&["hunter2"]);
    let text = std::fs::read_to_string(blog.folder().join("plan.json")).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("anne"), "{text}");
    save(&blog, 0, &[]);
    let text = std::fs::read_to_string(blog.folder().join("plan.json")).unwrap();
    assert!(!text.contains("mongodb://") || !text.contains('@'), "{text}");
}

#[test]
fn a_file_that_is_no_plan_is_told_so() {
    let blog = Blog::on_sqlite();
    let honest = save(&blog, 0, &[]).to_string();
    let deep = |times: usize| format!("{}{}", "[".repeat(times), "]".repeat(times));
    let changed = |from: &str, to: &str| {
        assert!(honest.contains(from), "{from}");
        honest.replacen(from, to, 1)
    };
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "EOF"),
        ("\u{1b}[2Jno".to_owned(), "expected value"),
        (honest.chars().take(honest.chars().count() / 2).collect(), "EOF"),
        (format!("{honest}x"), "trailing"),
        (deep(100_000), "recursion"),
        ("[]".to_owned(), "no object"),
        ("{}".to_owned(), "no formatVersion"),
        (changed("\"formatVersion\":1", "\"formatVersion\":1,\"formatVersion\":1"), "stands twice"),
        (changed("\"title\":\"Keeping apples\"", "\"title\":\"a\",\"title\":\"b\""), "stands twice"),
        (changed("\"action\":\"create\"", "\"action\":\"destroy\""), "action is \"destroy\""),
        (changed("\"action\":\"create\"", "\"action\":{}"), "action is not a text"),
        (changed("\"reason\":\"new\"", "\"reason\":\"\\u001b[2J\""), "reason is no name"),
        (changed("\"$date\"", "\"$datum\""), "64"),
        (changed("\"summary\":{", "\"summary\":[],\"other\":{"), "summary is not an object"),
    ];
    for (text, says) in cases {
        std::fs::write(blog.folder().join("plan.json"), &text).unwrap();
        for args in [&["show", "plan.json"][..], &["ingest", "--plan", "plan.json"]] {
            let told = blog.run(args);
            let start: String = text.chars().take(60).collect();
            // A value that is no Extended JSON is a document, and then not the one that was planned.
            if says == "64" {
                assert!(args[0] == "show" || [5, 64].contains(&told.exit), "{start}: {told}");
                continue;
            }
            assert_eq!(told.exit, 64, "{start}: {told}");
            told.says(&[says]);
            assert!(told.err.len() < 2000 && !told.err.contains('\u{1b}'), "{told}");
        }
    }
    assert_eq!(blog.stored.documents().len(), 0);
    let told = blog.run(&["show", "."]);
    assert_eq!(told.exit, 64, "{told}");
    assert_eq!(blog.run(&["show", "gone.json"]).exit, 64);
}

/// A hundred megabytes of one text, of numbers, and of opened lists.
#[test]
fn a_huge_file_is_refused_soon() {
    let blog = Blog::on_sqlite();
    for (head, filling) in
        [("{\"a\":\"", "aaaaaaaa"), ("{\"formatVersion\":1,\"changes\":[1", ",1234567"), ("", "[[[[[[[[")]
    {
        let mut file =
            std::io::BufWriter::new(std::fs::File::create(blog.folder().join("plan.json")).unwrap());
        file.write_all(head.as_bytes()).unwrap();
        for _ in 0..(100 << 20) / 8 / 1024 {
            file.write_all(filling.repeat(1024).as_bytes()).unwrap();
        }
        drop(file);
        let told: Told = blog.run(&["show", "plan.json"]);
        assert_eq!(told.exit, 64, "{told}");
        assert!(told.err.len() < 2000, "{told}");
    }
}
