//! The stored shape of a post: names of fields, what idempost owns, what a head is.
//!
//! Pure. The same document goes into every store: BSON for MongoDB, canonical Extended JSON of the
//! same for SQLite.

use bson::{Bson, Document, doc};

use crate::identity::{AssetsHash, ContentHash, LinksHash};
use crate::post::decode::{Form, LineEnds};
use crate::post::links::Asset;
use crate::post::render::Rendered;
use crate::post::{FrontMatter, Post};

/// The version of this shape; part of the pipeline.
pub const SCHEMA_VERSION: u32 = 2;

/// Every field that idempost owns, in the order in which it is stored. What is owned and not in a
/// post's document is `$unset`; every other field belongs to somebody else and survives.
pub const OWNED_FIELDS: [&str; 32] = [
    "_id",
    "slug",
    "lang",
    "publishedAt",
    "status",
    "live",
    "title",
    "summary",
    "tags",
    "categories",
    "authors",
    "cover",
    "canonicalUrl",
    "aliases",
    "updatedAt",
    "expiresAt",
    "unlisted",
    "translationKey",
    "extra",
    "body",
    "html",
    "htmlTrust",
    "toc",
    "excerpt",
    "wordCount",
    "readingMinutes",
    "assets",
    "sourceHash",
    "frontMatter",
    "supersededBy",
    "ingest",
    "effects",
];

/// Owned fields that are not content: they live by their own rules and stay out of [`ContentHash`].
pub const LIFECYCLE_FIELDS: [&str; 5] = ["status", "live", "supersededBy", "ingest", "effects"];

/// Where a post stands in its life (`DESIGN` 6).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Status {
    /// Inserted as the lock, its assets not all stored.
    Publishing,
    /// Stored, not live: the target of an unfinished move.
    Staged,
    /// Live, shown to readers.
    Active,
    /// Stored, not live.
    Archived,
    /// Replaced by another post.
    Superseded,
    /// Nothing that idempost writes.
    Other(String),
}

impl Status {
    /// The stored spelling.
    pub fn as_str(&self) -> &str {
        match self {
            Status::Publishing => "publishing",
            Status::Staged => "staged",
            Status::Active => "active",
            Status::Archived => "archived",
            Status::Superseded => "superseded",
            Status::Other(text) => text,
        }
    }

    /// Reads the stored spelling.
    pub fn from_stored(text: &str) -> Self {
        match text {
            "publishing" => Status::Publishing,
            "staged" => Status::Staged,
            "active" => Status::Active,
            "archived" => Status::Archived,
            "superseded" => Status::Superseded,
            other => Status::Other(other.to_owned()),
        }
    }

    /// Whether `live: true` goes with it: the unique index counts it.
    pub fn is_live(&self) -> bool {
        matches!(self, Status::Publishing | Status::Active)
    }
}

/// A claim on a post whose assets are being stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The run that holds it.
    pub run_id: String,
    /// When it expires, Unix milliseconds.
    pub until: i64,
}

/// The part of a stored post that planning reads: never a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// `_id`; not always one of ours.
    pub id: String,
    /// `slug`, empty where it is missing or no text.
    pub slug: String,
    /// `lang`, empty where it is missing or no text.
    pub lang: String,
    /// `status`.
    pub status: Status,
    /// `live: true` is stored.
    pub live: bool,
    /// `translationKey`.
    pub translation_key: Option<String>,
    /// `sourceHash`.
    pub source_hash: Option<String>,
    /// `supersededBy`.
    pub superseded_by: Option<String>,
    /// `ingest`, if idempost wrote the document.
    pub ingest: Option<Ingest>,
}

/// The bookkeeping of a stored post.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ingest {
    /// Whose post it is.
    pub source: Option<String>,
    /// The file that made it.
    pub path: String,
    /// Everything beside the source that shaped it.
    pub pipeline: String,
    /// Digest of the reader-facing fields.
    pub content_hash: String,
    /// Digest of the assets, if it has any.
    pub assets_hash: Option<String>,
    /// Digest of the URLs behind internal links, if it has any.
    pub links_hash: Option<String>,
    /// Counts every write of ours, from 1.
    pub version: i64,
    /// The run that wrote it last.
    pub run_id: String,
    /// That run's operation.
    pub operation_id: String,
    /// The highest source revision that wrote it.
    pub revision: Option<i64>,
    /// Who is storing its assets.
    pub claim: Option<Claim>,
    /// The run that made it live, as long as that run is its last writer: what a run that finds itself
    /// late, or the one that fences it, takes back.
    pub live_by: Option<String>,
    /// The run that archived it by hand: ingesting leaves it archived until `restore`.
    pub archived_by: Option<String>,
}

