//! The walk itself: one folder after another, each entry to where it belongs.

use std::collections::HashSet;
use std::fs::FileType;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ignored::Ignored;
use super::links::{self, Link};
use super::names::{self, has_post_extension, is_counted};
use super::{FOLDER_LEVELS_MAX, SourceFile, WalkOptions, Walked};
use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::post::Skip;

/// A folder to walk.
#[derive(Clone)]
pub(super) struct Folder {
    /// Path below the root with `/`; empty for the root.
    pub(super) path: String,
    pub(super) on_disk: PathBuf,
    /// Number of folders from the root down to it.
    pub(super) level: usize,
    pub(super) in_drafts: bool,
    /// Why everything in it is skipped, if it is: it is walked then only to account for its files.
    pub(super) skip: Option<Skip>,
    pub(super) ignored: Arc<Ignored>,
}

/// What the walk has found so far, and the links that it has not followed.
pub(super) struct Found {
    pub(super) walked: Walked,
    pub(super) links: Vec<Link>,
    /// Paths below the root of the folders that were walked for posts.
    pub(super) folders: HashSet<PathBuf>,
}

/// Walks everything below `root`.
pub(super) fn walk(root: &Path, options: &WalkOptions) -> Walked {
    let mut found = Found { walked: Walked::default(), links: Vec::new(), folders: HashSet::new() };
    let folder = Folder {
        path: String::new(),
        on_disk: root.to_owned(),
        level: 0,
        in_drafts: false,
        skip: None,
        ignored: Arc::default(),
    };
    walk_folder(folder, &mut found);
    if options.follow_links {
        links::follow(root, &mut found);
    } else {
        links::skip(&mut found);
    }
    found.walked
}

/// Walks one folder and all below it, with a stack of its own: its depth is bounded all the same, by
/// [`FOLDER_LEVELS_MAX`].
pub(super) fn walk_folder(folder: Folder, found: &mut Found) {
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        if let Err(problem) = read_folder(&folder, &mut waiting, found) {
            // What is skipped as a whole is nobody's concern when it cannot be read.
            if folder.skip.is_none() {
                found.walked.problems.push(*problem);
            }
        }
    }
}

fn read_folder(folder: &Folder, waiting: &mut Vec<Folder>, found: &mut Found) -> Result<(), Box<Diagnostic>> {
    if folder.level > FOLDER_LEVELS_MAX {
        let message = format!("the folder lies more than {FOLDER_LEVELS_MAX} folders deep");
        return Err(Box::new(
            Diagnostic::error("folder-depth", message)
                .in_file(&folder.path)
                .help("move its files up, or exclude it in .idempostignore"),
        ));
    }
    let mut entries = Vec::new();
    let unreadable = |error: &std::io::Error| {
        Box::new(
            Diagnostic::error("folder-unreadable", format!("the folder cannot be read: {error}"))
                .in_file(&folder.path)
                .help("check its permissions, or exclude it in .idempostignore"),
        )
    };
    for entry in std::fs::read_dir(&folder.on_disk).map_err(|error| unreadable(&error))? {
        entries.push(entry.map_err(|error| unreadable(&error))?);
    }
    let mut folder = folder.clone();
    if folder.skip.is_none() {
        let (ignored, problems) = Ignored::enter(&folder.ignored, &folder.on_disk);
        folder.ignored = ignored;
        found.folders.insert(PathBuf::from(&folder.path));
        for (name, error) in problems {
            let message = format!("the ignore file cannot be read: {error}");
            let problem = Diagnostic::error("file-unreadable", message)
                .in_file(&below(&folder.path, name))
                .help("check its permissions: without it nobody knows which files are posts");
            found.walked.problems.push(problem);
        }
    }
    for entry in entries {
        let name = entry.file_name();
        let path = below(&folder.path, &name.to_string_lossy());
        match entry.file_type() {
            Ok(kind) => sort_entry(&folder, path, name.to_str(), entry.path(), kind, waiting, found),
            Err(error) if folder.skip.is_none() => found.walked.problems.push(
                Diagnostic::error("file-unreadable", format!("it cannot be looked at: {error}"))
                    .in_file(&path),
            ),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Puts one entry of a folder where it belongs. `name` is `None` where it is not UTF-8.
fn sort_entry(
    folder: &Folder,
    path: String,
    name: Option<&str>,
    on_disk: PathBuf,
    kind: FileType,
    waiting: &mut Vec<Folder>,
    found: &mut Found,
) {
    let last = path.rsplit('/').next().unwrap_or(&path).to_owned();
    if kind.is_dir() {
        let skip = folder.skip_below(names::skipped_folder(&last), &on_disk, true);
        match name {
            None if skip.is_none() => found.walked.problems.push(not_utf8(&path, "folder")),
            _ => waiting.push(folder.child(path, &last, on_disk, skip)),
        }
        return;
    }
    let skip = folder.skip_below(names::skipped_file(&last), &on_disk, false);
    if kind.is_symlink() {
        let link = Link { folder: folder.clone(), path, name: last, on_disk };
        match skip {
            Some(reason) if is_counted(&link.name) => found.skip(link.path, reason),
            Some(_) => {}
            None => found.links.push(link),
        }
        return;
    }
    match skip {
        Some(reason) if is_counted(&last) => found.skip(path, reason),
        None if has_post_extension(&last) => match name {
            None => found.walked.problems.push(not_utf8(&path, "file")),
            Some(_) if !kind.is_file() => found.walked.problems.push(
                Diagnostic::error("file-unreadable", "it is a pipe, a socket or a device, and no file")
                    .in_file(&path)
                    .help("remove it, or exclude it in .idempostignore"),
            ),
            Some(_) => found.take(path, on_disk, folder.in_drafts),
        },
        _ => {}
    }
}

impl Folder {
    /// Why an entry is skipped: for its folder's reason, by its own name, or by an ignore file.
    pub(super) fn skip_below(&self, by_name: Option<Skip>, on_disk: &Path, is_folder: bool) -> Option<Skip> {
        self.skip.or(by_name).or_else(|| self.ignored.excludes(on_disk, is_folder).then_some(Skip::Ignored))
    }

    pub(super) fn child(&self, path: String, name: &str, on_disk: PathBuf, skip: Option<Skip>) -> Folder {
        Folder {
            path,
            on_disk,
            level: self.level + 1,
            in_drafts: self.in_drafts || name == names::DRAFTS,
            skip,
            ignored: Arc::clone(&self.ignored),
        }
    }
}

impl Found {
    pub(super) fn skip(&mut self, file: String, reason: Skip) {
        self.walked.skipped.push(Skipped { file, reason });
    }

    pub(super) fn take(&mut self, path: String, on_disk: PathBuf, in_drafts: bool) {
        self.walked.files.push(SourceFile { path, on_disk, in_drafts });
    }
}

fn not_utf8(path: &str, what: &str) -> Diagnostic {
    Diagnostic::error("file-name-utf8", format!("the name of the {what} is not UTF-8"))
        .in_file(path)
        .help("rename it: the slug and the id are made from the name's text")
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
