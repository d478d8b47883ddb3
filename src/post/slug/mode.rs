//! How the slug of a file is spelled.

use unicode_normalization::UnicodeNormalization;

use super::hidden::shown;
use super::{Refused, Slug, generator, refused};

/// How a slug is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlugMode {
    /// As written.
    #[default]
    Keep,
    /// Unicode lower case.
    Lower,
    /// Lower-case ASCII letters, digits and `-`, by transliteration of Latin letters with marks. A
    /// letter of another script is refused, never dropped.
    Ascii,
    /// Refuses what is not `[a-z0-9-]` (and `/` between parts).
    Strict,
    /// As Hugo makes paths: lower case, blanks to `-`, punctuation but `.+_~@-` left out.
    Hugo,
    /// As Zola slugifies paths: transliterated to ASCII from every script, lower case.
    Zola,
    /// As Jekyll makes the title of a permalink: case kept, everything but letters, digits and
    /// `._~!$&'()+,;=@` to `-`.
    Jekyll,
    /// As GitHub and Astro make anchors and ids: lower case, punctuation left out, blanks to `-`.
    Astro,
}

impl SlugMode {
    /// Every mode, in the order in which messages list them.
    pub const ALL: [SlugMode; 8] = [
        SlugMode::Keep,
        SlugMode::Lower,
        SlugMode::Ascii,
        SlugMode::Strict,
        SlugMode::Hugo,
        SlugMode::Zola,
        SlugMode::Jekyll,
        SlugMode::Astro,
    ];

    /// The spelling in configuration and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            SlugMode::Keep => "keep",
            SlugMode::Lower => "lower",
            SlugMode::Ascii => "ascii",
            SlugMode::Strict => "strict",
            SlugMode::Hugo => "hugo",
            SlugMode::Zola => "zola",
            SlugMode::Jekyll => "jekyll",
            SlugMode::Astro => "astro",
        }
    }

    /// Reads the spelling of [`SlugMode::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        SlugMode::ALL.into_iter().find(|mode| mode.as_str() == text)
    }

    /// Spells a `slug` field as the mode's generator does; `None`: it is kept as written.
    pub fn spell_field(self, slug: &str) -> Option<String> {
        let spell = match self {
            SlugMode::Hugo => generator::hugo,
            SlugMode::Zola => generator::zola,
            SlugMode::Jekyll => generator::jekyll,
            _ => return None,
        };
        Some(slug.split('/').map(spell).collect::<Vec<_>>().join("/").nfc().collect())
    }

    /// Spells one part of a slug, such as a file's stem. The error is (message, help).
    pub fn spell(self, part: &str) -> Result<String, Refused> {
        let part: String = part.nfc().collect();
        let spelled = match self {
            SlugMode::Keep | SlugMode::Strict => return Ok(part),
            SlugMode::Lower => part.to_lowercase().nfc().collect(),
            SlugMode::Ascii => ascii(&part)?,
            SlugMode::Hugo => generator::hugo_name(&part),
            SlugMode::Zola => generator::zola(&part),
            SlugMode::Jekyll => generator::jekyll(&part),
            SlugMode::Astro => generator::astro(&part),
        };
        if spelled.is_empty() && !part.is_empty() {
            return Err(refused(
                format!("slug_mode {} leaves nothing of \"{}\"", self.as_str(), shown(&part)),
                "write a slug field in the front matter",
            ));
        }
        // What stood between two characters may be gone now, so that they compose.
        Ok(spelled.nfc().collect())
    }

    /// Spells each part of a folder's path; the `/` between them stay.
    pub fn spell_folders(self, folders: &str) -> Result<String, Refused> {
        let spelled: Result<Vec<String>, Refused> =
            folders.split('/').map(|folder| self.spell(folder)).collect();
        spelled.map(|parts| parts.join("/"))
    }

    /// Refuses what `strict` does not allow.
    pub fn check(self, slug: &Slug) -> Result<(), Refused> {
        if self != SlugMode::Strict {
            return Ok(());
        }
        let allowed = |letter: char| {
            letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '/')
        };
        let Some(letter) = slug.as_str().chars().find(|letter| !allowed(*letter)) else {
            return Ok(());
        };
        let help = match ascii(&slug.as_str().replace('/', "\0")) {
            Ok(plain) if !plain.is_empty() && !slug.as_str().contains('/') => format!("write {plain}"),
            _ => "write a to z, 0 to 9 and - alone".to_owned(),
        };
        Err(refused(
            format!("slug_mode strict refuses \"{}\" in the slug \"{slug}\"", shown(&letter.to_string())),
            help,
        ))
    }
}

/// ASCII letters and digits in lower case, Latin letters without their marks, everything between them
/// as one `-`.
fn ascii(part: &str) -> Result<String, Refused> {
    let mut out = String::with_capacity(part.len());
    for character in part.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_lowercase());
        } else if matches!(character, '\u{0300}'..='\u{036F}' | '\'' | '\u{2019}') {
            // A mark that has no composed letter, and the apostrophe, divide no words.
        } else if is_latin(character) {
            out.extend(
                deunicode::deunicode_char(character).unwrap_or("").chars().flat_map(char::to_lowercase),
            );
        } else if character.is_alphanumeric() {
            return Err(refused(
                format!("slug_mode ascii cannot spell \"{character}\" of \"{}\"", shown(part)),
                "write a slug field of ASCII letters in the front matter",
            ));
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    Ok(out)
}

/// Letters of the Latin script beyond ASCII, but not the marks of multiplication and division.
fn is_latin(character: char) -> bool {
    character.is_alphabetic()
        && matches!(
            character,
            '\u{00AA}'..='\u{024F}' | '\u{1E00}'..='\u{1EFF}' | '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}'
                | '\u{FB00}'..='\u{FB06}' | '\u{FF21}'..='\u{FF5A}'
        )
}
