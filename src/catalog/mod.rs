//! All posts together: duplicates, clashes, spellings, translations, links.
//!
//! Pure: no clock, no environment, no file.

pub mod links;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::post::{Parsed, Post, Rules, Skip};

/// A skipped file with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Path below the content root with `/`.
    pub file: String,
    /// Why.
    pub reason: Skip,
}

/// The whole content root, read and checked.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Posts in order of the path's bytes, none of them in a clash.
    pub posts: Vec<Post>,
    /// Drafts and future posts whose identity could be read, in order of path.
    pub held: Vec<(Skip, Post)>,
    /// Skipped files in order of path; `held` ones among them.
    pub skipped: Vec<Skipped>,
    /// Files with errors (clashes too), in order of path.
    pub invalid: Vec<String>,
    /// All problems in order of file, line, column.
    pub diagnostics: Vec<Diagnostic>,
    /// Files walked: posts + skipped + invalid.
    pub files: usize,
}

impl Catalog {
    /// Path of each post to its place in [`Catalog::posts`].
    pub fn by_path(&self) -> BTreeMap<&str, usize> {
        self.posts.iter().enumerate().map(|(at, post)| (post.file.as_str(), at)).collect()
    }
}

/// Folds the parsed files (and the files skipped by the walk) into a catalog.
pub fn fold(parsed: Vec<Parsed>, skipped: Vec<Skipped>, rules: &Rules) -> Catalog {
    let _ = (parsed, skipped, rules);
    unimplemented!()
}
