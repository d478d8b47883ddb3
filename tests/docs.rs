//! Holds the documentation to the program: keys, flags, variables, exit codes, stored fields, message codes, links, and
//! the ids that the sample posts tell.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "house/rust_source.rs"]
#[expect(dead_code, reason = "the house's test uses the rest")]
mod rust_source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use idempost::cli::Cli;
use idempost::config::{self, keys};
use idempost::error::Exit;
use idempost::identity::PostId;
use idempost::post::date::PublishedAt;
use idempost::post::fields::table::{Field, TABLE};
use idempost::post::lang::Lang;
use idempost::post::slug::Slug;
use idempost::store::document::OWNED_FIELDS;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(package().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What stands between single backticks, without code blocks.
fn code_spans(markdown: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            out.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    out
}

/// The part under a heading, up to the next heading of its level or above.
fn section<'a>(markdown: &'a str, heading: &str) -> &'a str {
    let level = heading.split(' ').next().unwrap();
    let start = markdown.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let body = &markdown[start + heading.len() + 2..];
    let end = (1..=level.len()).filter_map(|n| body.find(&format!("\n{} ", "#".repeat(n)))).min();
    &body[..end.unwrap_or(body.len())]
}

/// The cells of each row of the tables in a text, without head and rule.
fn rows(markdown: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = markdown.lines().collect();
    let is_rule = |line: &str| line.starts_with("|--") || line.starts_with("| --") || line.starts_with("|:");
    lines
        .iter()
        .enumerate()
        .filter(|(at, line)| {
            line.starts_with('|') && !is_rule(line) && !lines.get(at + 1).is_some_and(|next| is_rule(next))
        })
        .map(|(_, line)| {
            line.trim_matches('|').split(" | ").map(|cell| cell.trim_matches(['|', ' ']).to_owned()).collect()
        })
        .collect()
}

// Configuration.

