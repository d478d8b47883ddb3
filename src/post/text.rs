//! Words, reading time and excerpts in every script.
//!
//! A word is one of Unicode's word segmentation (UAX 29). In the scripts that put no blanks between
//! words (Han, Hiragana, Katakana, Thai, Lao, Burmese, Khmer) each letter counts instead. Korean has
//! blanks: its words are words.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

use crate::diagnostic::floor_char_boundary;

/// Words read in a minute.
const WORDS_PER_MINUTE: u64 = 200;
/// Characters read in a minute, in scripts without blanks.
const CHARACTERS_PER_MINUTE: u64 = 500;
/// Width of an excerpt, in columns: a character of Chinese, Japanese or Korean takes two.
pub const EXCERPT_COLUMNS_MAX: usize = 200;
/// Size of an excerpt, in bytes, for texts whose characters take no column.
const EXCERPT_BYTES_MAX: usize = 1_000;
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
        let mut rest = text;
        while !rest.is_empty() {
            // Windows end at blanks, over which nothing joins. Most are plain ASCII and quickly done.
            let after = rest.as_bytes().get(WINDOW_BYTES..).unwrap_or_default();
            let blank = after.iter().position(u8::is_ascii_whitespace);
            let end = blank.map_or(rest.len(), |blank| WINDOW_BYTES + blank);
            let (window, after) = rest.split_at(end);
            rest = after;
            if is_plain_ascii(window.as_bytes()) {
                self.words += ascii_words(window.as_bytes());
            } else {
                self.add_mixed(window);
            }
        }
    }

    /// One walk over the bytes. A token (what stands between blanks) with a character whose part in word
    /// boundaries is not plain is counted again by Unicode's own rules.
    fn add_mixed(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut in_word = 0;
        loop {
            // Nearly all text: letters and blanks, without a branch on which of them.
            let mut class = END;
            for byte in bytes.get(at..).unwrap_or_default() {
                class = CLASSES.get(usize::from(*byte)).copied().unwrap_or(BREAK);
                if class > LETTER {
                    break;
                }
                self.words += u64::from(class & !in_word);
                in_word = class;
                at += 1;
                class = END;
            }
            if class == EAST_ASIAN {
                let (end, letters) = unspaced_run(bytes, at);
                self.characters += letters;
                if end > at {
                    at = end;
                    in_word = BREAK;
                    continue;
                }
                class = MIXED;
            }
            let joins = match class {
                HANGUL => {
                    at = hangul_run(bytes, at);
                    Some(true)
                }
                UNDERSCORE => {
                    at += 1;
                    Some(in_word == LETTER)
                }
                MIDDLE => {
                    // A mark after a blank or another mark joins nothing, whatever follows.
                    let joins = if in_word == BREAK { Some(false) } else { joins_neighbours(bytes, at) };
                    at += 1;
                    joins
                }
                MIXED => {
                    let (kind, length) = Kind::at(text, at);
                    self.characters += u64::from(kind == Kind::Unspaced);
                    at += length;
                    match kind {
                        Kind::Letter => Some(true),
                        Kind::Break | Kind::Unspaced => Some(false),
                        Kind::Middle if in_word == BREAK || !may_follow(bytes.get(at)) => Some(false),
                        Kind::Middle | Kind::Other => None,
                    }
                }
                _ => return,
            };
            if let Some(joins) = joins {
                let joins = u8::from(joins);
                self.words += u64::from(joins & !in_word);
                in_word = joins;
            } else {
                at = self.recount(text, at);
                in_word = BREAK;
            }
        }
    }

    /// Counts the piece whose character before `at` is not plain, the thorough way; returns where it
    /// ends. A piece stands between blanks and letters of scripts without blanks. What stands in it before
    /// that character has been counted and is plain.
    fn recount(&mut self, text: &str, at: usize) -> usize {
        let ends_piece =
            |c: char| c.is_ascii_whitespace() || Kind::of(c) == Kind::Unspaced || is_unspaced_mark(c);
        let before = text.get(..at).unwrap_or_default();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        let before = before.get(..at - last).unwrap_or_default();
        let start =
            before.char_indices().rev().find(|(_, c)| ends_piece(*c)).map_or(0, |(at, c)| at + c.len_utf8());
        let mut counted = Counts::default();
        counted.add_mixed(before.get(start..).unwrap_or_default());
        self.words -= counted.words;
        let rest = text.get(start..).unwrap_or_default();
        let piece = rest.get(..rest.find(ends_piece).unwrap_or(rest.len())).unwrap_or_default();
        self.words += piece.unicode_words().count() as u64;
        // The character itself never ends a piece, so this is past it.
        start + piece.len()
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

/// Bytes that are looked at together.
const WINDOW_BYTES: usize = 240;

/// Whether there is nothing but ASCII, and no `_`, which alone makes a run of its kind no word.
fn is_plain_ascii(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |seen, byte| seen | (byte & 0x80) | u8::from(*byte == b'_')) == 0
}

