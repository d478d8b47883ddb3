use std::collections::BTreeMap;

use super::*;
use crate::diagnostic::Severity;
use crate::identity::{PostId, SourceHash};
use crate::post::date::PublishedAt;
use crate::post::lang::Lang;
use crate::post::media::Media;
use crate::post::preset::Preset;
use crate::post::render::RenderOptions;
use crate::post::slug::{Slug, SlugMode, SlugPattern};
use crate::post::{Body, From, Meta};

fn post(file: &str, lang: &str, body: &str) -> Post {
    let slug = Slug::parse(&file.replace(['/', '.'], "-")).unwrap();
    let lang = Lang::parse(lang).unwrap();
    let published_at = PublishedAt::from_unix_millis(1_700_000_000_000).unwrap();
    Post {
        file: file.to_owned(),
        id: PostId::derive(&slug, &lang, published_at),
        slug,
        lang,
        published_at,
        from: From::default(),
        source_hash: SourceHash::of_normalised(body),
        meta: Meta::default(),
        front_matter: None,
        body: Body::Text(body.to_owned()),
        source_bytes: body.len(),
        body_start: 10,
        body_line: 4,
        mdx: false,
        translation_path: String::new(),
    }
}

fn catalog(mut posts: Vec<Post>) -> Catalog {
    posts.sort_by(|a, b| a.file.cmp(&b.file));
    Catalog { files: posts.len(), posts, ..Catalog::default() }
}

fn rules() -> Rules {
    Rules {
        preset: Preset::default(),
        langs: Vec::new(),
        default_lang: Lang::parse("en").unwrap(),
        timezone: jiff::tz::TimeZone::get("Asia/Seoul").unwrap(),
        timezone_name: "Asia/Seoul".to_owned(),
        slug_mode: SlugMode::default(),
        slug_pattern: SlugPattern::parse("{stem}").unwrap(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: BTreeMap::new(),
        file_bytes_max: 1 << 20,
        render: RenderOptions::default(),
    }
}

fn facts(paths: &[&str]) -> AssetFacts {
    paths.iter().map(|path| ((*path).to_owned(), Ok(fact_of(path)))).collect()
}

/// A fact of a file whose bytes are what its name says.
fn fact_of(path: &str) -> AssetFact {
    let media = match path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "png" => Media { mime: "image/png", extension: "png", disarmed: false },
        "jpg" => Media { mime: "image/jpeg", extension: "jpg", disarmed: false },
        "pdf" => Media { mime: "application/pdf", extension: "pdf", disarmed: false },
        "svg" => Media { mime: "text/plain; charset=utf-8", extension: "txt", disarmed: true },
        _ => Media { mime: "application/octet-stream", extension: "", disarmed: false },
    };
    AssetFact { sha256: "ab".repeat(32), bytes: 7, media }
}

fn stored() -> LinkPolicy {
    LinkPolicy { public_url: Some("https://cdn.test/a/".to_owned()), ..LinkPolicy::default() }
}

/// What the links of the post `file` became, without the posts round it.
fn replaced(posts: Vec<Post>, file: &str) -> Vec<(String, String)> {
    let mut catalog = catalog(posts);
    let all = resolve(&mut catalog, &AssetFacts::new(), &rules(), &LinkPolicy::default());
    let at = catalog.posts.iter().position(|post| post.file == file).unwrap();
    all[at].replace.clone().into_iter().collect()
}

fn pair(written: &str, url: &str) -> (String, String) {
    (written.to_owned(), url.to_owned())
}

#[test]
fn links_to_files_become_addresses_of_posts() {
    let body = "[a](b.md#part) [b](./b.md?x=1) [c](../c/) [d](@/c/index.md) [e](/elsewhere) [f](../p/b) <a href=b.md>g</a>";
    let posts = vec![post("p/a.md", "en", body), post("p/b.md", "ko", ""), post("c/index.md", "en", "")];
    assert_eq!(
        replaced(posts, "p/a.md"),
        [
            pair("../c/", "/en/c-index-md"),
            pair("../p/b", "/ko/p-b-md"),
            pair("./b.md?x=1", "/ko/p-b-md?x=1"),
            pair("@/c/index.md", "/en/c-index-md"),
            pair("b.md", "/ko/p-b-md"),
            pair("b.md#part", "/ko/p-b-md#part"),
        ]
    );
}

