//! `undo`: what one run changed is put back, and nothing that came after it is written over.

use bson::Document;
use serde_json::Value;

use crate::blog::{Blog, Told};

on_both_stores!(
    a_push_is_undone,
    an_undo_is_undone,
    what_came_after_is_told_and_left,
    a_look_writes_nothing,
    a_stored_path_is_read_inside_the_tree_alone,
    only_what_is_ours_is_put_back,
    a_repair_is_undone,
    an_edit_in_the_database_is_not_written_over,
    what_was_done_by_hand_is_undone,
    a_run_of_another_source_is_not_undone,
    the_reports_are_those_of_a_run,
    what_is_not_kept_is_told,
    images_are_forgotten_with_their_run,
    a_run_is_named_well,
    revisions_start_anew,
);

/// As readers see it, and what describes it.
fn told(document: &Document) -> Document {
    let mut document = document.clone();
    let ingest = document.remove("ingest").unwrap().as_document().unwrap().clone();
    for key in ["contentHash", "path", "pipeline", "source", "linksHash", "archivedBy"] {
        if let Some(value) = ingest.get(key) {
            document.insert(format!("ingest.{key}"), value.clone());
        }
    }
    // Fields that are set again come last.
    let mut fields: Vec<_> = document.into_iter().collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    fields.into_iter().collect()
}

pub fn all(blog: &Blog) -> Vec<Document> {
    blog.stored.documents().iter().map(told).collect()
}

pub fn run_id(run: &Value) -> String {
    run["runId"].as_str().unwrap().to_owned()
}

fn undo(blog: &Blog, exit: i32, args: &[&str]) -> Told {
    let all: Vec<&str> = ["undo"].iter().chain(args).copied().collect();
    let told = blog.run(&all);
    assert_eq!(told.exit, exit, "{told}");
    told
}

/// Everything that a push can do: a post changed, one taken down, one a draft, one new.
pub fn push(blog: &Blog) -> String {
    edit(blog);
    let run = blog.ingest(0, &["--prune", "--max-prune", "4"]);
    let did = ["create", "update", "archive"].map(|action| run["applied"][action].as_u64().unwrap());
    assert_eq!(did, [1, 1, 2], "{run}");
    run_id(&run)
}

/// What [`push`] pushes.
pub fn edit(blog: &Blog) {
    blog.edit("pears.md", "title: Pears", "title: Quinces");
    blog.edit("apples.md", "title: Keeping", "draft: true\ntitle: Keeping");
    blog.remove("plums.md");
    blog.write("quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n");
}

fn a_push_is_undone(blog: &Blog) {
    blog.ingested();
    let before = all(blog);
    let run = push(blog);
    let undone = undo(blog, 0, &[&run, "--format", "json"]);
    let json = undone.json();
    let did = ["update", "restore", "archive"].map(|action| json["applied"][action].as_u64().unwrap());
    assert_eq!(did, [1, 2, 1], "{undone}");
    let mut after = all(blog);
    let made =
        after.iter().position(|post| post.get_str("slug").is_ok_and(|slug| slug == "quinces")).unwrap();
    assert_eq!(after.remove(made).get_str("status").unwrap(), "archived", "what the run made is archived");
    assert_eq!(after, before);

    // Asked for again there is nothing to do.
    let bytes = blog.stored.bytes();
    undo(blog, 0, &[&run]).says(&["nothing changed"]);
    assert_eq!(blog.stored.bytes(), bytes);
    // The tree still says it: the next push brings it back, and that was told.
    let hint = undo(blog, 0, &["-n", &run]);
    hint.hides(&["still say"]);
    assert_eq!(blog.ingest(0, &["--prune", "--max-prune", "4"])["applied"]["restore"], 1);
    undo(blog, 0, &["-n", &run]).says(&["pears.md", "what is undone", "git revert"]);
}

fn an_undo_is_undone(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    let pushed = all(blog);
    let first = run_id(&undo(blog, 0, &[&run, "--format", "json"]).json());
    assert_ne!(all(blog), pushed);
    undo(blog, 0, &[&first]);
    assert_eq!(all(blog), pushed);
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], 3, "as the tree says it");
}

fn what_came_after_is_told_and_left(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    blog.edit("pears.md", "title: Quinces", "title: Medlars");
    let later = run_id(&blog.ingest(0, &[]));
    let bytes = blog.stored.bytes();
    let refused = undo(blog, 5, &[&run]);
    refused.says(&["conflict", "pears.md", "changed-since", &later, "--keep-going"]);
    assert_eq!(blog.stored.bytes(), bytes, "nothing is written where one cannot be put back");
    undo(blog, 3, &[&run, "--keep-going"]);
    assert_eq!(blog.stored.find("pears", "en").get_str("title").unwrap(), "Medlars");
    assert_eq!(blog.stored.find("plums", "en").get_str("status").unwrap(), "active");
    // The newest first: then all of it goes.
    undo(blog, 0, &[&later]);
    undo(blog, 0, &[&run]);
    assert_eq!(blog.stored.find("pears", "en").get_str("title").unwrap(), "Pears");
}

