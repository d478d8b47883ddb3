//! Random pushes, and all of them undone, the newest first: after each undo the store says what it said before
//! that push. The seeds are fixed; a failure names its own.

use std::collections::BTreeMap;

use bson::Document;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

use crate::blog::Blog;
use crate::undo::{all, run_id};

const SEEDS: u64 = 6;
const PUSHES: usize = 5;
const NAMES: [&str; 6] = ["figs", "grapes", "hazels", "limes", "medlars", "nuts"];

/// A random state of six files: each there, a draft, or not there.
fn shuffle(blog: &Blog, rng: &mut SmallRng) {
    for (at, name) in NAMES.iter().enumerate() {
        let file = format!("{name}.md");
        let text = |rng: &mut SmallRng, draft: bool| {
            let tags = ["[a]", "[a, b]", "[]"].choose(rng).unwrap();
            let edition: u8 = rng.random_range(0..4);
            format!(
                "---\ntitle: {name} {edition}\ndate: 2031-04-0{}\ndraft: {draft}\ntags: {tags}\n---\n\nText {edition}.\n",
                at + 1
            )
        };
        match rng.random_range(0..10) {
            0..4 => blog.write(&file, text(rng, false)),
            4 => blog.write(&file, text(rng, true)),
            5 | 6 => drop(std::fs::remove_file(blog.path(&file))),
            _ => {}
        }
    }
}

/// What readers can see, and what stays archived; a post that is archived has never to be as it was.
fn shown(blog: &Blog) -> BTreeMap<String, Document> {
    let live = |document: &Document| document.get_bool("live").unwrap_or(false);
    let id = |document: Document| (document.get_str("_id").unwrap().to_owned(), document);
    all(blog).into_iter().filter(live).map(id).collect()
}

fn rounds(seed: u64, blog: &Blog) {
    let mut rng = SmallRng::seed_from_u64(seed);
    blog.ingested();
    let mut undone: Vec<(String, BTreeMap<String, Document>, String)> = Vec::new();
    for push in 0..PUSHES {
        let before = shown(blog);
        let by_hand = push > 0 && rng.random_range(0..4) == 0;
        let slug = NAMES.choose(&mut rng).copied().unwrap();
        let known =
            blog.stored.documents().iter().any(|one| one.get_str("slug").is_ok_and(|had| had == slug));
        let (told, what) = if by_hand && known {
            let verb = if rng.random_range(0..2) == 0 { "archive" } else { "restore" };
            (blog.run(&[verb, slug, "--format", "json"]), format!("{verb} {slug}"))
        } else {
            shuffle(blog, &mut rng);
            (blog.run(&["ingest", "--prune", "--max-prune", "100%", "--format", "json"]), "push".to_owned())
        };
        assert_eq!(told.exit, 0, "seed {seed}, {what}: {told}");
        undone.push((run_id(&told.json()), before, format!("seed {seed}, {what} {push}")));
    }
    let latest = shown(blog);
    let mut undos = Vec::new();
    for (run, before, what) in undone.iter().rev() {
        let told = blog.run(&["undo", run, "--format", "json"]);
        assert_eq!(told.exit, 0, "{what}: {told}");
        assert_eq!(shown(blog), *before, "{what}: undone");
        let again = blog.run(&["undo", run, "--format", "json"]);
        assert_eq!((again.exit, shown(blog)), (0, before.clone()), "{what}: undone twice");
        undos.push(run_id(&told.json()));
    }
    for undo in undos.iter().rev() {
        let told = blog.run(&["undo", undo]);
        assert_eq!(told.exit, 0, "seed {seed}: {told}");
    }
    assert_eq!(shown(blog), latest, "seed {seed}: every undo undone");
}

#[test]
fn what_was_pushed_is_undone_in_sqlite() {
    (0..SEEDS).for_each(|seed| rounds(seed, &Blog::on_sqlite()));
}

#[test]
fn what_was_pushed_is_undone_on_a_server() {
    (0..SEEDS / 2).for_each(|seed| rounds(100 + seed, &Blog::on_server()));
}
