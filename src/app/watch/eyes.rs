//! Tells that something below the content root changed. It decides nothing: what changed is found by
//! reading the tree. What editors leave beside a file while they save it is not looked at.

use std::path::Path;
use std::time::Duration;

use notify_debouncer_full::notify::event::{AccessKind, AccessMode};
use notify_debouncer_full::notify::{self, EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};
use tokio::sync::mpsc::UnboundedSender;

use crate::error::{Exit, Failure};

/// Events of one file within so long are one.
const DEBOUNCE: Duration = Duration::from_millis(80);

/// Endings of what editors write while they save, and of a database's own files.
const NOT_LOOKED_AT: [&str; 12] = [
    "~",
    ".swp",
    ".swo",
    ".swx",
    ".tmp",
    ".bak",
    ".part",
    ".crdownload",
    "___jb_tmp___",
    "___jb_old___",
    "-journal",
    "-wal",
];

/// Hidden files that shape what is read.
const IGNORE_FILES: [&str; 2] = [".idempostignore", ".gitignore"];

/// A watched root, as long as this lives.
pub(super) struct Eyes {
    _debouncer: Debouncer<RecommendedWatcher, RecommendedCache>,
}

impl Eyes {
    /// Watches everything below `root`, folders to come among them.
    pub(super) fn open(root: &Path, tell: UnboundedSender<()>) -> Result<Self, Failure> {
        let below = root.to_owned();
        let seen = move |result: DebounceEventResult| {
            let matters = match result {
                Ok(events) => events.iter().any(|event| {
                    event.need_rescan()
                        || (is_change(event.kind) && event.paths.iter().any(|path| matters(&below, path)))
                }),
                // What was missed is found by reading the tree.
                Err(_) => true,
            };
            if matters {
                // Nobody listens any more: the verb is ending.
                let _ = tell.send(());
            }
        };
        let told = |error: notify::Error| {
            Failure::new(Exit::Failed, format!("{} cannot be watched: {error}", root.display()))
                .help("on Linux `fs.inotify.max_user_watches` is how many folders may be watched")
        };
        let mut debouncer = new_debouncer(DEBOUNCE, Some(DEBOUNCE / 4), seen).map_err(told)?;
        debouncer.watch(root, RecursiveMode::Recursive).map_err(told)?;
        Ok(Eyes { _debouncer: debouncer })
    }
}

/// Reading is no change; closing after writing is one.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// Whether a change of this path may change what the tree says.
fn matters(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return true };
    let mut parts: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let Some(name) = parts.pop() else { return true };
    let hidden = |part: &str| part.starts_with('.');
    if parts.iter().any(|folder| hidden(folder) || folder == "node_modules") {
        return false;
    }
    if hidden(&name) {
        return IGNORE_FILES.contains(&name.as_str());
    }
    // Vim tries with this name whether it may write here.
    let aside = name == "4913" || name.starts_with(['#', '~']) || name.ends_with('#');
    !aside && !NOT_LOOKED_AT.iter().any(|ending| name.ends_with(ending))
}

/// Which folder stands at a path: another one of the same name is another one.
pub(super) type Identity = (u64, u64);

/// The folder at a path; `None` where there is none.
#[cfg(unix)]
pub(super) fn identity(root: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(root).ok().filter(std::fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}

/// The folder at a path; `None` where there is none.
#[cfg(not(unix))]
pub(super) fn identity(root: &Path) -> Option<Identity> {
    std::fs::metadata(root).ok().filter(std::fs::Metadata::is_dir).map(|_| (0, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_editors_leave_is_not_looked_at() {
        let root = Path::new("/blog/content");
        for path in ["a.md", "ko/a.md", "a.mdx", "images/crate.svg", ".gitignore", "ko/.idempostignore", "ko"]
        {
            assert!(matters(root, &root.join(path)), "{path}");
        }
        assert!(matters(root, root));
        for path in [
            "4913",
            "ko/4913",
            "a.md~",
            ".a.md.swp",
            ".#a.md",
            "#a.md#",
            "a.md.tmp",
            ".git/index.lock",
            "a.md___jb_tmp___",
            ".a.md.kate-swp",
            "node_modules/x/readme.md",
            "idempost.db-journal",
            "~$a.md",
            ".DS_Store",
        ] {
            assert!(!matters(root, &root.join(path)), "{path}");
        }
    }

    #[test]
    fn reading_is_no_change() {
        assert!(!is_change(EventKind::Access(AccessKind::Open(AccessMode::Any))));
        assert!(!is_change(EventKind::Access(AccessKind::Read)));
        assert!(is_change(EventKind::Access(AccessKind::Close(AccessMode::Write))));
        assert!(is_change(EventKind::Remove(notify::event::RemoveKind::File)));
    }
}
