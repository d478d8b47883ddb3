//! What is meant as front matter and is not: a fence that is not where it must be, or keys without one.
//!
//! Such a file would be rendered with its keys as text, so it is an error and never a page. The other
//! mistake, to refuse a page that merely begins with a rule or with `Note: …`, is avoided by asking for
//! more signs the weaker the first one is.

use super::split::{Fence, Line, fence, lines, trim_blanks_end};
use super::{fold_key, json};
use crate::diagnostic::{Diagnostic, floor_char_boundary};

/// Most lines of comments and blanks that are looked through for a fence behind them.
const LOOK_AHEAD_LINES_MAX: usize = 200;
/// Longest piece of a line that is quoted in a message, in characters.
const SHOWN_CHARS_MAX: usize = 40;

/// Longest key that a line is looked at for, in bytes.
const KEY_BYTES_MAX: usize = 200;
/// Longest line that could have been meant as a fence, in characters.
const FENCE_CHARS_MAX: usize = 12;

/// Keys that nobody writes at the head of a text but as front matter, as they are matched.
const KEYS_OF_FRONT_MATTER: [&str; 16] = [
    "title",
    "slug",
    "layout",
    "permalink",
    "publishdate",
    "publishedat",
    "pubdate",
    "pubdatetime",
    "draft",
    "published",
    "lastmod",
    "linktitle",
    "sidebarposition",
    "canonicalurl",
    "translationkey",
    "keywords",
];

/// Keys that prose may begin with; two lines of them in a row are no prose.
const KEYS_OF_PROSE: [&str; 16] = [
    "date",
    "author",
    "authors",
    "tags",
    "tag",
    "category",
    "categories",
    "description",
    "summary",
    "status",
    "lang",
    "language",
    "created",
    "updated",
    "id",
    "type",
];

/// Whether `c` shows nothing: marks that editors leave before the first character.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// A piece of a line for a message.
pub(super) fn shown(line: &str) -> String {
    trim_blanks_end(line).chars().take(SHOWN_CHARS_MAX).collect()
}

/// Judges a file whose first line is no fence.
pub(super) fn judge(source: &str) -> Option<Box<Diagnostic>> {
    let mut all = lines(source, 0).peekable();
    let mut number = 1;
    let first = loop {
        let line = all.next()?;
        if !trim_all(line.text).is_empty() {
            break line;
        }
        number += 1;
    };
    let rest = source.get(first.span.end..).map_or("", |rest| rest.strip_prefix('\n').unwrap_or(rest));
    if let Some(diagnostic) = old_mac_line_ends(&first) {
        return Some(diagnostic);
    }
    let text = trim_all(first.text);
    let object = source.get(first.span.start..).unwrap_or("").trim_start_matches(is_blank);
    if matches!(fence(text), Some(Fence::Opens(_) | Fence::Language(_)))
        || (json::opens(object) && json::opens_with_key(object))
    {
        return Some(not_first(&first, number));
    }
    if is_near_fence(text) && followed_by_key(rest) {
        let message = format!("front matter opened with `{}`, which is no fence", shown(text));
        let found = Diagnostic::error("front-matter-fence", message).at(first.span.clone());
        return Some(Box::new(found.help("write `---` alone on line 1, and again after the last key")));
    }
    if starts_with_keys(text, rest) {
        return Some(Box::new(without_fence(&first, text)));
    }
    behind_comment(source)
}

/// A first line with a CR in it, whose first piece is a fence: the line ends are CRs alone.
pub(super) fn old_mac_line_ends(first: &Line<'_>) -> Option<Box<Diagnostic>> {
    let mut pieces = first.text.split('\r');
    let opening = pieces.find(|piece| !trim_all(piece).is_empty())?;
    pieces.next()?;
    let text = trim_all(opening);
    let meant = matches!(fence(text), Some(Fence::Opens(_) | Fence::Language(_)));
    meant.then(|| old_mac(first))
}

/// The same for an object of JSON: nothing but CRs ends its lines.
pub(super) fn old_mac_object(source: &str) -> Option<Box<Diagnostic>> {
    let first = lines(source, 0).next()?;
    let inside = trim_blanks_end(first.text).contains('\r');
    (inside && json::opens_with_key(source)).then(|| old_mac(&first))
}

fn old_mac(first: &Line<'_>) -> Box<Diagnostic> {
    let end = first.text.find('\r').unwrap_or(first.text.len());
    Box::new(
        Diagnostic::error("front-matter-line-ends", "no front matter (old Mac line ends?)")
            .at(first.span.start..first.span.start + end.max(1))
            .help("the lines end in CR alone; save the file with LF line ends"),
    )
}

