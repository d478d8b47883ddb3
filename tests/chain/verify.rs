//! `verify`: what it finds, that it writes nothing, and what `--repair` mends.

use bson::{Bson, Document, doc};
use serde_json::Value;

use crate::blog::{Blog, Told};

on_both_stores!(
    a_store_that_says_what_the_tree_says_is_clean,
    whatever_differs_is_found_and_nothing_is_written,
    what_was_tampered_with_is_found,
    a_repair_mends_what_is_ours_and_leaves_the_rest,
    orphans_are_archived_where_that_is_asked_for,
    a_post_that_was_made_otherwise_is_found_by_rendering,
    an_invalid_file_stops_a_repair,
);

fn verify(blog: &Blog, exit: i32, args: &[&str]) -> Value {
    let all: Vec<&str> = ["verify", "--format", "json"].iter().chain(args).copied().collect();
    let told = blog.run(&all);
    assert_eq!(told.exit, exit, "{told}");
    let json = told.json();
    assert_eq!(json["exit"], exit, "{told}");
    let schema: Value = blog.run(&["schema", "verify"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{told}");
    json
}

/// Looks, and expects that nothing was written, no row of a run either.
fn looked(blog: &Blog, exit: i32, args: &[&str]) -> Value {
    let before = (blog.stored.bytes(), blog.run(&["runs", "--format", "json"]).out);
    let watch = blog.stored.watch();
    let json = verify(blog, exit, args);
    assert_eq!(watch.written(), [] as [String; 0]);
    assert_eq!((blog.stored.bytes(), blog.run(&["runs", "--format", "json"]).out), before);
    json
}

/// (code, slug or file) of each finding.
fn found(json: &Value) -> Vec<(&str, &str)> {
    let text = |value: &'_ Value| -> &'static str { value.as_str().unwrap_or("").to_owned().leak() };
    let findings = json["findings"].as_array().unwrap().iter();
    findings
        .map(|one| {
            let slug = text(&one["slug"]);
            (text(&one["code"]), if slug.is_empty() { text(&one["id"]) } else { slug })
        })
        .collect()
}

fn one<'j>(json: &'j Value, code: &str) -> &'j Value {
    let mut all = json["findings"].as_array().unwrap().iter().filter(|one| one["code"] == code);
    let found = all.next().unwrap_or_else(|| panic!("{code} is not found: {json:#}"));
    assert!(all.next().is_none(), "{code} is found once: {json:#}");
    found
}

fn id(blog: &Blog, slug: &str, lang: &str) -> String {
    blog.stored.find(slug, lang).get_str("_id").unwrap().to_owned()
}

fn edit(blog: &Blog, id: &str, change: impl FnOnce(&mut Document)) {
    let mut document = blog.stored.get(id);
    change(&mut document);
    blog.stored.put(&document);
}

fn foreign(blog: &Blog) {
    blog.stored
        .put(&doc! { "_id": "by-hand", "slug": "quinces", "lang": "en", "title": "Quinces", "views": 5 });
    blog.stored.put(&doc! { "_id": "counter", "value": 7 });
}

fn a_store_that_says_what_the_tree_says_is_clean(blog: &Blog) {
    blog.ingested();
    let json = looked(blog, 0, &[]);
    assert_eq!(json["findings"].as_array().unwrap().len(), 0, "{json:#}");
    assert_eq!((&json["summary"]["checked"], &json["repair"]), (&4.into(), &Value::Null), "{json:#}");
    looked(blog, 0, &["--render"]);
    blog.run(&["verify"]).says(&["no differences", "4 stored, 4 compared"]);
}

