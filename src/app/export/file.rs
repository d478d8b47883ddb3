//! The bytes of one post's file, from its stored document.
//!
//! Of a document that is as its source made it these are the source's. Where somebody else changed it, what is
//! stored wins: the front matter stays as it was written as long as it still says the stored fields, and is
//! written anew in its format where it does not. Whatever is not the source itself is read back before it is
//! given out: it has to make the same post.
//!
//! Pure. Begin at [`make`].

use bson::{Bson, Document};

use super::names::Chosen;
use crate::identity::{ContentHash, SourceHash};
use crate::plan::change;
use crate::post::date::PublishedAt;
use crate::post::decode::{self, Form};
use crate::post::fields::{original_name, table::Names};
use crate::post::front_matter::{self, Format, Reading, fold_key, write};
use crate::post::links::{folder_of, resolve};
use crate::post::{self, FrontMatter, Outcome, Post, Rules};
use crate::store::document::{content_of, front_matter_of, written_fields};

/// Where a file's bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// They are the source's.
    Source,
    /// The front matter is the source's, the text is the stored one.
    Text,
    /// The front matter is written from the stored fields.
    Fields,
}

impl Origin {
    /// The spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Source => "source",
            Origin::Text => "text",
            Origin::Fields => "fields",
        }
    }
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where they come from.
    pub origin: Origin,
    /// Stored fields that it does not say, or says otherwise.
    pub lost: Vec<String>,
    /// The settings at hand make another post of the source than is stored.
    pub reads_otherwise: bool,
}

/// Why there is no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmade {
    /// The document is no post: the reason's name.
    Left(&'static str),
    /// No file could be written that makes this post.
    Failed(String),
}

/// Makes the file of a stored document, for the path that was chosen for it.
pub fn make(document: &Document, chosen: &Chosen, rules: &Rules) -> Result<Made, Unmade> {
    let Ok(body) = document.get_str("body") else { return Err(Unmade::Left("no-body")) };
    if published_at(document).is_none() {
        return Err(Unmade::Left("no-date"));
    }
    let post = Wanted { document, body, path: &chosen.path, rules };
    let kept = front_matter_of(document);
    if let Some(kept) = &kept {
        let is_source = post.is_source(kept);
        let bytes = decode::encode(&[&kept.text, body], &kept.form);
        let lost = post.read(&bytes);
        if is_source && chosen.instead_of.is_none() && post.is_as_written() {
            return Ok(Made {
                bytes,
                origin: Origin::Source,
                lost: Vec::new(),
                reads_otherwise: lost.is_err(),
            });
        }
        if lost.is_ok_and(|lost| lost.is_empty()) {
            let origin = if is_source { Origin::Source } else { Origin::Text };
            return Ok(Made { bytes, origin, lost: Vec::new(), reads_otherwise: false });
        }
    }
    post.written(kept.as_ref()).map_err(Unmade::Failed)
}

/// What the file has to say.
struct Wanted<'a> {
    document: &'a Document,
    body: &'a str,
    path: &'a str,
    rules: &'a Rules,
}

