//! The port of the object store: where assets are kept, each under its content address.
//!
//! An object is there whole or not at all, and what has the right name and size is never written again.
//! Nothing here knows rows, posts or claims (`apply::assets` does), reads a file by a path (the caller
//! opens it), or retries. Begin at [`Objects`]; `bucket` is the one adapter.

pub mod bucket;
mod part;

use std::fs::File;

use async_trait::async_trait;

use super::Fault;
use crate::post::links::Asset;

/// An asset of more bytes goes in parts of this size, each of them in memory by itself.
pub const PART_BYTES: usize = 8 * 1024 * 1024;

/// What became of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It was sent.
    Sent,
    /// It was there already, whole.
    WasThere,
}

/// What an object store can do, as tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// A second upload of one name was refused.
    pub put_if_absent: bool,
    /// Keys were right, the object could be read back and deleted.
    pub deleted: bool,
}

/// Where assets are kept. Every method may be repeated.
#[async_trait]
pub trait Objects: Send + Sync {
    /// The URL, without credentials: `s3://bucket/prefix`, `file:public/assets`.
    fn place(&self) -> &str;

    /// Whether a look costs next to nothing and others may have another one under the same name: a folder.
    fn is_near(&self) -> bool;

    /// The size of an object, if it is there.
    async fn look(&self, name: &str) -> Result<Option<u64>, Fault>;

    /// Stores an asset that is probably not there, and checks its digest before anybody can see it.
    async fn put(&self, asset: &Asset, name: &str, file: File) -> Result<Put, Fault>;

    /// The bytes of an object from `start` on, [`PART_BYTES`] at most; `None` where there is no such object.
    async fn read(&self, name: &str, start: u64) -> Result<Option<Vec<u8>>, Fault>;

    /// Deletes an object; one that is not there is no error.
    async fn delete(&self, name: &str) -> Result<(), Fault>;

    /// Tries what is needed with a small object of this name, and takes it away again.
    async fn try_out(&self, name: &str) -> Result<Tried, Fault>;
}

/// The name of an asset's object: what its URL ends with, so that readers find what was stored.
pub fn object_name(asset: &Asset) -> &str {
    asset.url.as_deref().and_then(|url| url.rsplit('/').next()).unwrap_or(&asset.sha256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_stored_under_the_name_that_its_url_ends_with() {
        let asset = Asset {
            path: "bilder/Hafen.PNG".to_owned(),
            sha256: "ab12".to_owned(),
            bytes: 3,
            mime: "image/png".to_owned(),
            url: Some("https://cdn.example.com/assets/ab12.png".to_owned()),
        };
        assert_eq!(object_name(&asset), "ab12.png");
        assert_eq!(object_name(&Asset { url: None, ..asset }), "ab12");
    }
}