/// Words of plain ASCII: the letters and digits that have none before them, nor a mark that joins them to
/// one. Written without branches and carried state, so that many bytes are done at once.
fn ascii_words(bytes: &[u8]) -> u64 {
    let begins = |first: u8, mark: u8, byte: u8| -> u8 {
        let is_letter = |byte: u8| u8::from((byte | 0x20).wrapping_sub(b'a') < 26);
        let is_digit = |byte: u8| u8::from(byte.wrapping_sub(b'0') < 10);
        let is = |mark: u8, wanted: u8| u8::from(mark == wanted);
        let (letter, digit) = (is_letter(byte), is_digit(byte));
        let both = is(mark, b'\'') | is(mark, b'.');
        let letters = (both | is(mark, b':')) & is_letter(first) & letter;
        let digits = (both | is(mark, b',') | is(mark, b';')) & is_digit(first) & digit;
        (letter | digit) & !(is_letter(mark) | is_digit(mark) | letters | digits) & 1
    };
    let first = bytes.first().map_or(0, |byte| begins(b' ', b' ', *byte));
    let second = bytes.first().zip(bytes.get(1)).map_or(0, |(first, byte)| begins(b' ', *first, *byte));
    let mut words = u64::from(first) + u64::from(second);
    // The sum of a chunk fits a byte, which leaves the compiler sixteen or more lanes.
    let marks = bytes.get(1..).unwrap_or_default().chunks(SUM_BYTES);
    let bytes_after = bytes.get(2..).unwrap_or_default().chunks(SUM_BYTES);
    for ((first, mark), byte) in bytes.chunks(SUM_BYTES).zip(marks).zip(bytes_after) {
        let triples = first.iter().zip(mark).zip(byte);
        words += u64::from(
            triples.fold(0_u8, |sum, ((first, mark), byte)| sum.wrapping_add(begins(*first, *mark, *byte))),
        );
    }
    words
}

/// Bytes whose words are summed up in one byte.
const SUM_BYTES: usize = 240;

/// A blank, or an ASCII mark that joins nothing.
const BREAK: u8 = 0;
/// An ASCII letter or digit.
const LETTER: u8 = 1;
/// `_` joins a word but is none.
const UNDERSCORE: u8 = 2;
/// `'` `.` `:` `,` `;` join two letters or two digits.
const MIDDLE: u8 = 3;
/// Begins a Hangul syllable (U+B000 to U+CFFF) of three bytes.
const HANGUL: u8 = 4;
/// Begins a Han character (U+5000 to U+9FFF), or kana and their punctuation, of three bytes.
const EAST_ASIAN: u8 = 5;
/// Characters of several kinds begin with this byte.
const MIXED: u8 = 6;
/// No byte: the text has ended.
const END: u8 = 7;

/// What the first byte of a character tells about it (for ASCII: UAX 29, table 3). Hangul and Han make up
/// whole pages, so they are told by it too.
const CLASSES: [u8; 256] = {
    let mut table = [MIXED; 256];
    let mut byte = 0_usize;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends at 256")]
        let class = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => LETTER,
            b'_' => UNDERSCORE,
            b'\'' | b'.' | b':' | b',' | b';' => MIDDLE,
            0..=0x7F => BREAK,
            0xE3 | 0xE5..=0xE9 => EAST_ASIAN,
            0xEB | 0xEC => HANGUL,
            _ => MIXED,
        };
        #[expect(clippy::indexing_slicing, reason = "the loop ends at 256")]
        {
            table[byte] = class;
        }
        byte += 1;
    }
    table
};

/// Where a run of Hangul syllables ends.
fn hangul_run(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(0xEB | 0xEC)) {
        at += 3;
    }
    at
}

/// Where a run of Han, kana and their common punctuation ends, and how many letters it has.
fn unspaced_run(bytes: &[u8], mut at: usize) -> (usize, u64) {
    let mut letters = 0;
    while let Some([first, second, third]) = bytes.get(at..at + 3) {
        let is_letter = match (first, second, third) {
            (0xE5..=0xE9, ..) | (0xE3, 0x81, _) | (0xE3, 0x82, 0x80..=0x96 | 0xA1..) => true,
            (0xE3, 0x83, third) => *third != 0xBB,
            // U+3000 to U+3004, U+3008 to U+3020: blank, stops, brackets.
            (0xE3, 0x80, 0x80..=0x84 | 0x88..=0xA0) => false,
            _ => break,
        };
        letters += u64::from(is_letter);
        at += 3;
    }
    (at, letters)
}

