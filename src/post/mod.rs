//! One file becomes a [`Post`], a skip with a reason, or diagnostics. Knows no other file and no
//! database; a function of its arguments.
//!
//! Begin at [`parse`]: decode → split → front matter → fields → identity.

mod assemble;
pub mod date;
pub mod decode;
pub mod fields;
pub mod file_name;
pub mod front_matter;
pub mod lang;
pub mod links;
pub mod media;
pub mod preset;
pub mod render;
pub mod slug;
pub mod text;

pub use assemble::parse;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::identity::{PostId, SourceHash};
use date::PublishedAt;
use decode::Form;
use lang::Lang;
use links::Reference;
use preset::Preset;
use render::RenderOptions;
use slug::{Slug, SlugMode, SlugPattern};

/// How files are read: everything beside the bytes and the path that shapes a post.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The site generator whose defaults apply.
    pub preset: Preset,
    /// Configured languages; what in a path may be a language at all.
    pub langs: Vec<Lang>,
    /// Language of a post that names none.
    pub default_lang: Lang,
    /// Zone of local dates.
    pub timezone: jiff::tz::TimeZone,
    /// Name of that zone as configured, for messages and the pipeline.
    pub timezone_name: String,
    /// How a slug from a file name is spelled.
    pub slug_mode: SlugMode,
    /// How a slug from a file is put together.
    pub slug_pattern: SlugPattern,
    /// URL of a post on the website; tokens `{lang}` `{slug}` `{year}` `{month}` `{day}`.
    pub url_pattern: String,
    /// Undated files, empty files and files without front matter are errors.
    pub require_date: bool,
    /// `Some(now)`: posts after that instant (Unix milliseconds) are left out until then.
    pub skip_after: Option<i64>,
    /// More names for a field: canonical field name to extra accepted names.
    pub field_names: BTreeMap<String, Vec<String>>,
    /// Largest file that is read, in bytes.
    pub file_bytes_max: u64,
    /// Rendering.
    pub render: RenderOptions,
}

/// The rule that decided each part of an identity, as `explain` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct From {
    /// For example `front matter slug`, `file name`, `folder`, `last part of path`.
    pub slug: Option<String>,
    /// For example `front matter lang`, `suffix .ko of the file name`, `folder ko/`, `default_lang`.
    pub lang: Option<String>,
    /// For example `front matter date`, `file name`, `date in path`.
    pub published_at: Option<String>,
    /// The date was written without a zone: the configured `timezone` is part of the identity.
    pub local_date: bool,
    /// Where each part stands in the front matter, if it stands there.
    pub lines: Lines,
}

/// Lines of the file, from 1, on which the parts of an identity are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Of the slug, or of the address that gave it.
    pub slug: Option<u32>,
    /// Of the language.
    pub lang: Option<u32>,
    /// Of the date, or of the address that gave it.
    pub published_at: Option<u32>,
}

/// The front-matter fields beside the identity, typed. Absent stays absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meta {
    /// Front matter, else the first level-one heading, else the slug.
    pub title: Option<String>,
    /// `summary`.
    pub summary: Option<String>,
    /// Trimmed, without empty and repeated ones.
    pub tags: Vec<String>,
    /// As `tags`.
    pub categories: Vec<String>,
    /// As `tags`.
    pub authors: Vec<String>,
    /// Path or URL as written.
    pub cover: Option<String>,
    /// URL as written.
    pub canonical_url: Option<String>,
    /// As written.
    pub aliases: Vec<String>,
    /// Unix milliseconds.
    pub updated_at: Option<i64>,
    /// Unix milliseconds.
    pub expires_at: Option<i64>,
    /// Not in lists.
    pub unlisted: bool,
    /// From front matter alone.
    pub translation_key: Option<String>,
    /// Every other front-matter key, under safe names.
    pub extra: bson::Document,
}

/// A post: everything of one file that reaches the store, before rendering.
#[derive(Debug, Clone)]
pub struct Post {
    /// Path below the content root with `/`.
    pub file: String,
    /// Derived from the next three.
    pub id: PostId,
    /// Frozen.
    pub slug: Slug,
    /// Frozen.
    pub lang: Lang,
    /// Frozen.
    pub published_at: PublishedAt,
    /// What decided them.
    pub from: From,
    /// SHA-256 of the normalised source.
    pub source_hash: SourceHash,
    /// The other fields.
    pub meta: Meta,
    /// The source's front matter as it is written; `None` where the body was put aside.
    pub front_matter: Option<FrontMatter>,
    /// Markdown without front matter, or what is kept of it.
    pub body: Body,
    /// Size of the normalised source, in bytes.
    pub source_bytes: usize,
    /// Byte offset of `body` in the normalised source, for places.
    pub body_start: usize,
    /// Line of the file on which `body` starts, from 1, for places.
    pub body_line: u32,
    /// `.mdx`: stored as source, without `html`.
    pub mdx: bool,
    /// Path without language parts, extension and `index`: groups translations without a key.
    pub translation_path: String,
}

