//! Which post a link means, and why it means none.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::super::Catalog;
use crate::diagnostic::nearest;
use crate::post::lang::Lang;
use crate::post::links::{Reference, folder_of, resolve};
use crate::post::{Post, Skip};

/// Extensions of posts.
const POST_EXTENSIONS: [&str; 3] = ["md", "markdown", "mdx"];
/// Posts of one folder among which the nearest spelling is looked for.
const NEIGHBOURS_MAX: usize = 1_000;

/// Everything that a link may name, by path. Paths are compared in NFC: the name on disk and the name in
/// a link are often typed on different systems.
pub(super) struct Targets<'a> {
    posts: &'a [Post],
    by_path: HashMap<Cow<'a, str>, usize>,
    /// By path without extension, `index` and language suffix; several where they are translations.
    by_name: HashMap<Cow<'a, str>, Vec<usize>>,
    /// What is no post, and why.
    others: HashMap<Cow<'a, str>, &'static str>,
    /// By lower-case file name alone, for suggestions: the first of that name.
    by_file_name: HashMap<String, usize>,
    /// Path to place, in order, for suggestions.
    in_order: BTreeMap<&'a str, usize>,
}

impl<'a> Targets<'a> {
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let mut targets = Targets {
            posts: &catalog.posts,
            by_path: HashMap::new(),
            by_name: HashMap::new(),
            others: HashMap::new(),
            by_file_name: HashMap::new(),
            in_order: catalog.by_path(),
        };
        for (at, post) in catalog.posts.iter().enumerate() {
            let path = nfc(&post.file);
            let name = name_of(&path).to_owned();
            if let Some(bare) = without_lang(&name, &post.lang) {
                targets.by_name.entry(Cow::Owned(bare)).or_default().push(at);
            }
            targets.by_name.entry(Cow::Owned(name)).or_default().push(at);
            targets.by_file_name.entry(file_name(&path).to_lowercase()).or_insert(at);
            targets.by_path.insert(path, at);
        }
        let held = catalog.held.iter().map(|(skip, post)| (post.file.as_str(), reason(*skip)));
        let skipped = catalog.skipped.iter().map(|skipped| (skipped.file.as_str(), reason(skipped.reason)));
        let invalid = catalog.invalid.iter().map(|file| (file.as_str(), "has errors"));
        for (file, why) in held.chain(skipped).chain(invalid) {
            let path = nfc(file);
            targets.others.entry(Cow::Owned(name_of(&path).to_owned())).or_insert(why);
            targets.others.entry(path).or_insert(why);
        }
        targets
    }

    /// The post that a link of `from` names: the file itself; else the post of that name, in the same
    /// language if there is one; else, for a link without extension, what a browser would find from
    /// the post's own address.
    pub(super) fn post(&self, reference: &Reference, from: &Post) -> Option<usize> {
        if reference.image || reference.is_machine_path() {
            return None;
        }
        let named = reference.target.as_deref().and_then(|target| self.named(target, &from.lang));
        named.or_else(|| self.named(&seen_from_address(reference, from)?, &from.lang))
    }

    fn named(&self, target: &str, lang: &Lang) -> Option<usize> {
        let target = nfc(target);
        if let Some(at) = self.by_path.get(&target) {
            return Some(*at);
        }
        let candidates = self.by_name.get(name_of(&target))?;
        let same_lang = |at: &&usize| self.posts.get(**at).is_some_and(|post| post.lang == *lang);
        candidates.iter().find(same_lang).or_else(|| candidates.first()).copied()
    }

    /// Why a target is no post, if it lies in the tree.
    pub(super) fn why_not(&self, reference: &Reference, from: &Post) -> Option<&'static str> {
        let why = |target: &str| {
            let target = nfc(target);
            self.others.get(&target).or_else(|| self.others.get(name_of(&target))).copied()
        };
        let first = reference.target.as_deref().and_then(why);
        first.or_else(|| why(&seen_from_address(reference, from)?))
    }

    /// A post that a broken link may have meant: one of the same file name elsewhere, else the nearest
    /// spelling in the target's folder. Its path from the folder of `from`.
    pub(super) fn nearest(&self, target: &str, from: &Post) -> Option<String> {
        let target = nfc(target);
        let wanted = if has_post_extension(&target) { target.to_string() } else { format!("{target}.md") };
        let elsewhere = self.by_file_name.get(&file_name(&wanted).to_lowercase());
        let found = match elsewhere.and_then(|at| self.posts.get(*at)) {
            // `index.md` is everywhere and says nothing.
            Some(post) if !file_name(&wanted).starts_with("index.") => post.file.as_str(),
            _ => {
                let folder = folder_of(&wanted);
                let near = self.in_order.range(folder..).map(|(path, _)| *path).take(NEIGHBOURS_MAX);
                nearest(&wanted, near.take_while(|path| path.starts_with(folder)))?
            }
        };
        Some(relative(folder_of(&from.file), found))
    }
}