#[test]
fn every_key_is_documented_and_every_documented_key_exists() {
    let doc = text("docs/configuration.md");
    let part = section(&doc, "## Keys");
    let known: BTreeSet<&str> = keys::KEYS.iter().map(|key| key.name).collect();
    let spans: BTreeSet<String> = code_spans(part).into_iter().collect();
    for key in &known {
        assert!(spans.contains(*key), "docs/configuration.md lacks the key {key}");
    }
    for row in rows(part) {
        for key in code_spans(&row[0]) {
            assert!(known.contains(key.as_str()), "docs/configuration.md has {key}, which is no key");
        }
    }
    for key in &keys::KEYS {
        let rows = rows(part);
        let row = rows.iter().find(|row| code_spans(&row[0]) == [key.name.to_owned()]);
        let said = row.map_or_else(|| section(&doc, "### Later").to_owned(), |row| row.join(" "));
        if !key.name.starts_with("fields.") {
            assert_eq!(
                !key.acted_on,
                said.contains("not acted on by this version") && said.contains(key.name),
                "docs/configuration.md: whether {} is acted on",
                key.name
            );
        }
    }
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    let doc = text("docs/configuration.md");
    let cli = <Cli as clap::Parser>::try_parse_from(["idempost", "config"]).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let settings = config::load(&cli, &BTreeMap::new(), empty.path()).unwrap();
    let mut seen = 0;
    for entry in settings.entries() {
        for row in rows(section(&doc, "## Keys")) {
            if code_spans(&row[0]).first() == Some(&entry.key) {
                let default = &row[row.len() - 2];
                let value = match &entry.value {
                    serde_json::Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let told = default.trim_matches('`') == value
                    || ["none", "from", "see"].iter().any(|word| default.starts_with(word));
                assert!(told, "docs/configuration.md: {} is {value} by default, not {default}", entry.key);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} defaults were compared");
}

fn flags(command: &clap::Command, out: &mut BTreeSet<String>) {
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        out.extend(argument.get_long().map(|long| format!("--{long}")));
    }
    for verb in command.get_subcommands() {
        flags(verb, out);
    }
}

#[test]
fn every_flag_is_documented_and_every_documented_flag_exists() {
    let mut known = BTreeSet::new();
    flags(&Cli::command(), &mut known);
    let of_id_alone = ["--kind", "--count", "--node", "--node-bits", "--slug", "--published-at-ms"];
    let doc = text("docs/configuration.md");
    let documented: BTreeSet<String> = code_spans(&doc)
        .iter()
        .flat_map(|span| span.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| word.starts_with("--"))
        .collect();
    for flag in known.iter().filter(|flag| !of_id_alone.contains(&flag.as_str())) {
        assert!(documented.contains(flag), "docs/configuration.md lacks the flag {flag}");
    }
    for flag in &documented {
        assert!(known.contains(flag), "docs/configuration.md has {flag}, which is no flag");
    }
}

// Exit codes.

const EXITS: [Exit; 11] = [
    Exit::Done,
    Exit::Failed,
    Exit::Changes,
    Exit::Partly,
    Exit::Invalid,
    Exit::Conflict,
    Exit::Limit,
    Exit::Usage,
    Exit::Unreachable,
    Exit::Interrupted,
    Exit::Terminated,
];

#[test]
fn the_exit_codes_are_those_of_the_program() {
    let known: BTreeSet<u8> = EXITS.iter().map(|exit| exit.code()).collect();
    for path in ["docs/exit-codes.md", "README.md", "README.ko.md"] {
        let told: BTreeSet<u8> = rows(&text(path))
            .iter()
            .flat_map(|row| row[0].split(", ").map(str::to_owned).collect::<Vec<_>>())
            .filter_map(|cell| cell.parse().ok())
            .collect();
        assert_eq!(told, known, "{path}");
    }
}

#[test]
fn the_order_of_precedence_is_that_of_the_program() {
    let doc = text("docs/exit-codes.md");
    let order = doc.split("the first of ").nth(1).unwrap().split(" is told").next().unwrap();
    let told: Vec<u8> =
        order.replace(" and ", ", ").split(", ").map(|code| code.trim().parse().unwrap()).collect();
    let exit = |code: u8| EXITS.into_iter().find(|exit| exit.code() == code).unwrap();
    assert_eq!(told.len(), EXITS.len());
    for (at, first) in told.iter().enumerate() {
        for second in &told[at + 1..] {
            let won = exit(*first).and(exit(*second)).code();
            // Both kinds of interruption stand first; which of the two came is told.
            assert!(won == *first || *first == 130, "{first} and {second} give {won}");
        }
    }
}

// The stored document.

#[test]
fn every_stored_field_is_documented() {
    let doc = text("docs/reading.md");
    let table = doc.split("## A page").next().unwrap();
    let told: BTreeSet<String> = rows(table).iter().flat_map(|row| code_spans(&row[0])).collect();
    let owned: BTreeSet<String> = OWNED_FIELDS.iter().map(|field| (*field).to_owned()).collect();
    assert_eq!(told, owned);
}

// Front matter.

#[test]
fn every_accepted_name_is_in_the_authoring_guide_in_its_order() {
    let doc = text("docs/authoring.md");
    let rows = rows(section(&doc, "## Front matter"));
    for spec in TABLE.iter().filter(|spec| !matches!(spec.field, Field::Address | Field::Status)) {
        let row = rows
            .iter()
            .find(|row| row[0].trim_end_matches(" †") == spec.name)
            .unwrap_or_else(|| panic!("docs/authoring.md lacks the field {}", spec.name));
        let told = code_spans(&row[1]);
        let names: Vec<&String> = told.iter().filter(|name| spec.names.contains(&name.as_str())).collect();
        assert_eq!(names, spec.names, "docs/authoring.md: names of {}", spec.name);
    }
}

#[test]
fn every_reason_of_a_skip_is_documented() {
    let skips = section(&format!("\n{}", text("docs/diagnostics.md")), "# Skips").to_owned();
    let source = text("src/post/mod.rs");
    let known: Vec<&str> =
        source.lines().filter_map(|line| line.trim().strip_prefix("Skip::")?.split('"').nth(1)).collect();
    assert!(known.len() > 10, "only {} reasons were found", known.len());
    for reason in known {
        assert!(
            code_spans(&skips).iter().any(|span| span == reason),
            "docs/diagnostics.md lacks the skip {reason}"
        );
    }
}

// Links and commands.

fn documents() -> Vec<String> {
    let mut out = vec!["README.md".to_owned(), "README.ko.md".to_owned(), "CHANGELOG.md".to_owned()];
    for entry in std::fs::read_dir(package().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
            out.push(format!("docs/{name}"));
        }
    }
    out
}

#[test]
fn links_between_documents_lead_somewhere() {
    for document in documents() {
        let body = text(&document);
        for link in body.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            if path.contains("://") {
                continue;
            }
            let target = package().join(&document).parent().unwrap().join(path);
            assert!(path.is_empty() || target.exists(), "{document} links to {link}");
            if !fragment.is_empty() {
                let target =
                    if path.is_empty() { body.clone() } else { std::fs::read_to_string(&target).unwrap() };
                let heads = target.lines().filter_map(|line| line.strip_prefix('#'));
                let mut anchors = heads.map(|head| {
                    head.trim_start_matches('#')
                        .trim()
                        .to_lowercase()
                        .replace(' ', "-")
                        .replace(['.', ',', '`'], "")
                });
                assert!(anchors.any(|anchor| anchor == fragment), "{document} links to {link}");
            }
        }
    }
}

