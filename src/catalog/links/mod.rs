//! References of all posts resolved against the whole content root: URLs of other posts, assets,
//! and what is broken.
//!
//! Pure: what lies in the content root beside posts comes in as [`AssetFacts`]. Begin at [`resolve`]:
//! assets first, since a post with a missing one may have to go; then links, since a link to a post that
//! went is broken.

mod problems;
mod targets;
mod touched;
mod url;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use unicode_normalization::UnicodeNormalization;

use super::{Catalog, Skipped};
use crate::diagnostic::Diagnostic;
use crate::identity::{AssetsHash, LinksHash};
use crate::post::links::{Asset, Reference, front_matter_reference, resolve as resolve_path};
use crate::post::media::Media;
use crate::post::{Post, Rules, Skip};
use problems::Problems;
use targets::{Targets, extension, has_post_extension};
pub use touched::touched;
pub use url::post_url;

/// A file beside the posts, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetFact {
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
    /// What it is by its bytes.
    pub media: Media,
}

/// Why there is no [`AssetFact`] of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAsset {
    /// There is nothing, or no regular file.
    Absent,
    /// It is there and cannot be read.
    Unreadable,
    /// A symbolic link leads out of the content root. What lies there is never looked at.
    Outside,
    /// More bytes than are stored as one asset.
    TooLarge,
}

/// Path below the content root (with `/`) to what lies there. A path that is not in the map is
/// [`NoAsset::Absent`].
pub type AssetFacts = BTreeMap<String, Result<AssetFact, NoAsset>>;

/// What is missing: how it is told (`[assets] missing`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingAsset {
    /// An error of the post (`fail`). Where no asset store is configured there is nothing that could
    /// fail to be stored: then it is told as a broken link is.
    #[default]
    Fail,
    /// The post is left out with a warning (`skip-post`).
    SkipPost,
    /// The asset is left out with a warning (`skip-asset`).
    SkipAsset,
}

/// How links and assets are told and resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkPolicy {
    /// A broken internal link is an error instead of a warning.
    pub strict_links: bool,
    /// What a missing asset is.
    pub missing: MissingAsset,
    /// Where promoted assets are found (`[assets] public_url`); `None`: no asset store is configured,
    /// the reference stays as written and the asset has no URL.
    pub public_url: Option<String>,
}

/// The resolved references of one post.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PostLinks {
    /// Destination exactly as written in the markdown to what stands in `html`; the post's `cover` is
    /// among them where it is a stored asset.
    pub replace: BTreeMap<String, String>,
    /// Assets in order of path, each once.
    pub assets: Vec<Asset>,
    /// Digest of the assets, if there are any.
    pub assets_hash: Option<AssetsHash>,
    /// Digest of (written, URL) of the internal links, if there are any.
    pub links_hash: Option<LinksHash>,
}

/// Paths of the files beside posts that the catalog's posts refer to, sorted, each once: what the
/// caller reads to make [`AssetFacts`]. A path is named in both normalisation forms where they differ,
/// since the file may have either. Never names a post's own kind of file or one with a hidden part:
/// those are not published by being linked to.
pub fn assets_wanted(catalog: &Catalog) -> Vec<String> {
    let targets = Targets::of(catalog);
    let wanted: BTreeSet<String> = catalog
        .posts
        .par_iter()
        .flat_map_iter(|post| {
            let in_body = post.references();
            let links = in_body.iter().filter(|reference| targets.post(reference, post).is_none());
            let paths = links.filter_map(|reference| reference.target.clone()).chain(cover_paths(post));
            paths.filter(|path| may_be_asset(path)).flat_map(|path| spellings(&path)).collect::<Vec<String>>()
        })
        .collect();
    wanted.into_iter().collect()
}