#[test]
fn the_exact_file_wins_then_the_same_language() {
    let body = "[x](o.md) [y](o) [z](q.md) [w](../g/r.md)";
    let posts = vec![
        post("g/a.ko.md", "ko", body),
        post("g/o.md", "en", ""),
        post("g/o.ko.md", "ko", ""),
        post("g/q.ko.md", "ko", ""),
        post("g/q.ja.md", "ja", ""),
        post("g/r/index.zh_CN.md", "zh-CN", ""),
    ];
    assert_eq!(
        replaced(posts, "g/a.ko.md"),
        [
            pair("../g/r.md", "/zh-CN/g-r-index-zh_CN-md"),
            pair("o", "/ko/g-o-ko-md"),
            pair("o.md", "/en/g-o-md"),
            pair("q.md", "/ko/g-q-ko-md"),
        ]
    );
}

#[test]
fn links_as_seen_from_the_address_are_understood() {
    let posts = vec![
        post("p/a.md", "en", "[b](../b/) [c](../../q/c/)"),
        post("p/b.md", "en", ""),
        post("q/c.md", "en", ""),
    ];
    assert_eq!(replaced(posts, "p/a.md"), [pair("../../q/c/", "/en/q-c-md"), pair("../b/", "/en/p-b-md")]);
    // The address of an index file is its folder.
    let posts = vec![post("p/index.md", "en", "[b](../b/)"), post("p/b.md", "en", "")];
    assert_eq!(replaced(posts, "p/index.md"), []);
}

#[test]
fn names_match_in_either_normalisation_form() {
    let nfc = "카페.md";
    let nfd: String = nfc.nfd().collect();
    let encoded = percent_encoding::utf8_percent_encode(&nfd, percent_encoding::NON_ALPHANUMERIC).to_string();
    let posts = vec![post("a.md", "en", &format!("[x]({nfd}) [y]({encoded})")), post(nfc, "ko", "")];
    assert_eq!(replaced(posts, "a.md").len(), 2);

    let image: String = "사진.png".nfd().collect();
    let catalog_of = || catalog(vec![post("a.md", "en", "![x](사진.png)")]);
    assert_eq!(assets_wanted(&catalog_of()), [image.clone(), "사진.png".to_owned()]);
    for on_disk in [image.as_str(), "사진.png"] {
        let mut catalog = catalog_of();
        let links = resolve(&mut catalog, &facts(&[on_disk]), &rules(), &stored());
        assert_eq!(links[0].assets[0].path, on_disk);
        assert!(links[0].replace.contains_key("사진.png"));
    }
}

#[test]
fn files_beside_posts_are_assets() {
    let mut a = post("p/a.md", "en", "![x](i/one.PNG) [y](../two.pdf#page=3) <img src='i/one.PNG'>");
    a.meta.cover = Some("i/cover.jpg".to_owned());
    let mut b = post("p/b.md", "en", "");
    b.meta.cover = Some("top.jpg".to_owned());
    let mut catalog = catalog(vec![a, b]);
    assert_eq!(
        assets_wanted(&catalog),
        ["i/cover.jpg", "p/i/cover.jpg", "p/i/one.PNG", "p/top.jpg", "top.jpg", "two.pdf"]
    );
    let links = resolve(
        &mut catalog,
        &facts(&["p/i/cover.jpg", "p/i/one.PNG", "two.pdf", "top.jpg"]),
        &rules(),
        &stored(),
    );
    assert_eq!(catalog.diagnostics, []);
    let hash = "ab".repeat(32);
    let paths: Vec<&str> = links[0].assets.iter().map(|asset| asset.path.as_str()).collect();
    assert_eq!(paths, ["p/i/cover.jpg", "p/i/one.PNG", "two.pdf"]);
    assert_eq!(links[0].assets[1].mime, "image/png");
    assert_eq!(links[0].assets[1].url.as_deref(), Some(format!("https://cdn.test/a/{hash}.png").as_str()));
    assert_eq!(links[0].replace["../two.pdf#page=3"], format!("https://cdn.test/a/{hash}.pdf#page=3"));
    assert_eq!(links[0].replace["i/cover.jpg"], format!("https://cdn.test/a/{hash}.jpg"));
    assert_eq!(links[1].assets[0].path, "top.jpg");
    assert!(links[0].assets_hash.is_some() && links[0].assets_hash != links[1].assets_hash);
    assert_eq!(links[0].links_hash, None);
}

