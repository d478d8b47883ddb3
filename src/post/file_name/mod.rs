//! What the path of a file tells of its post: stem, day, language, folder.
//!
//! Begin at [`read`]. The path is taken as it is: nothing is percent-decoded, and nothing in it is a
//! language unless it is configured. Each fact comes with the rule that found it. [`literal_path`] reads
//! the front matter's `path`, `url` or `permalink` in the same spirit.

mod day;
mod language;
mod literal;

use unicode_normalization::UnicodeNormalization;

use super::Rules;
use super::lang::Lang;
use super::preset::Preset;
use crate::diagnostic::Diagnostic;
pub use day::NameDay;
pub use literal::{LiteralPath, literal_path};

/// What a path tells.
#[derive(Debug, Clone, Default)]
pub struct FileName {
    /// The name without extension, language suffix and day (or the folder's, for `index.md`), as it is
    /// spelled; none where nothing is left, which is an error unless front matter gives a slug.
    pub stem: Option<String>,
    /// What `from.slug` says of the stem: `file name` or `folder name`.
    pub stem_rule: &'static str,
    /// Why there is no stem; an error to show where front matter gives no slug.
    pub no_stem: Option<Box<Diagnostic>>,
    /// The day in the path.
    pub day: Option<NameDay>,
    /// The languages in the path, the one that goes first in front; each with its rule (`suffix .ko of
    /// the file name`, `folder ko/`).
    pub langs: Vec<(Lang, String)>,
    /// Folders below the root without languages, `_posts` and `_drafts`, joined by `/`; for `index.md`
    /// without the folder that is the stem.
    pub dir: String,
    /// Path in NFC without language parts, extension and `index`: groups translations without a key.
    pub translation_path: String,
    /// A day that the calendar does not have.
    pub problems: Vec<Diagnostic>,
}

/// Reads the path of a file (below the content root, with `/`).
pub fn read(path: &str, rules: &Rules) -> FileName {
    let (folders, name) = match path.rsplit_once('/') {
        Some((folders, name)) => (folders.split('/').collect(), name),
        None => (Vec::new(), path),
    };
    let (folders, folder_lang) = language::of_folders(&folders, rules);
    let base = name.rsplit_once('.').map_or(name, |(base, _)| if base.is_empty() { name } else { base });
    let (base, suffix_lang) = language::of_stem(base, rules);
    let langs = suffix_lang.into_iter().chain(folder_lang).collect();
    let folders = site_folders(folders, rules.preset);

    // An index stands for its folder; at the root it has none and stands for itself.
    let is_index = base.eq_ignore_ascii_case("index") && !folders.is_empty();
    let (dir, stem, stem_rule) = match folders.split_last() {
        Some((bundle, above)) if is_index => (above.to_vec(), *bundle, "folder name"),
        _ => (folders, base, "file name"),
    };
    let translation_path: String =
        dir.iter().chain([&stem]).copied().collect::<Vec<_>>().join("/").nfc().collect();
    let found = day::find(&dir, stem, stem_rule, rules.preset);
    FileName {
        stem: found.stem,
        stem_rule,
        no_stem: found.no_stem,
        day: found.day,
        langs,
        dir: dir.join("/"),
        translation_path,
        problems: found.problems,
    }
}

/// Folders that are part of a post's place on the website: Jekyll's `_posts` and `_drafts` are not, and
/// Docusaurus' plugin folders stand for the folders of the default language.
fn site_folders(folders: Vec<&str>, preset: Preset) -> Vec<&str> {
    let folders: Vec<&str> =
        folders.into_iter().filter(|folder| !matches!(*folder, "_posts" | "_drafts")).collect();
    if preset != Preset::Docusaurus {
        return folders;
    }
    match folders.split_first() {
        Some((&("blog" | "docusaurus-plugin-content-blog"), rest)) => rest.to_vec(),
        Some((&"docusaurus-plugin-content-docs", rest)) => {
            let version = usize::from(rest.first() == Some(&"current"));
            std::iter::once("docs").chain(rest.iter().skip(version).copied()).collect()
        }
        _ => folders,
    }
}

#[cfg(test)]
mod tests;
