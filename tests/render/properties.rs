//! What holds for any body.

use std::collections::{BTreeMap, BTreeSet};

use idempost::post::render::{RawHtml, RenderOptions, render};
use proptest::prelude::*;

use crate::dom::{attribute_values, dangers};
use crate::{html, html_with, rendered};

/// Pieces of markdown and HTML which together make most of what both parsers know.
fn soup(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

const MARKDOWN: &[&str] = &[
    "a",
    "b c",
    "한글",
    "漢字",
    "é",
    "\u{a0}",
    "'",
    "\"",
    "&",
    "&amp;",
    "&lt;",
    "&#39;",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "\n",
    "\n\n",
    "  \n",
    "    ",
    "# ",
    "## x\n",
    "- ",
    "1. ",
    "> ",
    "> [!NOTE]\n",
    "- [x] ",
    "---\n",
    "***\n",
    "```\n",
    "~~~ rust\n",
    "|",
    "| a | b |\n|---|:-:|\n",
    "[",
    "](",
    ")",
    "](/x)",
    "](https://a.test/?q='1'&r)",
    "![",
    "](a.png 't')",
    "](javascript:x)",
    "[r]",
    "\n\n[r]: /y \"it's\"\n",
    "[^n]",
    "\n\n[^n]: note\n",
    "<https://b.test>",
    "<c@d.test>",
    "\\",
    "<!-- c -->",
    "\n\n<!-- d -->\n\n",
    "](http://[bad)",
    "](HTTP://A..test)",
    "](data:image/png;base64,AA==)",
    "=",
    "===\n",
    "\t",
];

const HTML: &[&str] = &[
    "x",
    "\n",
    "\n\n",
    " ",
    "<b>",
    "</b>",
    "<b id=q>",
    "<i class='x'>",
    "</i>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<a href=/y>",
    "<a href=javascript:z>",
    "</a>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<svg>",
    "</svg>",
    "<math>",
    "<mtext>",
    "<mglyph>",
    "<style>",
    "</style>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "--!>",
    "<![CDATA[",
    "]]>",
    "<?",
    "<noscript>",
    "</noscript>",
    "<template>",
    "</template>",
    "<select>",
    "<option>",
    "<form>",
    "</form>",
    "<button>",
    "<img src=x onerror=y>",
    "<p title=\"</noscript><img src=x onerror=y>\">",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<iframe>",
    "</iframe>",
    "<foreignObject>",
    "<annotation-xml encoding=text/html>",
    "<pre>",
    "<li>",
    "<ul>",
    "<h1 id=h>",
    "</h1>",
    "<br>",
    "<hr>",
    "<",
    ">",
    "\"",
    "'",
    "&lt;",
    "&#60;",
    "&nbsp;",
    "`",
    "# h\n",
    "- ",
    "*",
    "<details>",
    "<summary>",
    "<ruby>",
    "<rt>",
    "<font color=x>",
    "<input type=checkbox>",
    "<object>",
    "<xmp>",
    "</xmp>",
    "<plaintext>",
    "\u{0}",
    "\r",
];

/// CommonMark lets an autolink stand in a link's text; HTML does not.
fn has_link_in_link(html: &str) -> bool {
    html.replace("<a>", "<a >").split("<a ").skip(1).any(|link| !link.contains("</a>"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_soup_is_dangerous(source in soup(HTML)) {
        for raw_html in [RawHtml::Sanitize, RawHtml::Escape] {
            let html = html_with(&source, raw_html);
            prop_assert_eq!(dangers(&html), Vec::<String>::new(), "{}", html);
        }
    }

    #[test]
    fn no_markdown_is_dangerous(source in soup(MARKDOWN)) {
        let html = html(&source);
        prop_assert_eq!(dangers(&html), Vec::<String>::new(), "{}", html);
    }

    #[test]
    fn any_text_is_rendered_safely_and_the_same_twice(source in any::<String>()) {
        for raw_html in [RawHtml::Sanitize, RawHtml::Escape, RawHtml::Allow] {
            let options = RenderOptions { html: true, raw_html };
            let once = render(&source, &options, &BTreeMap::new());
            prop_assert_eq!(&once, &render(&source, &options, &BTreeMap::new()));
            if raw_html != RawHtml::Allow {
                prop_assert_eq!(dangers(once.html.as_deref().unwrap()), Vec::<String>::new());
            }
        }
    }

    /// The page without a second parser and the same page through it are the same bytes: what is written
    /// directly is exactly what the sanitiser would have let through.
    #[test]
    fn both_paths_agree(source in soup(MARKDOWN)) {
        let direct = html(&source);
        prop_assume!(!has_link_in_link(&direct));
        let through = html(&format!("<kbd>K</kbd>\n\n{source}"));
        prop_assert_eq!(through, format!("<p><kbd>K</kbd></p>\n{direct}"));
    }

    #[test]
    fn heading_ids_are_unique_and_none_is_empty(
        headings in prop::collection::vec("(# |## |### )(a|A|a-1|b|!|가|é|e\u{301}|a 1|\\[\\^a\\]|<b id=a>)?", 0..12),
        footnote in any::<bool>(),
    ) {
        let mut source = headings.join("\n\n");
        if footnote {
            source.push_str("\n\nx[^a]\n\n[^a]: y\n");
        }
        let page = rendered(&source);
        let ids: BTreeSet<&str> = page.toc.iter().map(|entry| entry.id.as_str()).collect();
        prop_assert_eq!(ids.len(), page.toc.len());
        prop_assert!(!ids.contains(""));
        let mut in_page = attribute_values(page.html.as_deref().unwrap(), "id");
        in_page.retain(|id| ids.contains(id.as_str()));
        prop_assert_eq!(in_page.len(), ids.len());
    }

    #[test]
    fn counts_do_not_depend_on_what_is_not_text(source in soup(MARKDOWN)) {
        let page = rendered(&source);
        prop_assert_eq!(page.reading_minutes == 0, page.word_count == 0);
        let same = render(&source, &RenderOptions { html: true, raw_html: RawHtml::Allow }, &BTreeMap::new());
        prop_assert_eq!((page.word_count, page.excerpt, page.toc), (same.word_count, same.excerpt, same.toc));
    }
}
