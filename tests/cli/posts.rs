//! `ingest`, `diff`, `check` and `explain` on a small tree, as each format shows them.

use serde_json::Value;

use super::harness::{Scratch, Told};

const CONFIG: &str = "\
content = \"content\"
source = \"orchard\"
langs = [\"en\", \"ko\"]
default_lang = \"en\"
timezone = \"Asia/Seoul\"
";

const APPLES: &str = "\
---
title: Keeping apples
date: 2031-03-04
summary: Apart from each other
sumary: misspelt
---

Lay them apart, as [pears](pears.md).

![A crate](crate.svg)
";

const PEARS: &str =
    "---\ntitle: Pears\ndate: 2031-03-05T08:00:00Z\ntags: [fruit, cellar]\n---\n\nBefore they are ripe.\n";

const CRATE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n";

/// Three posts, a draft, a page and a file that is no post.
fn orchard() -> Scratch {
    Scratch::new()
        .with("idempost.toml", CONFIG)
        .with("content/apples.md", APPLES)
        .with("content/crate.svg", CRATE)
        .with("content/pears.md", PEARS)
        .with("content/ko/apples.md", "---\ntitle: 사과 두기\ndate: 2031-03-04\n---\n\n서로 떨어뜨려 둔다.\n")
        .with("content/plums.md", "---\ntitle: Plums\ndate: 2031-03-06\ndraft: true\n---\n\nNot yet.\n")
        .with("content/about.md", "# About\n")
        .with("content/README.md", "How to write here.\n")
}

/// The orchard, ingested and then edited: one post new, one changed, one refused, one gone.
fn edited() -> Scratch {
    let scratch = orchard();
    let told = scratch.run(&["ingest"]);
    assert_eq!(told.exit, 0, "{told}");
    std::fs::remove_file(scratch.path().join("content/ko/apples.md")).unwrap();
    scratch
        .with(
            "content/apples.md",
            &APPLES.replace("Lay them apart", "Wrap them").replace("summary: Apart from each other\n", ""),
        )
        .with("content/pears.md", &PEARS.replace("05T08", "07T08"))
        .with("content/quinces.md", "---\ntitle: Quinces\ndate: 2031-03-09\n---\n\nNew.\n")
}

fn broken() -> Scratch {
    let scratch = orchard();
    scratch
        .with("content/medlars.md", "---\ntitle: Medlars\ndate: 2031-02-30\nlang: kr\n---\n\nSoft.\n")
        .with(
            "content/again.md",
            "---\ntitle: Pears again\nslug: pears\ndate: 2031-03-05T08:00:00Z\n---\n\nTwice.\n",
        )
}

/// A snapshot without what differs from run to run.
macro_rules! snapshot {
    ($told:expr) => {
        insta::with_settings!(
            { filters => vec![(r#"("(?:runId|operationId)":\s*)"[0-9A-HJKMNP-TV-Z]{26}""#, r#"$1"[ULID]""#)] },
            { insta::assert_snapshot!($told) }
        )
    };
}

/// Standard output is one object that its published schema takes.
fn valid(told: &Told, schema: &str) -> Value {
    let path = format!("{}/schemas/{schema}.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let value: Value = serde_json::from_str(&told.out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{told}");
    // The control: the schema does refuse what is not of it.
    assert!(!validator.is_valid(&Value::Null));
    value
}

#[test]
fn a_first_run_and_a_second() {
    let scratch = orchard();
    snapshot!(scratch.run(&["ingest"]));
    snapshot!(scratch.run(&["ingest"]));
}

#[test]
fn a_run_that_is_refused() {
    snapshot!(edited().run(&["ingest"]));
}

#[test]
fn a_run_that_goes_on() {
    snapshot!(edited().run(&["ingest", "--keep-going"]));
}

#[test]
fn a_run_as_json() {
    let told = edited().run(&["ingest", "--keep-going", "--format", "json"]);
    valid(&told, "run");
    snapshot!(told);
}

#[test]
fn a_run_as_lines() {
    let told = edited().run(&["ingest", "--keep-going", "--format", "ndjson"]);
    for line in told.out.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["event"].is_string(), "{line}");
    }
    snapshot!(told);
}

#[test]
fn a_run_for_github() {
    snapshot!(edited().run(&["ingest", "--format", "github"]));
}

#[test]
fn a_diff_for_a_person() {
    let scratch = edited();
    snapshot!(scratch.run(&["diff"]));
    snapshot!(scratch.run(&["diff", "-v", "--exit-code", "--keep-going"]));
}

#[test]
fn a_diff_as_json() {
    let told = edited().run(&["diff", "--format", "json"]);
    valid(&told, "plan");
    snapshot!(told);
    let again = edited().run(&["diff", "--format", "json"]);
    assert_eq!(again.out, told.out, "two equal runs print the same");
}

#[test]
fn a_diff_for_github() {
    snapshot!(edited().run(&["diff", "--format", "github"]));
}

#[test]
fn a_check_of_what_is_sound() {
    let told = orchard().run(&["check", "-v"]);
    snapshot!(told);
}

#[test]
fn a_check_of_what_is_broken() {
    let scratch = broken();
    snapshot!(scratch.run(&["check"]));
    let told = scratch.run(&["check", "--format", "json"]);
    valid(&told, "check");
    snapshot!(told);
    snapshot!(scratch.run(&["check", "--format", "github"]));
    snapshot!(scratch.run(&["check", "--format", "ndjson"]));
}

#[test]
fn a_post_explained() {
    let scratch = orchard();
    snapshot!(scratch.run(&["explain", "content/apples.md"]));
    let told = scratch.run(&["explain", "content/ko/apples.md", "--format", "json"]);
    let post = valid(&told, "post");
    snapshot!(told);
    let by_id = scratch.run(&["explain", post["id"].as_str().unwrap(), "--format", "json"]);
    assert_eq!(by_id.out, told.out);
    snapshot!(scratch.run(&["explain", "content/about.md"]));
    snapshot!(broken().run(&["explain", "content/medlars.md"]));
}

/// Every kind of fault, told to a person.
#[test]
fn a_tree_of_broken_files() {
    let scratch =
        Scratch::new().with("idempost.toml", "content = \"content\"\nlangs = [\"en\", \"ko\", \"ja\"]\n");
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/broken");
    copy(fixture.as_ref(), &scratch.path().join("content"));
    snapshot!(scratch.run(&["check"]));
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
