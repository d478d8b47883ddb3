//! How characters beyond ASCII take part in counting words.

use unicode_normalization::char::is_combining_mark;

/// How a character beyond ASCII takes part in counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    pub(super) fn at(text: &str, at: usize) -> (Kind, usize) {
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

    pub(super) fn of(c: char) -> Kind {
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
            | '\u{BB}'
            | '\u{3000}'..='\u{3004}'
            | '\u{3008}'..='\u{3020}'
            | '\u{3030}'
            | '\u{303D}'..='\u{303F}'
            | '\u{30FB}'
            | '\u{FF01}'
            | '\u{FF08}'
            | '\u{FF09}'
            | '\u{FF1F}' => Kind::Break,
            '\u{B7}' | '\u{2018}' | '\u{2019}' | '\u{FF0C}' | '\u{FF0E}' | '\u{FF1A}' | '\u{FF1B}' => {
                Kind::Middle
            }
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
pub(super) fn is_unspaced_mark(c: char) -> bool {
    match c {
        '\u{3099}'..='\u{309C}' | '\u{30A0}' | '\u{FF9E}' | '\u{FF9F}' => true,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' => is_combining_mark(c),
        _ => false,
    }
}
