//! What is frozen is refused: exit 5, the store byte for byte as it was, and a message that a person can act on.

use crate::blog::{Blog, POSTS, Told};

on_both_stores!(
    another_date_is_refused,
    a_removed_date_is_refused,
    removed_front_matter_is_refused,
    another_slug_is_refused,
    another_language_is_refused,
    one_conflict_holds_back_the_run_unless_told_to_go_on,
);

/// The refusal in JSON, of which there is one.
fn conflict(blog: &Blog) -> serde_json::Value {
    let told: Told = blog.refused(5, &["--format", "json"]);
    let json = told.json();
    let changes = json["changes"].as_array().unwrap();
    let conflicts: Vec<_> = changes.iter().filter(|one| one["action"] == "conflict").collect();
    assert_eq!(conflicts.len(), 1, "{told}");
    assert_eq!(json["summary"]["conflict"], 1, "{told}");
    assert!(json["applied"].as_object().unwrap().values().all(|number| *number == 0), "{told}");
    conflicts[0].clone()
}

fn id(blog: &Blog, slug: &str) -> String {
    blog.stored.find(slug, "en").get_str("_id").unwrap().to_owned()
}

fn another_date_is_refused(blog: &Blog) {
    blog.ingested();
    let stored = id(blog, "pears");
    blog.edit("pears.md", "2031-03-05T08:00:00Z", "2031-03-05T08:00:01Z");
    // Another edit, which waits with it.
    blog.edit("plums.md", "Stone them.", "Dry them.");
    let json = conflict(blog);
    assert_eq!(json["reason"], "frozen-date");
    let new = json["id"].as_str().unwrap().to_owned();
    assert_ne!(new, stored);
    let all = [
        "frozen-date",
        "content/pears.md",
        "2031-03-05T08:00:00",
        "2031-03-05T08:00:01",
        &stored,
        &new,
        "help: put",
    ];
    blog.refused(5, &[]).says(&all);
    blog.refused(5, &["--quiet"]).says(&all);
    blog.refused(5, &["--format", "github"]).says(&[
        "::error file=content/pears.md",
        "frozen-date",
        &stored,
        &new,
    ]);
    let lines = blog.refused(5, &["--format", "ndjson"]);
    assert!(lines.out.lines().any(|line| line.contains("frozen-date") && line.contains(&stored)), "{lines}");
    let diff = blog.run(&["diff"]);
    assert_eq!(diff.exit, 5, "{diff}");
    diff.says(&all);

    blog.edit("pears.md", "2031-03-05T08:00:01Z", "2031-03-05T17:00:00+09:00");
    let run = blog.ingest(0, &[]);
    assert_eq!(run["applied"]["update"], 2, "the same instant, written otherwise, is no other date: {run}");
}

fn a_removed_date_is_refused(blog: &Blog) {
    blog.ingested();
    let stored = id(blog, "pears");
    blog.edit("pears.md", "date: 2031-03-05T08:00:00Z\n", "");
    assert_eq!(conflict(blog)["reason"], "frozen-field-removed");
    blog.refused(5, &[]).says(&["frozen-field-removed", "content/pears.md", "no date", &stored, "help: put"]);
    blog.refused(5, &["--prune"]);
}

fn removed_front_matter_is_refused(blog: &Blog) {
    blog.ingested();
    blog.write("pears.md", "Only text is left.\n");
    assert_eq!(conflict(blog)["reason"], "frozen-field-removed");
    blog.refused(5, &[]).says(&[
        "frozen-field-removed",
        "content/pears.md",
        "no front matter",
        "draft: true",
    ]);
    blog.write("pears.md", "");
    assert_eq!(conflict(blog)["reason"], "frozen-field-removed");
}

fn another_slug_is_refused(blog: &Blog) {
    blog.ingested();
    let stored = id(blog, "pears");
    blog.edit("pears.md", "slug: pears", "slug: pears-and-more");
    let json = conflict(blog);
    assert_eq!(json["reason"], "frozen-slug");
    let new = json["id"].as_str().unwrap().to_owned();
    blog.refused(5, &[]).says(&[
        "frozen-slug",
        "content/pears.md",
        "\"pears\"",
        "\"pears-and-more\"",
        &stored,
        &new,
    ]);
    // The same through a new file name, found by the translation key.
    blog.rename("pears.md", "elsewhere.md");
    assert_eq!(conflict(blog)["reason"], "frozen-slug");
}

fn another_language_is_refused(blog: &Blog) {
    blog.ingested();
    let stored = id(blog, "plums");
    blog.edit("plums.md", "slug = \"plums\"\n", "slug = \"plums\"\nlang = \"ko\"\n");
    let json = conflict(blog);
    assert_eq!(json["reason"], "frozen-lang");
    let new = json["id"].as_str().unwrap().to_owned();
    blog.refused(5, &[]).says(&[
        "frozen-lang",
        "content/plums.md",
        "\"en\"",
        "\"ko\"",
        &stored,
        &new,
        "help: put",
    ]);
}

fn one_conflict_holds_back_the_run_unless_told_to_go_on(blog: &Blog) {
    blog.ingested();
    let pears = blog.stored.find("pears", "en");
    blog.edit("pears.md", "2031-03-05T08:00:00Z", "2031-03-08T08:00:00Z");
    blog.edit("plums.md", "Stone them.", "Dry them.");
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: not a date\n---\n\nNew.\n");
    blog.refused(4, &[]).says(&["content/quinces.md:3", "nothing was written"]);

    let run = blog.ingest(3, &["--keep-going"]);
    assert_eq!((&run["applied"]["update"], &run["summary"]["conflict"]), (&1.into(), &1.into()), "{run}");
    assert_eq!(run["summary"]["invalid"], 1, "{run}");
    let codes: Vec<&str> =
        run["diagnostics"].as_array().unwrap().iter().filter_map(|one| one["file"].as_str()).collect();
    assert_eq!(codes, ["quinces.md"], "{run}");
    assert_eq!(blog.stored.documents().len(), POSTS);
    assert_eq!(blog.stored.find("pears", "en"), pears);
    assert!(blog.stored.find("plums", "en").get_str("body").unwrap().contains("Dry them."));
}
