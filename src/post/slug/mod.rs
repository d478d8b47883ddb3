//! Slugs: any script, NFC, and nothing that breaks a URL or hides from the eye.
//!
//! Begin at [`Slug::parse`], which holds the rules of every slug. A slug of a file comes by
//! [`from_stem`]: [`SlugMode`] spells the stem, [`SlugPattern`] puts it together with the day and the
//! folder, and the result is parsed like any other.

mod generator;
mod hidden;
mod mode;
mod pattern;

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use super::Rules;
use super::date::PublishedAt;
pub use hidden::{is_hidden, shown};
pub use mode::SlugMode;
pub use pattern::SlugPattern;

/// Longest slug, in bytes of UTF-8.
pub const SLUG_BYTES_MAX: usize = 200;

/// Why a text is no slug: (message, help).
pub type Refused = (String, String);

/// A slug in NFC that passed the rules of `CONVENTIONS`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl Slug {
    /// Makes NFC and checks. Outer `/` is trimmed, `/` inside is allowed. The error is (message, help).
    ///
    /// Refused, in any mode: empty; blanks around; over [`SLUG_BYTES_MAX`]; characters that nobody sees
    /// (control, bidirectional control, zero-width, soft hyphen, fillers), named by code point; `%` and
    /// two hex digits; `?`, `#`, backslash; empty, `.` and `..` parts. A zero-width joiner or non-joiner
    /// is kept between letters of a script that is written with it, and between emoji, where it can be
    /// seen; elsewhere it hides.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let composed: String = text.nfc().collect();
        let trimmed = composed.trim_matches('/');
        let bare = trimmed.trim();
        if bare.is_empty() {
            return Err(refused(
                "the slug is empty",
                "write a slug, or leave the key out: the file's name is taken then",
            ));
        }
        if let Some(character) = hidden::first_hidden(trimmed) {
            let named = hidden::named(character);
            let clean: String =
                trimmed.chars().filter(|other| !is_hidden(*other) && *other != character).collect();
            return Err(refused(
                format!("{named} stands in the slug \"{}\"", shown(trimmed)),
                format!("write {}", clean.trim()),
            ));
        }
        if bare != trimmed {
            return Err(refused(
                format!("blanks stand around the slug \"{}\"", shown(&composed)),
                format!("write {bare}"),
            ));
        }
        if trimmed.len() > SLUG_BYTES_MAX {
            return Err(refused(
                format!(
                    "the slug is too long: it has {} bytes, and {SLUG_BYTES_MAX} are the most",
                    trimmed.len()
                ),
                "write a shorter slug",
            ));
        }
        check_percent(trimmed)?;
        if let Some(mark) = trimmed.chars().find(|c| matches!(c, '?' | '#' | '\\')) {
            return Err(refused(
                format!(
                    "\"{mark}\" stands in the slug \"{}\": it has a meaning of its own in a URL",
                    shown(trimmed)
                ),
                format!("leave \"{mark}\" out of the slug"),
            ));
        }
        check_parts(trimmed)?;
        Ok(Slug(trimmed.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The slug of a file: its stem (or the last literal part of a path that took the stem's place) spelled
/// by the mode and put into the pattern. `dir` is the folder as [`super::file_name::FileName`] has it.
pub fn from_stem(stem: &str, dir: &str, published_at: PublishedAt, rules: &Rules) -> Result<Slug, Refused> {
    // Docusaurus' stem has the folders in it.
    let stem = rules.slug_mode.spell_folders(stem)?;
    let dir = rules.slug_mode.spell_folders(dir)?;
    let whole = rules.slug_pattern.expand(published_at.day_in(&rules.timezone), &dir, &stem);
    let slug = Slug::parse(&whole)?;
    rules.slug_mode.check(&slug)?;
    Ok(slug)
}

/// The slug of a `slug` field: kept as written, but that `strict` looks at its letters and that a
/// generator which spells such fields (Hugo, Zola, Jekyll) is followed under its own mode.
pub fn from_field(text: &str, rules: &Rules) -> Result<Slug, Refused> {
    let slug = Slug::parse(text)?;
    let slug = match rules.slug_mode.spell_field(slug.as_str()) {
        Some(spelled) => Slug::parse(&spelled)?,
        None => slug,
    };
    rules.slug_mode.check(&slug)?;
    Ok(slug)
}

fn refused(message: impl Into<String>, help: impl Into<String>) -> Refused {
    (message.into(), help.into())
}

fn check_parts(slug: &str) -> Result<(), Refused> {
    let Some(part) = slug.split('/').find(|part| matches!(*part, "" | "." | "..")) else {
        return Ok(());
    };
    let what = if part.is_empty() { "an empty part".to_owned() } else { format!("a part \"{part}\"") };
    Err(refused(
        format!("the slug \"{}\" has {what}", shown(slug)),
        "write parts with a name, with one \"/\" between them",
    ))
}

/// `%` and two hex digits: the slug is plain text, encoding belongs to whoever builds a URL.
fn check_percent(slug: &str) -> Result<(), Refused> {
    let bytes = slug.as_bytes();
    let encoded = bytes.windows(3).any(
        |three| matches!(three, [b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit()),
    );
    if !encoded {
        return Ok(());
    }
    let help = match percent_encoding::percent_decode_str(slug).decode_utf8() {
        Ok(plain) if !plain.chars().any(is_hidden) => format!("write {}", plain.nfc().collect::<String>()),
        _ => "write the characters themselves, or a \"%\" that no two hex digits follow".to_owned(),
    };
    Err(refused(format!("the slug looks percent-encoded: \"{}\"", shown(slug)), help))
}

#[cfg(test)]
mod tests;