/// Whatever a program wrote into the bookkeeping.
fn a_stored_path_is_read_inside_the_tree_alone(blog: &Blog) {
    blog.ingested();
    blog.edit("pears.md", "title: Pears", "title: Quinces");
    let run = run_id(&blog.ingest(0, &[]));
    let look = ["undo", "-n", &run];
    blog.run(&look).says(&["pears.md still says what is undone"]);
    let pears = blog.stored.find("pears", "en");
    let mut ingest = pears.get_document("ingest").unwrap().clone();
    ingest.insert("path", "../idempost.toml");
    blog.stored.plant(pears.get_str("_id").unwrap(), bson::doc! { "ingest": ingest });
    let told = blog.run(&look);
    assert_eq!(told.exit, 0, "{told}");
    told.hides(&["still says"]);
}

fn a_look_writes_nothing(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    let bytes = blog.stored.bytes();
    let runs = blog.run(&["runs"]).out;
    let look = undo(blog, 0, &["--dry-run", &run]);
    look.says(&["update", "pears.md", "Quinces", "Pears", "restore", "archive"]);
    assert_eq!((blog.stored.bytes(), blog.run(&["runs"]).out), (bytes, runs), "no row either");
}

fn only_what_is_ours_is_put_back(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    let id = blog.stored.find("pears", "en").get_str("_id").unwrap().to_owned();
    blog.stored.plant(&id, bson::doc! { "views": 41 });
    undo(blog, 0, &[&run]);
    let pears = blog.stored.get(&id);
    assert_eq!(pears.get_i32("views").unwrap(), 41, "a counter is nobody's business");
    assert_eq!(pears.get_str("title").unwrap(), "Pears");
}

fn a_repair_is_undone(blog: &Blog) {
    blog.ingested();
    let id = blog.stored.find("pears", "en").get_str("_id").unwrap().to_owned();
    blog.stored.plant(&id, bson::doc! { "title": "By somebody else" });
    let run = run_id(&blog.ingest(0, &["--repair"]));
    assert_eq!(blog.stored.get(&id).get_str("title").unwrap(), "Pears");
    undo(blog, 0, &[&run]);
    assert_eq!(blog.stored.get(&id).get_str("title").unwrap(), "By somebody else");
}

/// It leaves version and bookkeeping as they are: compare-and-set alone would not see it.
fn an_edit_in_the_database_is_not_written_over(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    let id = blog.stored.find("pears", "en").get_str("_id").unwrap().to_owned();
    blog.stored.plant(&id, bson::doc! { "title": "By the editor" });
    let bytes = blog.stored.bytes();
    undo(blog, 5, &[&run]).says(&["changed-since", "pears.md", "somebody changed a field", "--repair"]);
    assert_eq!(blog.stored.bytes(), bytes);
    undo(blog, 3, &[&run, "--keep-going"]);
    assert_eq!(blog.stored.get(&id).get_str("title").unwrap(), "By the editor");
    assert_eq!(blog.stored.find("plums", "en").get_str("status").unwrap(), "active", "the others are undone");
    // What is only shown or taken down keeps whatever was edited.
    let archived = run_id(&blog.run(&["archive", "pears", "--format", "json"]).json());
    undo(blog, 0, &[&archived]);
    undo(blog, 0, &[&archived]).says(&["nothing changed"]);
    assert_eq!(blog.stored.get(&id).get_str("title").unwrap(), "By the editor");
    blog.run(&["verify"]).says(&["drift"]);
}

fn what_was_done_by_hand_is_undone(blog: &Blog) {
    blog.ingested();
    let before = all(blog);
    let archived = run_id(&blog.run(&["archive", "pears", "plums", "--format", "json"]).json());
    let kept_down = all(blog);
    let restored = run_id(&blog.run(&["restore", "pears", "--format", "json"]).json());
    undo(blog, 0, &[&restored]);
    assert_eq!(all(blog), kept_down, "with the mark that it had: the next push leaves it archived");
    blog.refused(0, &[]).says(&["2 posts of the tree were archived by hand"]);
    undo(blog, 0, &[&archived]);
    assert_eq!(all(blog), before, "and without a mark");
    blog.refused(0, &[]).hides(&["by hand"]);
}

