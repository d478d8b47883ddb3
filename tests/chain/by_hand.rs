//! `archive` and `restore`: what a person asks for stays, whatever the tree says, until a person asks again.

use bson::Document;

use crate::blog::{Blog, POSTS};

on_both_stores!(
    a_post_archived_by_hand_stays_so,
    restoring_shows_it_as_it_is_stored,
    a_second_time_does_nothing,
    what_pruning_archived_can_be_kept_down,
    a_dry_run_writes_nothing,
    posts_are_named_in_four_ways,
    what_is_not_clear_is_refused,
    what_is_not_ours_is_refused,
    a_move_is_not_undone_by_hand,
    a_fence_keeps_it_archived,
);

fn state(document: &Document) -> (&str, bool) {
    (document.get_str("status").unwrap(), document.get_bool("live").unwrap_or(false))
}

fn archived_by(document: &Document) -> Option<&str> {
    document.get_document("ingest").unwrap().get_str("archivedBy").ok()
}

fn a_post_archived_by_hand_stays_so(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.find("pears", "en");
    let id = before.get_str("_id").unwrap();
    blog.stored.plant(id, bson::doc! { "views": 7 });
    let watch = blog.stored.watch();
    let told = blog.run(&["archive", "pears", "--format", "json"]);
    assert_eq!(told.exit, 0, "{told}");
    let run = told.json();
    assert_eq!((&run["applied"]["archive"], &run["exit"]), (&1.into(), &0.into()), "{told}");
    assert_eq!(watch.written(), [id]);
    let archived = blog.stored.get(id);
    assert_eq!(state(&archived), ("archived", false));
    assert_eq!(archived_by(&archived), run["runId"].as_str());
    assert_eq!(archived.get("body"), before.get("body"), "the text is kept");
    assert_eq!(archived.get_i32("views").unwrap(), 7);

    // The next pushes, one of them with another text, leave it; diff says why.
    blog.refused(0, &[]).says(&["nothing changed", "1 post of the tree was archived by hand", "pears:en"]);
    blog.edit("pears.md", "title: Pears", "title: Ripe pears");
    blog.refused(0, &["--force", "--dry-run"]);
    blog.refused(0, &["--prune"]);
    let diff = blog.run(&["diff", "-v", "-v"]);
    diff.says(&["(by-hand)", &format!("idempost restore {id}")]);
    assert_eq!(blog.run(&["verify"]).exit, 0, "it is no difference");
}

fn restoring_shows_it_as_it_is_stored(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.find("pears", "en");
    let id = before.get_str("_id").unwrap();
    assert_eq!(blog.run(&["archive", id]).exit, 0);
    blog.edit("pears.md", "title: Pears", "title: Ripe pears");
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
    let told = blog.run(&["restore", "pears"]);
    told.says(&["done: 1 restored"]);
    let restored = blog.stored.get(id);
    assert_eq!((state(&restored), archived_by(&restored)), (("active", true), None));
    assert_eq!(restored.get("title"), before.get("title"), "as it is stored");
    // From now on the tree is asked again.
    assert_eq!(blog.ingest(0, &[])["applied"]["update"], 1);

    blog.remove("plums.md");
    assert_eq!(blog.run(&["archive", "plums"]).exit, 0);
    blog.run(&["restore", "plums"]).says(&["plums.md is not in the tree", "--prune"]);
    assert_eq!(blog.ingest(0, &["--prune"])["applied"]["archive"], 1);
}

fn a_second_time_does_nothing(blog: &Blog) {
    blog.ingested();
    for (verb, wanted) in [("archive", "archived"), ("restore", "active")] {
        assert_eq!(blog.run(&[verb, "pears", "plums", "pears.md"]).exit, 0);
        let before = blog.stored.bytes();
        let watch = blog.stored.watch();
        let told = blog.run(&[verb, "pears", "plums"]);
        assert_eq!(told.exit, 0, "{told}");
        told.says(&["nothing changed: 2 unchanged"]);
        assert_eq!(watch.written(), [] as [String; 0], "{told}");
        assert_eq!(blog.stored.bytes(), before);
        assert_eq!(state(&blog.stored.find("pears", "en")).0, wanted);
    }
    let first = blog.run(&["archive", "pears", "--operation-id", "take-down", "--format", "json"]).json();
    let again = blog.run(&["archive", "pears", "--operation-id", "take-down", "--format", "json"]).json();
    assert_eq!((&again["replayed"], &again["runId"]), (&true.into(), &first["runId"]));
    assert_eq!(blog.run(&["archive", "plums", "--operation-id", "take-down"]).exit, 5);
}

/// Pruned, a post comes back with its file; archived by hand on top of that it does not.
fn what_pruning_archived_can_be_kept_down(blog: &Blog) {
    blog.ingested();
    let text = std::fs::read(blog.path("plums.md")).unwrap();
    blog.remove("plums.md");
    assert_eq!(blog.ingest(0, &["--prune"])["applied"]["archive"], 1);
    blog.run(&["archive", "plums"]).says(&["done: 1 restamped"]);
    blog.write("plums.md", text);
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
    assert_eq!(state(&blog.stored.find("plums", "en")), ("archived", false));
}

