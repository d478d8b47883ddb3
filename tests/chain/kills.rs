//! Killed before and after each of its writes, a verb that is run again ends where one that was not killed
//! does.

use bson::doc;
use tokio::runtime::Runtime;

use crate::blog::Blog;
use crate::common::server::proxied;
use crate::proxy::Proxy;
use crate::undo::{all, edit, push, run_id};

/// A way to the server that can be cut.
struct Way {
    runtime: Runtime,
    proxy: Proxy,
}

impl Way {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let proxy = runtime.block_on(Proxy::start(&proxied().address().unwrap()));
        Way { runtime, proxy }
    }

    /// Runs the verb and kills it at its write `at`, before or after the server had it. `false`: it ended first.
    fn killed(&self, blog: &Blog, args: &[&str], at: usize, after: bool) -> bool {
        let stopped = self.proxy.stop_at_write(at, after);
        let _inside = self.runtime.enter();
        let database = blog.uri().split('?').next().unwrap().rsplit('/').next().unwrap().to_owned();
        let through = proxied().uri_through(&self.proxy.address(), &database);
        let mut child = blog.spawn(&through, args);
        let ended = stopped.kill(&mut child);
        assert!(ended.is_none_or(|ended| ended.success()), "{args:?} ended with {ended:?}");
        ended.is_none()
    }

    /// Kills before and after each write: `round` runs and kills as it is told, and says whether the write was
    /// reached.
    #[expect(clippy::print_stdout, reason = "how many writes there were is worth knowing")]
    fn at_every_write(verb: &str, least: usize, round: impl Fn(&Way, usize, bool, &str) -> bool) {
        let way = Way::new();
        let mut at = 0;
        loop {
            let what = |after| format!("killed {} write {at}", if after { "after" } else { "before" });
            let reached = [false, true].map(|after| round(&way, at, after, &what(after)));
            if reached.contains(&false) {
                break;
            }
            at += 1;
        }
        println!("{verb}: killed before and after each of {at} writes");
        assert!(at >= least, "{verb}: only {at} writes were seen");
    }
}

/// What was killed shows no life any more.
fn forget_leases(blog: &Blog) {
    let database = blog.uri().split('?').next().unwrap().rsplit('/').next().unwrap().to_owned();
    let uri = blog.uri().to_owned();
    crate::common::server::blocking(async move {
        let client = mongodb::Client::with_uri_str(&uri).await.unwrap();
        let runs = client.database(&database).collection::<bson::Document>("posts_runs");
        let set = doc! { "$set": { "leaseUntil": bson::DateTime::from_millis(0) } };
        runs.update_many(doc! { "state": "running" }, set).await.unwrap();
    });
}

fn runs(blog: &Blog) -> Vec<String> {
    let told = blog.run(&["runs", "--format", "json"]).json();
    told["runs"].as_array().unwrap().iter().map(run_id).collect()
}

/// As it was before the push, and what the push made archived.
fn assert_undone(blog: &Blog, before: &[bson::Document], what: &str) {
    let mut after = all(blog);
    let made = after.iter().position(|post| post.get_str("slug").is_ok_and(|slug| slug == "quinces"));
    let made = after.remove(made.unwrap_or_else(|| panic!("{what}: nothing is deleted")));
    assert_eq!(made.get_str("status").unwrap(), "archived", "{what}");
    assert_eq!(after, before, "{what}");
}

/// Row, four times image and post, row.
#[test]
fn an_undo_killed_at_any_write_is_finished_by_the_next() {
    Way::at_every_write("undo", 10, |way, at, after, what| {
        let blog = Blog::on_server();
        blog.ingested();
        let before = all(&blog);
        let run = push(&blog);
        let reached = way.killed(&blog, &["undo", &run, "--batch", "1", "--in-flight", "1"], at, after);
        let told = blog.run(&["undo", &run]);
        assert_eq!(told.exit, 0, "{what}: {told}");
        assert_undone(&blog, &before, what);
        reached
    });
}

/// Half of the rows moved down, or all of them: the order stays, and the next number is the newest. Three rows.
#[test]
fn a_reset_of_the_revisions_killed_at_any_write_is_finished_by_the_next() {
    Way::at_every_write("reset-revision", 3, |way, at, after, what| {
        let blog = Blog::on_server();
        for revision in ["810", "811", "812"] {
            blog.ingest(0, &["--revision", revision]);
        }
        let reached = way.killed(&blog, &["runs", "reset-revision"], at, after);
        let told = blog.run(&["runs", "reset-revision"]);
        assert_eq!(told.exit, 0, "{what}: {told}");
        let rows = blog.run(&["runs", "--format", "json"]).json();
        let rows = rows["runs"].as_array().unwrap();
        let revisions: Vec<i64> = rows.iter().map(|row| row["revision"].as_i64().unwrap()).collect();
        assert!(revisions.is_sorted_by(|newer, older| newer > older), "{what}: {revisions:?}");
        assert_eq!(revisions[0], 0, "{what}");
        blog.edit("pears.md", "title: Pears", "title: Quinces");
        assert_eq!(blog.ingest(0, &["--revision", "1"])["applied"]["update"], 1, "{what}");
        blog.edit("pears.md", "title: Quinces", "title: Medlars");
        blog.refused(0, &["--revision", "0"]).says(&["revision 1 is newer"]);
        reached
    });
}

/// Whatever is left of a run that died, it and the one that finished its work can be undone. Row, four times image
/// and post, row.
#[test]
fn a_push_killed_at_any_write_and_finished_can_be_undone() {
    Way::at_every_write("ingest", 10, |way, at, after, what| {
        let blog = Blog::on_server();
        blog.ingested();
        let before = all(&blog);
        let first = runs(&blog);
        edit(&blog);
        let args = ["ingest", "--prune", "--max-prune", "4", "--batch", "1", "--in-flight", "1"];
        let reached = way.killed(&blog, &args, at, after);
        let again = blog.run(&args);
        assert_eq!(again.exit, 0, "{what}: {again}");
        forget_leases(&blog);
        for run in runs(&blog).iter().filter(|run| !first.contains(run)) {
            let told = blog.run(&["undo", run]);
            assert_eq!(told.exit, 0, "{what}: {told}");
        }
        assert_undone(&blog, &before, what);
        reached
    });
}
