//! Two rendered bodies side by side: their blocks paired, the words that differ marked.
//!
//! What a store holds is not trusted, whatever its `htmlTrust` says: both sides go through a sanitiser of
//! their own here, which leaves text and its structure. No image is loaded and no link leads anywhere: an
//! image is its alternative text, a link keeps its target as a title to read.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes of one side that are shown.
const SIDE_BYTES_MAX: usize = 256 << 10;
/// Blocks of both sides that are compared.
const BLOCKS_MAX: usize = 4_000;
/// Words of a pair of blocks that are compared.
const WORDS_MAX: usize = 4_000;
/// Equal blocks that are kept beside a change where room is short.
const CONTEXT_BLOCKS: usize = 1;

/// How much of what is equal is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// What stands beside a change.
    Changes,
}

/// Both sides as rows: `["=", html]`, `["~", before, after]`, and `["…", blocks]` for what is left out.
/// `None`: too long to be shown.
pub(super) fn rows(before: Option<&str>, after: Option<&str>, extent: Extent) -> Option<Vec<Value>> {
    let sides = [before.unwrap_or_default(), after.unwrap_or_default()];
    if sides.iter().any(|side| side.len() > SIDE_BYTES_MAX) {
        return None;
    }
    let [before, after] = sides.map(clean);
    let (before, after) = (blocks(&before), blocks(&after));
    if before.len() + after.len() > BLOCKS_MAX {
        return None;
    }
    let mut out = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let old = before.get(op.old_range()).unwrap_or_default();
        let new = after.get(op.new_range()).unwrap_or_default();
        if matches!(op, DiffOp::Equal { .. }) {
            let last = op.old_range().end == before.len();
            equal_rows(old, extent, out.is_empty(), last, &mut out);
        } else {
            for at in 0..old.len().max(new.len()) {
                out.push(pair(old.get(at).copied(), new.get(at).copied()));
            }
        }
    }
    Some(out)
}

fn equal_rows(blocks: &[&str], extent: Extent, first: bool, last: bool, out: &mut Vec<Value>) {
    let row = |blocks: &[&str]| json!(["=", blocks.concat()]);
    let before = if first { 0 } else { CONTEXT_BLOCKS };
    let after = if last { 0 } else { CONTEXT_BLOCKS };
    let left_out = blocks.len().saturating_sub(before + after);
    if extent == Extent::Whole || left_out < 2 {
        out.push(row(blocks));
        return;
    }
    if before > 0 {
        out.push(row(blocks.get(..before).unwrap_or_default()));
    }
    out.push(json!(["…", left_out]));
    if after > 0 {
        out.push(row(blocks.get(blocks.len() - after..).unwrap_or_default()));
    }
}

/// A changed block beside what became of it. One that is new or gone is not marked word by word.
fn pair(before: Option<&str>, after: Option<&str>) -> Value {
    let (Some(before), Some(after)) = (before, after) else {
        return json!(["~", before.unwrap_or_default(), after.unwrap_or_default()]);
    };
    let (old, new) = (words(before), words(after));
    if old.len() + new.len() > WORDS_MAX {
        return json!(["~", before, after]);
    }
    let (mut left, mut right) = (String::new(), String::new());
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let marked = !matches!(op, DiffOp::Equal { .. });
        mark(old.get(op.old_range()).unwrap_or_default(), "del", marked, &mut left);
        mark(new.get(op.new_range()).unwrap_or_default(), "ins", marked, &mut right);
    }
    json!(["~", left, right])
}

/// Writes words and tags; text that differs stands in an element of its own, and tags stay as they are.
fn mark(pieces: &[&str], element: &str, marked: bool, out: &mut String) {
    let mut open = false;
    for piece in pieces {
        let is_tag = piece.starts_with('<');
        let wants = marked && !is_tag && (open || !piece.trim().is_empty());
        if open && !wants {
            out.push_str(&format!("</{element}>"));
            open = false;
        }
        if wants && !open {
            out.push_str(&format!("<{element}>"));
            open = true;
        }
        match piece.strip_prefix("<a ").or_else(|| piece.strip_prefix("<span ")) {
            Some(rest) if marked && is_tag => {
                let name = if piece.starts_with("<a ") { "a" } else { "span" };
                out.push_str(&format!("<{name} data-changed {rest}"));
            }
            _ => out.push_str(piece),
        }
    }
    if open {
        out.push_str(&format!("</{element}>"));
    }
}

