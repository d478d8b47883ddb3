//! Characters that nobody sees: two slugs that differ by one of them look the same.

use std::fmt::Write;

/// Whether nobody sees the character, or it changes the order of its neighbours: control characters,
/// bidirectional controls, zero-width spaces and no-breaks, soft hyphen, invisible operators, fillers,
/// line separators. Joiners are none of these: they are judged by their neighbours.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{00AD}'
                | '\u{034F}'
                | '\u{061C}'
                | '\u{115F}'
                | '\u{1160}'
                | '\u{17B4}'
                | '\u{17B5}'
                | '\u{180E}'
                | '\u{200B}'
                | '\u{200E}'
                | '\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{3164}'
                | '\u{FEFF}'
                | '\u{FFA0}'
                | '\u{FFF0}'..='\u{FFFB}'
                | '\u{1BCA0}'..='\u{1BCA3}'
                | '\u{1D173}'..='\u{1D17A}'
                | '\u{E0000}'..='\u{E001F}'
                | '\u{E0080}'..='\u{E0FFF}'
        )
}

/// The black flag, which alone is followed by tag characters (the flags of England, Scotland, Wales).
const FLAG: char = '\u{1F3F4}';

/// The first character of `text` that hides, if one does.
pub(super) fn first_hidden(text: &str) -> Option<char> {
    let mut before: Option<char> = None;
    let mut in_flag = false;
    let mut chars = text.chars().peekable();
    while let Some(character) = chars.next() {
        let hides = match character {
            '\u{200C}' | '\u{200D}' => {
                !(before.is_some_and(joins) && chars.peek().copied().is_some_and(joins))
            }
            '\u{E0020}'..='\u{E007F}' => !in_flag,
            _ => is_hidden(character),
        };
        if hides {
            return Some(character);
        }
        in_flag = character == FLAG || (in_flag && matches!(character, '\u{E0020}'..='\u{E007E}'));
        before = Some(character);
    }
    None
}

/// Whether a joiner beside the character can be seen: letters of scripts that are written joined or
/// with conjuncts (Arabic, Syriac, N'Ko, Mongolian, the Indic ones, Khmer, Myanmar), and emoji.
fn joins(character: char) -> bool {
    matches!(
        character,
        '\u{0600}'..='\u{07FF}'
            | '\u{0840}'..='\u{085F}'
            | '\u{0860}'..='\u{08FF}'
            | '\u{0900}'..='\u{0DFF}'
            | '\u{0F00}'..='\u{109F}'
            | '\u{1780}'..='\u{18AF}'
            | '\u{1A20}'..='\u{1AAF}'
            | '\u{1B00}'..='\u{1C4F}'
            | '\u{A800}'..='\u{A9FF}'
            | '\u{AA60}'..='\u{AAFF}'
            | '\u{ABC0}'..='\u{ABFF}'
            | '\u{FB50}'..='\u{FDFF}'
            | '\u{FE70}'..='\u{FEFC}'
            | '\u{11000}'..='\u{11FFF}'
            // Emoji, their variation selector and skin tones.
            | '\u{2190}'..='\u{21FF}'
            | '\u{2300}'..='\u{23FF}'
            | '\u{2600}'..='\u{27BF}'
            | '\u{2B00}'..='\u{2BFF}'
            | '\u{FE0F}'
            | '\u{1F000}'..='\u{1FAFF}'
    )
}

/// `U+00AD (soft hyphen)`.
pub(super) fn named(character: char) -> String {
    let code_point = format!("U+{:04X}", u32::from(character));
    let name = match character {
        '\0' => "NUL",
        '\t' => "tab",
        '\n' => "line feed",
        '\r' => "carriage return",
        '\u{00AD}' => "soft hyphen",
        '\u{200B}' => "zero-width space",
        '\u{200C}' => "zero-width non-joiner",
        '\u{200D}' => "zero-width joiner",
        '\u{2028}' => "line separator",
        '\u{2029}' => "paragraph separator",
        '\u{2060}' => "word joiner",
        '\u{FEFF}' => "zero-width no-break space",
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => {
            "bidirectional control"
        }
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => "Hangul filler",
        _ if character.is_control() => "control character",
        _ => "invisible character",
    };
    format!("{code_point} ({name})")
}

/// Characters of a text that a message shows.
const SHOWN_CHARS_MAX: usize = 60;

/// The text as a message shows it: hidden characters as `<U+200B>`, a long text cut.
pub fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(SHOWN_CHARS_MAX * 4));
    let mut chars = text.chars();
    for character in chars.by_ref().take(SHOWN_CHARS_MAX) {
        if is_hidden(character) || matches!(character, '\u{200C}' | '\u{200D}') {
            let _ = write!(out, "<U+{:04X}>", u32::from(character));
        } else {
            out.push(character);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}
