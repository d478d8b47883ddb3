//! What a path tells, and what it must not be taken for.

use proptest::prelude::*;

use super::*;
use crate::post::date::timezone;
use crate::post::render::RenderOptions;
use crate::post::slug::{SlugMode, SlugPattern};

fn rules(preset: Preset, langs: &[&str]) -> Rules {
    Rules {
        preset,
        langs: langs.iter().map(|lang| Lang::parse(lang).unwrap()).collect(),
        default_lang: Lang::parse("en").unwrap(),
        timezone: timezone("UTC").unwrap(),
        timezone_name: "UTC".to_owned(),
        slug_mode: SlugMode::Keep,
        slug_pattern: SlugPattern::default(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: std::collections::BTreeMap::new(),
        file_bytes_max: 1 << 20,
        render: RenderOptions::default(),
    }
}

/// `stem | day | languages | dir | translation path` of a path.
fn told(path: &str, preset: Preset, langs: &[&str]) -> String {
    let name = read(path, &rules(preset, langs));
    let day = name.day.map_or("-".to_owned(), |day| format!("{:?}", day.day));
    let langs: Vec<&str> = name.langs.iter().map(|(lang, _)| lang.as_str()).collect();
    let stem = name.stem.unwrap_or_else(|| "-".to_owned());
    format!("{stem} | {day} | {} | {} | {}", langs.join(","), name.dir, name.translation_path)
}

#[test]
fn plain_paths() {
    for (path, wanted) in [
        ("post.md", "post | - |  |  | post"),
        ("Post.One.MD", "Post.One | - |  |  | Post.One"),
        ("a/b/post.markdown", "post | - |  | a/b | a/b/post"),
        ("2019-11-02-post.md", "post | (2019, 11, 2) |  |  | 2019-11-02-post"),
        ("a/2019-1-2-post.md", "post | (2019, 1, 2) |  | a | a/2019-1-2-post"),
        ("2019-11-02-post/index.md", "post | (2019, 11, 2) |  |  | 2019-11-02-post"),
        ("a/bundle/index.md", "bundle | - |  | a | a/bundle"),
        ("a/bundle/INDEX.md", "bundle | - |  | a | a/bundle"),
        ("index.md", "index | - |  |  | index"),
        ("2019/11/02/post.md", "post | (2019, 11, 2) |  | 2019/11/02 | 2019/11/02/post"),
        ("blog/2019/1/2/post/index.md", "post | (2019, 1, 2) |  | blog/2019/1/2 | blog/2019/1/2/post"),
        ("2019/11/02/more/post.md", "post | - |  | 2019/11/02/more | 2019/11/02/more/post"),
        ("20191102-post.md", "20191102-post | - |  |  | 20191102-post"),
        ("02-11-2019-post.md", "02-11-2019-post | - |  |  | 02-11-2019-post"),
        ("19-11-02-post.md", "19-11-02-post | - |  |  | 19-11-02-post"),
        ("2019-11-02_post.md", "2019-11-02_post | - |  |  | 2019-11-02_post"),
        ("2019-11-02post.md", "2019-11-02post | - |  |  | 2019-11-02post"),
        ("2019-11-post.md", "2019-11-post | - |  |  | 2019-11-post"),
        ("12019-11-02-post.md", "12019-11-02-post | - |  |  | 12019-11-02-post"),
        ("2019-11-02--post.md", "-post | (2019, 11, 2) |  |  | 2019-11-02--post"),
        ("2019-11-02-1.md", "1 | (2019, 11, 2) |  |  | 2019-11-02-1"),
        ("_posts/2019-11-02-post.md", "post | (2019, 11, 2) |  |  | 2019-11-02-post"),
        ("tips/_posts/2019-11-02-post.md", "post | (2019, 11, 2) |  | tips | tips/2019-11-02-post"),
        ("a%20b.md", "a%20b | - |  |  | a%20b"),
        ("한글/글.md", "글 | - |  | 한글 | 한글/글"),
        ("node.js.md", "node.js | - |  |  | node.js"),
        ("dots...md", "dots.. | - |  |  | dots.."),
    ] {
        assert_eq!(told(path, Preset::Plain, &[]), wanted, "{path}");
    }
}

#[test]
fn a_name_that_is_a_day_alone_leaves_no_slug() {
    for path in ["2019-11-02.md", "2019-11-02-.md", "2019-11-02/index.md", "2019/11/02/index.md"] {
        let name = read(path, &rules(Preset::Plain, &[]));
        assert_eq!(name.day.unwrap().day, (2019, 11, 2), "{path}");
        assert!(name.stem.is_none(), "{path}");
        assert!(name.no_stem.unwrap().message.contains("no slug is left"), "{path}");
    }
}

#[test]
fn a_name_that_looks_like_a_day_and_is_none_is_an_error() {
    for (path, says) in [
        ("2023-02-29-x.md", "2023-02-29 in the file name is not a date: February 2023 has 28 days"),
        ("2023-13-01-x.md", "2023-13-01 in the file name is not a date: there is no month 13"),
        ("2023-11-31.md", "2023-11-31 in the file name is not a date: November has 30 days"),
        ("2023-0-1-x/index.md", "2023-0-1 in the folder name is not a date"),
        ("2023/02/30/index.md", "2023/02/30 in the folders is not a date"),
        ("2023/02/30/x.md", "2023/02/30 in the folders is not a date"),
        ("a/2023/02/30/x/index.md", "2023/02/30 in the folders is not a date"),
    ] {
        let name = read(path, &rules(Preset::Plain, &[]));
        let problem = name.problems.first().unwrap_or_else(|| panic!("{path}"));
        assert!(problem.message.starts_with(says), "{}", problem.message);
        assert_eq!(problem.code, "file-name-date");
        assert!(name.day.is_none());
    }
}

#[test]
fn the_day_of_a_name_is_midnight_and_may_be_out_of_range() {
    let rules = rules(Preset::Plain, &[]);
    let day = read("2019-11-02-x.md", &rules).day.unwrap();
    let seoul = timezone("Asia/Seoul").unwrap();
    assert_eq!(day.instant(&seoul).unwrap().unix_millis, 1_572_620_400_000);
    assert_eq!(day.rule, "file name");
    let old = read("1961-04-12-x.md", &rules).day.unwrap();
    let refused = old.instant(&rules.timezone).unwrap_err();
    assert_eq!(refused.code, "date-range");
    assert!(refused.message.starts_with("1961-04-12 in the file name"), "{}", refused.message);
}

#[test]
fn only_configured_languages_are_languages() {
    let langs = ["ko", "en", "pt-BR", "zh-Hant"];
    for (path, wanted) in [
        ("post.ko.md", "post | - | ko |  | post"),
        ("post.KO.md", "post | - | ko |  | post"),
        ("v1.2.ko.md", "v1.2 | - | ko |  | v1.2"),
        ("post.pt_br.md", "post | - | pt-BR |  | post"),
        ("post.zh-hant.md", "post | - | zh-Hant |  | post"),
        ("post.fr.md", "post.fr | - |  |  | post.fr"),
        ("post-ko.md", "post-ko | - |  |  | post-ko"),
        ("post.ko.en.md", "post.ko | - | en |  | post.ko"),
        ("2019-11-02-post.ko.md", "post | (2019, 11, 2) | ko |  | 2019-11-02-post"),
        ("bundle/index.ko.md", "bundle | - | ko |  | bundle"),
        ("ko/post.md", "post | - | ko |  | post"),
        ("PT-br/a/post.md", "post | - | pt-BR | a | a/post"),
        ("a/ko/post.md", "post | - |  | a/ko | a/ko/post"),
        ("fr/post.md", "post | - |  | fr | fr/post"),
        ("i18n/ko/post.md", "post | - | ko |  | post"),
        ("site/i18n/ko/a/post.md", "post | - | ko | site/a | site/a/post"),
        ("i18n/fr/post.md", "post | - |  | i18n/fr | i18n/fr/post"),
        ("_posts/ko/2019-11-02-post.md", "post | (2019, 11, 2) | ko |  | 2019-11-02-post"),
        ("ko/post.en.md", "post | - | en,ko |  | post"),
        ("ko/index.md", "index | - | ko |  | index"),
        (".ko.md", ".ko | - |  |  | .ko"),
        ("ko.md", "ko | - |  |  | ko"),
    ] {
        assert_eq!(told(path, Preset::Plain, &langs), wanted, "{path}");
    }
    assert_eq!(told("post.ko.md", Preset::Plain, &[]), "post.ko | - |  |  | post.ko");
    let name = read("ko/post.EN.md", &rules(Preset::Plain, &langs));
    let said: Vec<&str> = name.langs.iter().map(|(_, rule)| rule.as_str()).collect();
    assert_eq!(said, ["suffix .EN of the file name", "folder ko/"]);
}

#[test]
fn a_path_of_either_normalisation_form_is_one_translation() {
    use unicode_normalization::UnicodeNormalization;
    let decomposed: String = "소식/글.md".nfd().collect();
    let rules = rules(Preset::Plain, &[]);
    assert_eq!(read(&decomposed, &rules).translation_path, read("소식/글.md", &rules).translation_path);
}

#[test]
fn generators_read_names_their_own_way() {
    for (preset, path, wanted) in [
        (
            Preset::Hugo,
            "posts/2019-11-02-x.md",
            "2019-11-02-x | (2019, 11, 2) |  | posts | posts/2019-11-02-x",
        ),
        (Preset::Hugo, "posts/2019-02-30-x.md", "2019-02-30-x | - |  | posts | posts/2019-02-30-x"),
        (Preset::Hugo, "posts/2019-11-02.md", "2019-11-02 | (2019, 11, 2) |  | posts | posts/2019-11-02"),
        (Preset::Zola, "2019-11-02_x.fr.md", "x | (2019, 11, 2) | fr |  | 2019-11-02_x"),
        (Preset::Zola, "2019-11-02 -x.md", "x | (2019, 11, 2) |  |  | 2019-11-02 -x"),
        (Preset::Zola, "2019-11-02 x.md", "2019-11-02 x | - |  |  | 2019-11-02 x"),
        (Preset::Zola, "2019-1-2-x.md", "2019-1-2-x | - |  |  | 2019-1-2-x"),
        (Preset::Zola, "2019-11-02-.md", "2019-11-02- | - |  |  | 2019-11-02-"),
        (Preset::Zola, "2019-11-02.md", "2019-11-02 | (2019, 11, 2) |  |  | 2019-11-02"),
        (Preset::Zola, "fr/x.md", "x | - |  | fr | fr/x"),
        (Preset::Jekyll, "_posts/2019-11-02-x.md", "x | (2019, 11, 2) |  |  | 2019-11-02-x"),
        (
            Preset::Astro,
            "blog/2019-11-02-x.mdx",
            "2019-11-02-x | (2019, 11, 2) |  | blog | blog/2019-11-02-x",
        ),
        (Preset::Docusaurus, "2019-11-02-x.md", "2019/11/02/x | (2019, 11, 2) |  |  | 2019-11-02-x"),
        (Preset::Docusaurus, "2019/11-2-x/index.md", "2019/11/2/x | (2019, 11, 2) |  | 2019 | 2019/11-2-x"),
        (
            Preset::Docusaurus,
            "a/2019-11-02/x.mdx",
            "2019/11/02/a/x | (2019, 11, 2) |  | a/2019-11-02 | a/2019-11-02/x",
        ),
        (Preset::Docusaurus, "a/x.md", "a/x | - |  | a | a/x"),
        (Preset::Docusaurus, "x.fr.md", "x.fr | - |  |  | x.fr"),
        (
            Preset::Docusaurus,
            "i18n/fr/docusaurus-plugin-content-blog/2019-11-02-x.md",
            "2019/11/02/x | (2019, 11, 2) | fr |  | 2019-11-02-x",
        ),
        (Preset::Docusaurus, "blog/2019-11-02-x.md", "2019/11/02/x | (2019, 11, 2) |  |  | 2019-11-02-x"),
        (Preset::Eleventy, "a/2019-11-02-x.md", "x | (2019, 11, 2) |  | a | a/2019-11-02-x"),
        (Preset::Eleventy, "a/2019-11-02/x.md", "x | (2019, 11, 2) |  | a/2019-11-02 | a/2019-11-02/x"),
        (Preset::Eleventy, "2019-11-02/index.md", "2019-11-02 | (2019, 11, 2) |  |  | 2019-11-02"),
        (Preset::Eleventy, "note-2019-11-02-x.md", "x | (2019, 11, 2) |  |  | note-2019-11-02-x"),
        (Preset::Eleventy, "2019-1-2-x.md", "2019-1-2-x | - |  |  | 2019-1-2-x"),
    ] {
        assert_eq!(told(path, preset, &["fr", "en"]), wanted, "{path}");
    }
}

#[test]
fn presets_are_read_back_and_their_patterns_hold() {
    for preset in Preset::ALL {
        assert_eq!(Preset::parse(preset.as_str()), Ok(preset));
        assert!(SlugPattern::parse(preset.slug_pattern().as_str()).is_ok());
    }
    assert_eq!(Preset::Jekyll.slug_pattern().as_str(), "{year}/{month}/{day}/{stem}");
    assert_eq!(Preset::Astro.slug_pattern().as_str(), "{dir}/{stem}");
    assert_eq!(Preset::parse("11ty"), Ok(Preset::Eleventy));
    assert!(Preset::parse("jekkyl").unwrap_err().contains("jekyll is near"));
}

/// `last | day` of a literal address.
fn address(text: &str) -> String {
    let read = literal_path(text, "path");
    let day = match read.day {
        None => "-".to_owned(),
        Some(Ok(day)) => format!("{:?}", day.day),
        Some(Err(refused)) => refused.message,
    };
    format!("{} | {day}", read.last.unwrap_or_else(|| "-".to_owned()))
}

#[test]
fn literal_addresses() {
    for (text, wanted) in [
        ("2022/09/08/post", "post | (2022, 9, 8)"),
        ("/2022/09/08/post/", "post | (2022, 9, 8)"),
        ("/blog/2022/9/8/post.html", "post | (2022, 9, 8)"),
        ("https://example.org/2022/09/08/post/?utm=a/b#c/d", "post | (2022, 9, 8)"),
        ("//example.org/post", "post | -"),
        ("https://example.org", "- | -"),
        ("/posts/post/index.html", "post | -"),
        ("/posts/post.htm", "post | -"),
        ("/feed.xml", "feed.xml | -"),
        ("/v1.2", "v1.2 | -"),
        ("/", "- | -"),
        ("", "- | -"),
        ("2022/09/08", "- | (2022, 9, 8)"),
        ("/2022/09/08/", "- | (2022, 9, 8)"),
        ("/2022/09/", "- | -"),
        ("/archive/2022/", "- | -"),
        ("/posts/2022-09-08/", "- | -"),
        ("/posts/12345/", "12345 | -"),
        ("/posts/7/", "7 | -"),
        ("/posts/2022-09-08-x/", "2022-09-08-x | -"),
        ("/:year/:month/:day/:title/", "- | -"),
        ("/posts/:slug.html", "- | -"),
        ("/posts/{{ page.fileSlug }}/", "- | -"),
        ("/{{ page.date | date: '%Y/%m/%d' }}/post/", "post | -"),
        ("/posts/{% if a/b %}x{% endif %}/", "- | -"),
        ("/posts/{slug}", "- | -"),
        ("/posts/[slug]", "- | -"),
        ("/posts/post-:title/", "- | -"),
        ("/posts/ratio-4:3/", "ratio-4:3 | -"),
        ("./post", "post | -"),
        ("/2022/02/30/post", "post | 2022/02/30 in path is not a date: February 2022 has 28 days"),
        ("/api/1234/56/78/post", "post | -"),
        ("/글/새글/", "새글 | -"),
    ] {
        assert_eq!(address(text), wanted, "{text}");
    }
}

proptest! {
    #[test]
    fn never_panics(path in "\\PC{0,40}", day in "[0-9/.-]{0,20}[a-z.]{0,8}") {
        for preset in Preset::ALL {
            let rules = rules(preset, &["ko", "en"]);
            let _ = read(&path, &rules);
            let _ = read(&day, &rules);
        }
        let _ = literal_path(&path, "path");
        let _ = literal_path(&day, "path");
    }

    /// The parts that a path is made of come back, in every order of language and day.
    #[test]
    fn parts_come_back(
        dir in "[a-z]{2,6}x", stem in "[a-z][a-z0-9-]{0,8}[a-z]x", year in 1970i16..2100, month in 1i8..=12, day in 1i8..=28,
        lang in prop::sample::select(vec!["ko", "pt_BR", "EN"]), padded: bool,
    ) {
        let rules = rules(Preset::Plain, &["ko", "pt-BR", "en"]);
        let date = if padded { format!("{year}-{month:02}-{day:02}") } else { format!("{year}-{month}-{day}") };
        let wanted = Lang::parse(lang).unwrap();
        for path in [
            format!("{dir}/{date}-{stem}.{lang}.md"),
            format!("{lang}/{dir}/{date}-{stem}.md"),
            format!("{dir}/{date}-{stem}/index.{lang}.md"),
            format!("{lang}/{dir}/{date}-{stem}/index.md"),
            format!("i18n/{lang}/{dir}/{date}-{stem}.md"),
        ] {
            let name = read(&path, &rules);
            prop_assert_eq!(name.stem.as_deref(), Some(stem.as_str()), "{}", path);
            prop_assert_eq!(name.day.map(|found| found.day), Some((year, month, day)), "{}", path);
            prop_assert_eq!(name.langs.first().map(|(lang, _)| lang), Some(&wanted), "{}", path);
            prop_assert_eq!(&name.translation_path, &format!("{dir}/{date}-{stem}"), "{}", path);
        }
    }
}
