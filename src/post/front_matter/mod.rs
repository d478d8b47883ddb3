//! Front matter: found, and read in YAML, TOML or JSON as one tree of values with places.
//!
//! Scalars keep the text as written, so a text field never loses `007` or `1.10`. Nothing is ever
//! run; tags other than YAML's own are refused. No field has a meaning here: `fields` gives it.
//!
//! Begin at [`read`]: `split` finds the block (`meant` judges what is none), one reader a format makes
//! the tree, `check` holds the rules that all formats share. [`write::write`] is the way back.
//!
//! YAML is read from the events of `granit-parser`, the parser under `serde-saphyr`, and not through serde:
//! a text field needs the text of the source, every key and value its place, and aliases a budget, which
//! no deserializer gives.

mod check;
mod json;
mod meant;
mod problems;
mod split;
mod toml;
pub mod write;
mod yaml;

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use problems::Problems;
use split::{Block, Head};

/// Largest front matter block, in bytes.
pub const FRONT_MATTER_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of values.
pub const NESTING_LEVELS_MAX: usize = 32;

/// A value with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Bytes in the normalised source text of the file.
    pub span: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map in order of the source; no two keys are equal.
    Map(Vec<Entry>),
}

/// A scalar: its text as written (unquoted, unescaped) and what the format takes it for.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// Text as written. Of a quoted scalar the text it means.
    pub text: String,
    /// What it is by YAML 1.2 core, TOML or JSON.
    pub kind: Kind,
}

/// What a scalar is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Null, or nothing written.
    Null,
    /// `true` or `false` unquoted (YAML 1.2 core: also `True`, `TRUE`).
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer over 64 bits.
    BigInt,
    /// A finite double.
    Float(f64),
    /// NaN or an infinity.
    NonFinite,
    /// Text.
    Text,
    /// TOML's date-time with offset, local date-time or local date, as written.
    DateTime,
    /// TOML's local time.
    LocalTime,
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key as text.
    pub key: String,
    /// Bytes of the key in the normalised source text of the file.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node,
}

/// The format of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `---`.
    Yaml,
    /// `+++`.
    Toml,
    /// `{`.
    Json,
}

/// What stands at the head of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// A block, read: its keys, and where the body starts (bytes). Problems are errors of the block;
    /// with an error that stops reading, `entries` holds what was read until then.
    Block {
        /// Its format.
        format: Format,
        /// Keys and values in order.
        entries: Vec<Entry>,
        /// First byte of the body in the normalised source.
        body_start: usize,
        /// Problems, unlocated (spans only).
        problems: Vec<Diagnostic>,
    },
    /// No front matter, and none was meant.
    None,
    /// Empty or blank.
    Empty,
    /// Meant as front matter, and is not: always an error.
    Broken(Vec<Diagnostic>),
}

/// Reads the front matter of a normalised source text. Never panics; time and memory are bounded
/// whatever the text is.
pub fn read(source: &str) -> Reading {
    let Block { format, text, body_start } = match split::split(source) {
        Head::Empty => return Reading::Empty,
        Head::None => return Reading::None,
        Head::Broken(diagnostic) => return Reading::Broken(vec![*diagnostic]),
        Head::Object => return json::read_at_head(source),
        Head::Fenced(block) => block,
    };
    let mut problems = Problems::default();
    let mut entries = match format {
        Format::Yaml => yaml::read(source, text, &mut problems),
        Format::Toml => toml::read(source, text, &mut problems),
        Format::Json => json::read(source, text, &mut problems),
    };
    check::check(source, &mut entries, &mut problems);
    Reading::Block { format, entries, body_start, problems: problems.finish() }
}

/// A key as it is matched: in lower case, and without `_`, `-` and blanks between its words. One at
/// either end is part of the name: `_id` is not `id`.
pub fn fold_key(key: &str) -> String {
    let inner = key.trim_matches(is_word_separator);
    let Some(start) = key.find(inner) else {
        return key.to_lowercase();
    };
    let (head, rest) = key.split_at(start);
    let tail = rest.get(inner.len()..).unwrap_or("");
    let words = inner.chars().filter(|c| !is_word_separator(*c)).flat_map(char::to_lowercase);
    head.chars().chain(words).chain(tail.chars()).collect()
}

fn is_word_separator(c: char) -> bool {
    matches!(c, '_' | '-' | ' ')
}

#[cfg(test)]
mod tests;