/// Whether a line could have been meant as a fence: dashes of any kind and number, the fence of another
/// format, an indented one.
pub(super) fn is_near_fence(line: &str) -> bool {
    let text = trim_all(line);
    let count = text.chars().take(FENCE_CHARS_MAX + 1).count();
    let mut chars = text.chars();
    let Some(first) = chars.next().filter(|_| count <= FENCE_CHARS_MAX) else {
        return false;
    };
    if is_dash(first) {
        return chars.all(is_dash) && (count > 1 || first != '-');
    }
    let same = chars.all(|c| c == first);
    match first {
        '+' | '=' | '*' | '_' | '~' | '`' | ';' => same && count > 1,
        _ => false,
    }
}

/// Hyphens, dashes and minus signs into which editors turn `---`.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' | '\u{ff0d}' | '\u{fe58}'
    )
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_invisible(c)
}

fn trim_all(text: &str) -> &str {
    text.trim_matches(is_blank)
}

fn not_first(line: &Line<'_>, number: usize) -> Box<Diagnostic> {
    let help =
        if number == 1 { "remove what stands before it on the line" } else { "remove the lines before it" };
    Box::new(
        Diagnostic::error("front-matter-not-first", "front matter must start on line 1, in the first column")
            .at(line.span.clone())
            .help(help),
    )
}

fn without_fence(line: &Line<'_>, text: &str) -> Diagnostic {
    let toml = text.starts_with("@def") || key_of(text).is_some_and(|(_, separator)| separator == '=');
    let (mark, format) = if toml { ("+++", "TOML") } else { ("---", "YAML") };
    Diagnostic::error("front-matter-no-fence", "keys of front matter without a fence around them")
        .at(line.span.clone())
        .help(format!("put the keys as {format} between two lines `{mark}`, the first of them on line 1"))
}

/// A first line `Title: …`, `title = …` or `@def title = …`.
fn starts_with_keys(first: &str, rest: &str) -> bool {
    if first.starts_with("@def ") || first.starts_with("#+title:") || first.starts_with("#+TITLE:") {
        return true;
    }
    let Some((key, _)) = key_of(first) else {
        return false;
    };
    let known = |key: &str, names: &[&str]| names.contains(&fold_key(key).as_str());
    known(key, &KEYS_OF_FRONT_MATTER)
        || (known(key, &KEYS_OF_PROSE)
            && rest
                .split('\n')
                .next()
                .and_then(key_of)
                .is_some_and(|(key, _)| known(key, &KEYS_OF_FRONT_MATTER) || known(key, &KEYS_OF_PROSE)))
}

/// The key of a line `key: value` or `key = value`, and its separator.
pub(super) fn key_of(line: &str) -> Option<(&str, char)> {
    let at = line.get(..floor_char_boundary(line, KEY_BYTES_MAX))?.find([':', '='])?;
    let (key, value) = line.split_at_checked(at)?;
    let separator = value.chars().next()?;
    let after = value.get(1..)?;
    let spaced = after.is_empty() || after.starts_with([' ', '\t', '\r']);
    let key = key.trim_end_matches([' ', '\t']).trim_matches(['"', '\'']);
    let named = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || " _-.".contains(c));
    (named && (spaced || separator == '=')).then_some((key, separator))
}

fn followed_by_key(rest: &str) -> bool {
    let next = rest.split('\n').find(|line| !line.starts_with('#'));
    next.is_some_and(|line| {
        key_of(line).is_some() || (line.starts_with('[') && line.trim_end().ends_with(']'))
    })
}

/// A fence with keys under it, behind nothing but comments, blank lines and the opening of a code block.
fn behind_comment(source: &str) -> Option<Box<Diagnostic>> {
    let mut inside: Option<&str> = None;
    for (index, line) in lines(source, 0).take(LOOK_AHEAD_LINES_MAX).enumerate() {
        let text = trim_all(line.text);
        if let Some(end) = inside {
            if let Some((_, tail)) = text.split_once(end) {
                if !trim_all(tail).is_empty() {
                    return None;
                }
                inside = None;
            }
            continue;
        }
        if let Some((start, end)) = COMMENTS.iter().find(|(start, _)| text.starts_with(start)) {
            match text.get(start.len()..).and_then(|tail| tail.split_once(end)) {
                None => inside = Some(end),
                Some((_, tail)) if trim_all(tail).is_empty() => {}
                Some(_) => return None,
            }
            continue;
        }
        if matches!(fence(text), Some(Fence::Opens(_))) {
            let rest = source.get(line.span.end + 1..).unwrap_or("");
            return followed_by_key(rest).then(|| not_first(&line, index + 1));
        }
        let code = index == 0 && (text.starts_with("```") || text.starts_with("~~~"));
        if !(text.is_empty() || text.starts_with('#') || text.starts_with("//") || code) {
            return None;
        }
    }
    None
}

/// Comments of HTML, MDX and the template languages.
const COMMENTS: [(&str, &str); 5] =
    [("<!--", "-->"), ("{/*", "*/}"), ("{{/*", "*/}}"), ("{#", "#}"), ("/*", "*/")];

#[cfg(test)]
mod tests {
    use super::super::split::{Head, line_number, split};

