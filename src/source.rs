//! Walk a content root into sorted files; every file with a post's extension is accounted for.

use std::path::{Path, PathBuf};

use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;

/// Deepest folder below the root.
pub const FOLDER_LEVELS_MAX: usize = 64;

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path below the content root with `/`.
    pub path: String,
    /// Where it lies.
    pub on_disk: PathBuf,
    /// Lies in a `_drafts` folder.
    pub in_drafts: bool,
}

/// How the tree is walked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WalkOptions {
    /// Follow symbolic links that stay inside the root.
    pub follow_links: bool,
}

/// What the walk found.
#[derive(Debug, Clone, Default)]
pub struct Walked {
    /// Files to read, in order of the path's bytes.
    pub files: Vec<SourceFile>,
    /// Files skipped by name, kind or ignore file, in the same order.
    pub skipped: Vec<Skipped>,
    /// Files and folders that could not be read (each counts as one invalid file).
    pub problems: Vec<Diagnostic>,
}

/// Walks the content root. `Err` only where the root itself cannot be walked.
pub fn walk(root: &Path, options: &WalkOptions) -> Result<Walked, crate::error::Failure> {
    let _ = (root, options);
    unimplemented!()
}

/// Why a path (below the root, with `/`) is skipped by its name alone, if it is. `explain` uses it.
pub fn skipped_by_name(path: &str) -> Option<crate::post::Skip> {
    let _ = path;
    unimplemented!()
}

/// Reads one file whole, refusing one over `bytes_max` by name without reading it into memory.
pub fn read(file: &SourceFile, bytes_max: u64) -> Result<Vec<u8>, Box<Diagnostic>> {
    let _ = (file, bytes_max);
    unimplemented!()
}

/// Digests one asset inside the root; `None` where it is no readable regular file inside the root
/// (symbolic links that leave it among them).
pub fn asset(root: &Path, path: &str) -> Option<crate::catalog::links::AssetFact> {
    let _ = (root, path);
    unimplemented!()
}
