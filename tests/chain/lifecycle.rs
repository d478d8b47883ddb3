//! Drafts, deletions, and what `--prune` may take away.

use bson::Document;

use crate::blog::{Blog, POSTS};

on_both_stores!(
    a_draft_is_archived_and_comes_back,
    a_deleted_file_is_an_orphan,
    pruning_needs_a_source,
    pruning_archives_what_no_file_makes,
    pruning_stops_at_its_limit,
    pruning_waits_for_broken_files,
    pruning_waits_for_what_cannot_be_read,
    an_expired_post_is_stored_and_the_reader_leaves_it_out,
    an_empty_tree_archives_nothing,
);

/// Status and `live` of a post, as readers ask for them.
fn state(document: &Document) -> (&str, bool) {
    (document.get_str("status").unwrap(), document.get_bool("live").unwrap_or(false))
}

fn a_draft_is_archived_and_comes_back(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.find("pears", "en");
    assert_eq!(state(&before), ("active", true));
    let id = before.get_str("_id").unwrap();

    blog.edit("pears.md", "title: Pears", "title: Pears\ndraft: true");
    let watch = blog.stored.watch();
    let run = blog.ingest(0, &[]);
    assert_eq!(run["applied"]["archive"], 1, "{run}");
    assert_eq!(run["changes"][0]["reason"], "draft", "{run}");
    assert_eq!(watch.written(), [id]);
    let archived = blog.stored.get(id);
    assert_eq!(state(&archived), ("archived", false));
    assert_eq!(archived.get("body"), before.get("body"), "the text is kept");
    blog.refused(0, &[]).says(&["nothing changed"]);

    blog.edit("pears.md", "draft: true\n", "");
    let run = blog.ingest(0, &[]);
    assert_eq!(run["applied"]["restore"], 1, "{run}");
    let restored = blog.stored.get(id);
    assert_eq!(state(&restored), ("active", true));
    let readers = |mut document: Document| {
        document.remove("ingest");
        document
    };
    assert_eq!(readers(restored), readers(before));
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
}

