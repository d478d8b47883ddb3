//! What a name alone tells: a post's extension, and names that are never posts.

use crate::post::Skip;

/// Extensions of posts, in any case.
const POST_EXTENSIONS: [&str; 3] = ["md", "markdown", "mdx"];

/// Endings of what editors and merges leave behind.
const BACKUP_ENDINGS: [&str; 5] = ["~", ".bak", ".bck", ".swp", ".tmp"];

/// First characters of names that are set aside by their author.
const ASIDE: [char; 3] = ['_', '#', '~'];

/// Jekyll's folders, which begin with `_` and are walked.
const WALKED: [&str; 2] = ["_posts", "_drafts"];

/// Stems of files about a folder and not in its series of posts, in any case.
const ABOUT: [(&str, Skip); 3] =
    [("readme", Skip::Readme), ("license", Skip::License), ("licence", Skip::License)];

/// The folder whose files are drafts.
pub(super) const DRAFTS: &str = "_drafts";

/// Whether a name has a post's extension (`.md`, `.markdown`, `.mdx`, in any case).
pub fn has_post_extension(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    POST_EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

/// Whether a name is accounted for: it has a post's extension, or had one before an editor made a
/// backup of the post (`a.md~`, `#a.md#`, `a.md.bak`).
pub(super) fn is_counted(name: &str) -> bool {
    let bare = name.trim_start_matches(['#', '~']).trim_end_matches(['#', '~']);
    let bare = BACKUP_ENDINGS.iter().find_map(|ending| bare.strip_suffix(ending)).unwrap_or(bare);
    has_post_extension(name) || has_post_extension(bare)
}

/// Why a path (below the root, with `/`) is skipped by its name alone, if it is. `explain` uses it.
/// The last part is a file's, the others are folders'. A file without a post's extension is
/// [`Skip::NotAPost`], unless its name or a folder's says more.
pub fn skipped_by_name(path: &str) -> Option<Skip> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let above = folders.split('/').filter(|folder| !folder.is_empty()).find_map(skipped_folder);
    above.or_else(|| skipped_file(name)).or_else(|| (!has_post_extension(name)).then_some(Skip::NotAPost))
}

/// Why a folder is not walked for posts, by its name.
pub(super) fn skipped_folder(name: &str) -> Option<Skip> {
    if WALKED.contains(&name) {
        return None;
    }
    if name == "node_modules" {
        return Some(Skip::NodeModules);
    }
    skipped_any(name)
}

/// Why a file is no post, by its name; its extension is not looked at.
pub(super) fn skipped_file(name: &str) -> Option<Skip> {
    if name.starts_with("_index") {
        return Some(Skip::Section);
    }
    let stem = name.split('.').next().unwrap_or(name);
    let about = ABOUT.iter().find(|(known, _)| known.eq_ignore_ascii_case(stem)).map(|(_, skip)| *skip);
    skipped_any(name).or(about)
}

fn skipped_any(name: &str) -> Option<Skip> {
    if name.starts_with('.') {
        return Some(Skip::Hidden);
    }
    let lower = name.to_ascii_lowercase();
    let aside = name.starts_with(ASIDE) || BACKUP_ENDINGS.iter().any(|ending| lower.ends_with(ending));
    aside.then_some(Skip::Backup)
}
