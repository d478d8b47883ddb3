//! Takes everything out of a page that could run, load a document or leave its place. Only pages with
//! raw HTML come here.
//!
//! An element that is not known to be harmless loses its tags; those whose content is no prose lose
//! that too. What is left is spelled as the markdown writer spells it ([`tidy`]).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::url::{UrlUse, is_allowed};

/// Elements that go with all they hold: their content is code, another document, or stands for
/// something that cannot be shown.
const DROPPED_WHOLE: [&str; 18] = [
    "applet",
    "frameset",
    "head",
    "iframe",
    "math",
    "noembed",
    "noframes",
    "noscript",
    "object",
    "script",
    "select",
    "style",
    "svg",
    "template",
    "textarea",
    "title",
    "plaintext",
    "xmp",
];

/// Cleans a page. The same page always gives the same bytes.
pub(super) fn clean(html: &str) -> String {
    tidy(&SANITISER.clean(html).to_string())
}

static SANITISER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::default();
    builder
        .add_tags(["big", "font", "input", "tfoot"])
        .clean_content_tags(HashSet::from(DROPPED_WHOLE))
        .add_generic_attributes(["class", "dir", "id", "role"])
        .add_tag_attributes("a", ["name"])
        .add_tag_attributes("details", ["open"])
        .add_tag_attributes("img", ["loading"])
        .add_tag_attributes("input", ["checked", "disabled"])
        .add_tag_attributes("li", ["value"])
        .add_tag_attributes("ol", ["reversed", "type"])
        .add_tag_attributes("td", ["style"])
        .add_tag_attributes("th", ["style"])
        .add_tag_attributes("time", ["datetime"])
        // A box of a task list is the one input there is, and nobody can tick it.
        .add_tag_attribute_values("input", "type", ["checkbox"])
        .set_tag_attribute_value("input", "disabled", "")
        .url_schemes(HashSet::from(["data", "http", "https", "mailto", "tel"]))
        .link_rel(None)
        .strip_comments(false)
        .attribute_filter(filter_attribute);
    builder
});

/// The last word on an attribute that the lists let through.
fn filter_attribute<'v>(element: &str, attribute: &str, value: &'v str) -> Option<Cow<'v, str>> {
    let is_kept = match attribute {
        "src" => is_allowed(value, UrlUse::Image),
        "href" | "cite" => is_allowed(value, UrlUse::Link),
        "style" => {
            matches!(element, "td" | "th")
                && matches!(value, "text-align: left" | "text-align: center" | "text-align: right")
        }
        _ => true,
    };
    is_kept.then_some(Cow::Borrowed(value))
}

/// Spells the sanitiser's output as the markdown writer spells its own: void elements closed,
/// apostrophes in attributes as references, no-break blanks as themselves. The input is well formed:
/// each `<` begins a tag or a comment, and attributes are in double quotes.
fn tidy(html: &str) -> String {
    let mut out = String::with_capacity(html.len() + html.len() / 16);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        push_text(text, &mut out);
        rest = if tag.starts_with("<!--") {
            let end = tag.find("-->").map_or(tag.len(), |end| end + 3);
            let (comment, after) = tag.split_at(end);
            out.push_str(comment);
            after
        } else {
            push_tag(tag, &mut out)
        };
    }
    push_text(rest, &mut out);
    out
}

/// Everything between tags. A reference to a no-break blank cannot be the author's text: that would
/// have its `&` escaped.
fn push_text(text: &str, out: &mut String) {
    for (number, piece) in text.split("&nbsp;").enumerate() {
        if number > 0 {
            out.push('\u{a0}');
        }
        out.push_str(piece);
    }
}

/// Writes the tag with which `html` begins and returns what follows it.
fn push_tag<'h>(html: &'h str, out: &mut String) -> &'h str {
    let name_end = html.find([' ', '>']).unwrap_or(html.len());
    let (name, mut rest) = html.split_at(name_end);
    out.push_str(name);
    while let Some(attribute) = rest.strip_prefix(' ') {
        let Some((attribute_name, after)) = attribute.split_once("=\"") else {
            break;
        };
        let (value, after) = after.split_once('"').unwrap_or((after, ""));
        let apostrophe = if matches!(attribute_name, "href" | "src") { "&#x27;" } else { "&#39;" };
        out.push(' ');
        out.push_str(attribute_name);
        out.push_str("=\"");
        for (number, piece) in value.split('\'').enumerate() {
            if number > 0 {
                out.push_str(apostrophe);
            }
            push_text(piece, out);
        }
        out.push('"');
        rest = after;
    }
    match name {
        "<input" => out.push('/'),
        "<br" | "<hr" | "<img" | "<area" | "<col" | "<wbr" => out.push_str(" /"),
        _ => {}
    }
    let (end, after) = rest.split_at(rest.find('>').map_or(rest.len(), |end| end + 1));
    out.push_str(end);
    // A parser drops the first line end in `pre`; without a second one the next would drop another.
    if name == "<pre" && after.starts_with('\n') {
        out.push('\n');
    }
    after
}