fn a_deleted_file_is_an_orphan(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("plums", "en").get_str("_id").unwrap().to_owned();
    blog.remove("plums.md");
    let told = blog.refused(0, &["--format", "json"]);
    let run = told.json();
    assert_eq!(run["orphans"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(run["orphans"][0]["id"], id.as_str(), "{told}");
    assert_eq!(run["orphans"][0]["path"], "plums.md", "{told}");
    assert_eq!(run["summary"]["orphans"], 1, "{told}");
    let person = blog.refused(0, &[]);
    person.says(&[
        "orphan     plums in en, once content/plums.md",
        "1 live post in the store that no file makes",
    ]);
    assert_eq!(state(&blog.stored.get(&id)), ("active", true));
}

fn pruning_needs_a_source(blog: &Blog) {
    blog.configure("");
    assert_eq!(blog.ingest(0, &[])["applied"]["create"], POSTS);
    blog.remove("plums.md");
    blog.refused(64, &["--prune"]).says(&["--prune needs `source`", "--source"]);
    blog.configure("source = \"orchard\"\n");
    blog.refused(64, &["--prune", "content/pears.md"]).says(&["--prune", "PATH"]);
}

fn pruning_archives_what_no_file_makes(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("plums", "en").get_str("_id").unwrap().to_owned();
    blog.remove("plums.md");
    let watch = blog.stored.watch();
    let run = blog.ingest(0, &["--prune", "--max-prune", "1"]);
    assert_eq!(run["applied"]["archive"], 1, "{run}");
    assert_eq!(run["changes"][0]["reason"], "gone", "{run}");
    assert_eq!(watch.written(), [id.as_str()]);
    assert_eq!(state(&blog.stored.get(&id)), ("archived", false));
    blog.refused(0, &["--prune"]).says(&["nothing changed: 3 unchanged"]);

    blog.write("plums.md", "---\ntitle: Plums\ndate: 2031-03-06\n---\n\nBack.\n");
    let run = blog.ingest(0, &[]);
    assert_eq!((&run["applied"]["restore"], &run["applied"]["create"]), (&1.into(), &0.into()), "{run}");
    let restored = blog.stored.get(&id);
    assert_eq!(state(&restored), ("active", true));
    assert!(restored.get_str("body").unwrap().contains("Back."));
}

fn pruning_stops_at_its_limit(blog: &Blog) {
    blog.ingested();
    blog.remove("plums.md");
    blog.remove("pears.md");
    let told = blog.refused(7, &["--prune", "--max-prune", "1"]);
    told.says(&["2 of 4 live posts would be archived", "--max-prune 2"]);
    blog.refused(7, &["--prune", "--max-prune", "0"]);
    assert_eq!(blog.run(&["diff", "--prune", "--max-prune", "1"]).exit, 7);
    assert_eq!(blog.ingest(0, &["--prune", "--max-prune", "50%"])["applied"]["archive"], 2);
}

/// What a broken file makes is not known, so what seems gone may be in it.
fn pruning_waits_for_broken_files(blog: &Blog) {
    blog.ingested();
    blog.edit("plums.md", "slug = \"plums\"\n", "slug = \"plums\n");
    blog.refused(4, &["--prune", "--max-prune", "100%"]).says(&["content/plums.md"]);
    blog.refused(7, &["--prune", "--max-prune", "100%", "--keep-going"])
        .says(&["--prune refused", "plums.md"]);
}

/// What cannot be read at all could be the very post that seems gone.
fn pruning_waits_for_what_cannot_be_read(blog: &Blog) {
    blog.ingested();
    let plums = std::fs::read(blog.path("plums.md")).unwrap();
    let prune = ["--prune", "--max-prune", "100%", "--keep-going"];
    // No regular file in its place: a file that cannot be opened, for root too.
    blog.remove("plums.md");
    let socket = std::os::unix::net::UnixListener::bind(blog.path("plums.md")).unwrap();
    blog.refused(7, &prune).says(&["--prune refused", "plums.md"]);
    drop(socket);
    blog.remove("plums.md");
    // Not read because it is too large.
    blog.configure("source = \"orchard\"\n[limits]\nfile = \"1KiB\"\n");
    blog.write("plums.md", [plums.as_slice(), &[b' '; 2_000]].concat());
    blog.refused(7, &prune).says(&["--prune refused", "plums.md"]);
    blog.configure("source = \"orchard\"\n");
    // In a folder that is not read.
    blog.remove("plums.md");
    let deep = "d/".repeat(300);
    if std::fs::create_dir_all(blog.path(&deep)).is_ok() {
        blog.write(&format!("{deep}plums.md"), &plums);
        blog.refused(7, &prune).says(&["--prune refused"]);
        std::fs::remove_dir_all(blog.path("d")).unwrap();
    }
    // Once everything can be read, what is gone is archived.
    assert_eq!(blog.ingest(0, &prune)["applied"]["archive"], 1);
}

/// No run has to come for a post to expire: the reader asks for it, as `docs/reading.md` says.
fn an_expired_post_is_stored_and_the_reader_leaves_it_out(blog: &Blog) {
    blog.edit("pears.md", "title: Pears", "title: Pears\nexpiryDate: 2001-01-01");
    blog.ingested();
    let pears = blog.stored.find("pears", "en");
    assert_eq!(state(&pears), ("active", true));
    assert_eq!(pears.get_datetime("expiresAt").unwrap().timestamp_millis(), 978_274_800_000, "in Seoul");
    blog.refused(0, &["--prune"]).says(&["nothing changed"]);
    blog.edit("pears.md", "expiryDate: 2001-01-01\n", "");
    assert_eq!(blog.ingest(0, &[])["applied"]["update"], 1);
    assert!(!blog.stored.find("pears", "en").contains_key("expiresAt"));
}

fn an_empty_tree_archives_nothing(blog: &Blog) {
    blog.ingested();
    std::fs::remove_dir_all(blog.path("")).unwrap();
    blog.refused(64, &["--prune"]).says(&["content"]);
    std::fs::create_dir(blog.path("")).unwrap();
    blog.refused(7, &["--prune", "--max-prune", "100%"]).says(&["no file under content", "--allow-empty"]);
    let run = blog.refused(0, &["--allow-empty", "--format", "json"]).json();
    assert_eq!(run["summary"]["orphans"], POSTS, "{run}");
}