impl Wanted<'_> {
    /// Whether nobody changed the document since it was made.
    fn is_as_written(&self) -> bool {
        let ingest = self.document.get_document("ingest").ok();
        let says = ingest.and_then(|ingest| ingest.get_str("contentHash").ok());
        says == Some(ContentHash::of_fields(&content_of(self.document)).as_str())
    }

    /// Whether front matter and body are the source that was ingested.
    fn is_source(&self, kept: &FrontMatter) -> bool {
        let text = format!("{}{}", kept.text, self.body);
        self.document.get_str("sourceHash").ok() == Some(SourceHash::of_normalised(&text).as_str())
    }

    /// The stored fields that these bytes do not say. `Err`: they make another post, or none.
    fn read(&self, bytes: &[u8]) -> Result<Vec<String>, String> {
        let parsed = post::parse(self.path, false, bytes, self.rules);
        let post = match &parsed.outcome {
            Outcome::Post(post) => post,
            Outcome::Skipped(skip, _) => {
                return Err(format!("its file would be skipped ({})", skip.as_str()));
            }
            Outcome::Invalid => {
                let first = parsed.diagnostics.iter().find(|problem| problem.is_error());
                let told = first.map_or_else(String::new, |problem| problem.message.clone());
                return Err(format!("its file would have an error: {told}"));
            }
        };
        if published_at(self.document) != Some(post.published_at)
            || self.document.get_str("slug").ok() != Some(post.slug.as_str())
            || self.document.get_str("lang").ok() != Some(post.lang.as_str())
        {
            return Err(format!("its file would make {} in {}, {}", post.slug, post.lang, post.id));
        }
        Ok(self.lost(post))
    }

    fn lost(&self, post: &Post) -> Vec<String> {
        let mut said = written_fields(post);
        said.insert("body", post.body.text().unwrap_or_default());
        // Of somebody else's document the id is no post's.
        for field in ["_id", "publishedAt"] {
            said.remove(field);
        }
        // A file always has a title; one that nobody stored is no loss.
        if !self.document.contains_key("title") {
            said.remove("title");
        }
        if let (Some(stored), Some(said_cover)) =
            (self.document.get_str("cover").ok(), post.meta.cover.as_deref())
            && self.asset_of(stored).is_some_and(|path| shows(said_cover, path, self.path))
        {
            said.insert("cover", stored);
        }
        let fields = content_of(self.document)
            .into_iter()
            .filter(|(field, _)| WRITTEN_FIELDS.contains(&field.as_str()))
            .collect();
        change::fields(&fields, &said).into_iter().map(|change| change.path).collect()
    }

    /// The path of the asset that is shown from this address.
    fn asset_of(&self, url: &str) -> Option<&str> {
        let assets = self.document.get_array("assets").ok()?;
        let asset = assets
            .iter()
            .filter_map(Bson::as_document)
            .find(|asset| asset.get_str("url").ok() == Some(url))?;
        asset.get_str("path").ok()
    }

    /// The file with front matter from the stored fields, in the format of the source.
    fn written(&self, kept: Option<&FrontMatter>) -> Result<Made, String> {
        let entries = kept.map(|kept| front_matter::read(&kept.text));
        let (format, cover) = match &entries {
            Some(Reading::Block { format, .. }) => (*format, self.cover_of(kept)),
            _ => (Format::Yaml, None),
        };
        let fields = self.fields(cover);
        // What one format cannot say is said in the one that can say everything.
        let head = write::write(format, &fields)
            .or_else(|| write::write(Format::Yaml, &fields))
            .ok_or_else(|| "its fields cannot be written".to_owned())?;
        let form = kept.map_or_else(Form::default, |kept| kept.form.clone());
        let bytes = decode::encode(&[&head, self.body], &form);
        let lost = self.read(&bytes)?;
        Ok(Made { bytes, origin: Origin::Fields, lost, reads_otherwise: false })
    }

    /// The cover as the source has it, where the stored one is the address of its asset.
    fn cover_of(&self, kept: Option<&FrontMatter>) -> Option<String> {
        let bytes = decode::encode(&[&kept?.text], &Form::default());
        let cover = post::parse(self.path, false, &bytes, self.rules).facts.meta.cover?;
        let path = self.asset_of(self.document.get_str("cover").ok()?)?;
        shows(&cover, path, self.path).then_some(cover)
    }

    fn fields(&self, cover: Option<String>) -> Document {
        let mut out = Document::new();
        for (field, name) in FIELDS {
            let Some(value) = self.document.get(field) else { continue };
            let value = match (field, value) {
                ("cover", Bson::String(url)) => {
                    let path = cover.clone().or_else(|| self.asset_of(url).map(as_address));
                    Bson::String(path.unwrap_or_else(|| url.clone()))
                }
                ("publishedAt" | "updatedAt" | "expiresAt", value) => {
                    instant(value).map_or_else(|| value.clone(), Bson::DateTime)
                }
                (_, value) => value.clone(),
            };
            out.insert(name, value);
        }
        let Ok(extra) = self.document.get_document("extra") else { return out };
        let names = Names::new(self.rules);
        let mut taken: Vec<String> = out.keys().map(|key| fold_key(key)).collect();
        let mut below = Document::new();
        for (name, value) in originals(extra) {
            let folded = fold_key(&name);
            if names.is_free(&name) && !taken.contains(&folded) {
                taken.push(folded);
                out.insert(name, value);
            } else {
                below.insert(name, value);
            }
        }
        if !below.is_empty() {
            out.insert("extra", below);
        }
        out
    }
}

/// Stored fields and the names under which they are written.
const FIELDS: [(&str, &str); 15] = [
    ("title", "title"),
    ("slug", "slug"),
    ("lang", "lang"),
    ("publishedAt", "date"),
    ("updatedAt", "updatedAt"),
    ("expiresAt", "expiresAt"),
    ("unlisted", "unlisted"),
    ("summary", "summary"),
    ("tags", "tags"),
    ("categories", "categories"),
    ("authors", "authors"),
    ("cover", "cover"),
    ("canonicalUrl", "canonicalUrl"),
    ("aliases", "aliases"),
    ("translationKey", "translationKey"),
];

/// What is compared between a document and what its file says; slug, language and date are compared apart.
const WRITTEN_FIELDS: [&str; 16] = [
    "slug",
    "lang",
    "title",
    "updatedAt",
    "expiresAt",
    "unlisted",
    "summary",
    "tags",
    "categories",
    "authors",
    "cover",
    "canonicalUrl",
    "aliases",
    "translationKey",
    "extra",
    "body",
];

/// The keys of `extra` as they were written, at every depth.
fn originals(document: &Document) -> Document {
    fn value(stored: &Bson) -> Bson {
        match stored {
            Bson::Document(inner) => Bson::Document(originals(inner)),
            Bson::Array(items) => Bson::Array(items.iter().map(value).collect()),
            other => other.clone(),
        }
    }
    document.iter().map(|(name, inner)| (original_name(name), value(inner))).collect()
}

/// A stored date; other programs store one as text as well.
fn instant(value: &Bson) -> Option<bson::DateTime> {
    match value {
        Bson::DateTime(at) => Some(*at),
        Bson::String(text) => {
            let at = post::date::parse(text.trim(), &jiff::tz::TimeZone::UTC).ok()?;
            Some(bson::DateTime::from_millis(at.unix_millis))
        }
        _ => None,
    }
}

fn published_at(document: &Document) -> Option<PublishedAt> {
    let at = instant(document.get("publishedAt")?)?;
    PublishedAt::from_unix_millis(at.timestamp_millis()).ok()
}

/// Whether a cover as written, in this file, is the asset at `path`.
fn shows(cover: &str, path: &str, file: &str) -> bool {
    let cover = cover.split(['?', '#']).next().unwrap_or(cover);
    [folder_of(file), ""].into_iter().any(|folder| resolve(cover, folder).as_deref() == Some(path))
}

/// A path below the content root as a front matter has it.
fn as_address(path: &str) -> String {
    let mut out = String::from("@/");
    for c in path.chars() {
        match c {
            '%' => out.push_str("%25"),
            '?' => out.push_str("%3F"),
            '#' => out.push_str("%23"),
            c => out.push(c),
        }
    }
    out
}
