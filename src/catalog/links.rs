//! References of all posts resolved against the whole content root: URLs of other posts, assets,
//! and what is broken.
//!
//! Pure: what lies in the content root beside posts comes in as [`AssetFacts`].

use std::collections::BTreeMap;

use super::Catalog;
use crate::diagnostic::Diagnostic;
use crate::identity::{AssetsHash, LinksHash};
use crate::post::Rules;
use crate::post::links::Asset;

/// A file beside the posts, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetFact {
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Path below the content root (with `/`) to what lies there; a path that was looked for and is not
/// a readable file inside the root is not in the map.
pub type AssetFacts = BTreeMap<String, AssetFact>;

/// What is missing: how it is told (`[assets] missing`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingAsset {
    /// An error of the post (`fail`).
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
    /// Destination exactly as written in the markdown to what stands in `html`.
    pub replace: BTreeMap<String, String>,
    /// Assets in order of path, each once.
    pub assets: Vec<Asset>,
    /// Digest of the assets, if there are any.
    pub assets_hash: Option<AssetsHash>,
    /// Digest of (written, URL) of the internal links, if there are any.
    pub links_hash: Option<LinksHash>,
}

/// Paths of the files beside posts that the catalog's posts refer to, sorted, each once: what the
/// caller reads to make [`AssetFacts`].
pub fn assets_wanted(catalog: &Catalog) -> Vec<String> {
    let _ = catalog;
    unimplemented!()
}

/// Resolves all references. Posts that cannot stay (missing asset under `Fail`, strict links) are
/// moved to `invalid` (or `skipped`) with their diagnostics; the result has one entry for each post
/// that is left, in their order.
pub fn resolve(
    catalog: &mut Catalog,
    facts: &AssetFacts,
    rules: &Rules,
    policy: &LinkPolicy,
) -> Vec<PostLinks> {
    let _ = (catalog, facts, rules, policy);
    unimplemented!()
}

/// The URL of a post by `url_pattern`: tokens `{lang}` `{slug}` `{year}` `{month}` `{day}`; each part
/// of the slug percent-encoded.
pub fn post_url(pattern: &str, post: &crate::post::Post, rules: &Rules) -> String {
    let _ = (pattern, post, rules);
    unimplemented!()
}
