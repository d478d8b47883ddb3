//! A tree of broken files, one kind of fault a file: what is told of each, where, and that nothing is
//! lost. The texts are read by a person in the snapshots of `check`; here stands what must not change.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use idempost::catalog::{Catalog, fold};
use idempost::diagnostic::Severity;
use idempost::post::lang::Lang;
use idempost::post::preset::Preset;
use idempost::post::render::RenderOptions;
use idempost::post::slug::{SlugMode, SlugPattern};
use idempost::post::{Rules, parse};
use idempost::source::{WalkOptions, read, walk};

const FILE_BYTES_MAX: u64 = 1 << 20;

fn rules() -> Rules {
    let lang = |text| Lang::parse(text).expect("a language");
    Rules {
        preset: Preset::Plain,
        langs: vec![lang("en"), lang("ko"), lang("ja")],
        default_lang: lang("en"),
        timezone: jiff::tz::TimeZone::UTC,
        timezone_name: "UTC".to_owned(),
        slug_mode: SlugMode::Keep,
        slug_pattern: SlugPattern::default(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: BTreeMap::new(),
        file_bytes_max: FILE_BYTES_MAX,
        render: RenderOptions::default(),
    }
}

fn broken_tree() -> Catalog {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/broken");
    let walked = walk(&root, &WalkOptions::default()).expect("the tree can be walked");
    assert!(walked.problems.is_empty(), "{:?}", walked.problems);
    let rules = rules();
    let parsed = walked
        .files
        .iter()
        .map(|file| {
            let bytes = read(file, FILE_BYTES_MAX).expect("the file can be read");
            parse(&file.path, file.in_drafts, &bytes, &rules)
        })
        .collect();
    fold(parsed, walked.skipped, &rules)
}

/// File, line (0: none) and code of each error.
const ERRORS: &[(&str, u32, &str)] = &[
    ("2031-02-29-no-such-day.md", 0, "file-name-date"),
    ("2031-08-02-market.md", 0, "duplicate-slug"),
    ("2031-08-09-market.md", 0, "duplicate-slug"),
    ("_drafts/windfall.md", 0, "duplicate-draft"),
    ("before-1970.md", 3, "date-range"),
    ("blank-line-first.md", 3, "front-matter-not-first"),
    ("colon-in-title.md", 2, "yaml-syntax"),
    ("country-for-language.md", 3, "lang-unknown"),
    ("dashes-glued.md", 1, "front-matter-fence"),
    ("day-first.md", 3, "date-ambiguous-order"),
    ("draft-in-words.md", 4, "wrong-type"),
    ("empty-date.md", 3, "date-empty"),
    ("empty-slug.md", 3, "empty-value"),
    ("encoded-slug.md", 3, "slug"),
    ("hidden-in-slug.md", 3, "slug"),
    ("impossible-day.md", 3, "date-impossible"),
    ("json-comma.md", 4, "json-syntax"),
    ("key-twice.md", 4, "duplicate-key"),
    ("language-in-words.md", 3, "lang"),
    ("latin-1.md", 2, "not-utf8"),
    ("nul.md", 6, "nul"),
    ("script-front-matter.md", 1, "front-matter-language"),
    ("several-at-once.md", 2, "empty-value"),
    ("several-at-once.md", 3, "date-impossible"),
    ("several-at-once.md", 4, "lang"),
    ("several-at-once.md", 5, "wrong-type"),
    ("several-at-once.md", 6, "date-form"),
    ("tags-map.md", 4, "wrong-type"),
    ("title-list.md", 2, "wrong-type"),
    ("toml-syntax.md", 4, "toml-syntax"),
    ("twins/wassail-again.md", 3, "duplicate-identity"),
    ("twins/wassail.md", 3, "duplicate-identity"),
    ("unclosed-fence.md", 1, "front-matter-unclosed"),
    ("unknown-alias.md", 2, "unknown-anchor"),
    ("zone-letters.md", 3, "date-zone"),
];

/// File, line (0: none) and code of each warning.
const WARNINGS: &[(&str, u32, &str)] = &[
    ("2031-08-14-other-day.md", 3, "date-differs"),
    ("Medlar.md", 0, "slug-case"),
    ("fruit/medlar.md", 0, "slug-case"),
    ("ko/other-language.md", 3, "lang-differs"),
    ("misspelt-key.md", 2, "unknown-key"),
    ("odd-keys.md", 4, "key-renamed"),
    ("odd-keys.md", 5, "key-renamed"),
    ("odd-keys.md", 6, "number-as-text"),
    ("two-dates.md", 4, "two-names"),
];

fn told(catalog: &Catalog, severity: Severity) -> Vec<(&str, u32, &str)> {
    let of_severity = catalog.diagnostics.iter().filter(|problem| problem.severity == severity);
    of_severity.map(|problem| (problem.file.as_str(), problem.line.unwrap_or(0), problem.code)).collect()
}

#[test]
fn each_fault_is_told_at_its_place() {
    let catalog = broken_tree();
    assert_eq!(told(&catalog, Severity::Error), ERRORS);
    assert_eq!(told(&catalog, Severity::Warning), WARNINGS);
}

#[test]
fn no_file_is_lost_and_no_good_one_is_held_back() {
    let catalog = broken_tree();
    assert_eq!(catalog.posts.len() + catalog.skipped.len() + catalog.invalid.len(), catalog.files);
    assert_eq!(catalog.skipped.len(), 1, "{:?}", catalog.skipped);
    let posts: Vec<&str> = catalog.posts.iter().map(|post| post.file.as_str()).collect();
    assert_eq!(
        posts,
        [
            "2031-08-14-other-day.md",
            "Medlar.md",
            "fruit/medlar.md",
            "good.md",
            "ko/other-language.md",
            "misspelt-key.md",
            "odd-keys.md",
            "two-dates.md",
            "windfall.md",
        ]
    );
    let mut kinds: Vec<&str> = ERRORS.iter().map(|(_, _, code)| *code).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert!(kinds.len() >= 20, "twenty kinds of faults, not {}: {kinds:?}", kinds.len());
}

#[test]
fn every_problem_says_what_to_do_and_shows_the_line() {
    for problem in broken_tree().diagnostics {
        assert!(!problem.help.is_empty(), "{problem:?}");
        assert!(!problem.message.ends_with('.'), "{problem:?}");
        assert!(!problem.message.contains('\n') && !problem.help.contains('\n'), "{problem:?}");
        if problem.span.is_some() {
            assert!(problem.source_line.is_some(), "{problem:?}");
        }
    }
}
