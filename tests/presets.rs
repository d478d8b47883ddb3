//! The presets against the generators: trees of ours under `tests/fixtures/presets/`, a table of what is
//! expected of each file, and the generators themselves where they are installed.
//!
//! `scripts/presets` installs the generators and runs this with `IDEMPOST_REQUIRE_HUGO=1` and
//! `IDEMPOST_TEST_NODE_MODULES` set; without them the comparisons say that they did not run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "a test fails so"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use idempost::post::date::{self, PublishedAt};
use idempost::post::lang::Lang;
use idempost::post::preset::Preset;
use idempost::post::render::RenderOptions;
use idempost::post::{Outcome, Rules, parse};
use idempost::source::{self, WalkOptions};

/// What we say of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    /// `post`, `draft` and the other reasons of a skip, or `error`.
    outcome: String,
    slug: String,
    lang: String,
    published: String,
}

fn fixture(preset: Preset) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/presets").join(preset.as_str())
}

fn rules(preset: Preset, langs: &[&str]) -> Rules {
    Rules {
        preset,
        langs: langs.iter().map(|lang| Lang::parse(lang).unwrap()).collect(),
        default_lang: Lang::parse("en").unwrap(),
        timezone: date::timezone("UTC").unwrap(),
        timezone_name: "UTC".to_owned(),
        slug_mode: preset.slug_mode(),
        slug_pattern: preset.slug_pattern(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: BTreeMap::new(),
        file_bytes_max: 1 << 20,
        render: RenderOptions::default(),
    }
}

/// Walks and reads a tree under a preset's defaults.
fn verdicts(root: &Path, rules: &Rules) -> BTreeMap<String, Verdict> {
    let walked = source::walk(root, &WalkOptions::default()).unwrap();
    assert!(walked.problems.is_empty(), "{:?}", walked.problems);
    let skipped = walked.skipped.into_iter().map(|skip| {
        let nothing = String::new;
        let outcome = skip.reason.as_str().to_owned();
        (skip.file, Verdict { outcome, slug: nothing(), lang: nothing(), published: nothing() })
    });
    let read = walked.files.iter().map(|file| {
        let bytes = source::read(file, rules.file_bytes_max).unwrap();
        let parsed = parse(&file.path, file.in_drafts, &bytes, rules);
        let outcome = match parsed.outcome {
            Outcome::Post(_) => "post",
            Outcome::Skipped(reason, _) => reason.as_str(),
            Outcome::Invalid => "error",
        };
        let text = |value: Option<String>| value.unwrap_or_default();
        let facts = parsed.facts;
        let verdict = Verdict {
            outcome: outcome.to_owned(),
            slug: text(facts.slug.map(|slug| slug.to_string())),
            lang: text(facts.lang.map(|lang| lang.to_string())),
            published: text(facts.published_at.map(PublishedAt::to_rfc3339)),
        };
        (file.path.clone(), verdict)
    });
    skipped.chain(read).collect()
}

/// Compares with the table of the fixture: path, verdict, slug, language, instant.
fn check(preset: Preset, content: &str, langs: &[&str]) {
    let root = fixture(preset);
    let found = verdicts(&root.join(content), &rules(preset, langs));
    let mut table = String::new();
    for (path, said) in &found {
        let line = [path, &said.outcome, &said.slug, &said.lang, &said.published].map(String::as_str);
        writeln!(table, "{}", line.join("\t").trim_end()).unwrap();
    }
    let expected = std::fs::read_to_string(root.join("expected.tsv")).unwrap();
    assert_eq!(table, expected, "the table of {}", preset.as_str());
}

#[test]
fn hugo() {
    check(Preset::Hugo, "content", &["en", "ko"]);
}

#[test]
fn zola() {
    check(Preset::Zola, "content", &["en", "fr"]);
}

#[test]
fn jekyll() {
    check(Preset::Jekyll, "", &[]);
}

#[test]
fn astro() {
    check(Preset::Astro, "", &["en", "ko"]);
}

#[test]
fn docusaurus() {
    check(Preset::Docusaurus, "", &["en", "fr"]);
}

#[test]
fn eleventy() {
    check(Preset::Eleventy, "", &[]);
}

/// The last part of an address, decoded.
fn last_part(url: &str) -> String {
    let part = url.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    percent_encoding::percent_decode_str(part).decode_utf8().unwrap().into_owned()
}

/// An RFC 3339 text as an instant in the table's spelling; Hugo's zero time is none.
fn instant(text: &str) -> String {
    match text.parse::<jiff::Timestamp>() {
        Ok(instant) if !text.starts_with("0001-") => instant.to_string(),
        _ => String::new(),
    }
}

/// Fields of one line of CSV.
fn csv(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(character),
        }
    }
    fields
}

/// Runs a program of a generator, or says why not. What is required and missing fails.
fn run(command: &mut Command, required: bool) -> Option<String> {
    match command.output() {
        Ok(output) if output.status.success() => Some(String::from_utf8(output.stdout).unwrap()),
        Ok(output) => panic!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if required => panic!("{command:?} did not run: {error}"),
        Err(error) => {
            eprintln!("not compared: {command:?} did not run: {error}");
            None
        }
    }
}