static SANITISER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
    let mut builder = ammonia::Builder::default();
    builder
        .add_tags(["input"])
        // The two elements that mark a change here mean nothing else.
        .rm_tags(["del", "ins", "area", "map"])
        .clean_content_tags(HashSet::from(["script", "style", "svg", "math", "iframe", "object", "template"]))
        .generic_attributes(HashSet::new())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("img", HashSet::from(["src", "alt"])),
            ("input", HashSet::from(["checked"])),
            ("details", HashSet::from(["open"])),
            ("ol", HashSet::from(["start", "reversed"])),
            ("td", HashSet::from(["colspan", "rowspan", "align"])),
            ("th", HashSet::from(["colspan", "rowspan", "align", "scope"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto", "tel"]))
        .link_rel(None);
    builder
});

/// The sanitiser's output, with links and images that are text.
fn clean(html: &str) -> String {
    let clean = SANITISER.clean(html).to_string();
    let mut out = String::with_capacity(clean.len());
    for piece in pieces(&clean) {
        match name(piece) {
            Some("a") if !piece.starts_with("</") => {
                let target = attribute(piece, "href").map(|target| format!(" title=\"{target}\""));
                out.push_str(&format!("<a{}>", target.unwrap_or_default()));
            }
            Some("img") => {
                let source = attribute(piece, "src").unwrap_or_default();
                let alt = attribute(piece, "alt").filter(|alt| !alt.is_empty()).unwrap_or(source);
                let alt = alt.replace('<', "&lt;").replace('>', "&gt;");
                out.push_str(&format!("<span title=\"{source}\">🖼 {alt}</span>"));
            }
            Some("input") => out.push_str(if piece.contains(" checked") { "☑" } else { "☐" }),
            _ => out.push_str(piece),
        }
    }
    out
}

/// The value of an attribute as the sanitiser spells it: in double quotes, and none of them inside.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    tag.split_once(&format!(" {name}=\""))?.1.split_once('"').map(|(value, _)| value)
}

/// The name of a tag; `None` for text.
fn name(piece: &str) -> Option<&str> {
    let rest = piece.strip_prefix('<')?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next()
}

/// Tags and the text between them. A `>` in an attribute's value ends no tag.
fn pieces(html: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let at = if rest.starts_with('<') { tag_end(rest) } else { rest.find('<').unwrap_or(rest.len()) };
        let (piece, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push(piece);
        rest = after;
    }
    out
}

fn tag_end(tag: &str) -> usize {
    let mut quoted = false;
    for (at, letter) in tag.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '>' if !quoted => return at + 1,
            _ => {}
        }
    }
    tag.len()
}

/// Tags, and the words of the text between them. A character reference is a word of its own, never cut.
fn words(html: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for piece in pieces(html) {
        if piece.starts_with('<') {
            out.push(piece);
        } else {
            for part in piece.split_inclusive(';') {
                let (text, reference) = match part.rfind('&') {
                    Some(at) => part.split_at_checked(at).unwrap_or((part, "")),
                    None => (part, ""),
                };
                out.extend(text.split_word_bounds());
                out.extend(Some(reference).filter(|reference| !reference.is_empty()));
            }
        }
    }
    out
}

const VOID: [&str; 6] = ["br", "hr", "img", "input", "col", "wbr"];

