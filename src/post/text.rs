//! Words, reading time and excerpts in every script.
//!
//! A word is one of Unicode's word segmentation (UAX 29). In the scripts that put no blanks between
//! words (Han, Hiragana, Katakana, Thai, Lao, Burmese, Khmer) each letter counts instead. Korean has
//! blanks: its words are words.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// Words read in a minute.
const WORDS_PER_MINUTE: u64 = 200;
/// Characters read in a minute, in scripts without blanks.
const CHARACTERS_PER_MINUTE: u64 = 500;
/// Width of an excerpt, in columns: a character of Chinese, Japanese or Korean takes two.
pub const EXCERPT_COLUMNS_MAX: usize = 200;
/// Size of an excerpt, in bytes, for texts whose characters take no column.
const EXCERPT_BYTES_MAX: usize = 2_000;
/// What stands where an excerpt was cut.
const ELLIPSIS: char = '…';

/// How much text there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Words of scripts with blanks.
    pub words: u64,
    /// Letters of scripts without blanks.
    pub characters: u64,
}

impl Counts {
    /// Counts another piece of text, which ends no word of the pieces before it.
    pub fn add(&mut self, text: &str) {
        for token in text.split(|c: char| c == ' ' || c == '\n' || (c != '\u{a0}' && c.is_whitespace())) {
            if token.is_ascii() {
                self.words += ascii_words(token);
            } else {
                self.add_token(token);
            }
        }
    }

    /// Counts a token that is not all ASCII: letters of scripts without blanks one by one, what is
    /// between them by words.
    fn add_token(&mut self, token: &str) {
        let mut piece_start = None;
        let mut piece_is_simple = true;
        for (at, c) in token.char_indices() {
            let kind = Kind::of(c);
            if kind == Kind::Plain || kind == Kind::Other {
                if piece_start.is_none() {
                    piece_start = Some(at);
                    piece_is_simple = true;
                }
                piece_is_simple &= kind == Kind::Plain;
                continue;
            }
            self.add_piece(piece_start.take().and_then(|start| token.get(start..at)), piece_is_simple);
            self.characters += u64::from(kind == Kind::Unspaced);
        }
        self.add_piece(piece_start.and_then(|start| token.get(start..)), piece_is_simple);
    }

    fn add_piece(&mut self, piece: Option<&str>, is_simple: bool) {
        if let Some(piece) = piece {
            // Nothing but letters that join is one word; all else is left to the segmentation.
            self.words += if is_simple { 1 } else { piece.unicode_words().count() as u64 };
        }
    }

    /// Words and characters together.
    pub fn total(&self) -> u32 {
        u32::try_from(self.words + self.characters).unwrap_or(u32::MAX)
    }

    /// Minutes, rounded up; 0 where there is no text.
    pub fn reading_minutes(&self) -> u32 {
        let scaled = self.words * CHARACTERS_PER_MINUTE + self.characters * WORDS_PER_MINUTE;
        u32::try_from(scaled.div_ceil(WORDS_PER_MINUTE * CHARACTERS_PER_MINUTE)).unwrap_or(u32::MAX)
    }
}

/// How a character takes part in counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An ASCII letter or a Hangul syllable: joins its like into one word.
    Plain,
    /// A letter of a script without blanks.
    Unspaced,
    /// A mark on such a letter, or East Asian punctuation: counts nothing and ends a word.
    Nothing,
    /// Anything else.
    Other,
}

impl Kind {
    fn of(c: char) -> Kind {
        match c {
            'a'..='z' | 'A'..='Z' | '\u{AC00}'..='\u{D7A3}' => Kind::Plain,
            '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3041}'..='\u{3096}'
            | '\u{309D}'..='\u{309F}' => Kind::Unspaced,
            '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' => Kind::Unspaced,
            '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' => Kind::Unspaced,
            '\u{FF66}'..='\u{FF9D}' | '\u{1B000}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFF}' => Kind::Unspaced,
            '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{303D}'..='\u{303F}' => {
                Kind::Nothing
            }
            '\u{3099}'..='\u{309C}' | '\u{30A0}' | '\u{30FB}' | '\u{FF9E}' | '\u{FF9F}' => Kind::Nothing,
            // Thai, Lao, Burmese, Khmer.
            '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => {
                if is_combining_mark(c) {
                    Kind::Nothing
                } else if c.is_alphabetic() {
                    Kind::Unspaced
                } else {
                    Kind::Other
                }
            }
            _ => Kind::Other,
        }
    }
}

/// Words of UAX 29 in ASCII text: letters, digits and `_` join; `'` `.` `:` join two letters, `'` `.`
/// `,` `;` two digits; a piece without letter or digit is no word.
fn ascii_words(token: &str) -> u64 {
    let bytes = token.as_bytes();
    let mut words = 0;
    let mut in_word = false;
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() {
            words += u64::from(!in_word);
            in_word = true;
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + 1);
        let both = |test: fn(&u8) -> bool| before.is_some_and(test) && after.is_some_and(test);
        let joins = match byte {
            b'_' => true,
            b'\'' | b'.' => both(u8::is_ascii_alphabetic) || both(u8::is_ascii_digit),
            b':' => both(u8::is_ascii_alphabetic),
            b',' | b';' => both(u8::is_ascii_digit),
            _ => false,
        };
        in_word = in_word && joins;
    }
    words
}

