//! Keeps the directions of the house: which module may know which, and what a pure one never touches.
//!
//! The stages stand in `src/lib.rs` in reading order. This test reads the sources as text, so it also sees what
//! compiles only on another platform. That each rule can fail is shown at the end with planted files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "house/rust_source.rs"]
mod rust_source;

use std::path::Path;

use rust_source::{Named, RustFile};

/// What each module may know of the others, in the order in which a post passes through them. `app` and `main` may
/// know all.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("diagnostic", &[]),
    ("error", &["diagnostic"]),
    ("identity", &["post"]),
    ("post", &["diagnostic", "error", "identity"]),
    ("catalog", &["diagnostic", "error", "identity", "post"]),
    ("source", &["diagnostic", "error", "post", "catalog"]),
    ("store", &["error", "identity", "post"]),
    ("plan", &["diagnostic", "error", "identity", "post", "catalog", "store"]),
    ("apply", &["diagnostic", "error", "identity", "post", "catalog", "store", "plan", "report"]),
    ("report", &["diagnostic", "error", "identity", "post", "catalog", "store", "plan", "apply"]),
    ("cli", &["error", "identity", "post", "catalog", "store", "report"]),
    ("config", &["diagnostic", "error", "identity", "post", "catalog", "source", "store", "report", "cli"]),
];

/// Modules that decide and execute against the port: they never name who stands behind it.
const BEHIND_THE_PORT: &[&str] = &["plan", "apply", "report"];

/// The adapters of the port.
const ADAPTERS: [&str; 4] = ["mongo", "sqlite", "memory", "fault"];

/// Modules that are functions of their arguments.
const PURE: &[&str] = &["diagnostic", "identity", "post", "catalog", "plan"];

/// What such a module never names: the clock, chance, the environment, files, the network, threads of the runtime.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::time::SystemTime",
    "std::time::Instant",
    "std::thread::sleep",
    "SystemTime",
    "tokio",
    "rand",
    "jiff::Timestamp::now",
    "Timestamp::now",
    "jiff::Zoned::now",
    "Zoned::now",
    "TimeZone::system",
    "jiff::tz::TimeZone::system",
];

/// Lines of a file from which a reader asks whether it is one thing.
const FILE_LINES_ASKED: usize = 500;

/// Lines of a file at the most.
const FILE_LINES_MAX: usize = 600;

fn begins_with(named: &Named, path: &str) -> bool {
    let mut parts = named.parts.iter();
    path.split("::").all(|part| parts.next().is_some_and(|named| named == part))
}

fn breach(file: &RustFile, named: &Named, because: &str) -> String {
    format!("{}:{} names {}: {because}", file.path, named.line, named.parts.join("::"))
}

/// Everything in the files that goes against a direction, one line each.
fn breaches(files: &[RustFile]) -> Vec<String> {
    let mut out = Vec::new();
    for file in files {
        let names = file.names();
        let top = file.module.first().map_or("", String::as_str);
        for named in &names {
            out.extend(stage(top, named).map(|why| breach(file, named, why)));
            out.extend(purity(top, named).map(|why| breach(file, named, why)));
            out.extend(adapter(&file.module, named).map(|why| breach(file, named, why)));
            out.extend(waiting(&file.module, named).map(|why| breach(file, named, why)));
        }
    }
    out
}

/// A module names only the stages that it may know.
fn stage(top: &str, named: &Named) -> Option<&'static str> {
    let (_, known) = MAY_KNOW.iter().find(|(module, _)| *module == top)?;
    let [root, other, ..] = named.parts.as_slice() else { return None };
    let is_stage = MAY_KNOW.iter().any(|(module, _)| module == other) || other == "app";
    (root == "crate" && is_stage && other != top && !known.contains(&other.as_str()))
        .then_some("a stage knows only the stages before it")
}

fn purity(top: &str, named: &Named) -> Option<&'static str> {
    (PURE.contains(&top) && IMPURE.iter().any(|impure| begins_with(named, impure)))
        .then_some("a function of its arguments touches nothing else")
}

/// Adapters know the port and never each other; those who use the port know no adapter.
fn adapter(module: &[String], named: &Named) -> Option<&'static str> {
    let names = |adapter: &str| begins_with(named, &format!("crate::store::{adapter}"));
    let own = match module {
        [top, own, ..] if top == "store" && ADAPTERS.contains(&own.as_str()) => own.as_str(),
        [top, ..] if BEHIND_THE_PORT.contains(&top.as_str()) => "",
        _ => return None,
    };
    ADAPTERS
        .iter()
        .any(|adapter| *adapter != own && names(adapter))
        .then_some("adapters know the port and never each other, and nobody looks behind it")
}

/// Who waits for something else than another try: the store of the fault tests, whose trade it is, and SQLite's, for
/// the lock of another process where SQLite itself does not wait.
const WAITS: [[&str; 2]; 2] = [["store", "fault"], ["store", "sqlite"]];

