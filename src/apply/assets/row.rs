//! The row of one asset: whether its object is there, and who is at work on it.

use bson::{Document, doc};

use crate::post::links::Asset;
use crate::store::document::{Claim, integer};

/// How an object stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Somebody stores it, or did and died.
    Uploading,
    /// It is there.
    Stored,
    /// Nobody showed it, and it is being deleted.
    Deleting,
}

impl State {
    /// The stored spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Uploading => "uploading",
            State::Stored => "stored",
            State::Deleting => "deleting",
        }
    }
}

/// One row of `<collection>_assets`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `_id`: SHA-256 of the bytes, hex.
    pub sha256: String,
    /// Counts the writes of the row.
    pub version: i64,
    /// How the object stands.
    pub state: State,
    /// Its name below the place.
    pub name: String,
    /// The asset store, without credentials.
    pub place: String,
    /// Size.
    pub bytes: i64,
    /// MIME type.
    pub mime: String,
    /// Who is at work on it.
    pub claim: Option<Claim>,
    /// When a post last asked for it, Unix milliseconds; moved on at most once an hour.
    pub used_at: i64,
}

impl Row {
    /// The first row of an asset, claimed.
    pub fn first(asset: &Asset, name: &str, place: &str, claim: Claim, now: i64) -> Self {
        Row {
            sha256: asset.sha256.clone(),
            version: 1,
            state: State::Uploading,
            name: name.to_owned(),
            place: place.to_owned(),
            bytes: i64::try_from(asset.bytes).unwrap_or(i64::MAX),
            mime: asset.mime.clone(),
            claim: Some(claim),
            used_at: now,
        }
    }

    /// The next version of the row, in this state and with this claim.
    #[must_use]
    pub fn next(&self, state: State, claim: Option<Claim>) -> Self {
        Row { version: self.version.saturating_add(1), state, claim, ..self.clone() }
    }

    /// Whether somebody's claim is not over.
    pub fn is_claimed(&self, now: i64) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.until > now)
    }

    /// The stored form.
    pub fn to_document(&self) -> Document {
        let mut out = doc! {
            "_id": &self.sha256,
            "version": self.version,
            "state": self.state.as_str(),
            "name": &self.name,
            "place": &self.place,
            "bytes": self.bytes,
            "mime": &self.mime,
            "usedAt": bson::DateTime::from_millis(self.used_at),
        };
        if let Some(claim) = &self.claim {
            let until = bson::DateTime::from_millis(claim.until);
            out.insert("claim", doc! { "runId": &claim.run_id, "until": until });
        }
        out
    }

    /// Reads the stored form; `None` where it is none.
    pub fn from_document(row: &Document) -> Option<Self> {
        let text = |key: &str| row.get_str(key).ok().map(str::to_owned);
        let claim = row.get_document("claim").ok().and_then(|claim| {
            Some(Claim {
                run_id: claim.get_str("runId").ok()?.to_owned(),
                until: claim.get_datetime("until").ok()?.timestamp_millis(),
            })
        });
        Some(Row {
            sha256: text("_id")?,
            version: integer(row.get("version"))?,
            state: match row.get_str("state").ok()? {
                "stored" => State::Stored,
                "deleting" => State::Deleting,
                _ => State::Uploading,
            },
            name: text("name")?,
            place: text("place")?,
            bytes: integer(row.get("bytes"))?,
            mime: text("mime").unwrap_or_default(),
            claim,
            used_at: row.get_datetime("usedAt").ok()?.timestamp_millis(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let row = Row {
            sha256: "ab".repeat(32),
            version: 4,
            state: State::Deleting,
            name: "ab.png".to_owned(),
            place: "s3://bucket/assets".to_owned(),
            bytes: 7,
            mime: "image/png".to_owned(),
            claim: Some(Claim { run_id: "01J".to_owned(), until: 1_700_000_000_123 }),
            used_at: 1_700_000_000_000,
        };
        assert_eq!(Row::from_document(&row.to_document()), Some(row.clone()));
        let row = row.next(State::Stored, None);
        assert_eq!((row.version, Row::from_document(&row.to_document())), (5, Some(row)));
        assert_eq!(Row::from_document(&doc! { "_id": "x" }), None);
    }
}
