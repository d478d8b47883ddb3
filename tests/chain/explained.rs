//! `explain` tells what the store holds and what the next run does; editors hand over what is not saved.

use serde_json::{Value, json};

use crate::blog::{self, Blog, Told};

on_both_stores!(
    what_is_told_is_what_the_next_run_does,
    a_stored_post_without_a_file_is_explained_by_its_id,
    what_an_editor_holds_is_judged_in_its_place,
);

fn explain(blog: &Blog, args: &[&str]) -> Value {
    let all: Vec<&str> = ["explain", "--format", "json"].iter().chain(args).copied().collect();
    let told = blog.run(&all);
    assert_eq!(told.exit, 0, "{told}");
    told.json()
}

fn next(post: &Value) -> (&str, &str) {
    let next = &post["store"]["next"];
    (next["action"].as_str().unwrap(), next["reason"].as_str().unwrap())
}

fn what_is_told_is_what_the_next_run_does(blog: &Blog) {
    let post = explain(blog, &["content/pears.md"]);
    assert_eq!(next(&post), ("create", "new"), "{post:#}");
    assert_eq!(post["store"]["stored"], Value::Null, "{post:#}");
    blog.ingested();

    let post = explain(blog, &["content/pears.md"]);
    assert_eq!(next(&post), ("unchanged", "equal"), "{post:#}");
    let stored = blog.stored.find("pears", "en");
    let ingest = stored.get_document("ingest").unwrap();
    assert_eq!(post["store"]["stored"]["status"], "active", "{post:#}");
    assert_eq!(post["store"]["stored"]["runId"], ingest.get_str("runId").unwrap(), "{post:#}");
    assert_eq!(post["store"]["stored"]["sourceHash"], post["sourceHash"], "{post:#}");
    blog.run(&["explain", "content/pears.md"])
        .says(&["stored       active, version 1", "next run     unchanged (equal)"]);

    blog.edit("pears.md", "date: 2031-03-05T08:00:00Z", "date: 2031-03-06T08:00:00Z");
    let post = explain(blog, &["content/pears.md"]);
    assert_eq!(next(&post), ("conflict", "frozen-date"), "{post:#}");
    assert!(!post["store"]["next"]["help"].as_str().unwrap().is_empty(), "{post:#}");
    assert_eq!(blog.ingest(5, &[])["changes"][0]["reason"], "frozen-date");

    blog.write("pears.md", "---\r\ntitle: Pears\r\nslug: pears\r\ntranslationKey: pears\r\ndate: 2031-03-05T08:00:00Z\r\n---\r\nOther.\r\n");
    let post = explain(blog, &["content/pears.md"]);
    assert_eq!(next(&post), ("update", "source"), "{post:#}");
    let bytes = std::fs::metadata(blog.path("pears.md")).unwrap().len();
    assert_eq!(
        post["hashed"],
        json!({ "fileBytes": bytes, "bytes": bytes - 7, "bom": false, "crlf": 7 }),
        "{post:#}"
    );
    let person = blog.run(&["explain", "content/pears.md"]);
    person.says(&["without 7 CRs before their LF", "its sourceHash is s1:", "next run     update (source)"]);
    assert_eq!(blog.ingest(0, &[])["changes"][0]["reason"], "source");

    // Without the store it is not asked.
    let nowhere = [("IDEMPOST_URI", "mongodb://127.0.0.1:9/blog?serverSelectionTimeoutMS=300")];
    let args = ["explain", "content/pears.md", "--format", "json"];
    let told = blog::run(blog.folder(), &[&args[..], &["--no-store"]].concat(), &nowhere);
    assert_eq!((told.exit, &told.json()["store"]), (0, &Value::Null), "{told}");
}