/// Waiting is how a retry looks: only the executor does, and the verbs that wait for something to do.
fn waiting(module: &[String], named: &Named) -> Option<&'static str> {
    let waits = named.parts.last().is_some_and(|last| matches!(last.as_str(), "sleep" | "sleep_until"));
    let may = module.first().is_some_and(|top| matches!(top.as_str(), "apply" | "app"))
        || WAITS.iter().any(|[top, own]| matches!(module, [a, b, ..] if a == top && b == own));
    (waits && !may).then_some("nothing waits and retries but apply")
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn modules_keep_their_directions() {
    let files = rust_source::all(package());
    assert!(files.len() > 20, "the sources were not found: {} files", files.len());
    let breaches = breaches(&files);
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_rule_is_about_a_module_that_exists() {
    let files = rust_source::all(package());
    for module in MAY_KNOW.iter().map(|(module, _)| *module) {
        assert!(
            files.iter().any(|file| file.module.first().is_some_and(|top| top == module)),
            "no module {module}: the rule guards nothing"
        );
    }
}

#[test]
fn files_are_short_enough_to_be_one_thing() {
    let mut long = Vec::new();
    for file in rust_source::all(package()) {
        let lines = file.text.lines().count();
        if lines > FILE_LINES_ASKED {
            println!("{} has {lines} lines: is it one thing?", file.path);
        }
        if lines > FILE_LINES_MAX {
            long.push(format!("{} has {lines} lines, more than {FILE_LINES_MAX}", file.path));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// The lints that keep input from reaching a panic are on, and the continuous check refuses warnings.
#[test]
fn panics_are_kept_out_by_lints() {
    let manifest = std::fs::read_to_string(package().join("Cargo.toml")).unwrap();
    for lint in ["unwrap_used", "expect_used", "panic", "indexing_slicing", "string_slice", "unimplemented"] {
        assert!(manifest.contains(&format!("{lint} = \"warn\"")), "Cargo.toml: the lint {lint} is off");
    }
    let check = std::fs::read_to_string(package().join(".ci/run")).unwrap();
    assert!(check.contains("-D warnings"), ".ci/run: clippy's warnings must be errors");
}

// The checker itself.

fn planted(path: &str, text: &str) -> Vec<String> {
    breaches(&[RustFile::new(path, text)])
}

#[test]
fn a_planted_breach_is_found_in_every_spelling() {
    for (path, text) in [
        ("src/post/slug.rs", "use crate::store::Target;\n"),
        ("src/post/slug.rs", "use crate::{diagnostic::Diagnostic, plan::Plan};\n"),
        ("src/post/slug.rs", "fn f() -> crate::config::Settings { g() }\n"),
        ("src/post/date/mod.rs", "use super::super::catalog::Catalog;\n"),
        ("src/post/render.rs", "use std::fs;\n"),
        ("src/post/render.rs", "use std::{collections::BTreeMap, env};\n"),
        ("src/post/date.rs", "fn now() { let _ = jiff::Timestamp::now(); }\n"),
        ("src/catalog/mod.rs", "use std::time::SystemTime;\n"),
        ("src/plan/mod.rs", "async fn f() { tokio::task::yield_now().await }\n"),
        ("src/plan/mod.rs", "use crate::store::{document::Head, mongo::Mongo};\n"),
        ("src/store/mongo/mod.rs", "use crate::store::sqlite::Sqlite;\n"),
        ("src/store/sqlite.rs", "use super::memory::Memory;\n"),
        ("src/store/mongo/write.rs", "use crate::apply::retry;\n"),
        ("src/store/mongo/write.rs", "async fn f() { tokio::time::sleep(second).await }\n"),
        ("src/apply/mod.rs", "use crate::store::mongo;\n"),
        ("src/report/human.rs", "use crate::config::Settings;\n"),
        ("src/diagnostic.rs", "use crate::post::Post;\n"),
    ] {
        assert_eq!(planted(path, text).len(), 1, "{path}: {text}{:?}", planted(path, text));
    }
}

#[test]
fn what_is_allowed_is_not_reported() {
    for (path, text) in [
        ("src/post/slug.rs", "//! See crate::store, and std::fs.\nuse super::lang::Lang;\n"),
        (
            "src/post/slug.rs",
            "const HELP: &str = \"use crate::plan;\"; const B: &[u8] = br#\"std::fs \" x\"#;\n",
        ),
        ("src/post/slug.rs", "/* use std::fs; /* nested */ */ fn f<'a>(x: &'a str) -> char { '\"' }\n"),
        (
            "src/post/slug.rs",
            "#[cfg(test)]\nmod tests {\n    use std::fs;\n    fn f() { fs::read(\"{\"); }\n}\n",
        ),
        ("src/plan/mod.rs", "use crate::store::document::Head;\nuse crate::plan::check;\n"),
        ("src/store/sqlite.rs", "use crate::store::{Store, sqlite::Sqlite};\nuse std::fs;\n"),
        ("src/apply/retry.rs", "use std::time::{Duration, Instant};\nuse tokio::time::sleep;\n"),
    ] {
        assert_eq!(planted(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn a_line_is_told_where_the_name_stands() {
    let found = planted("src/post/slug.rs", "//! Slugs.\n\nconst A: &str = \"a\nb\";\nuse std::fs;\n");
    assert!(found[0].starts_with("src/post/slug.rs:5 names std::fs:"), "{found:?}");
}

#[test]
fn literals_are_read_and_those_of_tests_are_not() {
    let file = RustFile::new(
        "src/post/slug.rs",
        "// \"no\"\nfn f() { g(\"a\\\"b\", r#\"c\"d\"#, 'x');\n    Diagnostic::error(\n        \"bad-slug\", code); }\n\
         #[cfg(test)]\nmod tests { fn t() { Diagnostic::error(\"never\", \"no\"); } }\n",
    );
    assert_eq!(file.literals(), ["a\\\"b", "c\"d", "bad-slug"]);
    assert_eq!(file.first_arguments("Diagnostic::error("), ["bad-slug"]);
}
