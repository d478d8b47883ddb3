//! Where assets are stored: a folder, or a bucket of an object store.

use std::path::PathBuf;

use super::layers::{Layers, Sourced};
use crate::error::Failure;

/// `assets.store`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetStore {
    /// `file:FOLDER`.
    Folder {
        /// The folder, resolved.
        path: PathBuf,
        /// As written.
        shown: String,
    },
    /// `s3://BUCKET/PREFIX`, `gs://…` or `az://…`.
    Remote(String),
}

impl AssetStore {
    /// As written, never with credentials.
    pub fn shown(&self) -> &str {
        match self {
            AssetStore::Folder { shown, .. } => shown,
            AssetStore::Remote(url) => url,
        }
    }
}

const SCHEMES: [&str; 3] = ["s3://", "gs://", "az://"];

pub(super) fn store(layers: &Layers<'_>) -> Result<Sourced<Option<AssetStore>>, Failure> {
    let found = layers.text_or_none("assets.store")?;
    let Some(text) = &found.value else { return Ok(found.map(|_| None)) };
    let wrong = |what: &str, help: &str| {
        Err(Failure::usage(format!("assets.store: {what} ({})", found.origin)).help(help))
    };
    if let Some(folder) = text.strip_prefix("file:").filter(|folder| !folder.is_empty()) {
        let path = layers.base(&found.origin).join(folder.strip_prefix("//").unwrap_or(folder));
        let shown = text.clone();
        return Ok(found.map(|_| Some(AssetStore::Folder { path, shown })));
    }
    let Some(rest) = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) else {
        let what = format!("{:?} is no asset store", shortened(text));
        return wrong(
            &what,
            "write file:FOLDER, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX",
        );
    };
    if rest.contains('@') || rest.contains('?') || rest.contains('#') {
        return wrong(
            "credentials and options have no place in it",
            "write scheme, bucket and prefix alone; credentials come from the environment (AWS_…, GOOGLE_…, AZURE_…)",
        );
    }
    if rest.split('/').next().is_none_or(str::is_empty) {
        return wrong("the bucket has no name", "write s3://BUCKET/PREFIX");
    }
    let url = text.trim_end_matches('/').to_owned();
    Ok(found.map(|_| Some(AssetStore::Remote(url))))
}

/// A text that may be anything, without what may be a password.
fn shortened(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => text.to_owned(),
    }
}

/// A store without an address: nothing would be stored, since nobody could find it.
pub(super) fn warn_without_url(
    store: &Sourced<Option<AssetStore>>,
    public_url: &Sourced<Option<String>>,
    warnings: &mut Vec<String>,
) {
    if store.value.is_some() && public_url.value.is_none() {
        warnings.push(format!(
            "assets.store is set ({}) and assets.public_url is not: no asset is stored, since no reader could find it",
            store.origin
        ));
    }
}
