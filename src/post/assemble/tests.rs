use std::collections::BTreeMap;

use super::parse;
use crate::diagnostic::Severity;
use crate::post::decode;
use crate::post::lang::Lang;
use crate::post::preset::Preset;
use crate::post::render::RenderOptions;
use crate::post::slug::{SlugMode, SlugPattern};
use crate::post::{Outcome, Parsed, Post, Rules, Skip};

fn lang(text: &str) -> Lang {
    Lang::parse(text).expect("a language")
}

fn rules() -> Rules {
    Rules {
        preset: Preset::Plain,
        langs: vec![lang("fi"), lang("sv"), lang("en")],
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

fn read(file: &str, text: &str) -> Parsed {
    parse(file, false, text.as_bytes(), &rules())
}

fn post(file: &str, text: &str) -> Post {
    let parsed = read(file, text);
    match parsed.outcome {
        Outcome::Post(post) => *post,
        other => panic!("{file} is {other:?}: {:?}", parsed.diagnostics),
    }
}

/// `line code` of each problem, warnings with a `?`.
fn told(parsed: &Parsed) -> Vec<String> {
    let mark = |severity| if severity == Severity::Warning { "?" } else { "" };
    parsed
        .diagnostics
        .iter()
        .map(|problem| {
            let line = problem.line.map_or("-".to_owned(), |line| line.to_string());
            format!("{line} {}{}", problem.code, mark(problem.severity))
        })
        .collect()
}

#[test]
fn a_post_is_put_together() {
    let post = post(
        "sv/garden/plums.md",
        "---\ntitle: Plommon\ndate: 2031-07-09T10:00:00+02:00\ntags: [frukt]\n---\n\n# Rubrik\n\nText.\n",
    );
    assert_eq!((post.slug.as_str(), post.lang.as_str()), ("plums", "sv"));
    assert_eq!(post.published_at.unix_millis(), 1_941_350_400_000);
    assert_eq!(post.meta.title.as_deref(), Some("Plommon"));
    assert_eq!(post.body.text(), Some("\n# Rubrik\n\nText.\n"));
    assert_eq!(post.body_line, 6);
    assert_eq!(post.from.published_at.as_deref(), Some("front matter date"));
    assert_eq!(post.from.lang.as_deref(), Some("folder sv/"));
    assert_eq!(post.from.slug.as_deref(), Some("file name"));
    assert_eq!(post.translation_path, "garden/plums");
    assert!(!post.mdx);
}

#[test]
fn line_ends_and_a_mark_make_no_difference() {
    let plain = "---\ntitle: Plums\ndate: 2031-07-09\nx: >\n  folded\n  text\n---\nBody\r here.\n";
    let first = post("a.md", plain);
    for other in [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
    ] {
        let again = post("a.md", &other);
        assert_eq!((again.id, &again.body, &again.source_hash), (first.id, &first.body, &first.source_hash));
        assert_eq!((&again.meta, again.body_line), (&first.meta, first.body_line));
    }
}

#[test]
fn a_slug_comes_from_the_field_then_the_address_then_the_file() {
    for (file, keys, slug, from) in [
        ("a.md", "slug: Own Slug\npath: x/y", "Own Slug", "front matter slug"),
        ("a.md", "permalink: /x/from-address/", "from-address", "last part of permalink"),
        ("a.md", "url: /x/one.html\npath: two", "one", "last part of url"),
        ("a.md", "permalink: /:year/:title/", "a", "file name"),
        ("a.md", "permalink: /{{ year }}/{{ page.fileSlug }}/\npath: lit", "lit", "last part of path"),
        ("a.md", "permalink: false", "a", "file name"),
        ("x/bundle/index.md", "", "bundle", "folder name"),
        ("2031-07-09-plum.fi.md", "", "plum", "file name"),
    ] {
        let post = post(file, &format!("---\ndate: 2031-07-09\n{keys}\n---\n"));
        assert_eq!(post.slug.as_str(), slug, "{file} {keys}");
        assert_eq!(post.from.slug.as_deref(), Some(from), "{file} {keys}");
    }
    for keys in ["slug: ' outer '", "slug: 'what?'", "slug: ''", "slug: [a]", "permalink: /x/%C3%A4/"] {
        let parsed = read("a.md", &format!("---\ndate: 2031-07-09\n{keys}\n---\n"));
        assert!(matches!(parsed.outcome, Outcome::Invalid), "{keys}");
        assert_eq!(parsed.diagnostics[0].line, Some(3), "{keys}");
        assert_eq!(parsed.facts.slug, None, "{keys}");
    }
}

#[test]
fn a_date_comes_from_front_matter_then_the_address_then_the_name() {
    let day = 1_941_321_600_000;
    for (file, keys, millis, from, warnings) in [
        ("2031-07-09-a.md", "date: 2031-07-09", day, "front matter date", vec![]),
        ("2031-07-10-a.md", "date: 2031-07-09", day, "front matter date", vec!["2 date-differs?"]),
        ("2031-07-09-a.md", "date:", day, "file name", vec![]),
        ("a.md", "path: 2031/07/09/plum", day, "date in path", vec![]),
        (
            "2031-07-10-a.md",
            "permalink: /2031/07/09/plum/",
            day,
            "date in permalink",
            vec!["2 date-differs?"],
        ),
        ("2031/07/09/a.md", "title: x", day, "folders 2031/07/09/", vec![]),
        ("a.md", "created: 2031-07-09\npublishDate: null", day, "front matter created", vec![]),
    ] {
        let parsed = read(file, &format!("---\n{keys}\n---\n"));
        let Outcome::Post(post) = &parsed.outcome else { panic!("{file} {keys}: {:?}", parsed.diagnostics) };
        assert_eq!(post.published_at.unix_millis(), millis, "{file} {keys}");
        assert_eq!(post.from.published_at.as_deref(), Some(from), "{file} {keys}");
        assert_eq!(told(&parsed), warnings, "{file} {keys}");
    }
}

#[test]
fn a_written_day_is_compared_as_written_not_as_an_instant() {
    // Half past midnight in Helsinki is the day before in UTC.
    let parsed = read("2031-07-09-a.md", "---\ndate: 2031-07-09T00:30:00+03:00\n---\n");
    assert_eq!(told(&parsed), Vec::<String>::new());
}

#[test]
fn a_language_comes_from_front_matter_then_suffix_then_folder() {
    for (file, keys, wanted, from, warnings) in [
        ("fi/a.sv.md", "lang: en", "en", "front matter lang", vec!["3 lang-differs?"]),
        ("fi/a.sv.md", "x: 1", "sv", "suffix .sv of the file name", vec!["- lang-differs?"]),
        ("fi/a.md", "x: 1", "fi", "folder fi/", vec![]),
        ("a.md", "x: 1", "en", "default_lang", vec![]),
        ("sv/a.sv.md", "locale: SV", "sv", "front matter locale", vec![]),
        ("node.js.md", "x: 1", "en", "default_lang", vec![]),
    ] {
        let parsed = read(file, &format!("---\ndate: 2031-07-09\n{keys}\n---\n"));
        let Outcome::Post(post) = &parsed.outcome else { panic!("{file} {keys}: {:?}", parsed.diagnostics) };
        assert_eq!(post.lang.as_str(), wanted, "{file} {keys}");
        assert_eq!(post.from.lang.as_deref(), Some(from), "{file} {keys}");
        assert_eq!(told(&parsed), warnings, "{file} {keys}");
    }
}

#[test]
fn a_language_that_would_freeze_a_wrong_id_is_an_error_that_names_the_langs() {
    for (value, code, help) in [
        ("swedish", "lang", "`lang: sv`"),
        ("se-fi", "lang-unknown", "fi, sv, en"),
        ("fn", "lang-unknown", "fi"),
        ("suomi", "lang", "fi"),
        ("[fi, sv]", "wrong-type", "lang"),
        ("'y:en'", "lang", "fi"),
    ] {
        let parsed = read("a.md", &format!("---\ndate: 2031-07-09\nlang: {value}\n---\n"));
        assert!(matches!(parsed.outcome, Outcome::Invalid), "{value}");
        assert_eq!(told(&parsed), [format!("3 {code}")], "{value}");
        assert!(parsed.diagnostics[0].help.contains(help), "{value}: {}", parsed.diagnostics[0].help);
        assert_eq!(parsed.facts.lang, None, "{value}");
        assert!(parsed.facts.published_at.is_some());
    }
    let mut open = rules();
    open.langs.clear();
    let parsed = parse("a.md", false, b"---\ndate: 2031-07-09\nlang: iw\n---\n", &open);
    assert!(matches!(parsed.outcome, Outcome::Post(_)));
    assert_eq!(told(&parsed), ["3 lang-replaced?"]);
}

#[test]
fn pages_are_skipped_and_are_errors_in_a_tree_of_posts() {
    for (text, reason) in [
        ("---\ntitle: About\n---\nText\n", Skip::Undated),
        ("---\nlastmod: 2031-07-09\nslug: what?\n---\n", Skip::Undated),
        ("Only text.\n", Skip::NoFrontMatter),
        (" \n\n", Skip::Empty),
        ("", Skip::Empty),
        ("\u{feff}", Skip::Empty),
    ] {
        let parsed = read("about.md", text);
        assert!(matches!(parsed.outcome, Outcome::Skipped(told, None) if told == reason), "{text:?}");
        assert!(parsed.diagnostics.is_empty(), "{text:?}: {:?}", parsed.diagnostics);
        let strict = Rules { require_date: true, ..rules() };
        let parsed = parse("about.md", false, text.as_bytes(), &strict);
        assert!(matches!(parsed.outcome, Outcome::Invalid), "{text:?}");
        assert!(parsed.diagnostics.iter().any(|problem| problem.code == reason.as_str()), "{text:?}");
        assert!(parsed.diagnostics.iter().all(|problem| problem.line.is_some()), "{text:?}");
    }
    // A key that was meant as the date is told, and so is one that waits for it.
    let parsed = read("a.md", "---\ntitle: Plum\npubDte: 2031-07-09\n---\n");
    assert!(matches!(parsed.outcome, Outcome::Skipped(Skip::Undated, None)));
    assert_eq!(told(&parsed), ["3 unknown-key?"]);
    for text in [
        "---\ntitle: Plum\ndate:\n---\n",
        "---\ntitle: Plum\ndate: ''\n---\n",
        "---\ntitle: Plum\npublishDate: ~\n---\n",
    ] {
        let parsed = read("a.md", text);
        assert!(matches!(parsed.outcome, Outcome::Invalid), "{text:?}");
        assert_eq!(told(&parsed), ["3 date-empty"], "{text:?}");
    }
}

#[test]
fn a_day_that_the_calendar_lacks_is_an_error_wherever_it_stands() {
    for (file, keys, line) in [
        ("a.md", "date: 2031-04-31", Some(2)),
        ("2031-04-31-a.md", "title: x", None),
        ("a.md", "path: 2031/04/31/x", Some(2)),
    ] {
        let parsed = read(file, &format!("---\n{keys}\n---\n"));
        assert!(matches!(parsed.outcome, Outcome::Invalid), "{file} {keys}: {:?}", parsed.outcome);
        assert_eq!(parsed.diagnostics.len(), 1, "{:?}", parsed.diagnostics);
        assert_eq!(parsed.diagnostics[0].line, line, "{file} {keys}");
        assert!(parsed.diagnostics[0].message.contains("31"), "{}", parsed.diagnostics[0].message);
    }
}

#[test]
fn drafts_and_future_posts_are_held() {
    for keys in ["draft: true", "published: false", "status: draft"] {
        let parsed = read("a.md", &format!("---\ndate: 2031-07-09\n{keys}\n---\n"));
        let Outcome::Skipped(Skip::Draft, Some(held)) = &parsed.outcome else { panic!("{keys}") };
        assert_eq!(held.slug.as_str(), "a");
        assert!(parsed.facts.draft);
    }
    // A draft may lack its date, or everything.
    for text in ["---\ndraft: true\n---\n", "---\ndraft: true\ndate:\n---\n"] {
        let strict = Rules { require_date: true, ..rules() };
        for rules in [rules(), strict] {
            let parsed = parse("a.md", false, text.as_bytes(), &rules);
            assert!(matches!(parsed.outcome, Outcome::Skipped(Skip::Draft, None)), "{text:?}");
        }
    }
    for text in ["---\ndate: 2031-07-09\n---\n", "---\ntitle: x\n---\n", "no front matter", ""] {
        let parsed = parse("_drafts/a.md", true, text.as_bytes(), &rules());
        assert!(matches!(parsed.outcome, Outcome::Skipped(Skip::Draft, _)), "{text:?}");
        assert!(parsed.facts.draft);
    }
    let now = Rules { skip_after: Some(1_941_321_600_000), ..rules() };
    let parsed = parse("a.md", false, b"---\ndate: 2031-07-09T00:00:00.001Z\n---\n", &now);
    assert!(matches!(parsed.outcome, Outcome::Skipped(Skip::Future, Some(_))));
    let parsed = parse("a.md", false, b"---\ndate: 2031-07-09\n---\n", &now);
    assert!(matches!(parsed.outcome, Outcome::Post(_)));
}

#[test]
fn the_title_falls_back_to_the_heading_and_then_to_the_slug() {
    for (text, title) in [
        ("---\ndate: 2031-07-09\n---\nIntro\n\n# Plum *jam*\n", "Plum jam"),
        ("---\ndate: 2031-07-09\ntitle:\n---\nPlum jam\n===\n", "Plum jam"),
        ("---\ndate: 2031-07-09\n---\n## Second\n", "plum"),
        ("---\ndate: 2031-07-09\nlinkTitle: Short\n---\n# Long\n", "Short"),
    ] {
        assert_eq!(post("plum.md", text).meta.title.as_deref(), Some(title), "{text:?}");
    }
}

#[test]
fn all_problems_of_a_file_are_told_at_once_in_order_of_place() {
    let text =
        "---\ntitle: [a]\nslug: 'x?'\ndate: 2031-13-01\nlang: klingonese\ndraft: maybe\ntags: {a: 1}\n---\n";
    let parsed = read("a.md", text);
    assert!(matches!(parsed.outcome, Outcome::Invalid));
    let lines: Vec<_> = parsed.diagnostics.iter().filter_map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7], "{:?}", told(&parsed));
    for problem in &parsed.diagnostics {
        assert!(problem.is_error() && problem.file == "a.md" && !problem.help.is_empty(), "{problem:?}");
        assert!(problem.source_line.is_some(), "{problem:?}");
    }
}

