//! Reads posts: heads by projection, whole documents by id. Every batch of a cursor is under the deadline.

use std::collections::BTreeSet;

use bson::{Bson, Document, RawDocument, doc};
use futures_util::StreamExt;

use super::super::document::{Head, head_projection};
use super::super::{Class, Fault};
use super::connection::{Call, Connection};
use super::head::{head, whole};

/// Ids in one `$in`; at 26 characters some 40 KiB.
const IDS_MAX: usize = 1_000;

/// Slugs in one `$in`.
const SLUGS_MAX: usize = 500;

/// Bytes of ids or slugs in one `$in`: ids of other makers may be long.
const KEY_BYTES_MAX: usize = 1024 * 1024;

/// Documents in one reply. An engine fills its replies to its own limit of bytes before; without this the first
/// one has 101, and each further one costs a round trip.
const REPLY_DOCUMENTS_MAX: i32 = 100_000;

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
        let mut out = self.find(doc! {}, Some(head_projection()), Some(doc! { "_id": 1 }), head).await?;
        // Engines order ids of other types than text before these, and some order text by a locale.
        sort(&mut out);
        Ok(out)
    }

    /// The heads under these ids, in order of `_id`.
    pub async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        let mut out = Vec::new();
        for chunk in chunks(ids.iter().map(String::as_str), IDS_MAX) {
            out.extend(
                self.find(doc! { "_id": { "$in": chunk } }, Some(head_projection()), None, head).await?,
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
            out.extend(self.find(filter, Some(head_projection()), None, head).await?);
        }
        out.retain(|head: &Head| wanted.contains(&(head.slug.as_str(), head.lang.as_str())));
        sort(&mut out);
        Ok(out)
    }

    /// Whole documents under these ids, in order of `_id`.
    pub async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        let mut out = Vec::new();
        for chunk in chunks(ids.iter().map(String::as_str), IDS_MAX) {
            out.extend(self.find(doc! { "_id": { "$in": chunk } }, None, None, whole).await?);
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
        read: impl Fn(&RawDocument) -> bson::error::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let known = self.connection.ready().await?;
        let mut command =
            doc! { "find": self.collection, "filter": filter, "batchSize": REPLY_DOCUMENTS_MAX };
        if let Some(projection) = projection {
            command.insert("projection", projection);
        }
        if let Some(sort) = sort {
            command.insert("sort", sort);
        }
        if known.majority_reads {
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
            for document in batch.doc_slices().map_err(|error| unreadable(&error.kind))? {
                let document = document.map_err(|error| unreadable(&error))?;
                let document = document.as_document().ok_or_else(|| unreadable(&"it holds no document"))?;
                out.push(read(document).map_err(|error| unreadable(&error))?);
            }
        }
    }
}

fn unreadable(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Class::Unknown, format!("a reply cannot be read: {error}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut_by_number_and_by_bytes() {
        let names: Vec<String> = (0..25).map(|at| format!("s{}", at % 11)).collect();
        let chunks_of_4 = chunks(names.iter().map(String::as_str), 4);
        assert_eq!(chunks_of_4.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 3]);
        let long = "x".repeat(KEY_BYTES_MAX);
        let names = [format!("{long}1"), format!("{long}2"), "a".to_owned()];
        let by_bytes = chunks(names.iter().map(String::as_str), 100);
        assert_eq!(by_bytes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(by_bytes[0][0].as_str(), Some("a"));
        assert_eq!(chunks(std::iter::empty(), 4).len(), 0);
    }
}
