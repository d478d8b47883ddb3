//! The asset store of the settings: opened, and put between a run and its posts.

use super::files::Files;
use super::host::Host;
use super::open;
use crate::apply::assets::{AssetFiles, AssetRows, AtWork, Trust};
use crate::apply::statement::Writer;
use crate::config::Settings;
use crate::config::assets::AssetStore;
use crate::error::Failure;
use crate::store::Store;
use crate::store::objects::bucket::Bucket;

/// Opens the asset store, where one is configured. Nothing is sent.
pub fn open(settings: &Settings) -> Result<Option<Bucket>, Failure> {
    let opened = match &settings.assets_store.value {
        None => return Ok(None),
        Some(AssetStore::Folder { path, shown }) => Bucket::folder(path, shown),
        Some(AssetStore::Remote(url)) => Bucket::remote(url, &settings.assets_options),
    };
    opened.map(Some).map_err(|fault| open::failure(&fault))
}

/// What stores the assets of one run.
pub fn rows<'a>(
    settings: &Settings,
    host: &'a Host,
    store: &'a dyn Store,
    objects: &'a Bucket,
    files: &'a Files,
    writer: &Writer,
) -> AssetRows<'a> {
    AssetRows {
        store,
        objects,
        files: files as &dyn AssetFiles,
        clock: host.clock.as_ref(),
        run_id: writer.run_id.clone(),
        claim: settings.assets_claim.value,
        cancel: host.cancel.clone(),
        trust: if settings.policy.force { Trust::Objects } else { Trust::Rows },
        state: AtWork::default(),
    }
}
