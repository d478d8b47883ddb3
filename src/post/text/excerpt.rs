//! Text on one line, and the start of it.

use unicode_segmentation::UnicodeSegmentation;

use super::kind::Kind;
use crate::diagnostic::floor_char_boundary;

/// Width of an excerpt, in columns: a character of Chinese, Japanese or Korean takes two.
pub const EXCERPT_COLUMNS_MAX: usize = 200;
/// Size of an excerpt, in bytes, for texts whose characters take no column.
const EXCERPT_BYTES_MAX: usize = 1_000;
/// What stands where an excerpt was cut.
const ELLIPSIS: char = '…';

/// The text with every run of blanks and line ends as one blank; none where a line of Chinese or
/// Japanese was only wrapped.
pub fn one_line(text: &str) -> String {
    let text = text.trim();
    let mut out = String::with_capacity(text.len());
    let mut gap_start = 0;
    for word in text.split(|c: char| c.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        let word_start = word.as_ptr() as usize - text.as_ptr() as usize;
        let gap = text.get(gap_start..word_start).unwrap_or_default();
        let is_wrap = gap.contains('\n')
            && word.chars().next().is_some_and(is_unspaced)
            && out.chars().next_back().is_some_and(is_unspaced);
        if !out.is_empty() && !is_wrap {
            out.push(' ');
        }
        out.push_str(word);
        gap_start = word_start + word.len();
    }
    out
}

fn is_unspaced(c: char) -> bool {
    matches!(Kind::of(c), Kind::Unspaced | Kind::Break) && c >= '\u{3000}'
}

/// The text on one line, cut to [`EXCERPT_COLUMNS_MAX`] columns: at a blank where there is one in the
/// last half, else between two characters as a reader sees them (grapheme clusters).
pub fn excerpt(text: &str) -> String {
    // A huge paragraph costs no more than a long one: most scripts fill the columns with few bytes.
    let start = text.get(..floor_char_boundary(text, EXCERPT_BYTES_MAX / 2)).unwrap_or_default();
    if start.len() < text.len()
        && let Some(cut) = cut(&one_line(start))
    {
        return cut;
    }
    let start = text.get(..floor_char_boundary(text, 4 * EXCERPT_BYTES_MAX)).unwrap_or_default();
    let line = one_line(if start.len() == text.len() { without_attribute_list(text) } else { start });
    cut(&line).unwrap_or(line)
}

/// The line cut to the width of an excerpt; `None` where it is no wider.
fn cut(line: &str) -> Option<String> {
    let mut columns = 0;
    let mut end = 0;
    let mut last_blank = None;
    let mut at = 0;
    while let Some((length, width)) = grapheme_at(line, at) {
        columns += width;
        if columns > EXCERPT_COLUMNS_MAX || at + length > EXCERPT_BYTES_MAX {
            let cut = last_blank.filter(|blank| *blank >= end / 2).unwrap_or(end);
            let kept = line.get(..cut).unwrap_or_default();
            let kept = kept.trim_end_matches([' ', ',', ';', ':', '、', '，', '；']);
            return Some(if kept.is_empty() { String::new() } else { format!("{kept}{ELLIPSIS}") });
        }
        if line.as_bytes().get(at) == Some(&b' ') {
            last_blank = Some(at);
        }
        at += length;
        // The ellipsis needs a column of its own.
        if columns < EXCERPT_COLUMNS_MAX {
            end = at;
        }
    }
    None
}

/// Length in bytes and width in columns of the grapheme cluster at `at`. Two ASCII characters on one
/// line never join.
fn grapheme_at(line: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    if bytes.get(at)?.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
        return Some((1, 1));
    }
    let grapheme = line.get(at..)?.graphemes(true).next()?;
    Some((grapheme.len(), width(grapheme)))
}

/// Without the attribute list that Kramdown lets follow a paragraph: `{: .lead}`.
fn without_attribute_list(text: &str) -> &str {
    let text = text.trim_end();
    match text.rsplit_once('\n') {
        Some((before, last)) if last.trim_start().starts_with("{:") && last.ends_with('}') => before,
        _ => text,
    }
}

/// Columns of a grapheme cluster: 2 in East Asian scripts and emoji, else 1.
fn width(grapheme: &str) -> usize {
    let is_wide = |c: char| {
        matches!(c,
            '\u{1100}'..='\u{115F}' | '\u{2E80}'..='\u{303E}' | '\u{3041}'..='\u{4DBF}' | '\u{4E00}'..='\u{A4CF}'
            | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE6F}' | '\u{FF00}'..='\u{FF60}'
            | '\u{FFE0}'..='\u{FFE6}' | '\u{1F300}'..='\u{1F64F}' | '\u{1F680}'..='\u{1F6FF}'
            | '\u{1F900}'..='\u{1F9FF}' | '\u{20000}'..='\u{3FFFD}')
    };
    if grapheme.chars().any(is_wide) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_joined_as_the_script_wants() {
        assert_eq!(one_line(" a\n  b\t c "), "a b c");
        assert_eq!(one_line("今日は\n晴れ。\nそして"), "今日は晴れ。そして");
        assert_eq!(one_line("오늘은\n좋다"), "오늘은 좋다");
        assert_eq!(one_line("Rust と\nGo"), "Rust と Go");
    }

    #[test]
    fn excerpts_are_cut_between_words_or_characters() {
        assert_eq!(excerpt("Short.\n{: .lead}"), "Short.");
        let english = excerpt(&"several plain words, ".repeat(20));
        assert!(
            english.ends_with("words…") || english.ends_with("plain…") || english.ends_with("several…"),
            "{english}"
        );
        assert!(english.chars().count() <= EXCERPT_COLUMNS_MAX);
        let chinese = excerpt(&"汉字".repeat(200));
        assert_eq!(chinese.chars().count(), 100);
        let family = "👨‍👩‍👧‍👦".repeat(150);
        assert_eq!(excerpt(&family).trim_end_matches(ELLIPSIS).len() % "👨‍👩‍👧‍👦".len(), 0);
        assert!(excerpt(&format!("a{}", "\u{301}".repeat(100_000))).len() <= EXCERPT_BYTES_MAX + 4);
        let exactly = "x".repeat(EXCERPT_COLUMNS_MAX);
        assert_eq!(excerpt(&exactly), exactly);
    }

    proptest! {
        #[test]
        fn excerpts_are_short_and_stable(text in any::<String>()) {
            let short = excerpt(&text);
            prop_assert!(short.graphemes(true).map(width).sum::<usize>() <= EXCERPT_COLUMNS_MAX + 1);
            prop_assert_eq!(excerpt(&short), short.clone());
        }
    }
}