fn a_stored_post_without_a_file_is_explained_by_its_id(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("plums", "en").get_str("_id").unwrap().to_owned();
    blog.remove("plums.md");
    let post = explain(blog, &[&id]);
    assert_eq!((&post["file"], &post["id"]), (&Value::Null, &json!(id)), "{post:#}");
    assert_eq!(post["store"]["stored"]["path"], "plums.md", "{post:#}");
    assert_eq!(post["store"]["next"]["action"], "none", "{post:#}");
    blog.run(&["explain", &id]).says(&["no file makes this post", "plums.md", "--prune archives it"]);
    let told = blog.run(&["explain", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    assert_eq!(told.exit, 1, "{told}");
    told.says(&["and the store holds none"]);

    let stranger = blog.run(&["explain", &id, "--source", "garden"]);
    stranger.says(&["it belongs to source orchard"]);
}

fn typed(blog: &Blog, args: &[&str], text: &str) -> Told {
    let program = assert_cmd::cargo::cargo_bin("idempost");
    let output = assert_cmd::Command::new(program)
        .args(args)
        .current_dir(blog.folder())
        .env_clear()
        .env("IDEMPOST_URI", blog.uri())
        .write_stdin(text)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Told { exit: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn what_an_editor_holds_is_judged_in_its_place(blog: &Blog) {
    blog.ingested();
    let saved = std::fs::read_to_string(blog.path("pears.md")).unwrap();
    let args = ["explain", "--format", "json", "--stdin-filepath", "content/pears.md"];
    let post = typed(blog, &args, &saved.replace("Pears", "Quinces")).json();
    assert_eq!(post["title"], "Quinces", "{post:#}");
    assert_eq!(next(&post), ("update", "source"), "{post:#}");
    assert_eq!(next(&typed(blog, &args, &saved).json()), ("unchanged", "equal"));

    // Not saved yet, and in the way of another file.
    let new = ["explain", "--format", "json", "--stdin-filepath", "content/new/quinces.md"];
    let post =
        typed(blog, &new, "---\ntitle: Q\ndate: 2031-04-05\n---\n\nSee [pears](../pears.md).\n").json();
    assert_eq!(
        (post["file"].as_str().unwrap(), next(&post)),
        ("new/quinces.md", ("create", "new")),
        "{post:#}"
    );
    let told = typed(blog, &new, &saved);
    assert_eq!(told.exit, 4, "{told}");
    assert_eq!(told.json()["diagnostics"][0]["code"], "duplicate-identity", "{told}");

    let check = ["check", "--stdin-filepath", "content/pears.md", "--format", "json"];
    let told = typed(blog, &check, "---\ndate: 2031-02-30\n---\n");
    assert_eq!(told.exit, 4, "{told}");
    assert!(
        told.json()["diagnostics"].as_array().unwrap().iter().all(|one| one["file"] == "pears.md"),
        "{told}"
    );
    assert_eq!(typed(blog, &check, &saved).exit, 0);

    let told = typed(blog, &["explain", "--stdin-filepath", "../elsewhere.md"], "");
    assert_eq!(told.exit, 64, "{told}");
    told.says(&["lies outside of the content root"]);
    assert_eq!(std::fs::read_to_string(blog.path("pears.md")).unwrap(), saved);
    assert!(!blog.path("new/quinces.md").exists());
}

#[test]
fn a_store_that_is_away_is_told_and_the_file_is_explained_all_the_same() {
    let blog = Blog::on_sqlite();
    let away =
        [("IDEMPOST_URI", "mongodb://127.0.0.1:9/blog?serverSelectionTimeoutMS=300&connectTimeoutMS=300")];
    let told = blog::run(blog.folder(), &["explain", "content/pears.md"], &away);
    assert_eq!(told.exit, 75, "{told}");
    told.says(&["slug         pears", "not looked at: "]);
    // No store was named, which is no failure of a question about a file.
    let told = blog::run(blog.folder(), &["explain", "content/pears.md"], &[("CI", "true")]);
    assert_eq!(told.exit, 0, "{told}");
    told.says(&["slug         pears", "not looked at: "]);
}