/// Resolves all references. Posts that cannot stay (missing asset under `Fail`, strict links) are
/// moved to `invalid` (or `skipped`) with their diagnostics; the result has one entry for each post
/// that is left, in their order.
pub fn resolve(
    catalog: &mut Catalog,
    facts: &AssetFacts,
    rules: &Rules,
    policy: &LinkPolicy,
) -> Vec<Arc<PostLinks>> {
    // Most posts refer to nothing: they share one.
    let nothing = Arc::new(PostLinks::default());
    let resolved = resolve_all(catalog, facts, rules, policy);
    let mut kept = Vec::with_capacity(resolved.len());
    let mut links = Vec::with_capacity(resolved.len());
    for (post, resolved) in std::mem::take(&mut catalog.posts).into_iter().zip(resolved) {
        match resolved.fate {
            Fate::Stays => {
                kept.push(post);
                links.push(if resolved.links == *nothing {
                    Arc::clone(&nothing)
                } else {
                    Arc::new(resolved.links)
                });
            }
            Fate::Invalid => catalog.invalid.push(post.file),
            Fate::Skipped => catalog.skipped.push(Skipped { file: post.file, reason: Skip::MissingAsset }),
        }
        catalog.diagnostics.extend(resolved.diagnostics);
    }
    catalog.posts = kept;
    catalog.invalid.sort();
    catalog.skipped.sort_by(|a, b| a.file.cmp(&b.file));
    if catalog.diagnostics.iter().all(|found| !is_unlocated(found)) {
        sort_by_place(&mut catalog.diagnostics);
    }
    links
}

/// A problem whose place is known in bytes and not yet as a line.
fn is_unlocated(found: &Diagnostic) -> bool {
    found.span.is_some() && found.line.is_none()
}

fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
}

/// Finds the lines of the problems of posts whose bodies were put aside, and puts all problems in order.
/// `text` gives the normalised source of a file; where it has none, a problem stays without its line.
pub fn locate(catalog: &mut Catalog, text: impl Fn(&str) -> Option<String> + Sync) {
    if !catalog.diagnostics.iter().any(is_unlocated) {
        return;
    }
    let mut by_file: BTreeMap<String, Vec<&mut Diagnostic>> = BTreeMap::new();
    for found in catalog.diagnostics.iter_mut().filter(|found| is_unlocated(found)) {
        by_file.entry(found.file.clone()).or_default().push(found);
    }
    by_file.into_par_iter().for_each(|(file, mut problems)| {
        if let Some(text) = text(&file) {
            for found in &mut problems {
                found.locate(&text);
            }
        }
    });
    sort_by_place(&mut catalog.diagnostics);
}

/// What becomes of a post through its references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Skipped,
    Invalid,
}

struct Resolved {
    fate: Fate,
    links: PostLinks,
    diagnostics: Vec<Diagnostic>,
}

fn resolve_all(catalog: &Catalog, facts: &AssetFacts, rules: &Rules, policy: &LinkPolicy) -> Vec<Resolved> {
    let targets = Targets::of(catalog);
    let found: Vec<Found> =
        catalog.posts.par_iter().map(|post| Found::of(post, &targets, facts, policy)).collect();
    let fates = fates(&found, policy);
    let urls: Vec<String> =
        catalog.posts.par_iter().map(|post| post_url(&rules.url_pattern, post, rules)).collect();
    let one = |at: usize| -> Option<Resolved> {
        let (post, found, fate) = (catalog.posts.get(at)?, found.get(at)?, fates.get(at)?);
        Some(found.settle(post, &targets, &fates, &urls, *fate))
    };
    (0..catalog.posts.len()).into_par_iter().filter_map(one).collect()
}

/// Which posts stay. A post whose link is broken goes under strict links, and takes with it the posts
/// that link to it; each round removes one or is the last.
fn fates(found: &[Found], policy: &LinkPolicy) -> Vec<Fate> {
    let mut fates: Vec<Fate> = found.iter().map(|found| found.fate).collect();
    let mut linked_from: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    if policy.strict_links {
        for (from, found) in found.iter().enumerate() {
            for (_, to) in &found.links {
                linked_from.entry(*to).or_default().push(from);
            }
        }
    }
    let mut gone: Vec<usize> = (0..fates.len()).filter(|at| fates.get(*at) != Some(&Fate::Stays)).collect();
    while let Some(to) = gone.pop() {
        for from in linked_from.remove(&to).unwrap_or_default() {
            if let Some(fate @ Fate::Stays) = fates.get_mut(from) {
                *fate = Fate::Invalid;
                gone.push(from);
            }
        }
    }
    fates
}

/// What the references of one post name, as far as that is known without the other posts' fates.
struct Found {
    /// Reference and place of the post.
    links: Vec<(Reference, usize)>,
    /// Destination as written, query and fragment, path of the asset.
    assets: Vec<(String, String, Asset)>,
    problems: Problems,
    fate: Fate,
}

