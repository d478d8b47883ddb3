//! Symbolic links: named as skipped, or followed as far as the root reaches.
//!
//! Where they are followed, the tree without links is walked first, so that a file keeps the path at
//! which it really lies; links are then taken in order of their paths. What was reached before is not
//! reached again, which also cuts loops.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::names::{has_post_extension, skipped_folder};
use super::tree::{Folder, Found, walk_folder};
use crate::post::Skip;

/// A symbolic link that neither its name nor an ignore file excludes.
pub(super) struct Link {
    pub(super) folder: Folder,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) on_disk: PathBuf,
}

/// Names every link that would lead to a post or to a folder.
pub(super) fn skip(found: &mut Found) {
    for link in std::mem::take(&mut found.links) {
        if link.could_lead_to_posts() {
            found.skip(link.path, Skip::Link);
        }
    }
}

/// Follows links inside the root.
pub(super) fn follow(root: &Path, found: &mut Found) {
    let Ok(root) = root.canonicalize() else {
        return skip(found);
    };
    let mut files: HashSet<PathBuf> =
        found.walked.files.iter().filter_map(|file| file.on_disk.canonicalize().ok()).collect();
    // Where the links led to, beside the folders that were walked without links.
    let mut folders: HashSet<PathBuf> = HashSet::new();
    while !found.links.is_empty() {
        let mut links = std::mem::take(&mut found.links);
        links.sort_by(|one, other| one.path.cmp(&other.path));
        for link in links {
            follow_one(&root, link, &mut files, &mut folders, found);
        }
    }
}

fn follow_one(
    root: &Path,
    link: Link,
    files: &mut HashSet<PathBuf>,
    folders: &mut HashSet<PathBuf>,
    found: &mut Found,
) {
    let target = link.on_disk.canonicalize().ok().filter(|target| target.starts_with(root));
    let Some(target) = target else {
        if link.could_lead_to_posts() {
            found.skip(link.path, Skip::Link);
        }
        return;
    };
    if target.is_dir() {
        // A folder above the link holds the link: following it would never end.
        let holds_itself = link.on_disk.parent().and_then(|parent| parent.canonicalize().ok());
        let is_loop = holds_itself.is_some_and(|parent| parent.starts_with(&target));
        let is_walked = target.strip_prefix(root).is_ok_and(|path| found.folders.contains(path));
        if is_loop || is_walked || !folders.insert(target) {
            found.skip(link.path, Skip::Link);
            return;
        }
        let skip = link.folder.skip_below(skipped_folder(&link.name), &link.on_disk, true);
        let first_file = found.walked.files.len();
        walk_folder(link.folder.child(link.path, &link.name, link.on_disk, skip), found);
        drop_repeated(first_file, files, found);
    } else if has_post_extension(&link.name) {
        if target.is_file() && files.insert(target) {
            found.take(link.path, link.on_disk, link.folder.in_drafts);
        } else {
            found.skip(link.path, Skip::Link);
        }
    }
}

/// Skips the files from the place `first` on that were reached before by another path.
fn drop_repeated(first: usize, files: &mut HashSet<PathBuf>, found: &mut Found) {
    let mut reached = found.walked.files.split_off(first);
    reached.sort_by(|one, other| one.path.cmp(&other.path));
    for file in reached {
        match file.on_disk.canonicalize() {
            Ok(real) if files.contains(&real) => found.skip(file.path, Skip::Link),
            real => {
                files.extend(real);
                found.walked.files.push(file);
            }
        }
    }
}

impl Link {
    fn could_lead_to_posts(&self) -> bool {
        has_post_extension(&self.name) || self.on_disk.is_dir()
    }
}
