//! Slugs: any script, NFC, and nothing that breaks a URL or hides from the eye.

use std::fmt;

/// Longest slug, in bytes of UTF-8.
pub const SLUG_BYTES_MAX: usize = 200;

/// A slug in NFC that passed the rules of `CONVENTIONS`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

impl Slug {
    /// Makes NFC and checks. Outer `/` is trimmed. The error is (message, help).
    pub fn parse(text: &str) -> Result<Self, (String, String)> {
        let _ = text;
        unimplemented!()
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

/// How a slug is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlugMode {
    /// As written.
    #[default]
    Keep,
    /// Unicode lower case.
    Lower,
    /// ASCII letters, digits and `-`, by transliteration of Latin letters with marks.
    Ascii,
    /// Refuses what is not `[a-z0-9-]` (and `/` between parts).
    Strict,
}

/// How a slug from a file is put together: tokens `{year}` `{month}` `{day}` `{dir}` `{stem}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlugPattern(String);

impl SlugPattern {
    /// Checks that every token is known and that `{stem}` or `{dir}` is in it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(SlugPattern(text.to_owned()))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for SlugPattern {
    fn default() -> Self {
        SlugPattern("{stem}".to_owned())
    }
}
