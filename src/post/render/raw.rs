//! Reads the tags in a piece of raw HTML: for ids, for links, and for a bound on what the sanitiser
//! would have to build. It decides nothing about safety; only the sanitiser does.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// One tag as it stands in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawTag<'a> {
    /// As written.
    pub(crate) name: &'a str,
    /// `</name>`.
    pub(crate) closing: bool,
    /// In order.
    pub(crate) attributes: Vec<RawAttribute<'a>>,
}

/// One attribute with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawAttribute<'a> {
    /// As written.
    pub(crate) name: &'a str,
    /// As written, without quotes.
    pub(crate) value: &'a str,
    /// Bytes of the value and its quotes.
    pub(crate) span: Range<usize>,
}

impl RawAttribute<'_> {
    /// The value with the entities resolved that addresses are written with.
    pub(crate) fn decoded(&self) -> Cow<'_, str> {
        if self.value.contains("&amp;") {
            Cow::Owned(self.value.replace("&amp;", "&"))
        } else {
            Cow::Borrowed(self.value)
        }
    }
}

/// What an attribute of a tag points at, if it is one of those that are resolved: an image's `src`
/// (`Some(true)`) or a link's `href` (`Some(false)`).
pub(crate) fn points_at_image(tag: &RawTag<'_>, attribute: &RawAttribute<'_>) -> Option<bool> {
    if tag.closing {
        None
    } else if tag.name.eq_ignore_ascii_case("img") && attribute.name.eq_ignore_ascii_case("src") {
        Some(true)
    } else if tag.name.eq_ignore_ascii_case("a") && attribute.name.eq_ignore_ascii_case("href") {
        Some(false)
    } else {
        None
    }
}

/// Calls `found` with every tag, in order. Comments, declarations and the content of scripts and
/// style sheets hold none.
pub(crate) fn tags<'a>(text: &'a str, mut found: impl FnMut(RawTag<'a>)) {
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')).map(|found| at + found) {
        let rest = text.get(open..).unwrap_or_default();
        if let Some(comment) = rest.strip_prefix("<!--") {
            at = comment.find("-->").map_or(text.len(), |end| open + 4 + end + 3);
            continue;
        }
        let Some((tag, end)) = tag_at(text, open) else {
            at = open + 1;
            continue;
        };
        at = end;
        let name = tag.name;
        let raw_text = !tag.closing && ["script", "style"].iter().any(|raw| name.eq_ignore_ascii_case(raw));
        found(tag);
        if raw_text {
            at = end_of_raw_text(text, at, name);
        }
    }
}

/// Where the content of a script or style sheet ends: at its closing tag, or with the text.
fn end_of_raw_text(text: &str, from: usize, name: &str) -> usize {
    let mut at = from;
    while let Some(close) = text.get(at..).and_then(|rest| rest.find("</")).map(|found| at + found) {
        let closes = text.get(close + 2..close + 2 + name.len());
        if closes.is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return close;
        }
        at = close + 2;
    }
    text.len()
}

/// The tag that begins at `open` and where it ends. A tag that is never closed ends with the text.
fn tag_at(text: &str, open: usize) -> Option<(RawTag<'_>, usize)> {
    let mut cursor = Cursor { text, at: open + 1 };
    let closing = cursor.take('/');
    if !cursor.peek().is_some_and(|c| c.is_ascii_alphabetic()) {
        return None;
    }
    let name = cursor.take_until(|c| c.is_ascii_whitespace() || c == '/' || c == '>');
    let mut attributes = Vec::new();
    loop {
        cursor.take_until(|c| !(c.is_ascii_whitespace() || c == '/'));
        match cursor.peek() {
            None | Some('>') => break,
            Some(_) => {}
        }
        let start = cursor.at;
        let name = cursor.take_until(|c| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '='));
        if cursor.at == start {
            cursor.bump();
            continue;
        }
        cursor.take_until(|c| !c.is_ascii_whitespace());
        if cursor.take('=') {
            cursor.take_until(|c| !c.is_ascii_whitespace());
            let (value, span) = cursor.value();
            attributes.push(RawAttribute { name, value, span });
        }
    }
    cursor.take('>');
    Some((RawTag { name, closing, attributes }, cursor.at))
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn take(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.bump();
        }
        is_there
    }

    fn take_until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let taken = rest.get(..rest.find(stop).unwrap_or(rest.len())).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn value(&mut self) -> (&'a str, Range<usize>) {
        let start = self.at;
        let value = match self.peek() {
            Some(quote @ ('"' | '\'')) => {
                self.bump();
                let value = self.take_until(|c| c == quote);
                self.bump();
                value
            }
            _ => self.take_until(|c| c.is_ascii_whitespace() || c == '>'),
        };
        (value, start..self.at)
    }
}