/// The head of a file: with the body behind it, its every byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontMatter {
    /// The normalised text before the body, its fences with it.
    pub text: String,
    /// How the whole file was written.
    pub form: Form,
}

/// The markdown of a post. A tree of many posts is checked without holding them all: once a body was
/// read, what it points at is enough, and whoever needs the text reads the file again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Markdown without front matter.
    Text(String),
    /// Put aside: what it points at, in order of place.
    Aside(Vec<Reference>),
}

impl Body {
    /// The markdown, where it is held.
    pub fn text(&self) -> Option<&str> {
        match self {
            Body::Text(text) => Some(text),
            Body::Aside(_) => None,
        }
    }
}

impl Post {
    /// What the body points at.
    pub fn references(&self) -> Cow<'_, [Reference]> {
        match &self.body {
            Body::Text(text) => Cow::Owned(links::references(text, &self.file)),
            Body::Aside(references) => Cow::Borrowed(references),
        }
    }

    /// Lets go of the source's text and keeps what the markdown points at.
    pub fn put_body_aside(&mut self) {
        self.front_matter = None;
        if let Body::Text(text) = &self.body {
            let mut references = links::references(text, &self.file);
            references.shrink_to_fit();
            self.body = Body::Aside(references);
        }
    }
}

/// Why a file that was read is no post.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skip {
    /// A draft.
    Draft,
    /// After now, under `future = "skip"`.
    Future,
    /// Front matter, but no date from any source.
    Undated,
    /// No front matter.
    NoFrontMatter,
    /// Empty, or blanks alone.
    Empty,
    /// A dot file or lies in a dot folder.
    Hidden,
    /// In `node_modules`.
    NodeModules,
    /// Begins with `_ # ~` or ends like a backup.
    Backup,
    /// `_index*`: a section, not a post.
    Section,
    /// `README`.
    Readme,
    /// `LICENSE`.
    License,
    /// Excluded by `.gitignore` or `.idempostignore`.
    Ignored,
    /// A symbolic link, and `follow_links` is off, or it leaves the root.
    Link,
    /// Not a post's extension; only `explain` ever says so.
    NotAPost,
    /// A file it refers to is missing, under `missing = "skip-post"`.
    MissingAsset,
}

impl Skip {
    /// The spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Skip::Draft => "draft",
            Skip::Future => "future",
            Skip::Undated => "undated",
            Skip::NoFrontMatter => "no-front-matter",
            Skip::Empty => "empty",
            Skip::Hidden => "hidden",
            Skip::NodeModules => "node_modules",
            Skip::Backup => "backup",
            Skip::Section => "section",
            Skip::Readme => "readme",
            Skip::License => "license",
            Skip::Ignored => "ignored",
            Skip::Link => "symbolic-link",
            Skip::NotAPost => "not-a-post",
            Skip::MissingAsset => "missing-asset",
        }
    }
}

/// What became of one file.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// A post.
    Post(Box<Post>),
    /// Skipped with a reason. A draft or a future post whose identity could be read carries it, since
    /// it is checked against the other posts and its stored document may have to be archived.
    Skipped(Skip, Option<Box<Post>>),
    /// Errors; they are in [`Parsed::diagnostics`].
    Invalid,
}

/// One file, read: its outcome, its problems, and what could be read even where there are errors.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// Path below the content root with `/`.
    pub file: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Errors and warnings, located, in order of place.
    pub diagnostics: Vec<Diagnostic>,
    /// What `explain` shows.
    pub facts: Facts,
}

impl Parsed {
    /// A file that could not be read, with the reason.
    pub fn unreadable(diagnostic: Diagnostic) -> Self {
        Parsed {
            file: diagnostic.file.clone(),
            outcome: Outcome::Invalid,
            diagnostics: vec![diagnostic],
            facts: Facts::default(),
        }
    }
}

/// What could be read of a file, errors or not.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The slug.
    pub slug: Option<Slug>,
    /// Line and column from 1 of the key's value that gave the slug, where one did: what a clash of
    /// slugs points at.
    pub slug_place: Option<(u32, u32)>,
    /// The language.
    pub lang: Option<Lang>,
    /// The instant.
    pub published_at: Option<PublishedAt>,
    /// What decided them.
    pub from: From,
    /// Whether it is a draft.
    pub draft: bool,
    /// Digest of the file.
    pub source_hash: Option<SourceHash>,
    /// The other fields.
    pub meta: Meta,
    /// Path without language parts.
    pub translation_path: Option<String>,
}

impl Parsed {
    /// Whether there is an error among the diagnostics.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