fn whatever_differs_is_found_and_nothing_is_written(blog: &Blog) {
    let before = verify(blog, 5, &[]);
    assert_eq!(before["summary"]["codes"]["missing"], 4, "{before:#}");
    blog.ingested();
    blog.edit("pears.md", "title: Pears", "title: Pears\ndraft: true");
    blog.edit("apples.md", "Lay them apart.", "Lay them far apart.");
    blog.remove("plums.md");
    blog.write(
        "quinces.md",
        "---\ntitle: Quinces\nslug: quinces\nlang: en\ndate: 2031-05-01\n---\n\nCook them.\n",
    );
    blog.rename("ko/apples.md", "ko/fruit/apples.md");
    blog.stored.put(&doc! { "_id": "counter", "value": 7 });
    let json = looked(blog, 5, &[]);
    let mut codes = found(&json);
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            ("draft", "pears"),
            ("foreign", "counter"),
            ("missing", "quinces"),
            ("orphan", "plums"),
            ("outdated", "apples"),
            ("path", "apples"),
        ],
        "{json:#}"
    );
    assert_eq!(one(&json, "foreign")["level"], "note", "a document without a slug is no post: {json:#}");
    assert_eq!(one(&json, "outdated")["fields"][0]["path"], "body", "{json:#}");
    assert_eq!(one(&json, "orphan")["repair"], Value::Null, "{json:#}");
    assert_eq!(json["summary"]["differences"], 5, "{json:#}");
}

fn tampered(blog: &Blog) -> [String; 4] {
    blog.ingested();
    let [apples, korean, pears, plums] =
        [("apples", "en"), ("apples", "ko"), ("pears", "en"), ("plums", "en")]
            .map(|(slug, lang)| id(blog, slug, lang));
    edit(blog, &apples, |post| {
        post.insert("title", "Changed by hand");
        post.insert("views", 41);
    });
    edit(blog, &korean, |post| {
        post.remove("live");
    });
    edit(blog, &pears, |post| {
        let until = bson::DateTime::from_millis(5);
        let Some(Bson::Document(ingest)) = post.get_mut("ingest") else { panic!("it is ours") };
        ingest.insert("claim", doc! { "runId": "gone", "until": until });
        post.insert("supersededBy", "nobody");
    });
    edit(blog, &plums, |post| {
        post.insert("publishedAt", bson::DateTime::from_millis(86_400_000));
    });
    [apples, korean, pears, plums]
}

fn what_was_tampered_with_is_found(blog: &Blog) {
    let [apples, korean, pears, plums] = tampered(blog);
    foreign(blog);
    let json = looked(blog, 5, &[]);
    let drift: Vec<&Value> =
        json["findings"].as_array().unwrap().iter().filter(|one| one["code"] == "drift").collect();
    assert_eq!(drift.len(), 2, "{json:#}");
    let of = |id: &str| drift.iter().find(|one| one["id"] == id).unwrap_or_else(|| panic!("{id}: {json:#}"));
    assert_eq!(
        of(&apples)["fields"],
        serde_json::json!([{ "path": "title", "before": "Changed by hand", "after": "Keeping apples" }]),
        "{json:#}"
    );
    assert_eq!(of(&plums)["fields"][0]["path"], "publishedAt", "{json:#}");
    assert_eq!(
        (&one(&json, "wrong-id")["id"], &one(&json, "wrong-id")["repair"]),
        (&plums.into(), &"update".into())
    );
    assert_eq!(one(&json, "status")["id"], korean, "{json:#}");
    assert_eq!(one(&json, "claim")["id"], pears, "{json:#}");
    assert_eq!(one(&json, "pointer")["id"], pears, "{json:#}");
    let foreign: Vec<(&Value, &Value)> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["code"] == "foreign")
        .map(|one| (&one["id"], &one["level"]))
        .collect();
    assert_eq!(
        foreign,
        [(&"by-hand".into(), &"difference".into()), (&"counter".into(), &"note".into())],
        "{json:#}"
    );
    let told: Told = blog.run(&["verify", "--format", "github"]);
    assert!(told.out.lines().filter(|line| line.starts_with("::error ")).count() >= 6, "{told}");
    told.says(&["title=drift", "title=wrong-id", "::notice title=foreign"]);
    let told = blog.run(&["verify", "--format", "markdown"]);
    told.says(&["| **drift** |", "### idempost: 7 differences"]);
    let told = blog.run(&["verify", "--format", "ndjson"]);
    assert_eq!(told.out.lines().filter(|line| line.contains("\"event\":\"finding\"")).count(), 8, "{told}");
}