/// Every page that Hugo lists: slug, language, instant and draft are ours.
#[test]
fn hugo_says_the_same() {
    let required = std::env::var_os("IDEMPOST_REQUIRE_HUGO").is_some_and(|value| value == "1");
    let scratch = tempfile::tempdir().unwrap();
    copy(&fixture(Preset::Hugo), scratch.path());
    let program = std::env::var_os("IDEMPOST_TEST_HUGO").unwrap_or_else(|| "hugo".into());
    let mut command = Command::new(program);
    command.args(["list", "all"]).current_dir(scratch.path()).env("TZ", "Asia/Kathmandu");
    let Some(listed) = run(&mut command, required) else {
        return;
    };
    let ours = verdicts(&fixture(Preset::Hugo).join("content"), &rules(Preset::Hugo, &["en", "ko"]));
    let mut lines = listed.lines().filter(|line| line.starts_with(['"', 'c', 'p'])).map(csv);
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|field| field == name).unwrap();
    let [path, publish_date, draft, permalink] = ["path", "publishDate", "draft", "permalink"].map(column);
    let mut compared = BTreeSet::new();
    for page in lines.filter(|page| !page[path].ends_with("_index.md")) {
        let file = page[path].strip_prefix("content/").unwrap().to_owned();
        let said = ours.get(&file).unwrap_or_else(|| panic!("{file} is a page to Hugo and nothing to us"));
        let published = instant(&page[publish_date]);
        let outcome = match (page[draft].as_str(), published.as_str()) {
            ("true", _) => "draft",
            (_, "") => "undated",
            _ => "post",
        };
        assert_eq!(said.outcome, outcome, "{file}");
        assert_eq!(said.published, published, "{file}");
        assert_eq!(said.slug, last_part(&page[permalink]), "{file}");
        let address = page[permalink].strip_prefix("https://example.org/").unwrap();
        if address.starts_with("en/") || address.starts_with("ko/") {
            assert!(address.starts_with(&format!("{}/", said.lang)), "{file}: {address} and {}", said.lang);
        }
        compared.insert(file);
    }
    let posts = ours.iter().filter(|(_, said)| matches!(said.outcome.as_str(), "post" | "draft"));
    for (file, _) in posts {
        assert!(compared.contains(file), "{file} is a post to us and nothing to Hugo");
    }
}

/// What `tests/presets/generators.mjs` makes of the paths of a tree with a generator's own code:
/// path to (slug, instant); `None` where the packages are not there.
fn by_generator(preset: Preset) -> Option<BTreeMap<String, (String, String)>> {
    let Some(modules) = std::env::var_os("IDEMPOST_TEST_NODE_MODULES") else {
        eprintln!("not compared with {}: IDEMPOST_TEST_NODE_MODULES is not set", preset.as_str());
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/presets/generators.mjs");
    let mut command = Command::new("node");
    command.arg(script).arg(preset.as_str()).arg(modules).arg(fixture(preset)).env("TZ", "Asia/Kathmandu");
    let told = run(&mut command, true)?;
    let rows = told.lines().map(|line| {
        let mut fields = line.split('\t').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        (next(), (next(), next()))
    });
    Some(rows.collect())
}

/// Compares slugs, and instants where the generator tells one, of all files that both read.
fn compare(preset: Preset, langs: &[&str], least: usize, skip: &[&str]) {
    let Some(theirs) = by_generator(preset) else {
        return;
    };
    let ours = verdicts(&fixture(preset), &rules(preset, langs));
    let mut compared = 0;
    for (file, said) in
        ours.iter().filter(|(file, said)| !said.slug.is_empty() && !skip.contains(&file.as_str()))
    {
        let (slug, published) = theirs.get(file).unwrap_or_else(|| panic!("{file}"));
        assert_eq!(&said.slug, slug, "{file}");
        if !published.is_empty() {
            assert_eq!(&said.published, published, "{file}");
        }
        compared += 1;
    }
    assert!(compared >= least, "only {compared} files were compared");
}

#[test]
fn github_slugger_says_the_same() {
    // A language's folder is no part of our slug.
    compare(Preset::Astro, &["en"], 9, &["blog/named.md"]);
}

#[test]
fn docusaurus_says_the_same() {
    compare(Preset::Docusaurus, &["en", "fr"], 12, &["blog/2021-03-14-named.md"]);
}

#[test]
fn eleventy_says_the_same() {
    // The last part of a literal permalink takes the place of `page.fileSlug`.
    compare(Preset::Eleventy, &[], 7, &["posts/placed.md"]);
}

/// Every character of the basic plane, as the generator spells it.
#[test]
fn github_slugger_spells_every_character_the_same() {
    let Some(modules) = std::env::var_os("IDEMPOST_TEST_NODE_MODULES") else {
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/presets/generators.mjs");
    let told = run(Command::new("node").arg(script).arg("characters").arg(modules), true).unwrap();
    let mut differ = Vec::new();
    for line in told.lines() {
        let (code, theirs) = line.split_once('\t').unwrap();
        let character = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
        let ours = idempost::post::slug::SlugMode::Astro.spell(&format!("a{character}b")).unwrap();
        let composed = unicode_normalization::UnicodeNormalization::nfc(theirs).collect::<String>();
        if ours != theirs && ours != composed {
            differ.push(format!("U+{code}: {ours:?} and {theirs:?}"));
        }
    }
    // The package's table is of an older Unicode than ours: letters that came later are left out there.
    assert!(told.lines().count() > 60_000);
    assert!(differ.iter().all(|line| line.ends_with("and \"ab\"")), "{differ:?}");
    assert!(differ.len() < 600, "{differ:?}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
