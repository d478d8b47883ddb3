//! An extension of the port for documents of other makers: read whole, removed exactly as told, put back
//! byte by byte. `adopt` alone uses it.
//!
//! A document of another maker is one without an `ingest` document; its `_id` is of any type. Begin at
//! [`Foreign`]; [`Mentions`] counts who points at such documents.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;
use bson::spec::BinarySubtype;
use bson::{Bson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::document::OWNED_FIELDS;
use super::{Fault, Inserted};

/// Fields of one collection that are told of at most.
const FIELDS_MAX: usize = 1_000;
/// Levels that are looked into.
const LEVELS_MAX: usize = 100;

/// Fields of documents in some collection that hold ids of the documents asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mention {
    /// The collection.
    pub collection: String,
    /// Dotted path of the field; items of an array are under the array's own path.
    pub field: String,
    /// How many values.
    pub count: usize,
}

/// What a store can do with documents of other makers. Every method may be repeated.
#[async_trait]
pub trait Foreign: Send + Sync {
    /// The ids of all documents of the collection without an `ingest` document.
    async fn foreign_ids(&self) -> Result<Vec<Bson>, Fault>;

    /// Whole documents under these ids, whoever made them, as they are stored; in no order.
    async fn wholes(&self, ids: &[Bson]) -> Result<Vec<RawDocumentBuf>, Fault>;

    /// Removes the document that is this one, whole. `false`: none under its `_id`, or another one.
    async fn remove(&self, whole: &RawDocument) -> Result<bool, Fault>;

    /// Inserts a document as it is. [`Inserted::Existed`]: its `_id` is taken, or a unique index of the
    /// collection refuses it.
    async fn put_back(&self, whole: &RawDocument) -> Result<Inserted, Fault>;

    /// Who holds these ids: the other collections of the database, and fields of this one that
    /// idempost does not own. In order of collection and field.
    async fn mentions(&self, ids: &[Bson]) -> Result<Vec<Mention>, Fault>;
}

/// Counts mentions of ids, document by document.
#[derive(Debug)]
pub struct Mentions {
    wanted: HashSet<String>,
    found: BTreeMap<(String, String), usize>,
}

impl Mentions {
    /// Of these ids. An `ObjectId` and a UUID are looked for as text too.
    pub fn of(ids: &[Bson]) -> Self {
        let mut wanted = HashSet::new();
        for id in ids {
            let Ok(raw) = RawDocumentBuf::try_from(&bson::doc! { "v": id.clone() }) else { continue };
            let Ok(Some(value)) = raw.get("v") else { continue };
            wanted.extend(key(value));
            wanted.extend(as_text(value).map(|text| format!("s{text}")));
        }
        Mentions { wanted, found: BTreeMap::new() }
    }

    /// Looks at a document of a collection; `own`: it is that of the posts, whose `_id` and owned fields
    /// are no mentions.
    pub fn look(&mut self, collection: &str, own: bool, document: &RawDocument) {
        for element in document {
            let Ok((field, value)) = element else { return };
            if !(own && OWNED_FIELDS.contains(&field.as_str())) {
                self.value(collection, field.as_str(), value, 1);
            }
        }
    }

    fn value(&mut self, collection: &str, path: &str, value: RawBsonRef<'_>, level: usize) {
        if level > LEVELS_MAX {
            return;
        }
        match value {
            RawBsonRef::Document(inner) => {
                for (field, value) in inner.into_iter().filter_map(Result::ok) {
                    self.value(collection, &format!("{path}.{}", field.as_str()), value, level + 1);
                }
            }
            RawBsonRef::Array(items) => {
                for item in items.into_iter().filter_map(Result::ok) {
                    self.value(collection, path, item, level + 1);
                }
            }
            _ if is_number(value) && !names_an_id(path) => {}
            _ => {
                if key(value).is_some_and(|key| self.wanted.contains(&key)) {
                    let place = (collection.to_owned(), path.to_owned());
                    if self.found.len() < FIELDS_MAX || self.found.contains_key(&place) {
                        *self.found.entry(place).or_default() += 1;
                    }
                }
            }
        }
    }

    /// What was found.
    pub fn told(self) -> Vec<Mention> {
        let found = self.found.into_iter();
        found.map(|((collection, field), count)| Mention { collection, field, count }).collect()
    }
}

/// Small numbers are everywhere: they are a mention only in a field that is called so.
fn names_an_id(path: &str) -> bool {
    let last = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    last.ends_with("id") || last.ends_with("ids") || last.contains("post")
}

fn is_number(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Int32(_) | RawBsonRef::Int64(_) | RawBsonRef::Double(_))
}

/// A value as a key: equal for values that an engine finds equal, apart for values of other types.
fn key(value: RawBsonRef<'_>) -> Option<String> {
    Some(match value {
        RawBsonRef::String(text) => format!("s{text}"),
        RawBsonRef::ObjectId(id) => format!("o{}", id.to_hex()),
        RawBsonRef::Binary(binary) => {
            format!("b{:02x}{}", u8::from(binary.subtype), hex::encode(binary.bytes))
        }
        RawBsonRef::Int32(number) => format!("n{number}"),
        RawBsonRef::Int64(number) => format!("n{number}"),
        RawBsonRef::Double(number) if number.fract() == 0.0 => format!("n{number:.0}"),
        RawBsonRef::DateTime(date) => format!("d{}", date.timestamp_millis()),
        _ => return None,
    })
}

fn as_text(value: RawBsonRef<'_>) -> Option<String> {
    match value {
        RawBsonRef::ObjectId(id) => Some(id.to_hex()),
        RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
            uuid::Uuid::from_slice(binary.bytes).ok().map(|id| id.hyphenated().to_string())
        }
        _ => None,
    }
}

/// The `_id` of a raw document.
pub fn id_of(whole: &RawDocument) -> Option<Bson> {
    Bson::try_from(whole.get("_id").ok()??).ok()
}

/// Whether idempost wrote the document.
pub fn is_ours(whole: &RawDocument) -> bool {
    whole.get_document("ingest").is_ok()
}
