//! Ids of headings: GitHub's way of spelling them, in every script, each once on a page.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Id of a heading whose text has no letter or digit.
const NAMELESS: &str = "section";

/// Hands out ids. An id depends on the headings before it and on the ids that raw HTML and footnotes
/// take, never on a hash order.
#[derive(Debug, Default)]
pub(super) struct HeadingIds {
    used: HashSet<String>,
    next_number: HashMap<String, u32>,
}

impl HeadingIds {
    /// Marks an id as taken by something that is no heading.
    pub(super) fn reserve(&mut self, id: &str) {
        self.used.insert(id.to_owned());
    }

    /// The id for a heading's text: its slug, or the slug with the lowest number not in use.
    pub(super) fn assign(&mut self, text: &str) -> String {
        let slug = slug(text);
        if self.used.insert(slug.clone()) {
            return slug;
        }
        let next = self.next_number.entry(slug.clone()).or_insert(1);
        loop {
            let id = format!("{slug}-{next}");
            *next += 1;
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// Lower case; letters, marks, digits, `_` and `-` stay; each blank becomes `-`; the rest goes. NFC
/// first, so that the two spellings of one text are one id.
fn slug(text: &str) -> String {
    let text = text.trim();
    let mut slug = String::with_capacity(text.len());
    if text.is_ascii() {
        slug.extend(text.bytes().filter_map(|byte| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => {
                Some(char::from(byte.to_ascii_lowercase()))
            }
            b' ' | b'\n' | b'\t' => Some('-'),
            _ => None,
        }));
    } else {
        // Precomposed characters and those below the combining marks are in NFC whatever is beside them.
        let is_nfc = text
            .chars()
            .all(|c| c < '\u{300}' || matches!(c, '\u{AC00}'..='\u{D7A3}' | '\u{4E00}'..='\u{9FFF}'));
        let lower = if is_nfc { text.to_lowercase() } else { text.nfc().collect::<String>().to_lowercase() };
        slug.extend(lower.chars().filter_map(|c| match c {
            '_' | '-' | 'a'..='z' | '0'..='9' | '\u{AC00}'..='\u{D7A3}' | '\u{4E00}'..='\u{9FFF}' => Some(c),
            _ if c.is_whitespace() => Some('-'),
            // Marks carry vowels in many scripts. An emoji's variation selectors are marks too, but
            // stand for nothing once the emoji has gone.
            _ if c.is_alphanumeric() || (is_combining_mark(c) && !is_variation_selector(c)) => Some(c),
            _ => None,
        }));
    }
    if slug.is_empty() { NAMELESS.to_owned() } else { slug }
}

fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180B}'..='\u{180D}' | '\u{FE00}'..='\u{FE0F}' | '\u{20E3}' | '\u{E0100}'..='\u{E01EF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_keep_every_script() {
        for (text, expected) in [
            ("Getting started", "getting-started"),
            ("What's new in 2.0?", "whats-new-in-20"),
            ("C++ & Rust", "c--rust"),
            ("snake_case and kebab-case", "snake_case-and-kebab-case"),
            ("시작하기 전에", "시작하기-전에"),
            ("はじめに（前編）", "はじめに前編"),
            ("变更 日志", "变更-日志"),
            ("Ёлка и ЩУКА", "ёлка-и-щука"),
            ("हिन्दी में", "हिन्दी-में"),
            ("🚀 Launch", "-launch"),
            ("⚙️", NAMELESS),
            ("!!!", NAMELESS),
            ("", NAMELESS),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn both_normalisation_forms_have_one_slug() {
        let composed = "카페 café";
        let decomposed: String = composed.nfd().collect();
        assert_ne!(composed, decomposed);
        assert_eq!(slug(composed), slug(&decomposed));
    }

    #[test]
    fn repeated_headings_are_numbered_round_what_is_taken() {
        let mut ids = HeadingIds::default();
        ids.reserve("notes-1");
        assert_eq!(ids.assign("Notes"), "notes");
        assert_eq!(ids.assign("Notes"), "notes-2");
        assert_eq!(ids.assign("Notes 2"), "notes-2-1");
        assert_eq!(ids.assign("Notes"), "notes-3");
    }
}