/// Two trees feed the collection: no verb of one touches a post or a run of the other.
fn a_run_of_another_source_is_not_undone(blog: &Blog) {
    blog.ingested();
    let run = push(blog);
    let bytes = blog.stored.bytes();
    let ours = blog.stored.find("pears", "en").get_str("_id").unwrap().to_owned();
    undo(blog, 1, &[&run, "--source", "meadow"]).says(&["no run or operation", "meadow"]);
    for verb in ["archive", "restore"] {
        let told = blog.run(&[verb, &ours, "--source", "meadow"]);
        assert_eq!(told.exit, 5, "{told}");
        told.says(&["other-source", "\"orchard\"", "\"meadow\""]);
    }
    assert_eq!(blog.stored.bytes(), bytes);
}

fn the_reports_are_those_of_a_run(blog: &Blog) {
    let schema = |name| serde_json::from_str::<Value>(&blog.run(&["schema", name]).out).unwrap();
    let (of_plan, of_run) = (schema("plan"), schema("run"));
    blog.ingested();
    let run = push(blog);
    for args in [&["archive", "pears"][..], &["restore", "pears"], &["undo", &run], &["undo", &run]] {
        for (more, schema) in [(&["-n"][..], &of_plan), (&[], &of_run)] {
            let args: Vec<&str> = args.iter().chain(more).chain(&["--format", "json"]).copied().collect();
            let told = blog.run(&args);
            let wrong = jsonschema::validator_for(schema).unwrap();
            let wrong: Vec<String> = wrong.iter_errors(&told.json()).map(|one| one.to_string()).collect();
            assert_eq!((told.exit, wrong), (0, Vec::new()), "{args:?}: {told}");
        }
    }
    blog.run(&["runs"]).says(&["  undo  done", "  archive  done", "  ingest  done"]);
}

fn what_is_not_kept_is_told(blog: &Blog) {
    blog.configure("source = \"orchard\"\n[limits]\nhistory = 0\n");
    blog.ingested();
    let run = push(blog);
    undo(blog, 1, &[&run]).says(&["was not kept", "limits.history"]);
    blog.configure("source = \"orchard\"\n[limits]\nhistory = \"100B\"\n");
    blog.edit("pears.md", "title: Quinces", "title: Medlars");
    blog.write("medlars.md", "---\ntitle: Medlars\ndate: 2031-03-10\n---\n\nNew.\n");
    let told = blog.run(&["ingest"]);
    assert_eq!(told.exit, 0, "{told}");
    told.says(&["limits.history"]);
    let run = blog.run(&["runs", "--format", "json"]).json()["runs"][0]["runId"].as_str().unwrap().to_owned();
    undo(blog, 5, &[&run]).says(&["not-kept", "pears.md"]);
    undo(blog, 3, &[&run, "--keep-going"]);
    assert_eq!(blog.stored.find("medlars", "en").get_str("status").unwrap(), "archived");
}

fn images_are_forgotten_with_their_run(blog: &Blog) {
    blog.configure("source = \"orchard\"\nruns_keep = \"1ms\"\n");
    blog.ingested();
    let run = push(blog);
    std::thread::sleep(std::time::Duration::from_millis(20));
    blog.ingest(0, &[]);
    undo(blog, 1, &[&run]).says(&["no run or operation", "runs_keep"]);
}

fn a_run_is_named_well(blog: &Blog) {
    blog.ingested();
    undo(blog, 1, &["01J00000000000000000000000"]).says(&["no run or operation", "idempost runs"]);
    undo(blog, 64, &[]);
    let run = run_id(&blog.ingest(0, &[]));
    undo(blog, 0, &[&run]).says(&["nothing changed"]);
    blog.edit("pears.md", "title: Pears", "title: Quinces");
    blog.ingest(0, &["--operation-id", "push-7"]);
    undo(blog, 0, &["push-7"]);
    assert_eq!(blog.stored.find("pears", "en").get_str("title").unwrap(), "Pears");
}

fn revisions_start_anew(blog: &Blog) {
    blog.ingest(0, &["--revision", "812"]);
    blog.edit("pears.md", "title: Pears", "title: Quinces");
    blog.refused(0, &["--revision", "1"]).says(&["revision 812 is newer"]);
    let told = blog.run(&["runs", "reset-revision"]);
    assert_eq!(told.exit, 0, "{told}");
    told.says(&["the highest was 812", "1 may come next"]);
    assert_eq!(blog.ingest(0, &["--revision", "1"])["applied"]["update"], 1);
    // Again, and for a number that is the newest anyway, there is nothing to do.
    blog.run(&["runs", "reset-revision", "--next", "2"]).says(&["2 may come next already"]);
    // The order among those that came before stays.
    blog.edit("pears.md", "title: Quinces", "title: Medlars");
    blog.refused(0, &["--revision", "0"]).says(&["revision 1 is newer"]);
    let other = blog.run(&["runs", "--source", "meadow", "reset-revision", "--format", "json"]);
    assert_eq!(other.json()["highest"], Value::Null, "{other}");
}