fn a_dry_run_writes_nothing(blog: &Blog) {
    blog.ingested();
    let runs = blog.run(&["runs"]).out;
    let before = blog.stored.bytes();
    blog.run(&["archive", "-n", "pears"]).says(&["archive    content/pears.md", "to do: 1 archive"]);
    let plan = blog.run(&["archive", "--dry-run", "pears", "--format", "json"]).json();
    assert_eq!(plan["summary"]["archive"], 1, "{plan}");
    assert_eq!(blog.stored.bytes(), before);
    assert_eq!(blog.run(&["runs"]).out, runs, "no row either");
}

fn posts_are_named_in_four_ways(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("pears", "en").get_str("_id").unwrap().to_lowercase();
    let content = blog.path("");
    for (cwd, name) in [
        (blog.folder(), id.as_str()),
        (blog.folder(), "content/pears.md"),
        (blog.folder(), "pears.md"),
        (&content, "./pears.md"),
        (blog.folder(), "pears"),
        (blog.folder(), "pears:en"),
    ] {
        let told = blog.run_in(cwd, &["archive", name]);
        assert_eq!(told.exit, 0, "{name}: {told}");
        assert_eq!(state(&blog.stored.find("pears", "en")).0, "archived", "{name}");
        assert_eq!(blog.run_in(cwd, &["restore", name]).exit, 0, "{name}");
    }
    assert_eq!(blog.run(&["archive", "apples:KO"]).exit, 0, "a language in another case");
    assert_eq!(state(&blog.stored.find("apples", "ko")).0, "archived");
    assert_eq!(blog.run(&["archive", "apples"]).exit, 0, "one of the two is live: that one is meant");
    assert_eq!(state(&blog.stored.find("apples", "en")).0, "archived");
    blog.run(&["explain", "pears:en"]).says(&["pears.md"]);
}

fn what_is_not_clear_is_refused(blog: &Blog) {
    blog.ingested();
    let before = blog.stored.bytes();
    let runs = blog.run(&["runs"]).out;
    let ids = ["en", "ko"].map(|lang| blog.stored.find("apples", lang).get_str("_id").unwrap().to_owned());
    let told = blog.run(&["archive", "pears", "apples"]);
    assert_eq!(told.exit, 64, "{told}");
    told.says(&["\"apples\" can be any of 2 posts", &ids[0], &ids[1], "apples:ko"]);
    let told = blog.run(&["restore", "peers"]);
    assert_eq!(told.exit, 64, "{told}");
    told.says(&["no stored post goes by \"peers\"", "is it pears:en?"]);
    for bad in ["", "../../etc/passwd", "01ARZ3NDEKTSV4RRFFQ69G5FAV", ":", "apples:", "\u{1f34e}"] {
        assert_eq!(blog.run(&["archive", bad]).exit, 64, "{bad:?}");
    }
    assert_eq!(blog.run(&["archive"]).exit, 64);
    assert_eq!(blog.stored.bytes(), before);
    assert_eq!(blog.run(&["runs"]).out, runs);
}

fn what_is_not_ours_is_refused(blog: &Blog) {
    blog.ingested();
    blog.stored.put(&bson::doc! { "_id": "hand-made", "slug": "figs", "lang": "en", "title": "Figs" });
    let before = blog.stored.bytes();
    for (args, says) in [
        (&["archive", "figs"][..], "stored by somebody else"),
        (&["archive", "pears", "--source", "vineyard"], "belongs to source"),
        (&["restore", "hand-made"], "stored by somebody else"),
    ] {
        let told = blog.run(args);
        assert_eq!(told.exit, 5, "{told}");
        told.says(&[says]);
    }
    assert_eq!(blog.stored.bytes(), before);
}

/// Whatever the lifecycle does not draw is refused by every verb.
fn a_move_is_not_undone_by_hand(blog: &Blog) {
    blog.ingested();
    let mut old = blog.stored.find("pears", "en");
    old.insert("status", "superseded");
    old.remove("live");
    old.insert("supersededBy", "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    blog.stored.put(&old);
    let before = blog.stored.bytes();
    for verb in ["archive", "restore"] {
        let told = blog.run(&[verb, "pears"]);
        assert_eq!(told.exit, 5, "{told}");
        told.says(&["not-drawn", "from \"superseded\"", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    }
    blog.refused(5, &[]).says(&["superseded by 01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    assert_eq!(blog.stored.bytes(), before);
}

/// A forced run writes every post; the archived one keeps its status and its mark.
fn a_fence_keeps_it_archived(blog: &Blog) {
    blog.ingested();
    assert_eq!(blog.run(&["archive", "pears"]).exit, 0);
    let by = archived_by(&blog.stored.find("pears", "en")).map(str::to_owned);
    assert!(by.is_some());
    assert_eq!(blog.ingest(0, &["--force"])["applied"]["update"], POSTS - 1);
    assert_eq!(blog.ingest(0, &["--repair"])["summary"]["unchanged"], POSTS);
    let after = blog.stored.find("pears", "en");
    assert_eq!((state(&after), archived_by(&after)), (("archived", false), by.as_deref()));
}
