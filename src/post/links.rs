//! What a body points at: internal links and local assets.
//!
//! A reference is a link or image with a relative path, or with Zola's `@/`, which begins at the content
//! root. Addresses with a scheme, fragments, and paths from the website's root (`/x`) are none: they
//! name what is on a website, not what is in the tree. Paths of the author's own machine (`file:`
//! addresses, drive letters, `\\server`) are refused. Nothing here looks at a file.

use std::ops::Range;

use percent_encoding::percent_decode_str;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use super::render::{markdown_options, raw};

/// One relative reference in a body, resolved against the file's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// As written (entities and backslash escapes resolved), without fragment and query.
    pub written: String,
    /// Path below the content root with `/`, percent-decoded, NFC not applied; `None` when it leaves
    /// the root or is a path of the author's machine.
    pub target: Option<String>,
    /// `?query#fragment` as written, with their marks.
    pub suffix: String,
    /// Bytes in the body.
    pub span: Range<usize>,
    /// An image, or a link.
    pub image: bool,
}

impl Reference {
    /// The destination as a whole, as `replace` of the renderer knows it.
    pub fn destination(&self) -> String {
        format!("{}{}", self.written, self.suffix)
    }

    /// Whether it is a path of the author's machine, which no reader has.
    pub fn is_machine_path(&self) -> bool {
        is_machine_path(&self.written)
    }
}

/// One stored asset of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Path below the content root with `/`.
    pub path: String,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
    /// MIME type by its bytes.
    pub mime: String,
    /// Where readers find it, if an asset store is configured.
    pub url: Option<String>,
}

/// All references of a body, in order of place: inline links and images, those through reference
/// definitions (at each use), and `<a href>` and `<img src>` in raw HTML. `file` is the post's path
/// below the content root.
pub fn references(body: &str, file: &str) -> Vec<Reference> {
    if !may_have_references(body) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut block = HtmlBlock::default();
    for (event, range) in Parser::new_ext(body, markdown_options()).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {}
            Event::Start(Tag::Link { dest_url, .. }) => {
                found.extend(reference(&dest_url, file, || place_of(body, &range, &dest_url), false));
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                found.extend(reference(&dest_url, file, || place_of(body, &range, &dest_url), true));
            }
            Event::InlineHtml(html) => {
                let mut inline = HtmlBlock::default();
                inline.push(&html, range.start);
                inline.references(file, &mut found);
            }
            Event::Start(Tag::HtmlBlock) => block = HtmlBlock::default(),
            Event::Html(html) => block.push(&html, range.start),
            Event::End(TagEnd::HtmlBlock) => block.references(file, &mut found),
            _ => {}
        }
    }
    found
}

/// A path that stands in front matter (`cover`), resolved as one in the body would be. `None` where it
/// is no reference.
pub fn front_matter_reference(written: &str, file: &str) -> Option<Reference> {
    reference(written, file, || 0..0, true)
}

/// A run of raw HTML and where its lines stand in the body: in a quote the lines do not adjoin.
#[derive(Default)]
struct HtmlBlock {
    text: String,
    /// Offset in `text` and in the body at which each line begins.
    lines: Vec<(usize, usize)>,
}

impl HtmlBlock {
    fn push(&mut self, html: &str, start: usize) {
        self.lines.push((self.text.len(), start));
        self.text.push_str(html);
    }

    fn in_body(&self, at: usize) -> usize {
        let line = self.lines.iter().rev().find(|(in_text, _)| *in_text <= at);
        line.map_or(0, |(in_text, in_body)| in_body + (at - in_text))
    }

    fn references(&self, file: &str, found: &mut Vec<Reference>) {
        raw::tags(&self.text, |tag| {
            for attribute in &tag.attributes {
                if let Some(image) = raw::points_at_image(&tag, attribute) {
                    let place = || self.in_body(attribute.span.start)..self.in_body(attribute.span.end);
                    found.extend(reference(&attribute.decoded(), file, place, image));
                }
            }
        });
    }
}

/// The bytes of the destination inside the link, where it stands there as it is; else the whole link.
fn place_of(body: &str, link: &Range<usize>, destination: &str) -> Range<usize> {
    let text = body.get(link.clone()).unwrap_or_default();
    match text.rfind(destination) {
        Some(at)
            if text
                .get(..at)
                .is_some_and(|before| before.trim_end_matches('<').trim_end().ends_with('(')) =>
        {
            link.start + at..link.start + at + destination.len()
        }
        _ => link.clone(),
    }
}