/// The text with the addresses in `replace` put in the place of what was written.
pub(super) fn replace_addresses<'a>(text: &'a str, replace: &BTreeMap<String, String>) -> Cow<'a, str> {
    let mut edits: Vec<(Range<usize>, &String)> = Vec::new();
    tags(text, |tag| {
        for attribute in &tag.attributes {
            if points_at_image(&tag, attribute).is_some()
                && let Some(address) = replace.get(attribute.decoded().as_ref())
            {
                edits.push((attribute.span.clone(), address));
            }
        }
    });
    if edits.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (span, address) in edits {
        out.push_str(text.get(from..span.start).unwrap_or_default());
        out.push('"');
        super::html::escape_attribute(address, &mut out);
        out.push('"');
        from = span.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// Whether a piece of raw HTML is one comment that any parser ends at the same place: it needs no
/// sanitiser (`<!-- more -->` is common in posts).
pub(super) fn is_plain_comment(html: &str) -> bool {
    let inner = html.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    inner.is_some_and(|inner| {
        !inner.starts_with(['>', '-'])
            && !inner.ends_with('-')
            && !inner.contains("--")
            && !inner.contains("<!")
    })
}

/// How much the sanitiser's parser may be made to build beyond the page itself, in elements. A
/// formatting tag that is never closed is opened again in each block after it, so pages of the
/// allowed size could otherwise fill any memory.
const RAW_ELEMENTS_MAX: usize = 1_000_000;
/// Deepest nesting of raw HTML that is sanitised, in elements.
const RAW_LEVELS_MAX: usize = 512;

/// Elements that the parser reopens in later blocks until they are closed by name.
const FORMATTING: [&str; 13] =
    ["b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements that never stay open over what follows: void ones, and those which their like closes.
const SHORT_LIVED: [&str; 19] = [
    "a", "area", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "source", "track", "wbr", "rt",
];
/// Elements through which a closing tag does not reach.
const BOUNDARIES: [&str; 9] =
    ["applet", "caption", "html", "table", "td", "th", "marquee", "object", "template"];

/// Follows the tags of a page and estimates what the sanitiser's parser would build of them.
#[derive(Debug, Default)]
pub(super) struct RawBound {
    open: Vec<String>,
    cost: usize,
    is_exceeded: bool,
}

impl RawBound {
    /// A block or tag of the page: everything open is opened again in it, or looked through.
    pub(super) fn block(&mut self) {
        self.cost = self.cost.saturating_add(self.open.len());
    }

    /// A tag of raw HTML.
    pub(super) fn tag(&mut self, tag: &RawTag<'_>) {
        self.block();
        if self.cost > RAW_ELEMENTS_MAX || self.open.len() > RAW_LEVELS_MAX {
            self.is_exceeded = true;
            return;
        }
        let name = tag.name.to_ascii_lowercase();
        if SHORT_LIVED.contains(&name.as_str()) {
            return;
        }
        if !tag.closing {
            self.open.push(name);
            return;
        }
        let within = self.open.iter().rposition(|open| BOUNDARIES.contains(&open.as_str())).unwrap_or(0);
        let is_boundary = BOUNDARIES.contains(&name.as_str());
        let Some(at) = self.open.iter().rposition(|open| *open == name) else {
            return;
        };
        if at < within && !is_boundary {
            return;
        }
        if FORMATTING.contains(&name.as_str()) {
            self.open.remove(at);
        } else {
            // What is not closed by its own name within survives if it is formatting.
            let inner = self.open.split_off(at);
            self.open.extend(inner.into_iter().skip(1).filter(|open| FORMATTING.contains(&open.as_str())));
        }
    }

    /// Whether the page may be sanitised.
    pub(super) fn is_kept(&self) -> bool {
        !self.is_exceeded && self.cost <= RAW_ELEMENTS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        tags(text, |tag| {
            let attributes: Vec<String> =
                tag.attributes.iter().map(|a| format!("{}={}", a.name, a.value)).collect();
            out.push(format!("{}{} {}", if tag.closing { "/" } else { "" }, tag.name, attributes.join(",")));
        });
        out
    }

    #[test]
    fn tags_are_read_as_a_browser_reads_them() {
        assert_eq!(
            seen("x < y <IMG/src='a b' alt=c><br/></A > <!-- <b> --> <a href = \"x>y\" checked>"),
            ["IMG src=a b,alt=c", "br ", "/A ", "a href=x>y"]
        );
        assert_eq!(seen("<script>'<b>'</script><i"), ["script ", "/script ", "i "]);
        assert_eq!(seen("<a =b c='unclosed <d>"), ["a c=unclosed <d>"]);
        assert_eq!(seen("<!-- never closed <b>"), Vec::<String>::new());
    }

    #[test]
    fn addresses_are_replaced_where_they_stand() {
        let replace = BTreeMap::from([
            ("a.png".to_owned(), "https://cdn.test/\"1\".png".to_owned()),
            ("b.md?x&y".to_owned(), "/b".to_owned()),
        ]);
        assert_eq!(
            replace_addresses("<img src=a.png alt='a.png'><a href='b.md?x&amp;y'>a.png</a>", &replace),
            "<img src=\"https://cdn.test/&quot;1&quot;.png\" alt='a.png'><a href=\"/b\">a.png</a>"
        );
        assert!(matches!(replace_addresses("<img src=c.png>", &replace), Cow::Borrowed(_)));
    }

    #[test]
    fn only_comments_that_cannot_be_read_otherwise_are_plain() {
        for plain in ["<!-- more -->", "<!---->", "<!-- a > b -->", "\n<!--\nx\n-->\n"] {
            assert!(is_plain_comment(plain), "{plain}");
        }
        for other in
            ["<!-->", "<!--->", "<!-- a --!> b -->", "<!-- a --> <b> -->", "<!-- x", "<b>", "<!-- <!-- -->"]
        {
            assert!(!is_plain_comment(other), "{other}");
        }
    }

    fn bound(html: &str) -> RawBound {
        let mut bound = RawBound::default();
        tags(html, |tag| bound.tag(&tag));
        bound
    }

    #[test]
    fn ordinary_pages_are_far_from_the_bound() {
        let page = "<details><summary>a</summary><b>x</b><p>y<p>z<br><a name=q></details>".repeat(5_000);
        assert!(bound(&page).is_kept());
        assert!(bound(&page).open.is_empty());
    }

    #[test]
    fn formatting_that_is_never_closed_runs_into_the_bound() {
        let open = (0..300).fold(String::new(), |html, n| html + &format!("<b id={n}>"));
        let mut many = bound(&open);
        assert!(many.is_kept());
        (0..10_000).for_each(|_| many.block());
        assert!(!many.is_kept());
        assert!(!bound(&"<div>".repeat(RAW_LEVELS_MAX + 2)).is_kept());
        let hidden =
            (0..600).fold(String::new(), |html, n| html + &format!("<b id={n}><table><td></b></table>"));
        assert!(!bound(&hidden).is_kept());
        let outlived = (0..600).fold(String::new(), |html, n| html + &format!("<div><i id={n}></div>"));
        assert!(!bound(&outlived).is_kept());
    }
}
