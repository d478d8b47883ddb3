//! What a body points at: internal links and local assets.

use std::ops::Range;

/// One relative reference in a body, resolved against the file's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// As written, without fragment and query.
    pub written: String,
    /// Path below the content root with `/`, percent-decoded, NFC not applied; `None` when it leaves
    /// the root.
    pub target: Option<String>,
    /// `?query#fragment` as written, with their marks.
    pub suffix: String,
    /// Bytes in the body.
    pub span: Range<usize>,
    /// An image, or a link.
    pub image: bool,
}

/// One stored asset of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Path below the content root with `/`.
    pub path: String,
    /// SHA-256 of its bytes, hex.
    pub sha256: String,
    /// Size in bytes.
    pub bytes: u64,
    /// MIME type by its extension.
    pub mime: String,
    /// Where readers find it, if an asset store is configured.
    pub url: Option<String>,
}