#[test]
fn after_a_broken_block_nothing_is_made_up() {
    let parsed = read("2031-07-09-plum.sv.md", "---\ntitle: a: b\nslug: own\n---\n");
    assert!(matches!(parsed.outcome, Outcome::Invalid));
    assert_eq!(parsed.facts.published_at, None);
    assert!(parsed.facts.slug.as_ref().is_none_or(|slug| slug.as_str() == "own"));
    assert_eq!(parsed.diagnostics.iter().filter(|problem| problem.is_error()).count(), 1);
}

#[test]
fn what_could_be_read_is_told_beside_the_errors() {
    let parsed = read("a.md", "---\ndate: 2031-07-09\nslug: plum\ntags: {a: 1}\nmood: calm\n---\n");
    assert!(matches!(parsed.outcome, Outcome::Invalid));
    assert_eq!(parsed.facts.slug.as_ref().map(crate::post::slug::Slug::as_str), Some("plum"));
    assert_eq!(parsed.facts.lang.as_ref().map(Lang::as_str), Some("en"));
    assert!(parsed.facts.published_at.is_some());
    assert_eq!(parsed.facts.meta.extra, bson::doc! {"mood": "calm"});
}

#[test]
fn bytes_that_are_no_text_are_told() {
    for bytes in [&b"---\ntitle: \xe9\n---\n"[..], b"\xff\xfe-\0", b"---\ntitle: a\0b\n---\n"] {
        let parsed = parse("a.md", false, bytes, &rules());
        assert!(matches!(parsed.outcome, Outcome::Invalid));
        assert_eq!(parsed.diagnostics[0].file, "a.md");
        assert!(parsed.facts.source_hash.is_some());
    }
}

