//! Languages: canonical BCP 47.

use std::fmt;

/// A canonical BCP 47 language tag (`ko`, `en-US`, `zh-Hant-TW`). Holds no `:`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lang(String);

impl Lang {
    /// Reads a tag in any case and with `_` or `-`, and makes it canonical. The error says what is
    /// wrong. Replaced codes (`iw`, `in`) are kept.
    pub fn parse(text: &str) -> Result<Self, String> {
        let _ = text;
        unimplemented!()
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