/// Whether the mark at `at` joins what is on its sides: `'` and `.` two letters or two digits, `:` two
/// letters, `,` and `;` two digits. `None` where a neighbour is not ASCII.
fn joins_neighbours(bytes: &[u8], at: usize) -> Option<bool> {
    let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|at| bytes.get(at)), bytes.get(at + 1))
    else {
        return Some(false);
    };
    if !may_follow(Some(after)) {
        return Some(false);
    }
    if !before.is_ascii() || !after.is_ascii() {
        return None;
    }
    let letters = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
    let digits = before.is_ascii_digit() && after.is_ascii_digit();
    Some(match bytes.get(at) {
        Some(b'\'' | b'.') => letters || digits,
        Some(b':') => letters,
        _ => digits,
    })
}

/// Whether a mark before this byte may join a word to what begins here: not to a blank, another ASCII mark,
/// or a letter of Chinese or Japanese.
fn may_follow(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| match byte {
        0xE3 | 0xE5..=0xE9 => false,
        byte => byte.is_ascii_alphanumeric() || !byte.is_ascii(),
    })
}

/// How a character beyond ASCII takes part in counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A letter that joins its like and ASCII into one word.
    Letter,
    /// A letter of a script without blanks.
    Unspaced,
    /// Punctuation that joins two letters or two digits.
    Middle,
    /// Punctuation that joins nothing, or a mark on a letter of a script without blanks.
    Break,
    /// Anything else: the word segmentation knows.
    Other,
}

impl Kind {
    /// The kind of the character at `at`, and its length in bytes.
    fn at(text: &str, at: usize) -> (Kind, usize) {
        let second = text.as_bytes().get(at + 1).copied().unwrap_or_default();
        match (text.as_bytes().get(at), second) {
            // The ends of Hangul.
            (Some(0xEA), 0xB0..) | (Some(0xED), ..0x9E) => (Kind::Letter, 3),
            // Latin from U+0100 to U+023F, Cyrillic to U+047F.
            (Some(0xC4..=0xC8 | 0xD0 | 0xD1), _) => (Kind::Letter, 2),
            _ => {
                let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                (Kind::of(c), c.len_utf8())
            }
        }
    }

    fn of(c: char) -> Kind {
        match c {
            // Hangul, then Latin, Greek and Cyrillic where all are letters.
            '\u{AC00}'..='\u{D7A3}'
            | '\u{C0}'..='\u{D6}'
            | '\u{D8}'..='\u{F6}'
            | '\u{F8}'..='\u{24F}'
            | '\u{3A3}'..='\u{3F5}'
            | '\u{400}'..='\u{481}'
            | '\u{48A}'..='\u{52F}' => Kind::Letter,
            // Han, Hiragana, Katakana.
            '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3041}'..='\u{3096}'
            | '\u{309D}'..='\u{309F}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{30FC}'..='\u{30FF}'
            | '\u{31F0}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{FF66}'..='\u{FF9D}'
            | '\u{1B000}'..='\u{1B16F}'
            | '\u{20000}'..='\u{3FFFF}' => Kind::Unspaced,
            '\u{2010}'..='\u{2017}'
            | '\u{201C}'..='\u{201F}'
            | '\u{2022}'
            | '\u{2026}'
            | '\u{AB}'
            | '\u{BB}' => Kind::Break,
            '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{303D}'..='\u{303F}' => {
                Kind::Break
            }
            '\u{B7}' | '\u{2018}' | '\u{2019}' | '\u{FF0C}' | '\u{FF0E}' | '\u{FF1A}' | '\u{FF1B}' => {
                Kind::Middle
            }
            '\u{FF01}' | '\u{FF08}' | '\u{FF09}' | '\u{FF1F}' | '\u{30FB}' => Kind::Break,
            c if is_unspaced_mark(c) => Kind::Break,
            // Thai, Lao, Burmese, Khmer.
            '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
                if c.is_alphabetic() =>
            {
                Kind::Unspaced
            }
            _ => Kind::Other,
        }
    }
}

/// A mark on a letter of a script without blanks: it belongs to its letter.
fn is_unspaced_mark(c: char) -> bool {
    match c {
        '\u{3099}'..='\u{309C}' | '\u{30A0}' | '\u{FF9E}' | '\u{FF9F}' => true,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => is_combining_mark(c),
        _ => false,
    }
}

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
            ("ア・イーー、ヽ゛", 0, 5),
            ("汉字，汉字：Go，Rust；1，000", 3, 4),
            ("it’s l’été", 2, 0),
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
        fn ascii_words_are_the_segmentation_s(text in "[a-z0-9'.:,;_ -]{0,24}|([a-z0-9'.:,;-]{1,9} ){0,90}") {
            prop_assert_eq!(counts(&text).0, text.unicode_words().count() as u64);
        }

        #[test]
        fn words_of_scripts_with_blanks_are_the_segmentation_s(text in "[a-z가-힣éжΩßĀȿѿ0-9'’.·: ,，：_“”—…\u{301}ا()-]{0,24}") {
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