#[test]
fn a_hostile_block_is_read_in_bounded_time_and_told_in_bounded_length() {
    let keys: Vec<String> = (0..6_000).map(|at| format!("k.{at}: 1\n")).collect();
    let keys = keys.concat();
    let tags: Vec<String> = (0..20_000).map(|at| format!("t{at}")).collect();
    let text = format!("---\ndate: 2031-07-09\ntags: {}\n{keys}---\n", tags.join(","));
    // The best of three: it takes a tenth of a second where nobody else is at work.
    let timed = || {
        let started = std::time::Instant::now();
        (read("a.md", &text), started.elapsed())
    };
    let (parsed, best) = (0..3).map(|_| timed()).min_by_key(|(_, elapsed)| *elapsed).unwrap();
    assert!(best.as_secs() < 10, "{best:?}");
    let Outcome::Post(post) = &parsed.outcome else { panic!("{:?}", parsed.diagnostics) };
    assert_eq!((post.meta.tags.len(), post.meta.extra.len()), (20_000, 6_000));
    assert_eq!(parsed.diagnostics.len(), super::PROBLEMS_MAX + 1);
    assert!(parsed.diagnostics.last().is_some_and(|last| last.message.starts_with("5950 more")));

    let items: String = (0..200).map(|_| "  - [x]\n").collect();
    let parsed = read("a.md", &format!("---\ndate: 2031-07-09\na.b: 1\ntags:\n{items}---\n"));
    assert!(matches!(parsed.outcome, Outcome::Invalid));
    let errors = parsed.diagnostics.iter().filter(|problem| problem.is_error()).count();
    assert_eq!(errors, super::PROBLEMS_MAX + 1);
    assert_eq!(parsed.diagnostics.len(), errors + 1, "a warning is not crowded out");
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    /// Front matter that is often nearly right.
    fn block() -> impl Strategy<Value = String> {
        let key = prop_oneof![
            Just("title"),
            Just("slug"),
            Just("date"),
            Just("lang"),
            Just("draft"),
            Just("tags"),
            Just("path"),
            Just("published"),
            Just("images"),
            Just("taxonomies"),
            Just("extra"),
            Just("a.b"),
            Just("status"),
        ];
        let value = prop_oneof![
            Just("2031-07-09".to_owned()),
            Just("true".to_owned()),
            Just("[a, b]".to_owned()),
            Just("{name: x, tags: y}".to_owned()),
            Just(String::new()),
            Just("'x y'".to_owned()),
            Just("/2031/07/09/plum/".to_owned()),
            Just(".nan".to_owned()),
            "[ -~]{0,12}",
            "\\PC{0,6}",
        ];
        proptest::collection::vec((key, value), 0..6).prop_map(|pairs| {
            let lines: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            format!("---\n{}---\n", lines.concat())
        })
    }

    fn same(left: &Parsed, right: &Parsed) -> bool {
        format!("{left:?}") == format!("{right:?}")
    }

    fn without_form(mut parsed: Parsed) -> Parsed {
        if let Outcome::Post(post) | Outcome::Skipped(_, Some(post)) = &mut parsed.outcome
            && let Some(front_matter) = &mut post.front_matter
        {
            front_matter.form = decode::Form::default();
        }
        parsed
    }

    proptest! {
        #[test]
        fn any_bytes_and_any_path_have_an_outcome(
            file in "\\PC{0,24}", bytes in proptest::collection::vec(any::<u8>(), 0..200), drafts in any::<bool>()
        ) {
            let first = parse(&file, drafts, &bytes, &rules());
            prop_assert!(same(&first, &parse(&file, drafts, &bytes, &rules())));
            prop_assert_eq!(first.has_errors(), matches!(first.outcome, Outcome::Invalid));
        }

        #[test]
        fn nearly_right_files_have_an_outcome(
            file in "[a-z0-9./_-]{0,24}", head in block(), body in "\\PC{0,30}", strict in any::<bool>()
        ) {
            let text = format!("{head}{body}");
            let rules = Rules { require_date: strict, ..rules() };
            let first = parse(&file, false, text.as_bytes(), &rules);
            prop_assert_eq!(first.has_errors(), matches!(first.outcome, Outcome::Invalid), "{:?}", first);
            if let Outcome::Post(post) = &first.outcome {
                prop_assert_eq!(post.body.text(), text.get(post.body_start..));
                prop_assert!(post.meta.title.as_ref().is_some_and(|title| !title.trim().is_empty()));
                prop_assert_eq!(Some(&post.slug), first.facts.slug.as_ref());
            }
            for problem in &first.diagnostics {
                prop_assert_eq!(&problem.file, &file);
                prop_assert!(!problem.message.is_empty());
            }
        }

        #[test]
        fn windows_line_ends_change_nothing(head in block(), body in "[ -~\n]{0,30}") {
            let unix = format!("{head}{body}");
            let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
            let left = without_form(parse("a.md", false, unix.as_bytes(), &rules()));
            let right = without_form(parse("a.md", false, windows.as_bytes(), &rules()));
            prop_assert!(same(&left, &right), "{:?} {:?}", left, right);
        }

        #[test]
        fn front_matter_and_body_are_every_byte_of_the_file(
            bom in any::<bool>(),
            fences in proptest::sample::select(vec![
                ("---", "date: 2024-01-02", "---"), ("--- \t", "date: 2024-01-02", "..."),
                ("---yaml", "date: 2024-01-02 # why", "---  "), ("+++", "date = 2024-01-02", "+++"),
                ("{", "\"date\": \"2024-01-02\"", "}  "),
            ]),
            blanks in proptest::collection::vec("|\r|[ ]{1,2}", 0..3),
            ends in proptest::collection::vec(proptest::sample::select(vec!["\n", "\r\n"]), 8),
            body in proptest::collection::vec("[a가\u{feff} ]{0,3}|\r\n|\n|\r|---\n", 0..20),
        ) {
            let mut ends = ends.into_iter().cycle();
            let mut source = String::from(if bom { "\u{feff}" } else { "" });
            for line in [fences.0, fences.1].into_iter().chain(blanks.iter().map(String::as_str)) {
                source += line;
                source += ends.next().unwrap_or("\n");
            }
            source += fences.2;
            if let Some(first) = ends.next().filter(|_| !body.is_empty()) {
                source += first;
                source += &body.concat();
            }
            let parsed = parse("a.md", false, source.as_bytes(), &rules());
            let Outcome::Post(post) = &parsed.outcome else {
                // A lone CR between the keys is no JSON and no TOML.
                prop_assert!(blanks.iter().any(|blank| blank == "\r"), "{source:?} {parsed:?}");
                return Ok(());
            };
            let front_matter = post.front_matter.as_ref().expect("is there");
            let body = post.body.text().expect("is there");
            let written = decode::encode(&[&front_matter.text, body], &front_matter.form);
            prop_assert_eq!(String::from_utf8(written).expect("text"), source);
        }
    }
}