/// The projection of a head, for stores that can project.
pub fn head_projection() -> Document {
    doc! {
        "_id": 1, "slug": 1, "lang": 1, "status": 1, "live": 1, "translationKey": 1, "sourceHash": 1,
        "supersededBy": 1, "ingest": 1,
    }
}

impl Head {
    /// Reads a head from a stored document, whole or projected. Nothing in a reply makes it fail: what
    /// is missing or of another type is empty.
    pub fn from_document(document: &Document) -> Self {
        let text = |key: &str| document.get_str(key).unwrap_or_default().to_owned();
        let id = match document.get("_id") {
            Some(Bson::String(id)) => id.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        Head {
            id,
            slug: text("slug"),
            lang: text("lang"),
            status: Status::from_stored(document.get_str("status").unwrap_or_default()),
            live: document.get_bool("live").unwrap_or(false),
            translation_key: document.get_str("translationKey").ok().map(str::to_owned),
            source_hash: document.get_str("sourceHash").ok().map(str::to_owned),
            superseded_by: document.get_str("supersededBy").ok().map(str::to_owned),
            ingest: document.get_document("ingest").ok().map(Ingest::from_document),
        }
    }

    /// `ingest.version`, 0 where idempost did not write the document.
    pub fn version(&self) -> i64 {
        self.ingest.as_ref().map_or(0, |ingest| ingest.version)
    }
}

impl Ingest {
    fn from_document(document: &Document) -> Self {
        let text = |key: &str| document.get_str(key).ok().map(str::to_owned);
        Ingest {
            source: text("source"),
            path: text("path").unwrap_or_default(),
            pipeline: text("pipeline").unwrap_or_default(),
            content_hash: text("contentHash").unwrap_or_default(),
            assets_hash: text("assetsHash"),
            links_hash: text("linksHash"),
            version: integer(document.get("version")).unwrap_or(0),
            run_id: text("runId").unwrap_or_default(),
            operation_id: text("operationId").unwrap_or_default(),
            revision: integer(document.get("revision")),
            live_by: text("liveBy"),
            archived_by: text("archivedBy"),
            claim: document.get_document("claim").ok().and_then(|claim| {
                Some(Claim {
                    run_id: claim.get_str("runId").ok()?.to_owned(),
                    until: integer(claim.get("until"))?,
                })
            }),
        }
    }

    /// The stored form; absent stays absent.
    pub fn to_document(&self) -> Document {
        let mut out = Document::new();
        if let Some(source) = &self.source {
            out.insert("source", source);
        }
        out.insert("path", &self.path);
        out.insert("pipeline", &self.pipeline);
        out.insert("contentHash", &self.content_hash);
        if let Some(hash) = &self.assets_hash {
            out.insert("assetsHash", hash);
        }
        if let Some(hash) = &self.links_hash {
            out.insert("linksHash", hash);
        }
        out.insert("version", self.version);
        out.insert("runId", &self.run_id);
        out.insert("operationId", &self.operation_id);
        if let Some(revision) = self.revision {
            out.insert("revision", revision);
        }
        if let Some(run_id) = &self.live_by {
            out.insert("liveBy", run_id);
        }
        if let Some(run_id) = &self.archived_by {
            out.insert("archivedBy", run_id);
        }
        if let Some(claim) = &self.claim {
            out.insert(
                "claim",
                doc! { "runId": &claim.run_id, "until": bson::DateTime::from_millis(claim.until) },
            );
        }
        out
    }
}

/// An integer of any stored width, or a date's milliseconds.
pub fn integer(value: Option<&Bson>) -> Option<i64> {
    match value? {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::DateTime(date) => Some(date.timestamp_millis()),
        // A whole number that some client stored as a double.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 9.0e15 => Some(*number as i64),
        _ => None,
    }
}

/// The reader-facing content of a post: every owned field but those of [`LIFECYCLE_FIELDS`], in the
/// order of [`OWNED_FIELDS`], absent ones absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Content {
    /// The fields.
    pub fields: Document,
    /// Digest of `fields`.
    pub content_hash: ContentHash,
    /// Digest of the assets, if there are any.
    pub assets_hash: Option<AssetsHash>,
    /// Digest of the internal links' URLs, if there are any.
    pub links_hash: Option<LinksHash>,
}