fn reference(
    destination: &str,
    file: &str,
    place: impl FnOnce() -> Range<usize>,
    image: bool,
) -> Option<Reference> {
    let path_end = destination.find(['?', '#']).unwrap_or(destination.len());
    let (written, suffix) = destination.split_at(path_end);
    if is_elsewhere(written) {
        return None;
    }
    let target = if is_machine_path(written) { None } else { resolve(written, folder_of(file)) };
    Some(Reference { written: written.to_owned(), target, suffix: suffix.to_owned(), span: place(), image })
}

/// Whether a destination without query and fragment names nothing in the tree.
fn is_elsewhere(written: &str) -> bool {
    if written.is_empty() || is_template(written) {
        return true;
    }
    if is_machine_path(written) {
        return false;
    }
    written.starts_with('/') || has_scheme(written)
}

/// A tag of a template language: what it becomes is not known here.
fn is_template(written: &str) -> bool {
    written.contains("{{") || written.contains("{%") || written.starts_with('{')
}

/// A letter, then letters, digits, `+`, `-` or `.`, then a colon (RFC 3986, 3.1).
fn has_scheme(written: &str) -> bool {
    let Some((scheme, _)) = written.trim_start().split_once(':') else {
        return false;
    };
    scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// `file:`, `C:\` or `C:/`, `\\server\share`, `~/`.
fn is_machine_path(written: &str) -> bool {
    let bytes = written.as_bytes();
    let is_file = written.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    let is_drive = matches!(bytes, [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    is_file || is_drive || written.starts_with('\\') || written.starts_with("~/")
}

/// The folder of a path, without the last `/`; empty for the root.
pub(crate) fn folder_of(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path as written, percent-decoded, from `folder` (or from the root, after `@/`). `None` when it
/// leaves the root on its way. A last `/` is dropped.
pub(crate) fn resolve(written: &str, folder: &str) -> Option<String> {
    let decoded = percent_decode_str(written).decode_utf8().ok()?;
    let (folder, path) = match decoded.strip_prefix("@/") {
        Some(path) => ("", path),
        None => (folder, decoded.as_ref()),
    };
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether a body can have references at all; never false for one that has. Looks for the marks that
/// every link begins with, and past them for a destination that is certainly elsewhere.
pub(crate) fn may_have_references(body: &str) -> bool {
    let bytes = body.as_bytes();
    let mut from = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| rest.iter().position(|b| matches!(b, b']' | b'<')))
    {
        let mark = from + at;
        from = mark + 1;
        let rest = bytes.get(from..).unwrap_or_default();
        let may = if bytes.get(mark) == Some(&b']') {
            matches!(rest.first(), Some(b'(' | b':')) && !begins_elsewhere(rest.get(1..).unwrap_or_default())
        } else {
            begins_link_tag(rest)
        };
        if may {
            return true;
        }
    }
    false
}

/// Whether a destination begins, as written, so that it can be no reference.
fn begins_elsewhere(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"<").unwrap_or(rest);
    [&b"https://"[..], b"http://", b"#", b"/", b"mailto:"].iter().any(|start| rest.starts_with(start))
}

/// Whether a tag that may have an address begins here, after its `<`.
fn begins_link_tag(rest: &[u8]) -> bool {
    let length = if rest.first().is_some_and(|b| b.eq_ignore_ascii_case(&b'a')) {
        1
    } else if rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case(b"img")) {
        3
    } else {
        return false;
    };
    rest.get(length).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn targets(body: &str, file: &str) -> Vec<(String, Option<String>, String, bool)> {
        let all = references(body, file);
        all.into_iter().map(|r| (r.written, r.target, r.suffix, r.image)).collect()
    }

    fn target(destination: &str, file: &str) -> Option<String> {
        let found = targets(&format!("[x](<{destination}>)"), file);
        assert_eq!(found.len(), 1, "{destination}");
        found[0].1.clone()
    }

    #[test]
    fn paths_are_resolved_from_the_folder_of_the_file() {
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(target("b.md", "a.md"), some("b.md"));
        assert_eq!(target("./b.md", "x/y/a.md"), some("x/y/b.md"));
        assert_eq!(target("../b.md", "x/y/a.md"), some("x/b.md"));
        assert_eq!(target("../../../b.md", "x/y/a.md"), None);
        assert_eq!(target("../x/../../b.md", "x/a.md"), None);
        assert_eq!(target("c/./d//e/", "x/a.md"), some("x/c/d/e"));
        assert_eq!(target("@/blog/b.md", "x/a.md"), some("blog/b.md"));
        assert_eq!(target("@/../b.md", "x/a.md"), None);
        assert_eq!(target("caf%C3%A9%20%EC%82%AC%EC%A7%84.png", "a.md"), some("café 사진.png"));
        assert_eq!(target("%2e%2e/b.md", "a.md"), None);
        assert_eq!(target("10:30.md", "a.md"), some("10:30.md"));
    }

    #[test]
    fn what_is_elsewhere_is_no_reference() {
        for destination in [
            "https://example.org/a.md",
            "HTTP://example.org",
            "//example.org/a.png",
            "mailto:me@example.org",
            "tel:1",
            "javascript:x",
            "data:image/png;base64,AA",
            "#top",
            "?page=2",
            "/about",
            "",
            "{{site.url}}/a.md",
            "{%link a.md%}",
        ] {
            assert_eq!(
                targets(&format!("[x](<{destination}>) ![y](<{destination}>)"), "a.md"),
                [],
                "{destination}"
            );
        }
        assert_eq!(
            targets("<https://example.org> <me@example.org> `[x](y.md)`\n\n    [x](y.md)\n", "a.md"),
            []
        );
    }

    #[test]
    fn paths_of_a_machine_have_no_target() {
        for destination in ["file:///home/me/a.png", "File:a.png", "C:/a.png", "d:\\\\a.png", "~/a.png"] {
            let all = references(&format!("![x](<{destination}>)"), "a.md");
            assert_eq!(all.len(), 1, "{destination}");
            assert!(all[0].target.is_none() && all[0].is_machine_path(), "{destination}");
        }
    }

    #[test]
    fn every_way_to_write_a_link_is_found_at_its_place() {
        let body = "[a](one.md \"t\") ![b](two.png?w=1#x) [c][r] [r]\n\n[r]: three.md#part\n\n\
                    x <a href='four.md?a&amp;b'>y</a>\n\n> <div><img\n>   src=five.png></div>\n";
        let all = references(body, "p/a.md");
        let shown: Vec<(String, &str, bool)> =
            all.iter().map(|r| (r.destination(), body.get(r.span.clone()).unwrap(), r.image)).collect();
        assert_eq!(
            shown,
            [
                ("one.md".to_owned(), "one.md", false),
                ("two.png?w=1#x".to_owned(), "two.png?w=1#x", true),
                ("three.md#part".to_owned(), "[c][r]", false),
                ("three.md#part".to_owned(), "[r]", false),
                ("four.md?a&b".to_owned(), "'four.md?a&amp;b'", false),
                ("five.png".to_owned(), "five.png", true),
            ]
        );
    }

    #[test]
    fn bodies_whose_links_lead_elsewhere_are_not_parsed() {
        for body in [
            "plain [x] text",
            "[x](https://example.org) [y](#z) [w](/v) [m]( mailto:a@b.c )",
            "[x]: http://example.org\n[y]: </z>\n",
            "1 < 2, <b>bold</b>, <abbr title=x>y</abbr>, <https://example.org>",
        ] {
            assert!(!may_have_references(body), "{body}");
        }
        for body in ["[x](y)", "[x](\n  y)", "[x]:\n<y>", "<IMG src=x>", "<a\nhref=x>", "[x](&#104;ttp://y)"]
        {
            assert!(may_have_references(body), "{body}");
        }
    }

    proptest! {
        #[test]
        fn a_body_that_is_not_parsed_has_no_references(
            parts in prop::collection::vec(prop::sample::select(vec![
                "[", "]", "(", ")", ":", "<", ">", "!", "\n", "\n\n", " ", "> ", "- ", "a", "img", "a.md", "../b",
                "href=", "src=", "\"", "http://x", "https://", "#f", "/r", "mailto:m", "&#35;", "\\", "`", "[^n]",
                "http:", "@/c.md", "|", "---", "t\t",
            ]), 0..24)
        ) {
            let body = parts.concat();
            if !may_have_references(&body) {
                // The same body with a link in front is parsed, and holds nothing but that link. The link
                // is set apart by a heading, which nothing can run on from.
                let all = references(&format!("# [z](z.md)\n\n{body}"), "q.md");
                prop_assert_eq!(all.iter().filter(|r| r.written != "z.md").count(), 0);
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(body in any::<String>(), file in any::<String>()) {
            for found in references(&body, &file) {
                prop_assert!(body.get(found.span).is_some());
            }
        }
    }
}
