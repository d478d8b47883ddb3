//! Walk a content root into sorted files; every file with a post's extension is accounted for.
//!
//! Begin at [`walk`]. What it finds depends on names and ignore files below the root alone: not on the
//! order of the file system, not on parent folders, not on the user's git configuration, not on whether
//! the tree is a checkout. [`read`] and [`asset`] are the only other places where files are opened.
//! [`git`] tells what of the tree changed since a commit. Nothing is written here, and nothing outside the
//! root is read.

pub mod git;
mod ignored;
mod links;
mod names;
mod open;
mod tree;

use std::path::{Path, PathBuf};

use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
pub use names::{has_post_extension, skipped_by_name};
pub use open::{ASSET_BYTES_MAX, asset, check_size, open_asset, read, read_inside};

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
    /// Files skipped by name, kind or ignore file, in the same order. A symbolic link that is not
    /// followed is named once, whether a file or a folder lies behind it.
    pub skipped: Vec<Skipped>,
    /// Files and folders that could not be read (each counts as one invalid file), in the same order.
    pub problems: Vec<Diagnostic>,
}

impl SourceFile {
    /// A file that is not saved yet: where it would lie.
    pub fn unsaved(root: &Path, path: &str) -> Self {
        let in_drafts = path
            .rsplit_once('/')
            .is_some_and(|(above, _)| above.split('/').any(|name| name == names::DRAFTS));
        SourceFile { path: path.to_owned(), on_disk: root.join(path), in_drafts }
    }
}

/// Walks the content root. `Err` only where the root itself cannot be walked.
pub fn walk(root: &Path, options: &WalkOptions) -> Result<Walked, Failure> {
    check_root(root)?;
    let mut walked = tree::walk(root, options);
    walked.files.sort_by(|one, other| one.path.cmp(&other.path));
    walked.skipped.sort_by(|one, other| one.file.cmp(&other.file));
    walked.problems.sort_by(|one, other| one.file.cmp(&other.file));
    Ok(walked)
}

fn check_root(root: &Path) -> Result<(), Failure> {
    let shown = root.display();
    let folder = match std::fs::metadata(root) {
        Ok(found) => found.is_dir(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(Failure::usage(format!("there is no folder {shown}"))
                .help("give the folder that holds the posts: `content` in idempost.toml, or --content"));
        }
        Err(error) => {
            return Err(Failure::new(Exit::Failed, format!("the folder {shown} cannot be read: {error}"))
                .help("check its permissions and those of the folders above it"));
        }
    };
    if !folder {
        return Err(Failure::usage(format!("{shown} is a file, and a content root is a folder"))
            .help("give the folder as the content root, and the file as a PATH in it"));
    }
    match std::fs::read_dir(root) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new(Exit::Failed, format!("the folder {shown} cannot be read: {error}"))
            .help("check its permissions")),
    }
}

#[cfg(test)]
mod tests;