impl Found {
    fn of(post: &Post, targets: &Targets<'_>, facts: &AssetFacts, policy: &LinkPolicy) -> Self {
        let mut found = Found {
            links: Vec::new(),
            assets: Vec::new(),
            problems: Problems::new(policy.strict_links),
            fate: Fate::Stays,
        };
        for reference in post.references().iter() {
            if let Some(at) = targets.post(reference, post) {
                found.links.push((reference.clone(), at));
                continue;
            }
            match reference.target.as_deref().map(|path| fact(facts, path)) {
                Some(Ok((path, fact))) => {
                    let place = Some(reference.span.clone());
                    found.asset(post, place, reference, asset(path, fact, policy), fact);
                }
                Some(Err(why)) => found.tell_unresolved(reference, post, targets, why, policy),
                None => found.tell_unresolved(reference, post, targets, NoAsset::Absent, policy),
            }
        }
        found.cover(post, facts, policy);
        if found.fate == Fate::Stays && found.problems.has_errors() {
            found.fate = Fate::Invalid;
        }
        found
    }

    fn tell_unresolved(
        &mut self,
        reference: &Reference,
        post: &Post,
        targets: &Targets<'_>,
        why: NoAsset,
        policy: &LinkPolicy,
    ) {
        let place = Some(reference.span.clone());
        let Some(target) = &reference.target else {
            if reference.is_machine_path() {
                self.problems.machine_path(post, place, &reference.written);
            } else {
                let is_asset = reference.image || looks_like_asset(&reference.written);
                let is_error = is_asset && self.without_asset(policy);
                self.problems.outside_root(post, place, &reference.written, is_error);
            }
            return;
        };
        let is_there = why != NoAsset::Absent;
        if may_be_asset(target) && (reference.image || looks_like_asset(target) || is_there) {
            self.missing(post, place, &reference.written, target, why, policy);
        } else {
            let why = targets.why_not(reference, post);
            let is_hidden = !has_post_extension(target) && !may_be_asset(target) && !target.is_empty();
            let why = why.or(is_hidden.then_some("is hidden and not published"));
            let nearest = if why.is_none() { targets.nearest(target, post) } else { None };
            self.problems.broken_link(post, place, &reference.written, why, nearest);
        }
    }

    /// An asset that is there.
    fn asset(
        &mut self,
        post: &Post,
        place: Option<std::ops::Range<usize>>,
        reference: &Reference,
        asset: Asset,
        fact: &AssetFact,
    ) {
        // Told where it matters: a link to it shows the text, a picture shows nothing.
        if fact.media.disarmed && reference.image && asset.url.is_some() {
            self.problems.active_svg(post, place, &reference.written);
        }
        self.assets.push((reference.destination(), reference.suffix.clone(), asset));
    }

    /// The cover is looked for beside the post, then from the content root.
    fn cover(&mut self, post: &Post, facts: &AssetFacts, policy: &LinkPolicy) {
        let Some(cover) = post.meta.cover.as_deref() else {
            return;
        };
        let Some(reference) = front_matter_reference(cover, &post.file) else {
            return;
        };
        let paths: Vec<String> = cover_paths(post).filter(|path| may_be_asset(path)).collect();
        if let Some((path, fact)) = paths.iter().find_map(|path| fact(facts, path).ok()) {
            self.asset(post, None, &reference, asset(path, fact, policy), fact);
        } else if reference.is_machine_path() {
            self.problems.machine_path(post, None, cover);
        } else if let Some(path) = paths.first() {
            let why = paths.iter().filter_map(|path| fact(facts, path).err());
            let why = why.into_iter().find(|why| *why != NoAsset::Absent).unwrap_or(NoAsset::Absent);
            self.missing(post, None, cover, path, why, policy);
        } else {
            let is_error = self.without_asset(policy);
            self.problems.outside_root(post, None, cover, is_error);
        }
    }

    /// What becomes of a post one of whose assets cannot be had; whether that is its error.
    fn without_asset(&mut self, policy: &LinkPolicy) -> bool {
        match policy.missing {
            MissingAsset::Fail => policy.public_url.is_some() || policy.strict_links,
            MissingAsset::SkipPost => {
                if self.fate == Fate::Stays {
                    self.fate = Fate::Skipped;
                }
                false
            }
            MissingAsset::SkipAsset => false,
        }
    }

    fn missing(
        &mut self,
        post: &Post,
        place: Option<std::ops::Range<usize>>,
        written: &str,
        path: &str,
        why: NoAsset,
        policy: &LinkPolicy,
    ) {
        let is_error = self.without_asset(policy);
        self.problems.missing_asset(post, place, written, path, why, is_error);
    }