/// Puts a post's content together; `body` is its markdown.
pub fn content(
    post: &Post,
    body: &str,
    rendered: &Rendered,
    assets: &[Asset],
    assets_hash: Option<AssetsHash>,
    links_hash: Option<LinksHash>,
) -> Content {
    let mut out = written_fields(post);
    out.insert("body", body);
    insert_rendered(&mut out, rendered);
    if !assets.is_empty() {
        out.insert("assets", assets.iter().map(asset_document).collect::<Vec<Bson>>());
    }
    out.insert("sourceHash", post.source_hash.as_str());
    if let Some(front_matter) = &post.front_matter {
        out.insert("frontMatter", front_matter_document(front_matter));
    }
    Content { content_hash: ContentHash::of_fields(&out), fields: out, assets_hash, links_hash }
}

/// The fields that a file's front matter and name give, in the order of [`OWNED_FIELDS`].
pub fn written_fields(post: &Post) -> Document {
    let mut out = Document::new();
    let meta = &post.meta;
    out.insert("_id", post.id.to_string());
    out.insert("slug", post.slug.as_str());
    out.insert("lang", post.lang.as_str());
    out.insert("publishedAt", bson::DateTime::from_millis(post.published_at.unix_millis()));
    out.insert("title", meta.title.as_deref().unwrap_or(post.slug.as_str()));
    insert_text(&mut out, "summary", meta.summary.as_deref());
    insert_texts(&mut out, "tags", &meta.tags);
    insert_texts(&mut out, "categories", &meta.categories);
    insert_texts(&mut out, "authors", &meta.authors);
    insert_text(&mut out, "cover", meta.cover.as_deref());
    insert_text(&mut out, "canonicalUrl", meta.canonical_url.as_deref());
    insert_texts(&mut out, "aliases", &meta.aliases);
    insert_date(&mut out, "updatedAt", meta.updated_at);
    insert_date(&mut out, "expiresAt", meta.expires_at);
    if meta.unlisted {
        out.insert("unlisted", true);
    }
    insert_text(&mut out, "translationKey", meta.translation_key.as_deref());
    if !meta.extra.is_empty() {
        out.insert("extra", meta.extra.clone());
    }
    out
}

/// The reader-facing fields of a stored document: what its `contentHash` is over. Foreign fields and
/// [`LIFECYCLE_FIELDS`] are left out.
pub fn content_of(document: &Document) -> Document {
    OWNED_FIELDS
        .iter()
        .filter(|field| !LIFECYCLE_FIELDS.contains(field))
        .filter_map(|field| Some(((*field).to_owned(), document.get(field)?.clone())))
        .collect()
}

fn insert_rendered(out: &mut Document, rendered: &Rendered) {
    insert_text(out, "html", rendered.html.as_deref());
    insert_text(out, "htmlTrust", rendered.html_trust);
    if !rendered.toc.is_empty() {
        let toc: Vec<Bson> = rendered
            .toc
            .iter()
            .map(|entry| {
                Bson::from(doc! { "level": i32::from(entry.level), "id": &entry.id, "text": &entry.text })
            })
            .collect();
        out.insert("toc", toc);
    }
    if !rendered.excerpt.is_empty() {
        out.insert("excerpt", &rendered.excerpt);
    }
    out.insert("wordCount", i64::from(rendered.word_count));
    out.insert("readingMinutes", i64::from(rendered.reading_minutes));
}

fn front_matter_document(front_matter: &FrontMatter) -> Document {
    let mut out = doc! { "text": &front_matter.text };
    if front_matter.form.bom {
        out.insert("bom", true);
    }
    insert_text(&mut out, "lineEnds", front_matter.form.line_ends.to_stored().as_deref());
    out
}

/// The source's front matter of a stored document, where it has one that can be read.
pub fn front_matter_of(document: &Document) -> Option<FrontMatter> {
    let stored = document.get_document("frontMatter").ok()?;
    let line_ends = stored.get_str("lineEnds").map_or(LineEnds::Lf, LineEnds::from_stored);
    let form = Form { bom: stored.get_bool("bom").unwrap_or(false), line_ends };
    Some(FrontMatter { text: stored.get_str("text").ok()?.to_owned(), form })
}

fn asset_document(asset: &Asset) -> Bson {
    let mut out = doc! {
        "path": &asset.path,
        "sha256": &asset.sha256,
        "bytes": i64::try_from(asset.bytes).unwrap_or(i64::MAX),
        "mime": &asset.mime,
    };
    insert_text(&mut out, "url", asset.url.as_deref());
    Bson::from(out)
}

fn insert_text(out: &mut Document, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.insert(key, value);
    }
}

fn insert_texts(out: &mut Document, key: &str, values: &[String]) {
    if !values.is_empty() {
        out.insert(key, values.iter().map(|value| Bson::from(value.as_str())).collect::<Vec<Bson>>());
    }
}

fn insert_date(out: &mut Document, key: &str, millis: Option<i64>) {
    if let Some(millis) = millis {
        out.insert(key, bson::DateTime::from_millis(millis));
    }
}
