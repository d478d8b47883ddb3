//! What a website gets beside the HTML: ids, contents, excerpt, counts.

use std::collections::BTreeMap;

use idempost::post::render::{RawHtml, RenderOptions, Rendered, render};

use crate::dom::attribute_values;
use crate::{html, html_with, rendered};

fn toc(body: &str) -> Vec<(u8, String, String)> {
    rendered(body).toc.into_iter().map(|entry| (entry.level, entry.id, entry.text)).collect()
}

fn entry(level: u8, id: &str, text: &str) -> (u8, String, String) {
    (level, id.to_owned(), text.to_owned())
}

#[test]
fn contents_have_the_ids_of_the_page() {
    let body = "# Guide to `C++` & *more*\n\n## 설치 방법\n\nSet\next\n===\n\n## 설치 방법\n\n### ![Logo](l.png)\n\n####\n";
    assert_eq!(
        toc(body),
        [
            entry(1, "guide-to-c--more", "Guide to C++ & more"),
            entry(2, "설치-방법", "설치 방법"),
            entry(1, "set-ext", "Set ext"),
            entry(2, "설치-방법-1", "설치 방법"),
            entry(3, "logo", "Logo"),
            entry(4, "section", ""),
        ]
    );
    let ids: Vec<String> = toc(body).into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(attribute_values(&html(body), "id"), ids);
}

#[test]
fn heading_ids_make_way_for_footnotes_and_raw_html() {
    let body = "# Intro\n\n# Note\n\n# Old\n\nx[^note]\n\n<a name=old></a>\n\n<div\n id='intro'>y</div>\n\n[^note]: z\n";
    let ids: Vec<String> = toc(body).into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(ids, ["intro-1", "note-1", "old-1"]);
    // As code it is no id of the page.
    assert_eq!(toc("# Intro\n\n`<a id=intro>`\n"), [entry(1, "intro", "Intro")]);
}

#[test]
fn attributes_of_other_generators_are_text() {
    assert_eq!(html("## Title {#mine}\n"), "<h2 id=\"title-mine\">Title {#mine}</h2>\n");
}

#[test]
fn template_tags_and_words_of_code_pass_through() {
    let body = "import this\n\nexport that\n\n{{< tweet 1 >}} {% include x.md %} {{ page.title }}\n";
    let page = rendered(body);
    assert_eq!(
        page.html.unwrap(),
        "<p>import this</p>\n<p>export that</p>\n<p>{{&lt; tweet 1 &gt;}} {% include x.md %} {{ page.title }}</p>\n"
    );
    assert_eq!(page.excerpt, "import this");
}

#[test]
fn comments_stay_without_a_second_parser() {
    assert_eq!(
        html("a <!-- note --> b\n\n<!-- more\n-->\n\nc\n"),
        "<p>a <!-- note --> b</p>\n<!-- more\n-->\n<p>c</p>\n"
    );
}

#[test]
fn raw_html_is_kept_escaped_or_cleaned_as_asked() {
    let body = "<div class=\"note\" onclick=\"x()\">\n\n*a* <u>b</u>\n\n</div>\n";
    assert_eq!(
        html_with(body, RawHtml::Sanitize),
        "<div class=\"note\">\n<p><em>a</em> <u>b</u></p>\n</div>\n"
    );
    assert_eq!(
        html_with(body, RawHtml::Allow),
        "<div class=\"note\" onclick=\"x()\">\n<p><em>a</em> <u>b</u></p>\n</div>\n"
    );
    assert_eq!(
        html_with(body, RawHtml::Escape),
        "&lt;div class=\"note\" onclick=\"x()\"&gt;\n<p><em>a</em> &lt;u&gt;b&lt;/u&gt;</p>\n&lt;/div&gt;\n"
    );
    let trust = |raw_html| render(body, &RenderOptions { html: true, raw_html }, &BTreeMap::new()).html_trust;
    assert_eq!(trust(RawHtml::Sanitize), Some("sanitized"));
    assert_eq!(trust(RawHtml::Escape), Some("sanitized"));
    assert_eq!(trust(RawHtml::Allow), Some("raw"));
}

#[test]
fn a_line_end_at_the_start_of_pre_survives_every_pass() {
    let once = html("<pre>\n\n\nx</pre>\n");
    assert_eq!(once, "<pre>\n\n\nx</pre>\n");
}

