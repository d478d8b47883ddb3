//! Reads posts: heads by projection, whole documents by id. Every batch of a cursor is under the deadline.

use std::collections::BTreeSet;

use bson::{Bson, Document, doc};
use futures_util::StreamExt;

use super::super::Fault;
use super::super::document::{Head, head_projection};
use super::connection::{Call, Connection};

/// Ids in one `$in`; at 26 characters some 40 KiB.
const IDS_MAX: usize = 1_000;

/// Slugs in one `$in`.
const SLUGS_MAX: usize = 500;

/// Bytes of ids or slugs in one `$in`: ids of other makers may be long.
const KEY_BYTES_MAX: usize = 1024 * 1024;

/// Reads of one collection.
pub struct Reads<'a> {
    /// The way to the engine.
    pub connection: &'a Connection,
    /// The collection.
    pub collection: &'a str,
}

impl Reads<'_> {
    /// All heads, in order of `_id`.
    pub async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.find(doc! {}, Some(head_projection()), Some(doc! { "_id": 1 }), |document| {
            Head::from_document(&document)
        })
        .await
    }

    /// The heads under these ids, in order of `_id`.
    pub async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        let mut out = Vec::new();
        for chunk in chunks(ids.iter().map(String::as_str), IDS_MAX) {
            let filter = doc! { "_id": { "$in": chunk } };
            out.extend(
                self.find(filter, Some(head_projection()), None, |document| Head::from_document(&document))
                    .await?,
            );
        }
        sort(&mut out);
        Ok(out)
    }

    /// The heads that are live under these (slug, lang), in order of `_id`. The filter is by slug, which the
    /// index of live posts begins with and which every engine takes; the language is compared here.
    pub async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        let wanted: BTreeSet<(&str, &str)> =
            keys.iter().map(|(slug, lang)| (slug.as_str(), lang.as_str())).collect();
        let mut out = Vec::new();
        for chunk in chunks(keys.iter().map(|(slug, _)| slug.as_str()), SLUGS_MAX) {
            let filter = doc! { "slug": { "$in": chunk }, "live": true };
            out.extend(
                self.find(filter, Some(head_projection()), None, |document| Head::from_document(&document))
                    .await?,
            );
        }
        out.retain(|head: &Head| wanted.contains(&(head.slug.as_str(), head.lang.as_str())));
        sort(&mut out);
        Ok(out)
    }

    /// Whole documents under these ids, in order of `_id`.
    pub async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        let mut out = Vec::new();
        for chunk in chunks(ids.iter().map(String::as_str), IDS_MAX) {
            out.extend(self.find(doc! { "_id": { "$in": chunk } }, None, None, |document| document).await?);
        }
        out.sort_by_cached_key(id_text);
        Ok(out)
    }

    /// One query, all of its batches. A collection that is not there has nothing.
    pub async fn find<T>(
        &self,
        filter: Document,
        projection: Option<Document>,
        sort: Option<Document>,
        read: impl Fn(Document) -> T,
    ) -> Result<Vec<T>, Fault> {
        let known = self.connection.ready().await?;
        let mut command = doc! { "find": self.collection, "filter": filter };
        if let Some(projection) = projection {
            command.insert("projection", projection);
        }
        if let Some(sort) = sort {
            command.insert("sort", sort);
        }
        if known.detected.profile.facts().read_majority {
            command.insert("readConcern", doc! { "level": "majority" });
        }
        let database = self.connection.database().await?;
        let mut cursor = self
            .connection
            .within(Call::READ, async move { database.run_cursor_command(command).batch().await })
            .await?;
        let mut out = Vec::new();
        loop {
            let step = async move {
                let batch = cursor.next().await.transpose()?;
                Ok((batch, cursor))
            };
            let (batch, rest) = self.connection.within(Call::READ, step).await?;
            cursor = rest;
            let Some(batch) = batch else { return Ok(out) };
            let unreadable = |error: &dyn std::fmt::Display| {
                Fault::new(super::super::Class::Unknown, format!("a reply cannot be read: {error}"))
            };
            for document in batch.doc_slices().map_err(|error| unreadable(&error.kind))? {
                let document = document.map_err(|error| unreadable(&error))?;
                let document = document.as_document().ok_or_else(|| unreadable(&"it holds no document"))?;
                out.push(read(Document::try_from(document).map_err(|error| unreadable(&error))?));
            }
        }
    }
}

/// Distinct values in order, cut by number and bytes.
fn chunks<'a>(values: impl Iterator<Item = &'a str>, count_max: usize) -> Vec<Vec<Bson>> {
    let distinct: BTreeSet<&str> = values.collect();
    let mut out: Vec<Vec<Bson>> = Vec::new();
    let mut bytes = 0;
    for value in distinct {
        if bytes > KEY_BYTES_MAX || out.last().is_none_or(|chunk| chunk.len() >= count_max) {
            out.push(Vec::new());
            bytes = 0;
        }
        bytes += value.len() + 16;
        if let Some(chunk) = out.last_mut() {
            chunk.push(Bson::from(value));
        }
    }
    out
}

fn sort(heads: &mut [Head]) {
    heads.sort_by(|a, b| a.id.cmp(&b.id));
}

fn id_text(document: &Document) -> String {
    Head::from_document(document).id
}
