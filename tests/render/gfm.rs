//! GitHub's extensions, one by one.

use crate::html;

#[test]
fn tables_align_and_escape_pipes() {
    assert_eq!(
        html("| l | c | r | n |\n|:--|:-:|--:|---|\n| 1 \\| 2 | `a \\| b` | *x* |\n"),
        "<table><thead><tr><th style=\"text-align: left\">l</th><th style=\"text-align: center\">c</th>\
         <th style=\"text-align: right\">r</th><th>n</th></tr></thead><tbody>\n\
         <tr><td style=\"text-align: left\">1 | 2</td><td style=\"text-align: center\"><code>a | b</code></td>\
         <td style=\"text-align: right\"><em>x</em></td><td></td></tr>\n</tbody></table>\n"
    );
    assert!(!html("a | b\n- | -\n").contains("<p>"));
    assert!(html("| a | b |\n| - |\n").starts_with("<p>"), "the head and its rule differ in cells");
}

#[test]
fn strikethrough_takes_one_or_two_tildes() {
    assert_eq!(html("~~two~~ ~one~ ~~~three~~~x"), "<p><del>two</del> <del>one</del> ~~~three~~~x</p>\n");
    assert_eq!(html("a ~ b ~ c"), "<p>a ~ b ~ c</p>\n");
}

#[test]
fn task_lists_have_boxes_nobody_can_tick() {
    assert_eq!(
        html("- [ ] a\n- [X] b\n- [y] c\n"),
        "<ul>\n<li><input disabled=\"\" type=\"checkbox\"/>\na</li>\n\
         <li><input disabled=\"\" type=\"checkbox\" checked=\"\"/>\nb</li>\n<li>[y] c</li>\n</ul>\n"
    );
}

#[test]
fn footnotes_are_numbered_by_first_use() {
    assert_eq!(
        html("x[^b] y[^a] z[^b]\n\n[^a]: A\n[^b]: B\n"),
        "<p>x<sup class=\"footnote-reference\"><a href=\"#b\">1</a></sup> \
         y<sup class=\"footnote-reference\"><a href=\"#a\">2</a></sup> \
         z<sup class=\"footnote-reference\"><a href=\"#b\">1</a></sup></p>\n\
         <div class=\"footnote-definition\" id=\"a\"><sup class=\"footnote-definition-label\">2</sup>\n<p>A</p>\n</div>\n\
         <div class=\"footnote-definition\" id=\"b\"><sup class=\"footnote-definition-label\">1</sup>\n<p>B</p>\n</div>\n"
    );
    assert_eq!(html("x[^none]"), "<p>x[^none]</p>\n");
}

#[test]
fn alerts_have_a_class_and_lose_their_mark() {
    for kind in ["note", "tip", "important", "warning", "caution"] {
        assert_eq!(
            html(&format!("> [!{}]\n> Mind the gap.\n", kind.to_uppercase())),
            format!("<blockquote class=\"markdown-alert-{kind}\">\n<p>Mind the gap.</p>\n</blockquote>\n")
        );
    }
    assert!(html("> [!OTHER]\n> x\n").starts_with("<blockquote>\n<p>[!OTHER]"));
}

#[test]
fn bare_addresses_stay_text() {
    assert_eq!(
        html("See www.example.org or https://example.org."),
        "<p>See www.example.org or https://example.org.</p>\n"
    );
    assert_eq!(
        html("<https://example.org>"),
        "<p><a href=\"https://example.org\">https://example.org</a></p>\n"
    );
}

/// The same page with one harmless tag more goes through the sanitiser; nothing else may change.
#[test]
fn the_sanitiser_spells_everything_as_the_writer_does() {
    let body = "# A 'quoted' & \"titled\" <heading>\n\nLine  \nbreak, no\u{a0}break, it's.[^a]\n\n---\n\n\
                ![it's \"alt\"](p'i[c].png 'ti\"tle') [x](/y?a=1&b='2' \"it's\")\n\n\
                | a | b |\n|:-:|--:|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n3. three\n4. four\n\n\
                ~~old~~ **new** *x* `c < d`\n\n```rust,ignore\nfn main() {}\n\n\n```\n\n> [!TIP]\n> y\n\n\
                <!-- more -->\n\n[^a]: Note\n";
    let plain = html(body);
    let sanitised = html(&format!("{body}\n<kbd>K</kbd>\n"));
    assert_eq!(sanitised.strip_suffix("<p><kbd>K</kbd></p>\n").unwrap(), plain);
}