fn a_repair_mends_what_is_ours_and_leaves_the_rest(blog: &Blog) {
    let [apples, ..] = tampered(blog);
    foreign(blog);
    // A post of another tree in the same collection, as wrong as it can be.
    let mut theirs = blog.stored.get(&apples);
    theirs.extend(doc! { "_id": "theirs", "slug": "theirs", "title": "Not ours", "live": true });
    let Some(Bson::Document(ingest)) = theirs.get_mut("ingest") else { panic!("it is ours") };
    ingest.insert("source", "elsewhere");
    ingest.insert("claim", doc! { "runId": "gone", "until": bson::DateTime::from_millis(5) });
    blog.stored.put(&theirs);

    let untouched = ["by-hand", "counter", "theirs"].map(|id| blog.stored.get(id));
    let json = verify(blog, 5, &["--repair"]);
    assert_eq!(
        found(&json),
        [("foreign", "quinces"), ("pointer", "pears"), ("foreign", "counter")],
        "{json:#}"
    );
    assert_eq!(json["repair"]["applied"]["update"], 2, "{json:#}");
    assert_eq!(json["repair"]["applied"]["restamp"], 2, "{json:#}");
    assert_eq!(["by-hand", "counter", "theirs"].map(|id| blog.stored.get(id)), untouched);
    assert_eq!(blog.stored.get(&apples).get_i32("views").ok(), Some(41), "what the website keeps survives");
    assert_eq!(json["summary"]["otherSources"], 1, "{json:#}");
    // Nothing is left that a repair could do.
    let watch = blog.stored.watch();
    let again = verify(blog, 5, &["--repair"]);
    assert_eq!(again["repair"]["applied"]["restamp"], 0, "{again:#}");
    assert_eq!(watch.written(), [] as [String; 0]);
}

fn orphans_are_archived_where_that_is_asked_for(blog: &Blog) {
    blog.ingested();
    blog.remove("plums.md");
    let json = verify(blog, 5, &["--repair"]);
    assert_eq!(found(&json), [("orphan", "plums")], "{json:#}");
    let json = verify(blog, 0, &["--repair", "--prune"]);
    assert_eq!(json["repair"]["applied"]["archive"], 1, "{json:#}");
    assert_eq!(blog.stored.find("plums", "en").get_str("status").ok(), Some("archived"));
    looked(blog, 0, &[]);
}

fn a_post_that_was_made_otherwise_is_found_by_rendering(blog: &Blog) {
    blog.ingested();
    let apples = id(blog, "apples", "en");
    // Whoever changes the digest too escapes every comparison of digests.
    edit(blog, &apples, |post| {
        post.insert("title", "Changed with its digest");
        let content = idempost::store::document::content_of(post);
        let digest = idempost::identity::ContentHash::of_fields(&content);
        let Some(Bson::Document(ingest)) = post.get_mut("ingest") else { panic!("it is ours") };
        ingest.insert("contentHash", digest.as_str());
    });
    looked(blog, 0, &[]);
    let json = looked(blog, 5, &["--render"]);
    assert_eq!(one(&json, "drift")["fields"][0]["before"], "Changed with its digest", "{json:#}");
    verify(blog, 0, &["--repair", "--render"]);
    assert_eq!(blog.stored.get(&apples).get_str("title").ok(), Some("Keeping apples"));
}

fn an_invalid_file_stops_a_repair(blog: &Blog) {
    let [apples, ..] = tampered(blog);
    blog.edit("pears.md", "date: 2031-03-05T08:00:00Z", "date: 2031-13-05");
    let json = verify(blog, 4, &["--repair"]);
    assert_eq!(json["repair"], Value::Null, "{json:#}");
    assert_eq!(blog.stored.get(&apples).get_str("title").ok(), Some("Changed by hand"));
    let json = verify(blog, 4, &["--repair", "--keep-going"]);
    assert_eq!(blog.stored.get(&apples).get_str("title").ok(), Some("Keeping apples"), "{json:#}");
}
