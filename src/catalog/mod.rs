//! All posts together: duplicates, clashes, spellings, translations, links.
//!
//! Pure: no clock, no environment, no file.

pub(crate) mod clash;
pub mod links;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::post::{Outcome, Parsed, Post, Rules, Skip};

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

    /// Puts every list in the order of the path's bytes, and the problems of a file in that of their
    /// places.
    fn sort(&mut self) {
        self.posts.sort_by(|a, b| a.file.cmp(&b.file));
        self.held.sort_by(|(_, a), (_, b)| a.file.cmp(&b.file));
        self.skipped.sort_by(|a, b| a.file.cmp(&b.file));
        self.invalid.sort();
        self.diagnostics.sort_by(|a, b| {
            let place = |d: &Diagnostic| (d.line, d.column);
            (&a.file, place(a), a.code, &a.message).cmp(&(&b.file, place(b), b.code, &b.message))
        });
    }
}

/// Folds the parsed files (and the files skipped by the walk) into a catalog. Two files that claim
/// one `(slug, lang)` are errors for both, whatever the order they come in.
pub fn fold(parsed: Vec<Parsed>, skipped: Vec<Skipped>, rules: &Rules) -> Catalog {
    let files = parsed.len() + skipped.len();
    let clashes = clash::find(&parsed, rules);
    let mut catalog = Catalog { skipped, files, ..Catalog::default() };
    for file in parsed {
        let Parsed { file, outcome, diagnostics, .. } = file;
        let clash = clashes.get(&file);
        let clashing = clash.is_some_and(|problems| problems.iter().any(Diagnostic::is_error));
        catalog.diagnostics.extend(diagnostics);
        catalog.diagnostics.extend(clash.into_iter().flatten().cloned());
        match outcome {
            _ if clashing => catalog.invalid.push(file),
            Outcome::Invalid => catalog.invalid.push(file),
            Outcome::Post(post) => catalog.posts.push(*post),
            Outcome::Skipped(reason, held) => {
                catalog.held.extend(held.map(|post| (reason, *post)));
                catalog.skipped.push(Skipped { file, reason });
            }
        }
    }
    catalog.sort();
    catalog
}

#[cfg(test)]
pub(crate) mod tests;