#[test]
fn the_readme_begins_with_two_commands() {
    let readme = text("README.md");
    let block = section(&readme, "## Two commands").split("```").nth(1).unwrap();
    let commands: Vec<&str> = block.lines().skip(1).filter(|line| !line.is_empty()).collect();
    assert_eq!(commands, ["cargo run --release -- ingest content", "./scripts/test"]);
}

/// What two READMEs have to share: the shape of their headings, their commands without the remarks, their links, and
/// the code spans of each section's tables.
#[derive(Debug, PartialEq, Eq)]
struct Shape {
    headings: Vec<usize>,
    commands: Vec<String>,
    links: BTreeSet<String>,
    rows: Vec<usize>,
    spans: BTreeSet<String>,
}

fn shape(readme: &str) -> Shape {
    let fenced: Vec<&str> = readme.split("```").skip(1).step_by(2).collect();
    let prose: String = readme.split("```").step_by(2).collect();
    let level = |line: &&str| line.chars().take_while(|letter| *letter == '#').count();
    let commands = fenced
        .iter()
        .flat_map(|block| block.lines())
        .map(|line| line.split_once(" # ").map_or(line, |(command, _)| command).trim_end().to_owned());
    let links = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    Shape {
        headings: prose.lines().filter(|line| line.starts_with('#')).map(|line| level(&line)).collect(),
        commands: commands.collect(),
        links: links
            .filter(|link| !link.starts_with('#') && !link.starts_with("README"))
            .map(str::to_owned)
            .collect(),
        rows: prose.split("\n## ").map(|section| rows(section).len()).collect(),
        spans: code_spans(&prose).into_iter().collect(),
    }
}

#[test]
fn the_korean_readme_says_what_the_english_one_says() {
    let (english, korean) = (text("README.md"), text("README.ko.md"));
    assert_eq!(shape(&korean), shape(&english));
    assert!(english.contains("](README.ko.md)") && korean.contains("](README.md)"));
    // It is Korean: every paragraph of prose has Hangul in it.
    let hangul = |text: &str| text.chars().filter(|letter| ('가'..='힣').contains(letter)).count();
    assert!(hangul(&korean) > 1_000, "{}", hangul(&korean));
    // One that lags behind is found.
    assert_ne!(
        shape(&korean),
        shape(&english.replace("idempost check\n", "idempost check\nidempost status\n"))
    );
    assert_ne!(shape(&korean), shape(&english.replace("docs/report.md", "docs/reports.md")));
}

// Codes.

/// String literals of the sources that could be a code, with where they stand; tests are left out.
fn literals(folders: &[&str]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for file in rust_source::all(package()) {
        if folders.iter().any(|folder| file.path.starts_with(folder)) {
            for literal in file.literals() {
                out.entry(literal).or_insert_with(|| file.path.clone());
            }
        }
    }
    out
}

