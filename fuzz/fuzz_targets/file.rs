//! Any bytes as a file of any name: the first line of the input is the path, the rest is the file.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use idempost::identity::{PostId, SourceHash};
use idempost::post::lang::Lang;
use idempost::post::preset::Preset;
use idempost::post::render::RenderOptions;
use idempost::post::slug::{SlugMode, SlugPattern};
use idempost::post::{Outcome, Rules, parse};
use libfuzzer_sys::fuzz_target;

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules {
    preset: Preset::default(),
    langs: ["ko", "en", "zh-Hant"].iter().map(|tag| Lang::parse(tag).expect("a tag")).collect(),
    default_lang: Lang::parse("en").expect("a tag"),
    timezone: jiff::tz::TimeZone::get("Asia/Seoul").expect("a bundled zone"),
    timezone_name: "Asia/Seoul".to_owned(),
    slug_mode: SlugMode::default(),
    slug_pattern: SlugPattern::default(),
    url_pattern: "/{lang}/{slug}".to_owned(),
    require_date: false,
    skip_after: None,
    field_names: BTreeMap::new(),
    file_bytes_max: 8 * 1024 * 1024,
    render: RenderOptions::default(),
});

fuzz_target!(|input: &[u8]| {
    let split = input.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (path, rest) = input.split_at(split);
    let bytes = rest.strip_prefix(b"\n").unwrap_or(rest);
    let path = String::from_utf8_lossy(path);
    let parsed = parse(&path, false, bytes, &RULES);
    assert_eq!(parsed.file, path);
    match &parsed.outcome {
        Outcome::Post(post) => {
            assert!(!parsed.has_errors());
            assert_eq!(post.id, PostId::derive(&post.slug, &post.lang, post.published_at));
            assert_eq!(post.source_hash, SourceHash::of_file(bytes));
        }
        Outcome::Invalid => assert!(parsed.has_errors()),
        Outcome::Skipped(..) => {}
    }
    for problem in &parsed.diagnostics {
        assert!(!problem.message.is_empty());
    }
    let again = parse(&path, false, bytes, &RULES);
    assert_eq!(format!("{parsed:?}"), format!("{again:?}"));
});
