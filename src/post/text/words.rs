//! Counting words: by classes of characters where those decide, by the word segmentation where not.

use unicode_segmentation::UnicodeSegmentation;

use super::kind::{Kind, is_unspaced_mark};

/// Words read in a minute.
const WORDS_PER_MINUTE: u64 = 200;
/// Characters read in a minute, in scripts without blanks.
const CHARACTERS_PER_MINUTE: u64 = 500;

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

    proptest! {
        #[test]
        fn ascii_words_are_the_segmentation_s(text in "[a-z0-9'.:,;_ -]{0,24}|([a-z0-9'.:,;-]{1,9} ){0,90}") {
            prop_assert_eq!(counts(&text).0, text.unicode_words().count() as u64);
        }

        #[test]
        fn words_of_scripts_with_blanks_are_the_segmentation_s(text in "[a-z가-힣éжΩßĀȿѿ0-9'’.·: ,，：_“”—…\u{301}ا()-]{0,24}") {
            prop_assert_eq!(counts(&text), (text.unicode_words().count() as u64, 0));
        }
    }
}
