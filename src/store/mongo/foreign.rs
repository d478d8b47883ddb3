//! Documents of other makers in a MongoDB collection, as their bytes are.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};

use super::super::foreign::{Foreign, Mention, Mentions, id_of, is_ours};
use super::super::{Class, Fault, Inserted, Side};
use super::connection::Call;
use super::read::Reads;
use super::rows::Rows;
use super::{MongoStore, document_field};

/// Ids in one `$in`.
const IDS_MAX: usize = 200;
/// A field whose value has more bytes is compared before the removal and not in its filter.
const GUARDED_BYTES_MAX: usize = 16 * 1024;

#[async_trait]
impl Foreign for MongoStore {
    async fn foreign_ids(&self) -> Result<Vec<Bson>, Fault> {
        let id = |raw: &RawDocument| Ok(if is_ours(raw) { None } else { id_of(raw) });
        let found = self.reads().find(doc! {}, Some(doc! { "_id": 1, "ingest": 1 }), None, id).await?;
        Ok(found.into_iter().flatten().collect())
    }

    async fn wholes(&self, ids: &[Bson]) -> Result<Vec<RawDocumentBuf>, Fault> {
        let mut out = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(IDS_MAX) {
            let filter = doc! { "_id": { "$in": chunk.to_vec() } };
            out.extend(self.reads().find(filter, None, None, |raw| Ok(raw.to_owned())).await?);
        }
        Ok(out)
    }

    /// Compared whole first; the filter then has each field of up to [`GUARDED_BYTES_MAX`], so that a
    /// counter that moves in between keeps the document.
    async fn remove(&self, whole: &RawDocument) -> Result<bool, Fault> {
        let id = id_of(whole).ok_or_else(|| refused("a document without `_id`"))?;
        let stored = self.wholes(std::slice::from_ref(&id)).await?;
        if stored.first().is_none_or(|stored| stored.as_bytes() != whole.as_bytes()) {
            return Ok(false);
        }
        let mut filter = doc! { "_id": id };
        for element in whole {
            let (key, value) = element.map_err(|error| refused(error.to_string()))?;
            let plain =
                !key.as_str().is_empty() && !key.as_str().contains('.') && !key.as_str().starts_with('$');
            if key.as_str() == "_id" || !plain || !is_comparable(value) {
                continue;
            }
            let Ok(value) = Bson::try_from(value) else { continue };
            let equal = doc! { "$eq": value };
            if super::super::size::bytes_of(&equal) <= GUARDED_BYTES_MAX {
                filter.insert(key.as_str(), equal);
            }
        }
        let delete = doc! { "q": filter, "limit": 1 };
        let mut command = doc! { "delete": &self.collection, "deletes": [delete], "ordered": true };
        Ok(self.own().send(&mut command, 1).await? == 1)
    }

    async fn put_back(&self, whole: &RawDocument) -> Result<Inserted, Fault> {
        let document = Document::try_from(whole).map_err(|error| refused(error.to_string()))?;
        let mut command = doc! { "insert": &self.collection, "documents": [document], "ordered": true };
        match self.own().send(&mut command, 1).await {
            Ok(1) => Ok(Inserted::New),
            Ok(n) => {
                Err(Fault::new(Class::Unknown, format!("a document was sent and the engine counts {n}")))
            }
            Err(fault) if fault.class == Class::Conflict => Ok(Inserted::Existed),
            Err(fault) => Err(fault),
        }
    }

    async fn mentions(&self, ids: &[Bson]) -> Result<Vec<Mention>, Fault> {
        let list = doc! { "listCollections": 1, "nameOnly": true, "authorizedCollections": true };
        let reply = self.connection.run(list, Call::READ).await?;
        let batch = document_field(&reply, "cursor").and_then(|cursor| cursor.get_array("firstBatch").ok());
        let mut names: Vec<&str> = batch
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.as_document()?.get_str("name").ok())
            .filter(|name| !name.starts_with("system."))
            .filter(|name| Side::ALL.iter().all(|side| **name != self.side(*side)))
            .collect();
        names.sort_unstable();
        let mentions = Mutex::new(Mentions::of(ids));
        for name in names {
            let own = name == self.collection;
            let look = |raw: &RawDocument| {
                mentions.lock().unwrap_or_else(PoisonError::into_inner).look(name, own, raw);
                Ok(())
            };
            Reads { connection: &self.connection, collection: name }.find(doc! {}, None, None, look).await?;
        }
        Ok(mentions.into_inner().unwrap_or_else(PoisonError::into_inner).told())
    }
}

impl MongoStore {
    fn own(&self) -> Rows<'_> {
        Rows { connection: &self.connection, collection: &self.collection }
    }
}

/// What every engine compares alike.
fn is_comparable(value: RawBsonRef<'_>) -> bool {
    !matches!(
        value,
        RawBsonRef::RegularExpression(_)
            | RawBsonRef::JavaScriptCode(_)
            | RawBsonRef::JavaScriptCodeWithScope(_)
            | RawBsonRef::Undefined
            | RawBsonRef::DbPointer(_)
            | RawBsonRef::Symbol(_)
            | RawBsonRef::MinKey
            | RawBsonRef::MaxKey
    )
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}