    fn settle(
        &self,
        post: &Post,
        targets: &Targets<'_>,
        fates: &[Fate],
        urls: &[String],
        fate: Fate,
    ) -> Resolved {
        let mut problems = self.problems.clone();
        let mut links = PostLinks::default();
        let mut pairs = Vec::new();
        for (reference, to) in &self.links {
            if let Some(url) = urls.get(*to).filter(|_| fates.get(*to) == Some(&Fate::Stays)) {
                let url = format!("{url}{}", reference.suffix);
                links.replace.insert(reference.destination(), url.clone());
                pairs.push((reference.destination(), url));
            } else {
                let place = Some(reference.span.clone());
                let why = targets.why_not(reference, post).unwrap_or("is left out");
                problems.broken_link(post, place, &reference.written, Some(why), None);
            }
        }
        let mut assets: BTreeMap<&str, &Asset> = BTreeMap::new();
        for (destination, suffix, asset) in &self.assets {
            if let Some(url) = &asset.url {
                links.replace.insert(destination.clone(), format!("{url}{suffix}"));
            }
            assets.insert(&asset.path, asset);
        }
        links.assets = assets.into_values().cloned().collect();
        let digests: Vec<(String, String)> =
            links.assets.iter().map(|asset| (asset.path.clone(), asset.sha256.clone())).collect();
        links.assets_hash = (!digests.is_empty()).then(|| AssetsHash::of_assets(&digests));
        links.links_hash = (!pairs.is_empty()).then(|| LinksHash::of_links(&pairs));
        Resolved { fate, links, diagnostics: problems.into_diagnostics() }
    }
}

fn asset(path: &str, fact: &AssetFact, policy: &LinkPolicy) -> Asset {
    // The name is that of the bytes alone: files that are equal are one object, whatever they are called.
    let url = policy.public_url.as_ref().map(|public_url| {
        let base = format!("{}/{}", public_url.trim_end_matches('/'), fact.sha256);
        match fact.media.extension {
            "" => base,
            extension => format!("{base}.{extension}"),
        }
    });
    let mime = fact.media.mime.to_owned();
    Asset { path: path.to_owned(), sha256: fact.sha256.clone(), bytes: fact.bytes, mime, url }
}

/// A path as written, in NFC and in NFD; each once.
fn spellings(path: &str) -> Vec<String> {
    let mut all = vec![path.to_owned()];
    if !path.is_ascii() {
        for other in [path.nfc().collect::<String>(), path.nfd().collect()] {
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    all
}

fn fact<'f>(facts: &'f AssetFacts, path: &str) -> Result<(&'f str, &'f AssetFact), NoAsset> {
    if !may_be_asset(path) {
        return Err(NoAsset::Absent);
    }
    let mut why = NoAsset::Absent;
    for path in spellings(path) {
        match facts.get_key_value(&path) {
            Some((path, Ok(fact))) => return Ok((path.as_str(), fact)),
            Some((_, Err(NoAsset::Absent))) | None => {}
            Some((_, Err(other))) => why = *other,
        }
    }
    Err(why)
}

/// Where a post's cover may lie.
fn cover_paths(post: &Post) -> impl Iterator<Item = String> {
    let reference = post.meta.cover.as_deref().and_then(|cover| front_matter_reference(cover, &post.file));
    let reference = reference.filter(|reference| !reference.is_machine_path());
    let from_root = reference.as_ref().and_then(|reference| resolve_path(&reference.written, ""));
    reference.and_then(|reference| reference.target).into_iter().chain(from_root)
}

/// Whether a path may be published because a post refers to it: nothing hidden (`.env`, `.git/`), no
/// source of a post, which may be a draft, and not the root itself.
fn may_be_asset(path: &str) -> bool {
    !path.is_empty() && !path.split('/').any(|part| part.starts_with('.')) && !has_post_extension(path)
}

/// Whether a link names a file to be had rather than a page.
fn looks_like_asset(path: &str) -> bool {
    const ASSETS: [&str; 38] = [
        "7z", "apk", "avif", "bz2", "csv", "doc", "docx", "epub", "gif", "gz", "ico", "ipynb", "jpeg", "jpg",
        "json", "key", "m4a", "m4v", "mov", "mp3", "mp4", "odp", "ods", "odt", "ogg", "pdf", "png", "ppt",
        "pptx", "svg", "tar", "tgz", "wav", "webm", "webp", "xls", "xlsx", "zip",
    ];
    extension(path).is_some_and(|ext| ASSETS.contains(&ext.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests;