/// The text with every run of blanks and line ends as one blank; none where a line of Chinese or
/// Japanese was only wrapped.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut gap = None;
    for c in text.chars() {
        if c.is_whitespace() && c != '\u{a0}' {
            gap = Some(gap.unwrap_or(false) || c == '\n');
            continue;
        }
        if let Some(wrapped) = gap.take() {
            let joins = wrapped && is_unspaced(c) && out.chars().next_back().is_some_and(is_unspaced);
            if !out.is_empty() && !joins {
                out.push(' ');
            }
        }
        out.push(c);
    }
    out
}

fn is_unspaced(c: char) -> bool {
    matches!(Kind::of(c), Kind::Unspaced | Kind::Nothing) && c >= '\u{3000}'
}

/// The text on one line, cut to [`EXCERPT_COLUMNS_MAX`] columns: at a blank where there is one in the
/// last half, else between two characters as a reader sees them (grapheme clusters).
pub fn excerpt(text: &str) -> String {
    // Far more than can stay, so that a huge paragraph costs no more than a long one.
    let enough = crate::diagnostic::floor_char_boundary(text, 8 * EXCERPT_BYTES_MAX);
    let line = one_line(without_attribute_list(text.get(..enough).unwrap_or_default()));
    let mut columns = 0;
    let mut end = 0;
    let mut last_blank = None;
    let mut is_whole = enough == text.len();
    for (at, grapheme) in line.grapheme_indices(true) {
        columns += width(grapheme);
        if columns > EXCERPT_COLUMNS_MAX || at + grapheme.len() > EXCERPT_BYTES_MAX {
            is_whole = false;
            break;
        }
        if grapheme == " " {
            last_blank = Some(at);
        }
        // The ellipsis needs a column of its own.
        if columns < EXCERPT_COLUMNS_MAX {
            end = at + grapheme.len();
        }
    }
    if is_whole {
        return line;
    }
    let cut = last_blank.filter(|blank| *blank >= end / 2 && *blank <= end).unwrap_or(end);
    let kept = line.get(..cut).unwrap_or_default().trim_end_matches([' ', ',', ';', ':', '、', '，', '；']);
    if kept.is_empty() {
        return String::new();
    }
    format!("{kept}{ELLIPSIS}")
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

    fn counts(text: &str) -> (u64, u64) {
        let mut counts = Counts::default();
        counts.add(text);
        (counts.words, counts.characters)
    }

    #[test]
    fn words_in_many_scripts() {
        for (text, words, characters) in [
            ("", 0, 0),
            ("  \n\t ", 0, 0),
            ("-- ... !?", 0, 0),
            ("It's 3.14, or 1,000; snake_case", 5, 0),
            ("well-known e-mail", 4, 0),
            ("café naïve Ωmega", 3, 0),
            ("오늘은 날씨가 좋다.", 3, 0),
            ("서울(Seoul)에서", 3, 0),
            ("今日は晴れ。", 0, 5),
            ("カタカナとRust 2024", 2, 5),
            ("がぎ", 0, 2),
            ("我们用Rust写代码", 1, 6),
            ("สวัสดี", 0, 4),
            ("Привет, мир", 2, 0),
            ("हिन्दी भाषा", 2, 0),
        ] {
            assert_eq!(counts(text), (words, characters), "{text}");
        }
    }

    #[test]
    fn reading_time_is_rounded_up_and_counts_both_kinds() {
        let minutes = |words, characters| Counts { words, characters }.reading_minutes();
        assert_eq!(minutes(0, 0), 0);
        assert_eq!(minutes(1, 0), 1);
        assert_eq!(minutes(200, 0), 1);
        assert_eq!(minutes(201, 0), 2);
        assert_eq!(minutes(0, 501), 2);
        assert_eq!(minutes(100, 250), 1);
        assert_eq!(minutes(100, 251), 2);
    }

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
        fn ascii_words_are_the_segmentation_s(text in "[a-z0-9'.:,;_ -]{0,24}") {
            prop_assert_eq!(counts(&text).0, text.unicode_words().count() as u64);
        }

        #[test]
        fn korean_and_latin_words_are_the_segmentation_s(text in "[a-z가-힣éж0-9'. ,_()-]{0,24}") {
            prop_assert_eq!(counts(&text), (text.unicode_words().count() as u64, 0));
        }

        #[test]
        fn excerpts_are_short_and_stable(text in any::<String>()) {
            let short = excerpt(&text);
            prop_assert!(short.graphemes(true).map(width).sum::<usize>() <= EXCERPT_COLUMNS_MAX + 1);
            prop_assert_eq!(excerpt(&short), short.clone());
        }
    }
}
