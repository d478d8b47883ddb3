//! What an operation writes, and how its document comes to be.
//!
//! A plan of a large tree cannot hold every rendered document. It holds what a document is a function
//! of: the digest of the source, the resolved links and assets, and (in the composer) how it is rendered.
//! Composing is deterministic, so that nothing is left to decide: [`Composer::compose`] gives the same
//! bytes whenever it is asked, or says that the file is not what was planned any more.
//!
//! Pure: the text of a file comes from [`Sources`], which the caller brings.

use std::borrow::Cow;
use std::sync::Arc;

use bson::Document;

use super::Operation;
use crate::catalog::links::PostLinks;
use crate::diagnostic::Diagnostic;
use crate::identity::{ContentHash, SourceHash};
use crate::post::Post;
use crate::post::render::{RenderOptions, render};
use crate::store::document::{self, Content};
use crate::store::size;

/// A document of this many times its source cannot be ruled out: entities, headings and long addresses
/// grow. Whatever could be too large by this measure is composed when it is planned.
pub const GROWTH_MAX: usize = 64;

/// The bytes that a document is taken to have before it is composed, for the cutting of batches: body
/// and HTML, and a little.
const GROWTH_USUAL: usize = 3;
/// The least that a document has beside them.
const DOCUMENT_BYTES_MIN: usize = 2048;

/// The reader-facing fields that an operation writes.
#[derive(Debug, Clone)]
pub enum Written {
    /// Composed from the operation's file when they are sent or shown.
    FromFile(FromFile),
    /// Given whole.
    Given(Box<Document>),
}

/// All that a document is made from beside the text of its file.
#[derive(Debug, Clone)]
pub struct FromFile {
    /// Digest of the source: the file is composed only while it has it.
    pub source_hash: SourceHash,
    /// Size of the source, in bytes.
    pub source_bytes: usize,
    /// What its links and assets became.
    pub links: Arc<PostLinks>,
}

impl Written {
    /// What a post of the tree writes.
    pub fn of(post: &Post, links: &Arc<PostLinks>) -> Self {
        Written::FromFile(FromFile {
            source_hash: post.source_hash.clone(),
            source_bytes: post.source_bytes,
            links: Arc::clone(links),
        })
    }

    /// `sourceHash` as it will be stored.
    pub fn source_hash(&self) -> Option<&str> {
        match self {
            Written::FromFile(from) => Some(from.source_hash.as_str()),
            Written::Given(document) => document.get_str("sourceHash").ok(),
        }
    }

    /// About how many bytes the document has.
    pub fn bytes_expected(&self) -> usize {
        match self {
            Written::FromFile(from) => {
                from.source_bytes.saturating_mul(GROWTH_USUAL).saturating_add(DOCUMENT_BYTES_MIN)
            }
            Written::Given(document) => size::bytes_of(document),
        }
    }
}

/// Where the composer gets posts from, their bodies with them.
pub trait Sources: Send + Sync {
    /// The post that a file makes now. `Err`: it cannot be read, or makes none.
    fn post(&self, file: &str) -> Result<Post, Box<Diagnostic>>;
}

/// No files at all: for plans whose operations are all given whole.
#[derive(Debug, Clone, Copy)]
pub struct NoSources;

impl Sources for NoSources {
    fn post(&self, file: &str) -> Result<Post, Box<Diagnostic>> {
        Err(changed(file, "there is no tree to read it from"))
    }
}

/// Composes documents. Cheap to clone.
#[derive(Clone)]
pub struct Composer {
    sources: Arc<dyn Sources>,
    render: RenderOptions,
}

impl std::fmt::Debug for Composer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Composer").field("render", &self.render).finish_non_exhaustive()
    }
}

impl Composer {
    /// A composer of the posts of `sources`, rendered so.
    pub fn new(sources: Arc<dyn Sources>, render: RenderOptions) -> Self {
        Composer { sources, render }
    }

    /// A composer for plans whose operations are all given whole.
    pub fn of_given() -> Self {
        Composer { sources: Arc::new(NoSources), render: RenderOptions::default() }
    }

    /// The content that the operation writes; `None` where it writes none. `Err`: its file is not what
    /// was planned any more.
    pub fn compose(&self, operation: &Operation) -> Result<Option<Content>, Box<Diagnostic>> {
        match (&operation.content, &operation.file) {
            (None, _) => Ok(None),
            (Some(Written::Given(document)), _) => Ok(Some(Content {
                content_hash: ContentHash::of_fields(document),
                fields: document.as_ref().clone(),
                assets_hash: None,
                links_hash: None,
            })),
            (Some(Written::FromFile(from)), Some(file)) => self.of_file(file, from).map(Some),
            (Some(Written::FromFile(_)), None) => Err(changed("", "the plan names no file for it")),
        }
    }

    /// As [`Composer::compose`] for a post that is not in a plan yet.
    pub(super) fn of_file(&self, file: &str, from: &FromFile) -> Result<Content, Box<Diagnostic>> {
        let post = self.sources.post(file)?;
        if post.source_hash != from.source_hash {
            return Err(changed(file, "its text is another now"));
        }
        content(&post, &from.links, &self.render).ok_or_else(|| changed(file, "it was not read whole"))
    }
}

/// Renders a post and puts its content together; `None` where its body was put aside.
pub fn content(post: &Post, links: &PostLinks, options: &RenderOptions) -> Option<Content> {
    let body = post.body.text()?;
    let mut options = options.clone();
    options.html = options.html && !post.mdx;
    let rendered = render(body, &options, &links.replace);
    let post = with_stored_cover(post, links);
    Some(document::content(
        &post,
        body,
        &rendered,
        &links.assets,
        links.assets_hash.clone(),
        links.links_hash.clone(),
    ))
}

/// A post whose cover is a stored asset shows it from where that is stored.
fn with_stored_cover<'p>(post: &'p Post, links: &PostLinks) -> Cow<'p, Post> {
    let stored = post.meta.cover.as_ref().and_then(|cover| links.replace.get(cover));
    let Some(url) = stored else { return Cow::Borrowed(post) };
    let mut post = post.clone();
    post.meta.cover = Some(url.clone());
    Cow::Owned(post)
}

/// What is told of a file that is not what was planned.
pub fn changed(file: &str, what: &str) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(CHANGED, format!("the file was changed while it was being ingested: {what}"))
            .in_file(file)
            .help("run again; nothing of this post was written"),
    )
}

/// The code of [`changed`], and the class of a post that failed so.
pub const CHANGED: &str = "changed-meanwhile";
