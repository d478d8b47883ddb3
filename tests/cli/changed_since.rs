//! `--changed-since`: what git says changed is planned, and what is made from it; nothing that is typed
//! or named reaches git as an option.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::harness::{Scratch, Told};

const CONFIG: &str = "content = \"content\"\nsource = \"orchard\"\nlangs = [\"en\", \"ko\"]\n";

fn git(folder: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"])
        .args(["-c", "init.defaultBranch=main", "-c", "core.quotePath=false"])
        .args(args)
        .current_dir(folder)
        .env_remove("GIT_DIR")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn post(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2031-01-01\n---\n\n{body}\n")
}

/// A committed tree that was ingested.
fn committed() -> Scratch {
    let scratch = Scratch::new()
        .with("idempost.toml", CONFIG)
        .with(".gitignore", "idempost.db*\n")
        .with("content/apples.md", &post("Apples", "[pears](pears.md)"))
        .with("content/pears.md", &post("Pears", "Nothing."))
        .with(
            "content/plums.md",
            &post("Plums", "![a crate](img/crate one.svg) <img src=\"img/crate%20one.svg\">"),
        )
        .with("content/quinces.md", &post("Quinces", "[medlars](medlars.md)"))
        .with("content/medlars.md", &post("Medlars", "Nothing."))
        .with("content/img/crate one.svg", "<svg/>");
    git(scratch.path(), &["init", "-q"]);
    git(scratch.path(), &["add", "-A"]);
    git(scratch.path(), &["commit", "-qm", "one"]);
    let told = run(&scratch, &["ingest"]);
    assert_eq!(told.exit, 0, "{told}");
    scratch
}

fn run(scratch: &Scratch, args: &[&str]) -> Told {
    scratch.run_with(args, &[("PATH", &std::env::var("PATH").unwrap()), ("HOME", "/nowhere")])
}

/// The files that are planned, whatever becomes of them, with their actions.
fn planned(scratch: &Scratch, reference: &str) -> Vec<String> {
    let told = run(scratch, &["diff", "-v", "--force", "--changed-since", reference, "--format", "json"]);
    assert!([0, 4, 5].contains(&told.exit), "{told}");
    let plan: Value = serde_json::from_str(&told.out).unwrap();
    let changes = plan["changes"].as_array().unwrap().iter();
    changes
        .map(|one| format!("{} {}", one["action"].as_str().unwrap(), one["file"].as_str().unwrap()))
        .collect()
}

#[test]
fn only_what_changed_and_what_is_made_from_it_is_planned() {
    let scratch = committed();
    assert_eq!(planned(&scratch, "HEAD"), [] as [&str; 0]);
    std::fs::write(scratch.path().join("content/pears.md"), post("Pears", "Ripe.")).unwrap();
    // A file that links to a changed one is looked at too: the address behind the link may have moved.
    assert_eq!(planned(&scratch, "HEAD"), ["update content/apples.md", "update content/pears.md"].map(short));
    git(scratch.path(), &["commit", "-qam", "two"]);
    assert_eq!(planned(&scratch, "HEAD"), [] as [&str; 0]);
    assert_eq!(planned(&scratch, "HEAD~1").len(), 2);
    std::fs::write(scratch.path().join("content/img/crate one.svg"), "<svg></svg>").unwrap();
    assert_eq!(planned(&scratch, "HEAD"), ["update plums.md"]);
    std::fs::remove_file(scratch.path().join("content/medlars.md")).unwrap();
    let new = scratch.path().join("content/new one\nwith: ::error::x.md");
    std::fs::write(&new, post("New", "").replace("date:", "slug: new\ndate:")).unwrap();
    let told = planned(&scratch, "HEAD");
    assert!(told.contains(&"update quinces.md".to_owned()), "its link is broken now: {told:?}");
    assert!(told.iter().any(|one| one.starts_with("create new one\n")), "{told:?}");
    std::fs::remove_file(new).unwrap();
    // What git ignores is walked by rules of our own, so that it counts.
    std::fs::write(scratch.path().join(".git/info/exclude"), "*.md\n").unwrap();
    std::fs::write(scratch.path().join("content/hidden.md"), post("Hidden", "")).unwrap();
    assert!(planned(&scratch, "HEAD").contains(&"create hidden.md".to_owned()));
    // The whole tree is checked all the same.
    std::fs::write(scratch.path().join("content/apples.md"), "---\ndate: 2031-02-30\n---\n").unwrap();
    git(scratch.path(), &["commit", "-qam", "three"]);
    let told = run(&scratch, &["diff", "--changed-since", "HEAD"]);
    assert_eq!(told.exit, 4, "{told}");
}

fn short(text: &str) -> String {
    text.replace("content/", "")
}

#[test]
fn a_rename_a_draft_and_an_ignore_file_are_followed() {
    let scratch = committed();
    git(scratch.path(), &["mv", "content/medlars.md", "content/loquats.md"]);
    git(scratch.path(), &["commit", "-qm", "two"]);
    let told = planned(&scratch, "HEAD~1");
    assert_eq!(told, ["create loquats.md", "update quinces.md"]);
    let draft = post("Pears", "").replace("---\n\n", "draft: true\n---\n\n");
    std::fs::write(scratch.path().join("content/pears.md"), draft).unwrap();
    assert_eq!(planned(&scratch, "HEAD"), ["update apples.md", "archive pears.md"]);
    std::fs::write(scratch.path().join("content/.idempostignore"), "medlars.md\n").unwrap();
    assert_eq!(planned(&scratch, "HEAD").len(), 5, "an ignore file decides anew about everything below it");
    std::fs::remove_file(scratch.path().join("content/.idempostignore")).unwrap();
    std::fs::write(scratch.path().join("idempost.toml"), format!("{CONFIG}timezone = \"Asia/Seoul\"\n"))
        .unwrap();
    let told = run(&scratch, &["diff", "--changed-since", "HEAD"]);
    assert!(told.err.contains("idempost.toml differs from HEAD too"), "{told}");
}

#[test]
fn what_is_typed_never_reaches_git_as_an_option() {
    let scratch = committed();
    let witness = scratch.path().join("witness");
    let option = format!("--output={}", witness.display());
    for reference in
        [option.as_str(), "-p", "--", "", "HEAD\nx", "no-such", "HEAD..HEAD", "HEAD:content/pears.md"]
    {
        let told = run(&scratch, &["diff", "--changed-since", reference]);
        assert_eq!(told.exit, 64, "{reference:?}: {told}");
        assert!(told.err.contains("commit") && told.err.contains("help:"), "{told}");
    }
    let told = run(&scratch, &["diff", &format!("--changed-since={option}")]);
    assert_eq!(told.exit, 64, "{told}");
    assert!(!witness.exists());
    let told = run(&scratch, &["ingest", "--prune", "--changed-since", "HEAD"]);
    assert_eq!(told.exit, 64, "{told}");
    assert!(told.err.contains("--prune"), "{told}");
}

#[test]
fn what_git_cannot_tell_is_said_with_what_to_do() {
    let scratch = committed();
    git(scratch.path(), &["commit", "-qm", "two", "--allow-empty"]);
    let clone = Scratch::new();
    let origin = format!("file://{}", scratch.path().display());
    git(clone.path(), &["clone", "-q", "--depth=1", &origin, "here"]);
    let folder = clone.path().join("here");
    let told = clone.run_with(
        &["check", "--content", "here/content", "--changed-since", "HEAD~1"],
        &[("PATH", &std::env::var("PATH").unwrap())],
    );
    assert_eq!(told.exit, 64, "{told}");
    assert!(told.err.contains("shallow") && told.err.contains("fetch-depth: 0"), "{told}");
    git(&folder, &["fetch", "-q", "--unshallow"]);
    let told = clone.run_with(
        &["check", "--content", "here/content", "--changed-since", "HEAD~1"],
        &[("PATH", &std::env::var("PATH").unwrap())],
    );
    assert_eq!(told.exit, 0, "{told}");

    let told = scratch.run_with(&["check", "--changed-since", "HEAD"], &[("PATH", "/nowhere")]);
    assert_eq!(told.exit, 64, "{told}");
    assert!(told.err.contains("install git"), "{told}");

    let outside = Scratch::new().with("content/a.md", &post("A", ""));
    let told = run(&outside, &["check", "--changed-since", "HEAD"]);
    assert_eq!(told.exit, 64, "{told}");
    assert!(told.err.contains("no git work tree"), "{told}");
}

#[test]
fn the_variables_of_a_hook_do_not_point_it_elsewhere() {
    let (scratch, other) = (committed(), committed());
    std::fs::write(scratch.path().join("content/pears.md"), post("Pears", "Ripe.")).unwrap();
    let elsewhere = other.path().join(".git");
    let told = scratch.run_with(
        &["diff", "--changed-since", "HEAD"],
        &[
            ("PATH", &std::env::var("PATH").unwrap()),
            ("GIT_DIR", elsewhere.to_str().unwrap()),
            ("GIT_WORK_TREE", other.path().to_str().unwrap()),
        ],
    );
    assert!(told.out.contains("pears.md"), "{told}");
}

#[test]
fn a_repository_inside_of_the_tree_is_looked_at_whole() {
    let scratch = committed();
    let library = Scratch::new().with("deep/berries.md", &post("Berries", ""));
    git(library.path(), &["init", "-q"]);
    git(library.path(), &["add", "-A"]);
    git(library.path(), &["commit", "-qm", "one"]);
    let from = library.path().to_str().unwrap().to_owned();
    git(scratch.path(), &["submodule", "--quiet", "add", &from, "content/lib"]);
    git(scratch.path(), &["commit", "-qm", "with a submodule"]);
    assert_eq!(planned(&scratch, "HEAD"), [] as [&str; 0]);
    assert_eq!(planned(&scratch, "HEAD~1"), ["create lib/deep/berries.md"]);
    // Edited inside, not committed there.
    std::fs::write(scratch.path().join("content/lib/deep/berries.md"), post("Berries", "Red.")).unwrap();
    assert_eq!(planned(&scratch, "HEAD"), ["create lib/deep/berries.md"]);
    // A repository that nobody told git of.
    let nested = scratch.path().join("content/nested");
    std::fs::create_dir_all(nested.join("a")).unwrap();
    std::fs::write(nested.join("a/nuts.md"), post("Nuts", "")).unwrap();
    git(&nested, &["init", "-q"]);
    git(&nested, &["add", "-A"]);
    git(&nested, &["commit", "-qm", "one"]);
    assert_eq!(planned(&scratch, "HEAD"), ["create lib/deep/berries.md", "create nested/a/nuts.md"]);
    // The content root itself inside the submodule: the submodule's own commits count.
    git(&scratch.path().join("content/lib"), &["commit", "-qam", "red"]);
    let told =
        run(&scratch, &["diff", "--content", "content/lib", "--changed-since", "HEAD~1", "--format", "json"]);
    let plan: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(plan["changes"][0]["file"], "deep/berries.md", "{told}");
}

#[test]
fn a_name_that_is_no_utf8_hides_nothing() {
    let scratch = committed();
    let name = std::ffi::OsStr::from_bytes(b"cr\xffte.svg");
    if std::fs::write(scratch.path().join("content/img").join(name), "<svg/>").is_err() {
        // This file system takes no such name.
        return;
    }
    std::fs::write(scratch.path().join("content/pears.md"), post("Pears", "Ripe.")).unwrap();
    assert_eq!(planned(&scratch, "HEAD").len(), 2);
}
