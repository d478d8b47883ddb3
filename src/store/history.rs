//! The stored shape of a before-image: what a post was before one run wrote it, and what that run left. A row
//! of [`super::Side::History`] for each post that a run writes, keyed by both, kept as long as the run's row.
//!
//! Pure. It holds the fields that idempost owns and no others: an undo leaves everybody else's alone.

use bson::{Bson, Document, doc};

use super::Limits;
use super::document::{LIFECYCLE_FIELDS, Status, content_of, integer};
use super::size::{ENVELOPE_BYTES_MAX, bytes_of, levels};

/// What one run did to one post.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// The run.
    pub run_id: String,
    /// `_id` of the post.
    pub post_id: String,
    /// Counts the writes of the row, from 1.
    pub version: i64,
    /// `status` that the run leaves.
    pub status: Status,
    /// `ingest.contentHash` that the run leaves.
    pub content_hash: String,
    /// What was there before.
    pub before: Before,
}

/// What was there before a run wrote a post.
#[derive(Debug, Clone, PartialEq)]
pub enum Before {
    /// Nothing: the run makes the post.
    Absent,
    /// The owned fields of its document.
    Post(Document),
    /// A document that was too large to be kept.
    TooLarge,
}

impl Before {
    /// What is kept of a stored document.
    pub fn of(document: &Document) -> Self {
        let mut kept = content_of(document);
        for field in LIFECYCLE_FIELDS.iter().filter(|field| !["live", "effects"].contains(field)) {
            if let Some(value) = document.get(field) {
                kept.insert(*field, value.clone());
            }
        }
        Before::Post(kept)
    }

    /// The same, or [`Before::TooLarge`] where a row with it is more than the store takes.
    #[must_use]
    pub fn within(self, limits: &Limits) -> Self {
        match &self {
            Before::Post(document)
                if bytes_of(document).saturating_add(ENVELOPE_BYTES_MAX) > limits.document_bytes_max
                    || levels(document).saturating_add(1) > limits.nesting_levels_max =>
            {
                Before::TooLarge
            }
            _ => self,
        }
    }

    /// Bytes that it takes in the store.
    pub fn bytes(&self) -> u64 {
        match self {
            Before::Post(document) => bytes_of(document) as u64,
            Before::Absent | Before::TooLarge => 0,
        }
    }
}

impl Image {
    /// `_id` of the row of a run and a post.
    pub fn id_of(run_id: &str, post_id: &str) -> String {
        format!("{run_id}:{post_id}")
    }

    /// What finds the rows of a run.
    pub fn of_run(run_id: &str) -> Document {
        // `;` is the next byte after `:`.
        doc! { "_id": { "$gt": format!("{run_id}:"), "$lt": format!("{run_id};") } }
    }

    /// The stored form.
    pub fn to_document(&self) -> Document {
        let mut out = doc! {
            "_id": Self::id_of(&self.run_id, &self.post_id),
            "version": self.version,
            "runId": &self.run_id,
            "postId": &self.post_id,
            "left": { "status": self.status.as_str(), "contentHash": &self.content_hash },
        };
        match &self.before {
            Before::Absent => {}
            Before::Post(document) => {
                out.insert("before", document.clone());
            }
            Before::TooLarge => {
                out.insert("tooLarge", true);
            }
        }
        out
    }

    /// Reads a row; `None` for what is none.
    pub fn from_document(mut row: Document) -> Option<Self> {
        let before = match row.remove("before") {
            Some(Bson::Document(document)) => Before::Post(document),
            _ if row.get_bool("tooLarge").unwrap_or(false) => Before::TooLarge,
            _ => Before::Absent,
        };
        let left = row.get_document("left").ok()?;
        Some(Image {
            run_id: row.get_str("runId").ok()?.to_owned(),
            post_id: row.get_str("postId").ok()?.to_owned(),
            version: integer(row.get("version"))?,
            status: Status::from_stored(left.get_str("status").ok()?),
            content_hash: left.get_str("contentHash").ok()?.to_owned(),
            before,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(before: Before) -> Image {
        Image {
            run_id: "R".to_owned(),
            post_id: "P".to_owned(),
            version: 1,
            status: Status::Active,
            content_hash: "h".to_owned(),
            before,
        }
    }

    #[test]
    fn a_row_says_what_the_image_is() {
        let post = doc! { "_id": "P", "slug": "a", "title": "A", "status": "active", "live": true,
        "ingest": { "version": 3_i64 }, "views": 7, "effects": [] };
        for before in [Before::Absent, Before::of(&post), Before::TooLarge] {
            let row = image(before.clone()).to_document();
            assert_eq!(row.get_str("_id").unwrap(), "R:P");
            assert_eq!(Image::from_document(row), Some(image(before)));
        }
        let Before::Post(kept) = Before::of(&post) else { panic!("a post") };
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["_id", "slug", "title", "status", "ingest"]);
    }

    #[test]
    fn what_the_store_does_not_take_is_not_kept() {
        let limits = |bytes: usize, levels: usize| Limits {
            statements_max: 1,
            batch_bytes_max: usize::MAX,
            document_bytes_max: bytes,
            nesting_levels_max: levels,
            unique_live: true,
        };
        let before = Before::Post(doc! { "body": "x".repeat(10_000), "extra": { "a": 1 } });
        assert_eq!(before.clone().within(&limits(20_000, 5)), before);
        assert_eq!(before.clone().within(&limits(12_000, 5)), Before::TooLarge);
        assert_eq!(before.clone().within(&limits(20_000, 2)), Before::TooLarge);
        assert_eq!(Before::Absent.within(&limits(1, 1)), Before::Absent);
    }
}