/// The elements on the outermost level, each whole; text beside them belongs to the one before.
fn blocks(html: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut start, mut at) = (0_usize, 0, 0);
    for piece in pieces(html) {
        let end = at + piece.len();
        match name(piece) {
            Some(name) if VOID.contains(&name) => {}
            Some(_) if piece.starts_with("</") => depth = depth.saturating_sub(1),
            Some(_) => depth += 1,
            None => {}
        }
        at = end;
        if depth == 0 && piece.starts_with('<') {
            out.extend(html.get(start..end).map(str::trim).filter(|block| !block.is_empty()));
            start = end;
        }
    }
    out.extend(html.get(start..).map(str::trim).filter(|block| !block.is_empty()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(before: &str, after: &str) -> Vec<Value> {
        rows(Some(before), Some(after), Extent::Whole).unwrap()
    }

    #[test]
    fn blocks_are_paired_and_their_words_marked() {
        let rows = whole(
            "<h2 id=\"a\">Head</h2>\n<p>the <em>red</em> house</p>\n",
            "<h2 id=\"a\">Head</h2>\n<p>the <em>blue</em> house</p>\n<p>new</p>",
        );
        assert_eq!(
            rows,
            [
                json!(["=", "<h2>Head</h2>"]),
                json!([
                    "~",
                    "<p>the <em><del>red</del></em> house</p>",
                    "<p>the <em><ins>blue</ins></em> house</p>"
                ]),
                json!(["~", "", "<p>new</p>"]),
            ]
        );
    }

    #[test]
    fn nothing_of_a_body_runs_loads_or_leads_away() {
        let hostile = concat!(
            "<p onclick=\"alert(1)\" style=\"position:fixed\">a<script>alert(1)</script></p>",
            "<a href=\"javascript:alert(1)\">b</a><a href=\"https://example.org/\" target=\"_top\">c</a>",
            "<img src=\"https://example.org/x.png\" onerror=\"alert(1)\" alt='\"><script>alert(1)</script>'>",
            "<iframe srcdoc=\"<script>parent.alert(1)</script>\"></iframe><svg onload=alert(1)></svg>",
            "<form action=\"https://example.org/\"><button>d</button></form><base href=\"https://example.org/\">",
            "<meta http-equiv=refresh content=\"0;url=https://example.org/\"><link rel=stylesheet href=x>",
            "<style>@import url(https://example.org/)</style><p>end</p>",
        );
        let text = serde_json::to_string(&whole("", hostile)).unwrap().to_lowercase();
        for never in
            ["<script", "onclick", "onerror", "onload", "javascript:", "<img", "href", "src=", "<iframe"]
        {
            assert!(!text.contains(never), "{never} in {text}");
        }
        for never in ["<form", "<base", "<meta", "<link", "<style", "style=", "<svg", "target"] {
            assert!(!text.contains(never), "{never} in {text}");
        }
        assert!(text.contains("<span title=\\\"https://example.org/x.png\\\">"), "{text}");
        assert!(
            text.contains("<a title=\\\"https://example.org/\\\">c</a>") && text.contains("end"),
            "{text}"
        );
    }

    #[test]
    fn a_link_that_leads_elsewhere_is_marked() {
        let rows = whole("<p><a href=\"/a\">x</a></p>", "<p><a href=\"/b\">x</a></p>");
        assert_eq!(
            rows,
            [json!([
                "~",
                "<p><a data-changed title=\"/a\">x</a></p>",
                "<p><a data-changed title=\"/b\">x</a></p>"
            ])]
        );
    }

    #[test]
    fn marks_never_cut_a_reference_and_never_cross_a_tag() {
        let rows = whole("<p>a &lt;b&gt; c</p>", "<p>a &amp;b&gt; <b>d c</b></p>");
        let right = rows[0][2].as_str().unwrap();
        assert_eq!(right.matches('<').count(), right.matches('>').count());
        assert!(right.contains("<ins>&amp;</ins>"), "{right}");
        assert!(!right.contains("<ins><b>"), "{right}");
    }

    #[test]
    fn where_room_is_short_only_what_stands_beside_a_change_is_kept() {
        let body = |middle: &str| {
            (0..9)
                .map(|at| if at == 4 { format!("<p>{middle}</p>") } else { format!("<p>{at}</p>") })
                .collect::<String>()
        };
        let rows = rows(Some(&body("x")), Some(&body("y")), Extent::Changes).unwrap();
        let kinds: Vec<&str> = rows.iter().map(|row| row[0].as_str().unwrap()).collect();
        assert_eq!(kinds, ["…", "=", "~", "=", "…"]);
        assert_eq!((rows[0][1].as_u64(), rows[4][1].as_u64()), (Some(3), Some(3)));
    }
}