#[test]
fn without_a_store_assets_have_no_address() {
    let mut catalog = catalog(vec![post("a.md", "en", "![x](x.png) ![y](y.png)")]);
    let links = resolve(&mut catalog, &facts(&["x.png"]), &rules(), &LinkPolicy::default());
    assert_eq!(links[0].replace, BTreeMap::new());
    assert_eq!(links[0].assets[0].url, None);
    assert_eq!(catalog.diagnostics.len(), 1);
    assert_eq!(
        (catalog.diagnostics[0].code, catalog.diagnostics[0].severity),
        ("missing-asset", Severity::Warning)
    );
}

#[test]
fn sources_and_hidden_files_are_never_assets() {
    let body = "[a](.env) [b](../.git/config) ![c](draft.md) [d](draft.md) [e](x/.secret/k.pdf) [f](C:/Users/me/k.pdf)";
    let mut catalog = catalog(vec![post("p/a.md", "en", body)]);
    assert_eq!(assets_wanted(&catalog), Vec::<String>::new());
    let everything = facts(&["p/.env", ".git/config", "p/draft.md", "p/x/.secret/k.pdf"]);
    let links = resolve_all(&catalog, &everything, &rules(), &LinkPolicy::default());
    assert_eq!(links[0].links.assets, []);
    resolve(&mut catalog, &everything, &rules(), &LinkPolicy::default());
    assert_eq!(catalog.invalid, ["p/a.md"], "a path of one machine is refused");
    let codes: Vec<&str> = catalog.diagnostics.iter().map(|found| found.code).collect();
    assert_eq!(
        codes,
        ["broken-link", "broken-link", "broken-link", "broken-link", "broken-link", "machine-path"]
    );
}

#[test]
fn broken_links_are_told_with_place_reason_and_suggestion() {
    let body =
        "First line.\n\nSee [the guide](guied.md) and [draft](later.md), [bad](bad.md), [out](../../x.md).\n";
    let mut catalog = catalog(vec![post("p/a.md", "en", body), post("p/guide.md", "en", "")]);
    catalog.held.push((Skip::Draft, post("p/later.md", "en", "")));
    catalog.invalid.push("p/bad.md".to_owned());
    resolve(&mut catalog, &AssetFacts::new(), &rules(), &LinkPolicy::default());
    let told: Vec<_> = catalog
        .diagnostics
        .iter()
        .map(|found| (found.code, found.line, found.column, found.message.as_str(), found.help.as_str()))
        .collect();
    let publish = "link to something that is published, or publish it first";
    assert_eq!(
        told,
        [
            (
                "broken-link",
                Some(6),
                Some(17),
                "link to `guied.md`, which is no file of this tree",
                "did you mean `guide.md`?"
            ),
            ("broken-link", Some(6), Some(39), "link to `later.md`, which is a draft", publish),
            ("broken-link", Some(6), Some(56), "link to `bad.md`, which has errors", publish),
            (
                "link-outside-root",
                Some(6),
                Some(71),
                "`../../x.md` leads out of the content root",
                "move the file into the content root, or write its address on the website"
            ),
        ]
    );
    let first = &catalog.diagnostics[0];
    assert_eq!(first.source_line.as_ref().unwrap().text.get(16..24), Some("guied.md"));
    assert_eq!(first.span, Some(39..47), "in the file, whose body begins at byte 10");
    assert_eq!(catalog.posts.len(), 2, "warnings keep the post");
}

#[test]
fn a_file_of_that_name_elsewhere_is_suggested() {
    let mut catalog = catalog(vec![post("p/a.md", "en", "[x](Setup.md)"), post("q/r/setup.md", "en", "")]);
    resolve(&mut catalog, &AssetFacts::new(), &rules(), &LinkPolicy::default());
    assert_eq!(catalog.diagnostics[0].help, "did you mean `../q/r/setup.md`?");
}