fn reason(skip: Skip) -> &'static str {
    match skip {
        Skip::Draft => "is a draft",
        Skip::Future => "is not published yet",
        Skip::Undated => "has no date and is no post",
        Skip::NoFrontMatter => "has no front matter and is no post",
        Skip::Empty => "is empty and no post",
        Skip::Section => "is a section, not a post",
        _ => "is skipped and no post",
    }
}

/// The paths that a link of `from` may mean, as [`Targets::post`] looks for them.
pub(super) fn names_of_target(reference: &Reference, from: &Post) -> Vec<String> {
    let seen = if reference.image { None } else { seen_from_address(reference, from) };
    reference.target.iter().cloned().chain(seen).collect()
}

/// `../other/` in `posts/a.md` is often written as seen from the address `/posts/a/`. Only for links
/// without a post's extension, and not for `index` files, whose address is their folder's.
fn seen_from_address(reference: &Reference, from: &Post) -> Option<String> {
    let path = nfc(&from.file);
    let name = name_of(&path);
    let is_index = name == folder_of(&path);
    if is_index || has_post_extension(&reference.written) || reference.written.starts_with("@/") {
        return None;
    }
    let bare = without_lang(name, &from.lang);
    resolve(&reference.written, bare.as_deref().unwrap_or(name))
}

pub(super) fn nfc(path: &str) -> Cow<'_, str> {
    if is_nfc_quick(path.chars()) == IsNormalized::Yes {
        Cow::Borrowed(path)
    } else {
        Cow::Owned(path.nfc().collect())
    }
}

pub(super) fn has_post_extension(path: &str) -> bool {
    extension(path).is_some_and(|ext| POST_EXTENSIONS.iter().any(|post| ext.eq_ignore_ascii_case(post)))
}

/// What follows the last dot of the file name, if there is something on both sides of it.
pub(super) fn extension(path: &str) -> Option<&str> {
    let (stem, ext) = file_name(path).rsplit_once('.')?;
    (!stem.is_empty() && !ext.is_empty()).then_some(ext)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path without a post's extension, and without `index`: the folder of a bundle names the post.
pub(super) fn name_of(path: &str) -> &str {
    let stem = match path.rsplit_once('.') {
        Some((stem, _)) if has_post_extension(path) => stem,
        _ => path,
    };
    match stem.rsplit_once('/') {
        Some((folder, "index")) => folder,
        None if stem == "index" => "",
        _ => stem,
    }
}

/// A name without the suffix that is the post's language (`guide.ko`, `guide/index.zh_cn`).
fn without_lang(name: &str, lang: &Lang) -> Option<String> {
    let (stem, suffix) = name.rsplit_once('.')?;
    if !suffix.replace('_', "-").eq_ignore_ascii_case(lang.as_str()) {
        return None;
    }
    Some(match stem.rsplit_once('/') {
        Some((folder, "index")) => folder.to_owned(),
        None if stem == "index" => String::new(),
        _ => stem.to_owned(),
    })
}

/// The path `to` as it is written in a file in `folder`.
fn relative(folder: &str, to: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = to.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = vec![".."; from.len() - shared];
    up.into_iter().chain(to.into_iter().skip(shared)).collect::<Vec<&str>>().join("/")
}