    fn broken(source: &str) -> (&'static str, usize) {
        match split(source) {
            Head::Broken(diagnostic) => {
                assert!(!diagnostic.help.is_empty(), "{diagnostic:?}");
                (diagnostic.code, line_number(source, diagnostic.span.expect("span").start))
            }
            other => panic!("{source:?} is not broken: {other:?}"),
        }
    }

    fn none(source: &str) {
        assert!(matches!(split(source), Head::None), "{source:?}: {:?}", split(source));
    }

    #[test]
    fn a_fence_after_blank_lines_is_named_with_its_line() {
        assert_eq!(broken("\n---\na: 1\n---\n"), ("front-matter-not-first", 2));
        assert_eq!(broken("\n \t\n\n+++\na = 1\n+++\n"), ("front-matter-not-first", 4));
        assert_eq!(broken("\n---\n\nText\n"), ("front-matter-not-first", 2));
        assert_eq!(broken("\n\n{\n\"a\": 1}\n"), ("front-matter-not-first", 3));
        assert_eq!(broken("\n---js\nx\n---\n"), ("front-matter-not-first", 2));
    }

    #[test]
    fn an_indented_fence_is_named() {
        for blank in [" ", "\t", "    ", "\u{a0}", "\u{3000}", "\u{feff}", "\u{200b}"] {
            assert_eq!(
                broken(&format!("{blank}---\na: 1\n---\n")),
                ("front-matter-not-first", 1),
                "{blank:?}"
            );
            assert_eq!(broken(&format!("{blank}{{\"a\": 1}}\n")), ("front-matter-not-first", 1), "{blank:?}");
        }
    }

    #[test]
    fn a_fence_behind_a_comment_is_named() {
        assert_eq!(broken("<!-- a -->\n---\nkey: 1\n---\n"), ("front-matter-not-first", 2));
        assert_eq!(broken("<!--\n a\n b\n-->\n\n---\nkey: 1\n---\n"), ("front-matter-not-first", 6));
        assert_eq!(broken("# made by x\n# do not edit\n+++\nkey = 1\n+++\n"), ("front-matter-not-first", 3));
        assert_eq!(broken("{/* a */}\n---\n# note\nkey:\n---\n"), ("front-matter-not-first", 2));
        assert_eq!(broken("```markdown\n---\nkey: 1\n---\n```\n"), ("front-matter-not-first", 2));
    }

    #[test]
    fn a_rule_in_a_page_is_no_fence() {
        none("# Heading\n\n---\n\nkey: not a key\n");
        none("<!-- a -->\n\n---\n\nText\n");
        none("<!-- a --> text\n---\nkey: 1\n---\n");
        none("Text\n\n---\nkey: 1\n---\n");
        none("Heading\n---\n\nText\n");
        none("----\n\nText\n");
        none("***\n\nText\n");
        none("<!-- never closed\n---\nkey: 1\n");
    }

    #[test]
    fn near_fences_with_keys_under_them_are_named() {
        for near in [
            "--",
            "----",
            "\u{2014}",
            "\u{2014}-",
            "\u{2013}\u{2013}\u{2013}",
            "++",
            "++++",
            "\u{2212}\u{2212}\u{2212}",
            ";;;",
            "===",
            "***",
        ] {
            assert_eq!(broken(&format!("{near}\ntitle: x\n{near}\n")), ("front-matter-fence", 1), "{near}");
            none(&format!("{near}\nJust a sentence.\n"));
        }
    }

    #[test]
    fn keys_without_a_fence_are_named() {
        for line in [
            "Title: A day",
            "title:",
            "layout: post",
            "publish_date: 2020",
            "title = \"x\"",
            "@def title = \"x\"",
            "\"slug\": \"x\",",
            "Slug : x",
        ] {
            assert_eq!(broken(&format!("{line}\nText\n")), ("front-matter-no-fence", 1), "{line}");
        }
        assert_eq!(broken("date: 2020-01-01\ntags: a, b\n\nText\n"), ("front-matter-no-fence", 1));
        assert_eq!(broken("\nTitle: A day\n"), ("front-matter-no-fence", 2));
    }

    #[test]
    fn prose_with_a_colon_is_prose() {
        none("Note: this is prose.\nAnd more.\n");
        none("Summary: this is prose.\nAnd more.\n");
        none("https://example.com/a\n");
        none("Entitled: a story\n");
        none("x = y\n");
        none("한글: 글\n");
    }

    #[test]
    fn line_ends_of_old_macs_are_named() {
        for source in [
            "---\ra: 1\r---\r\rText\r",
            "+++\ra = 1\r+++\r",
            "---\ra: 1\r---\rText\nmore\n",
            "\r---\ra: 1\r---\r",
            "{\r\"a\": 1\r}\rText",
            "---js\rx\r---\r",
        ] {
            assert_eq!(broken(source), ("front-matter-line-ends", 1), "{source:?}");
        }
        none("Text\rmore\r");
    }
}