#[test]
fn destinations_are_replaced_in_markdown_and_raw_html() {
    let replace = BTreeMap::from([
        ("b.md#x".to_owned(), "/en/b#x".to_owned()),
        ("사진.png".to_owned(), "https://cdn.test/1.png".to_owned()),
    ]);
    let body = "[b](b.md#x) [c](c.md) ![p](사진.png) [r]\n\n<div>\n<a\nhref=\"b.md#x\">b</a> <img src='사진.png'></div>\n\n[r]: b.md#x\n";
    for raw_html in [RawHtml::Sanitize, RawHtml::Allow] {
        let html = render(body, &RenderOptions { html: true, raw_html }, &replace).html.unwrap();
        assert_eq!(
            attribute_values(&html, "href"),
            ["/en/b#x", "c.md", "/en/b#x", "/en/b#x"],
            "{raw_html:?}"
        );
        assert_eq!(attribute_values(&html, "src"), ["https://cdn.test/1.png", "https://cdn.test/1.png"]);
    }
}

#[test]
fn the_excerpt_is_the_first_paragraph_of_prose() {
    for (body, expected) in [
        (
            "# Title\n\n```\ncode\n```\n\n<p>raw</p>\n\n![only](a.png)\n\nFirst *real* one[^1].\n\n[^1]: Note.\n",
            "First real one.",
        ),
        ("[^1]: Note.\n\nAfter[^1].\n", "After."),
        ("{{< figure src=\"a.png\" >}}\n\n{% include a.md %}\n\n:::note\n\nText.\n", "Text."),
        ("> Quoted.\n\nThen text.\n", "Then text."),
        ("> Only quoted.\n", "Only quoted."),
        ("- one\n- two\n", "one"),
        ("| a |\n|---|\n| b |\n", ""),
        ("", ""),
        ("첫 문단은\n두 줄이다.\n", "첫 문단은 두 줄이다."),
        ("一行目は\n続く。\n", "一行目は続く。"),
    ] {
        assert_eq!(rendered(body).excerpt, expected, "{body}");
    }
}

#[test]
fn words_are_counted_over_marks_and_blocks() {
    let count = |body: &str| rendered(body).word_count;
    assert_eq!(count("un*believ*able **one**\ntwo"), 3);
    assert_eq!(count("# One two\n\n- three\n- four\n\n| five | six |\n|---|---|\n"), 6);
    assert_eq!(count("![alt text](a.png) [link](https://example.org/many/words)"), 1);
    assert_eq!(count("<b title='not counted'>yes</b> <!-- no -->"), 1);
    assert_eq!(count("don&#39;t e\\.g\\. x"), 3);
    assert_eq!(count("`let x = 1;`\n\n    code here\n"), 5);
}

#[test]
fn reading_time_fits_the_script() {
    let minutes = |body: &str| rendered(body).reading_minutes;
    assert_eq!(minutes(""), 0);
    assert_eq!(minutes("---\n"), 0);
    assert_eq!(minutes("한 줄"), 1);
    assert_eq!(minutes(&"word ".repeat(1_000)), 5);
    assert_eq!(minutes(&"단어 ".repeat(1_000)), 5);
    assert_eq!(minutes(&"文字".repeat(1_250)), 5);
    assert_eq!(minutes(&"かな漢字".repeat(626)), 6);
}

#[test]
fn without_html_the_rest_is_made() {
    let body = "import Chart from './chart'\n\nexport const meta = { a: 1 }\n\n# Hello\n\n<Chart rows={rows} />\n\n\
                {1 + 1}\n\nImport duties rose.\n\nexport is a word here.\n";
    let page = render(body, &RenderOptions { html: false, raw_html: RawHtml::Sanitize }, &BTreeMap::new());
    assert_eq!((page.html, page.html_trust), (None, None));
    assert_eq!(page.excerpt, "Import duties rose.");
    assert_eq!(page.word_count, 9);
    assert_eq!(page.toc[0].id, "hello");
    assert_eq!(page.reading_minutes, 1);
}

#[test]
fn nothing_makes_nothing() {
    assert_eq!(
        rendered(""),
        Rendered { html: Some(String::new()), html_trust: Some("sanitized"), ..Rendered::default() }
    );
}
