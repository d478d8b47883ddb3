use std::collections::BTreeMap;

use super::*;
use crate::post::lang::Lang;
use crate::post::parse;
use crate::post::preset::Preset;
use crate::post::render::RenderOptions;
use crate::post::slug::{SlugMode, SlugPattern};

pub(crate) fn rules(langs: &[&str]) -> Rules {
    let lang = |text: &str| Lang::parse(text).expect("a language");
    Rules {
        preset: Preset::Plain,
        langs: langs.iter().map(|text| lang(text)).collect(),
        default_lang: lang("en"),
        timezone: jiff::tz::TimeZone::UTC,
        timezone_name: "UTC".to_owned(),
        slug_mode: SlugMode::Keep,
        slug_pattern: SlugPattern::default(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: BTreeMap::new(),
        file_bytes_max: 1 << 20,
        render: RenderOptions::default(),
    }
}

/// A tree of files: path and the keys of the front matter.
fn tree(files: &[(&str, &str)], rules: &Rules) -> Vec<Parsed> {
    files
        .iter()
        .map(|(path, keys)| {
            parse(path, path.contains("_drafts/"), format!("---\n{keys}\n---\n").as_bytes(), rules)
        })
        .collect()
}

fn catalog(files: &[(&str, &str)], rules: &Rules) -> Catalog {
    fold(tree(files, rules), Vec::new(), rules)
}

fn posts(catalog: &Catalog) -> Vec<&str> {
    catalog.posts.iter().map(|post| post.file.as_str()).collect()
}

/// `file code` of every problem.
fn told(catalog: &Catalog) -> Vec<String> {
    catalog.diagnostics.iter().map(|problem| format!("{} {}", problem.file, problem.code)).collect()
}

#[test]
fn files_are_posts_and_skipped_and_invalid_and_nothing_else() {
    let rules = rules(&[]);
    let parsed = tree(
        &[
            ("b.md", "date: 2031-07-09"),
            ("a.md", "date: 2031-07-09"),
            ("page.md", "title: x"),
            ("bad.md", "date: maybe"),
            ("draft.md", "draft: true"),
            ("_drafts/next.md", "date: 2031-07-09"),
        ],
        &rules,
    );
    let by_walk = vec![Skipped { file: "README.md".to_owned(), reason: Skip::Readme }];
    let catalog = fold(parsed, by_walk, &rules);
    assert_eq!(catalog.files, 7);
    assert_eq!(catalog.posts.len() + catalog.skipped.len() + catalog.invalid.len(), catalog.files);
    assert_eq!(posts(&catalog), ["a.md", "b.md"]);
    let skipped: Vec<_> = catalog.skipped.iter().map(|skipped| skipped.file.as_str()).collect();
    assert_eq!(skipped, ["README.md", "_drafts/next.md", "draft.md", "page.md"]);
    assert_eq!(catalog.invalid, ["bad.md"]);
    let held: Vec<_> = catalog.held.iter().map(|(reason, post)| (*reason, post.file.as_str())).collect();
    assert_eq!(held, [(Skip::Draft, "_drafts/next.md")]);
}

#[test]
fn two_files_with_one_identity_are_errors_that_name_both() {
    let rules = rules(&[]);
    let files = [
        ("x/one.md", "slug: plum\ndate: 2031-07-09"),
        ("a/two.md", "slug: plum\ndate: 2031-07-09T00:00:00Z"),
        ("ok.md", "slug: jam\ndate: 2031-07-09"),
    ];
    let catalog = catalog(&files, &rules);
    assert_eq!(posts(&catalog), ["ok.md"]);
    assert_eq!(catalog.invalid, ["a/two.md", "x/one.md"]);
    assert_eq!(told(&catalog), ["a/two.md duplicate-identity", "x/one.md duplicate-identity"]);
    for problem in &catalog.diagnostics {
        assert!(problem.message.contains("`a/two.md` and `x/one.md`"), "{}", problem.message);
        assert!(problem.help.contains("slug"), "{}", problem.help);
    }
}

#[test]
fn one_slug_on_two_days_is_an_error_with_the_pattern_that_helps() {
    let files = [("2031-07-09-meeting.md", "title: x"), ("2031-07-16-meeting.md", "title: y")];
    let mut rules = rules(&[]);
    let clashing = catalog(&files, &rules);
    assert_eq!(clashing.invalid.len(), 2);
    for problem in &clashing.diagnostics {
        assert_eq!(problem.code, "duplicate-slug");
        assert!(problem.help.contains("{year}/{month}/{day}/{stem}"), "{}", problem.help);
    }
    rules.slug_pattern = SlugPattern::parse("{year}/{month}/{day}/{stem}").expect("a pattern");
    let apart = catalog(&files, &rules);
    assert_eq!(apart.posts.len(), 2, "the pattern of the message does tell them apart");

    // A slug that an author wrote is not changed by a pattern.
    let written = [("a.md", "slug: plum\ndate: 2031-07-09"), ("b.md", "slug: plum\ndate: 2031-07-16")];
    let catalog = catalog(&written, &rules);
    assert!(catalog.diagnostics.iter().all(|problem| !problem.help.contains("slug_pattern")));
}

#[test]
fn a_clash_of_folders_or_suffixes_names_the_langs() {
    for files in [
        [("fi/plum.md", "date: 2031-07-09"), ("sv/plum.md", "date: 2031-07-09")],
        [("i18n/fi/plum.md", "date: 2031-07-09"), ("i18n/sv/plum.md", "date: 2031-07-09")],
        [("plum.md", "date: 2031-07-09\nslug: plum"), ("plum.sv.md", "date: 2031-07-09\nslug: plum")],
    ] {
        let closed = catalog(&files, &rules(&["ko"]));
        assert_eq!(closed.invalid.len(), 2);
        for problem in &closed.diagnostics {
            assert!(
                problem.help.contains("langs = [\"ko\", ") && problem.help.contains("\"sv\""),
                "{}",
                problem.help
            );
        }
        let open = catalog(&files, &rules(&["ko", "fi", "sv"]));
        assert_eq!(open.posts.len(), 2, "the langs of the message do tell them apart");
    }
    let same =
        catalog(&[("zh_TW/a.md", "date: 2031-07-09"), ("zh-tw/a.md", "date: 2031-07-09")], &rules(&[]));
    assert!(same.diagnostics.iter().all(|problem| !problem.help.contains("langs")), "{:?}", same.diagnostics);
}

#[test]
fn a_draft_that_shares_a_place_with_a_post_is_the_error() {
    let rules = rules(&[]);
    let catalog = catalog(
        &[
            ("plum.md", "date: 2031-07-09"),
            ("_drafts/plum.md", "date: 2031-08-09"),
            ("_drafts/jam.md", "date: 2031-08-09"),
            ("later/jam.md", "date: 2031-08-10\ndraft: true"),
        ],
        &rules,
    );
    assert_eq!(posts(&catalog), ["plum.md"]);
    assert_eq!(catalog.invalid, ["_drafts/plum.md"]);
    assert_eq!(catalog.held.len(), 2, "two drafts may share a place");
    assert!(catalog.diagnostics[0].message.contains("`_drafts/plum.md` and `plum.md`"));
}

#[test]
fn a_future_post_claims_its_place_now() {
    let rules = Rules { skip_after: Some(0), ..rules(&[]) };
    let catalog = catalog(
        &[("a.md", "slug: plum\ndate: 1970-01-01"), ("b.md", "slug: plum\ndate: 2031-01-01")],
        &rules,
    );
    assert_eq!(catalog.invalid, ["a.md", "b.md"]);
    assert!(catalog.held.is_empty());
}

#[test]
fn a_file_that_is_wrong_otherwise_still_clashes() {
    let catalog = catalog(
        &[("a.md", "slug: plum\ndate: 2031-07-09\ntags: {a: 1}"), ("b.md", "slug: plum\ndate: 2031-07-09")],
        &rules(&[]),
    );
    assert_eq!(catalog.invalid, ["a.md", "b.md"]);
    assert_eq!(told(&catalog), ["a.md duplicate-identity", "a.md wrong-type", "b.md duplicate-identity"]);
}

#[test]
fn slugs_that_look_alike_are_warned_of_in_one_language() {
    let files = [
        ("a.md", "slug: Plum\ndate: 2031-07-09"),
        ("b.md", "slug: plum\ndate: 2031-07-09"),
        // Full-width letters are another slug that looks the same.
        ("c.md", "slug: \u{ff50}\u{ff4c}\u{ff55}\u{ff4d}\ndate: 2031-07-09"),
        ("d.md", "slug: plum\nlang: fi\ndate: 2031-07-09"),
        ("e.md", "slug: PLUM\nlang: sv\ndate: 2031-07-09"),
    ];
    let catalog = catalog(&files, &rules(&[]));
    assert_eq!(catalog.posts.len(), 5);
    assert_eq!(told(&catalog), ["a.md slug-case", "b.md slug-case", "c.md slug-case"]);
    assert!(catalog.diagnostics.iter().all(|problem| !problem.is_error()));
}

#[test]
fn nfc_and_nfd_names_are_one_slug() {
    let catalog = catalog(
        &[("x/caf\u{e9}.md", "date: 2031-07-09"), ("y/cafe\u{301}.md", "date: 2031-07-09")],
        &rules(&[]),
    );
    assert_eq!(catalog.invalid.len(), 2);
}

#[test]
fn many_files_in_one_place_are_named_up_to_a_limit() {
    let names: Vec<String> = (0..9).map(|at| format!("{at}/plum.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "date: 2031-07-09")).collect();
    let catalog = catalog(&files, &rules(&[]));
    assert_eq!(catalog.invalid.len(), 9);
    assert!(catalog.diagnostics[0].message.contains("and 4 more"), "{}", catalog.diagnostics[0].message);
}

proptest::proptest! {
    #[test]
    fn the_order_of_the_files_changes_nothing(
        picks in proptest::collection::vec((0_usize..4, 0_usize..3, 0_usize..3, 0_usize..3), 0..9),
        seed in 0_usize..1000,
    ) {
        let rules = rules(&["fi"]);
        let slugs = ["plum", "Plum", "jam", "tart"];
        let extra = ["x: 1", "draft: true", "tags: {a: 1}"];
        let mut files: Vec<(String, String)> = picks
            .iter()
            .enumerate()
            .map(|(at, (slug, day, lang, kind))| {
                let lang = ["en", "fi", "fi"][*lang];
                (format!("{at}.md"), format!("slug: {}\ndate: 2031-07-0{}\nlang: {lang}\n{}", slugs[*slug], day + 1, extra[*kind]))
            })
            .collect();
        let as_refs = |files: &[(String, String)]| -> Catalog {
            let refs: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            catalog(&refs, &rules)
        };
        let first = as_refs(&files);
        let length = files.len().max(1);
        if !files.is_empty() {
            files.rotate_left(seed % length);
        }
        files.reverse();
        let second = as_refs(&files);
        proptest::prop_assert_eq!(format!("{first:?}"), format!("{second:?}"));
        proptest::prop_assert_eq!(first.posts.len() + first.skipped.len() + first.invalid.len(), first.files);
        // No two posts that are left share a place.
        let places: std::collections::BTreeSet<_> =
            first.posts.iter().map(|post| (post.slug.clone(), post.lang.clone())).collect();
        proptest::prop_assert_eq!(places.len(), first.posts.len());
    }
}
