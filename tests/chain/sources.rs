//! Several trees in one collection, and a collection that somebody else writes to.

use bson::{Bson, doc};

use crate::blog::{Blog, POSTS};

on_both_stores!(
    two_sources_leave_each_other_alone,
    a_post_of_another_source_is_refused,
    a_hand_made_post_is_not_joined_by_others,
    a_hand_made_post_with_the_same_slug_is_refused,
    a_hand_made_post_with_the_same_id_is_refused,
    what_is_no_post_may_lie_beside_them,
);

const WALNUT: &str = "---\ntitle: Walnuts\nslug: walnuts\ndate: 2031-06-01\n---\n\nCrack them.\n";

/// A second tree beside the first; its configuration.
fn second_tree(blog: &Blog, slug: &str) -> String {
    let folder = blog.folder().join("second");
    std::fs::create_dir_all(folder.join("notes")).unwrap();
    let config = folder.join("idempost.toml");
    std::fs::write(&config, "content = \"notes\"\nsource = \"nuts\"\ntimezone = \"Asia/Seoul\"\n").unwrap();
    std::fs::write(folder.join("notes/walnuts.md"), WALNUT.replace("walnuts", slug)).unwrap();
    config.to_str().unwrap().to_owned()
}

fn two_sources_leave_each_other_alone(blog: &Blog) {
    blog.ingested();
    let orchard = blog.stored.documents();
    let nuts = second_tree(blog, "walnuts");
    let run = blog.ingest(0, &["--config", &nuts, "--prune"]);
    assert_eq!((&run["applied"]["create"], &run["applied"]["archive"]), (&1.into(), &0.into()), "{run}");
    assert_eq!(run["summary"]["orphans"], 0, "posts of another source are no orphans: {run}");
    let after = blog.stored.documents();
    assert_eq!(after.len(), POSTS + 1);
    assert!(orchard.iter().all(|document| after.contains(document)));
    blog.refused(0, &["--prune"]).says(&["nothing changed: 4 unchanged"]);
    // Revisions are counted by each source for itself.
    blog.ingest(0, &["--revision", "90"]);
    std::fs::write(blog.folder().join("second/notes/pecans.md"), WALNUT.replace("walnuts", "pecans"))
        .unwrap();
    assert_eq!(blog.ingest(0, &["--config", &nuts, "--revision", "2"])["applied"]["create"], 1);
}

fn a_post_of_another_source_is_refused(blog: &Blog) {
    blog.ingested();
    let nuts = second_tree(blog, "pears");
    let told = blog.refused(5, &["--config", &nuts]);
    told.says(&["other-source", "walnuts.md", "\"orchard\"", "\"nuts\"", "help: set `source`"]);
}

/// As another program keeps a post.
fn hand_made(blog: &Blog, id: &str, slug: &str) {
    // There is a collection only after a first run.
    let published = bson::DateTime::from_millis(1_930_000_000_000);
    blog.stored
        .put(&doc! { "_id": id, "slug": slug, "lang": "en", "publishedAt": published, "title": "By hand" });
}

fn a_hand_made_post_is_not_joined_by_others(blog: &Blog) {
    blog.ingested();
    hand_made(blog, "by-hand-1", "medlars");
    blog.refused(0, &[]).says(&["nothing changed"]);
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n");
    let told = blog.refused(5, &[]);
    told.says(&["foreign-collection", "quinces.md", "by-hand-1", "medlars", "--collection"]);
}

fn a_hand_made_post_with_the_same_slug_is_refused(blog: &Blog) {
    blog.ingested();
    let published = bson::DateTime::from_millis(1_930_000_000_000);
    blog.stored.put(&doc! {
        "_id": "by-hand-2", "slug": "quinces", "lang": "en", "publishedAt": published, "status": "active", "live": true,
    });
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n");
    blog.refused(5, &[]).says(&["foreign-collection", "quinces.md", "by-hand-2"]);
}

fn a_hand_made_post_with_the_same_id_is_refused(blog: &Blog) {
    blog.ingested();
    let mut document = blog.stored.find("plums", "en");
    let id = document.get_str("_id").unwrap().to_owned();
    document.insert("slug", "other-plums");
    blog.stored.put(&document);
    blog.refused(5, &[]).says(&["id-taken", "plums.md", &id, "\"other-plums\""]);
    // Without bookkeeping it is nobody's that we know.
    document.insert("slug", "plums");
    document.remove("ingest");
    blog.stored.put(&document);
    blog.refused(5, &[]).says(&["id-taken", "plums.md", &id]);
}

fn what_is_no_post_may_lie_beside_them(blog: &Blog) {
    blog.ingested();
    blog.stored.put(&doc! { "_id": "counter", "value": Bson::Int64(3) });
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n");
    assert_eq!(blog.ingest(0, &[])["applied"]["create"], 1);
    assert_eq!(blog.stored.documents().len(), POSTS + 2);
}