#[test]
fn missing_assets_follow_the_policy() {
    let outcome = |missing| {
        let mut catalog = catalog(vec![post("a.md", "en", "[b](b.md)"), post("b.md", "en", "![x](no.png)")]);
        let links = resolve(&mut catalog, &AssetFacts::new(), &rules(), &LinkPolicy { missing, ..stored() });
        assert_eq!(catalog.posts.len(), links.len());
        let skipped: Vec<(String, Skip)> = catalog.skipped.into_iter().map(|s| (s.file, s.reason)).collect();
        let told: Vec<(&str, Severity)> = catalog.diagnostics.iter().map(|d| (d.code, d.severity)).collect();
        (catalog.posts.len(), catalog.invalid, skipped, told)
    };
    let broken = ("broken-link", Severity::Warning);
    assert_eq!(
        outcome(MissingAsset::Fail),
        (1, vec!["b.md".to_owned()], vec![], vec![broken, ("missing-asset", Severity::Error)])
    );
    assert_eq!(
        outcome(MissingAsset::SkipPost),
        (
            1,
            vec![],
            vec![("b.md".to_owned(), Skip::MissingAsset)],
            vec![broken, ("missing-asset", Severity::Warning)]
        )
    );
    assert_eq!(
        outcome(MissingAsset::SkipAsset),
        (2, vec![], vec![], vec![("missing-asset", Severity::Warning)])
    );
}

#[test]
fn strict_links_take_what_links_to_them_along() {
    let mut catalog = catalog(vec![
        post("a.md", "en", "[b](b.md)"),
        post("b.md", "en", "[c](c.md) [a](a.md)"),
        post("c.md", "en", "[none](none.md)"),
        post("d.md", "en", "[e](e.md)"),
        post("e.md", "en", "[d](d.md)"),
    ]);
    let policy = LinkPolicy { strict_links: true, ..LinkPolicy::default() };
    let links = resolve(&mut catalog, &AssetFacts::new(), &rules(), &policy);
    assert_eq!(catalog.invalid, ["a.md", "b.md", "c.md"]);
    assert_eq!(links.len(), 2);
    let codes: Vec<(&str, &str)> = catalog.diagnostics.iter().map(|d| (d.file.as_str(), d.code)).collect();
    assert_eq!(codes, ["a.md", "b.md", "b.md", "c.md"].map(|file| (file, "broken-link")));
    assert!(catalog.diagnostics.iter().all(Diagnostic::is_error));
}

#[test]
fn another_address_of_a_target_is_another_digest() {
    let digest = |pattern: &str, body: &str| {
        let mut catalog = catalog(vec![post("a.md", "en", body), post("b.md", "en", "")]);
        let rules = Rules { url_pattern: pattern.to_owned(), ..rules() };
        resolve(&mut catalog, &AssetFacts::new(), &rules, &LinkPolicy::default())[0].links_hash.clone()
    };
    let first = digest("/{slug}", "[b](b.md)");
    assert!(first.is_some());
    assert_eq!(first, digest("/{slug}", "text [other](b.md) [b](b.md)"));
    assert_ne!(first, digest("/x/{slug}", "[b](b.md)"));
    assert_eq!(digest("/{slug}", "[b](none.md) [c](https://example.org)"), None);
}

#[test]
fn very_many_problems_are_told_by_number() {
    let body: String = (0..5_000).fold(String::new(), |body, n| body + &format!("[x](no-{n}.md)\n"));
    let mut catalog = catalog(vec![post("a.md", "en", &body)]);
    resolve(&mut catalog, &AssetFacts::new(), &rules(), &LinkPolicy::default());
    assert_eq!(catalog.diagnostics.len(), 101);
    assert_eq!(catalog.diagnostics[100].message, "4900 more links and files of this post lead nowhere");
}

#[test]
fn addresses_of_posts_follow_the_pattern() {
    let mut post = post("a.md", "ko", "");
    post.slug = Slug::parse("봄/It's 1+1.5").unwrap();
    // 22:13:20 UTC on the 14th is the 15th in Seoul.
    for (pattern, expected) in [
        ("/{lang}/{slug}", "/ko/%EB%B4%84/It%27s%201%2B1.5"),
        (
            "https://example.org/{year}/{month}/{day}/{slug}/",
            "https://example.org/2023/11/15/%EB%B4%84/It%27s%201%2B1.5/",
        ),
        ("/{unknown}/{slug", "/{unknown}/{slug"),
        ("", ""),
    ] {
        assert_eq!(post_url(pattern, &post, &rules()), expected);
    }
}