/// Codes with which a diagnostic is made directly.
fn codes_made() -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for file in rust_source::all(package()) {
        for call in ["Diagnostic::error(", "Diagnostic::warning("] {
            for code in file.first_arguments(call) {
                out.entry(code).or_insert_with(|| file.path.clone());
            }
        }
    }
    out
}

/// Words with dashes that are no codes: how they begin, and in which files.
const NO_CODES: [(&str, &str); 5] = [
    ("", "src/post/lang/"),
    ("", "src/post/render/"),
    ("docusaurus-plugin-content-", "src/post/file_name/"),
    ("", "src/source/git.rs"),
    ("", "src/post/fields/schema.rs"),
];

#[test]
fn every_code_of_a_diagnostic_is_documented_and_every_documented_code_exists() {
    let doc = text("docs/diagnostics.md");
    let documented: BTreeSet<String> = rows(&doc).iter().flat_map(|row| code_spans(&row[0])).collect();
    let made = codes_made();
    assert!(made.len() > 20, "only {} codes were found", made.len());
    for (code, path) in &made {
        assert!(documented.contains(code), "docs/diagnostics.md lacks {code} of {path}");
    }
    // Others go through a helper, and are told by their spelling: words with dashes between them.
    for (literal, path) in literals(&["src/post/", "src/catalog/", "src/source", "src/plan/"]) {
        let looks_like_one = literal.contains('-')
            && literal.split('-').all(|word| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            });
        let is_none =
            NO_CODES.iter().any(|(prefix, file)| literal.starts_with(prefix) && path.starts_with(file));
        if looks_like_one && !is_none {
            assert!(
                documented.contains(&literal) || code_spans(&doc).contains(&literal),
                "docs/diagnostics.md lacks {literal} of {path}"
            );
        }
    }
    let literals = literals(&["src/"]);
    for code in &documented {
        assert!(literals.contains_key(code), "docs/diagnostics.md has {code}, which is nowhere in src/");
    }
}

// Guarantees.

/// Every promise names a test that is there and is run; what it can also be is a promise of the contract suite.
#[test]
fn every_test_behind_a_guarantee_exists() {
    let doc = text("docs/guarantees.md");
    let named: Vec<String> = code_spans(&doc).into_iter().filter(|span| span.contains(".rs::")).collect();
    assert!(named.len() > 20, "only {} tests are named", named.len());
    for name in named {
        let (path, function) = name.split_once("::").unwrap();
        let source = text(path);
        let lines: Vec<&str> = source.lines().collect();
        let at = lines
            .iter()
            .position(|line| line.contains(&format!("fn {function}(")))
            .unwrap_or_else(|| panic!("docs/guarantees.md names {name}, which is not there"));
        let before: Vec<&&str> = lines[..at].iter().rev().take_while(|line| line.starts_with("#[")).collect();
        let is_test = before.iter().any(|line| line.contains("test"))
            && !before.iter().any(|line| line.contains("ignore"));
        let is_promise = text("tests/contract/main.rs").contains(&format!("    {function}"));
        // Made a test on each store by the macro of `tests/chain`.
        let on_stores =
            source.contains("on_both_stores!(") && lines.contains(&format!("    {function},").as_str());
        assert!(
            is_test || is_promise || on_stores,
            "docs/guarantees.md names {name}, which is no test that is run"
        );
    }
}

// The sample posts.

#[test]
fn the_sample_posts_tell_their_own_ids() {
    for (path, slug, lang) in [
        ("content/deterministic-ids/index.en.md", "deterministic-ids", "en"),
        ("content/deterministic-ids/index.ko.md", "멱등성을-위한-결정적-아이디", "ko"),
        ("content/deterministic-ids/index.ja.md", "冪等性と決定的なid", "ja"),
    ] {
        let at = PublishedAt::from_unix_millis(1_767_657_600_000).unwrap();
        let id = PostId::derive(&Slug::parse(slug).unwrap(), &Lang::parse(lang).unwrap(), at);
        let body = text(path);
        assert!(body.contains(&format!("`{id}`")) && body.contains(slug), "{path} should tell {id}");
    }
}
