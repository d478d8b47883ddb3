//! Looks at a tree: whose it is, and what of it looks like a language.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalog::clash::seems_language;
use crate::post::preset::Preset;
use crate::source::{self, WalkOptions};

/// What was found.
pub(super) struct Found {
    /// The content root, with `/`.
    pub(super) content: String,
    /// A site generator, and the file that gave it away.
    pub(super) preset: Option<(Preset, &'static str)>,
    /// Languages.
    pub(super) langs: LangsFound,
    /// The language of most files, where languages are clear and English, the default, is not among them.
    pub(super) default_lang: Option<String>,
}

/// What looks like languages.
pub(super) enum LangsFound {
    /// Nothing.
    None,
    /// One folder, and nothing else that says so.
    Doubtful(String),
    /// These, in order.
    Clear(Vec<String>),
}

/// Files that only one generator has.
const MARKS: [(Preset, &str); 18] = [
    (Preset::Hugo, "hugo.toml"),
    (Preset::Hugo, "hugo.yaml"),
    (Preset::Hugo, "hugo.json"),
    (Preset::Hugo, "archetypes"),
    (Preset::Hugo, "config/_default/hugo.toml"),
    (Preset::Hugo, "config/_default/config.toml"),
    (Preset::Jekyll, "_config.yml"),
    (Preset::Jekyll, "_config.yaml"),
    (Preset::Astro, "astro.config.mjs"),
    (Preset::Astro, "astro.config.ts"),
    (Preset::Astro, "astro.config.js"),
    (Preset::Docusaurus, "docusaurus.config.js"),
    (Preset::Docusaurus, "docusaurus.config.ts"),
    (Preset::Eleventy, ".eleventy.js"),
    (Preset::Eleventy, "eleventy.config.js"),
    (Preset::Eleventy, "eleventy.config.mjs"),
    (Preset::Eleventy, "eleventy.config.cjs"),
    (Preset::Zola, "zola.toml"),
];

/// Folders in which posts are looked for, the most likely first.
const ROOTS: [&str; 8] = [
    "content",
    "_posts",
    "src/content/blog",
    "src/content/posts",
    "src/content",
    "posts",
    "blog",
    "src/posts",
];

/// The file that Zola and older Hugo share, and the key that only one of them has in it.
const SHARED_MARK: &str = "config.toml";
const SHARED_KEYS: [(Preset, &str); 2] = [(Preset::Zola, "base_url"), (Preset::Hugo, "baseurl")];

/// Looks at `folder`; the content root is the one that was named, else the first likely one.
pub(super) fn at(folder: &Path, content: Option<&Path>) -> Found {
    let content = match content {
        Some(path) => path.to_string_lossy().replace('\\', "/"),
        None => ROOTS
            .into_iter()
            .find(|root| folder.join(root).is_dir())
            .unwrap_or(crate::config::paths::DEFAULT_CONTENT)
            .to_owned(),
    };
    let preset =
        MARKS.into_iter().find(|(_, mark)| folder.join(mark).exists()).or_else(|| by_shared_file(folder));
    // A root that cannot be walked has nothing to find; `check` will say what is wrong with it.
    let files: Vec<String> = source::walk(&folder.join(&content), &WalkOptions::default())
        .map(|walked| walked.files.into_iter().map(|file| file.path).collect())
        .unwrap_or_default();
    let counts = languages(&files);
    let default_lang = counts
        .iter()
        .filter(|_| counts.len() > 1 && !counts.contains_key("en"))
        // Of equally many the first by name, so that the same tree gives the same file.
        .max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))
        .map(|(lang, _)| lang.clone());
    let names: Vec<String> = counts.into_keys().collect();
    let langs = match names.as_slice() {
        [] => LangsFound::None,
        [only] => LangsFound::Doubtful(only.clone()),
        _ => LangsFound::Clear(names),
    };
    Found { content, preset, langs, default_lang }
}

/// Zola or Hugo, by what their file says.
fn by_shared_file(folder: &Path) -> Option<(Preset, &'static str)> {
    let text = std::fs::read_to_string(folder.join(SHARED_MARK)).ok()?;
    let keys: toml::Table = text.parse().ok()?;
    let has = |wanted: &str| keys.keys().any(|key| key.eq_ignore_ascii_case(wanted));
    SHARED_KEYS.into_iter().find(|(_, key)| has(key)).map(|(preset, _)| (preset, SHARED_MARK))
}

/// Languages with the number of their files. A suffix counts where another file differs from it by the
/// suffix alone: `v2.is.md` by itself is not Icelandic.
fn languages(files: &[String]) -> BTreeMap<String, usize> {
    let mut without_suffix: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *without_suffix.entry(base(file).0).or_default() += 1;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let (base, suffix) = base(file);
        let mut folders = file.split('/');
        let first = folders.next().filter(|first| *first != file);
        let folder = if first == Some("i18n") { folders.next() } else { first };
        let by_suffix = suffix
            .filter(|_| without_suffix.get(base).is_some_and(|number| *number > 1))
            .and_then(seems_language);
        let lang = by_suffix.or_else(|| folder.and_then(seems_language));
        if let Some(lang) = lang {
            *counts.entry(lang.as_str().to_owned()).or_default() += 1;
        }
    }
    counts
}

/// A file's path without its extension and what may be a language, and that.
fn base(file: &str) -> (&str, Option<&str>) {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    match stem.rsplit_once('.') {
        Some((base, suffix)) if !suffix.contains('/') && seems_language(suffix).is_some() => {
            (base, Some(suffix))
        }
        _ => (stem, None),
    }
}
