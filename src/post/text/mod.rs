//! Words, reading time and excerpts in every script.
//!
//! A word is one of Unicode's word segmentation (UAX 29). In the scripts that put no blanks between
//! words (Han, Hiragana, Katakana, Thai, Lao, Burmese, Khmer) each letter counts instead. Korean has
//! blanks: its words are words.

mod excerpt;
mod kind;
mod words;

pub use excerpt::{EXCERPT_COLUMNS_MAX, excerpt, one_line};
pub use words::Counts;
