//! `.gitignore` and `.idempostignore` of the folders from the root down, with git's rules for patterns.
//! The user's own ignore file, `.git/info/exclude` and what lies above the root never count.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The ignore files of one folder, the stronger first.
const IGNORE_FILES: [&str; 2] = [".idempostignore", ".gitignore"];

/// The ignore rules that hold in one folder: its own, then those of the folders above it.
#[derive(Clone, Default)]
pub(super) struct Ignored {
    own: Vec<Arc<Gitignore>>,
    above: Option<Arc<Ignored>>,
}

impl Ignored {
    /// The rules in `folder`, below those of `above`. An ignore file that cannot be read is told by its
    /// name; a pattern that is none is left out, as git does.
    pub(super) fn enter(
        above: &Arc<Ignored>,
        folder: &Path,
    ) -> (Arc<Ignored>, Vec<(&'static str, std::io::Error)>) {
        let mut own = Vec::new();
        let mut unreadable = Vec::new();
        for name in IGNORE_FILES {
            let file = folder.join(name);
            // A link may lead out of the root, so only a plain file is read.
            match std::fs::symlink_metadata(&file) {
                Ok(found) if found.is_file() => {}
                _ => continue,
            }
            match std::fs::read(&file) {
                Ok(bytes) => own.extend(rules(folder, &String::from_utf8_lossy(&bytes)).map(Arc::new)),
                Err(error) => unreadable.push((name, error)),
            }
        }
        if own.is_empty() {
            return (Arc::clone(above), unreadable);
        }
        (Arc::new(Ignored { own, above: Some(Arc::clone(above)) }), unreadable)
    }

    /// Whether the path on disk is excluded: the first rule that says something holds, the nearest
    /// folder's first.
    pub(super) fn excludes(&self, on_disk: &Path, is_folder: bool) -> bool {
        for rules in &self.own {
            match rules.matched(on_disk, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        self.above.as_ref().is_some_and(|above| above.excludes(on_disk, is_folder))
    }
}

fn rules(folder: &Path, text: &str) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
