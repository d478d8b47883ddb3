//! The files that posts refer to, copied back from the asset store to where the posts look for them.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use bson::{Bson, Document};
use sha2::{Digest, Sha256};

use super::super::{assets, open};
use super::folder::Found;
use super::names::{Chosen, is_safe_asset};
use super::{Fate, Host, Settings, Work};
use crate::apply::Executor;
use crate::error::Failure;
use crate::post::links::Asset;
use crate::store::document::integer;
use crate::store::objects::{Objects, object_name};

/// Bytes of a file that are compared at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// What became of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// Path below the folder.
    pub path: String,
    /// Its digest.
    pub sha256: String,
    /// What became of it.
    pub fate: Fate,
    /// Why it is not there.
    pub message: String,
}

/// The assets that posts name, by path.
#[derive(Debug, Default)]
pub struct Named(BTreeMap<String, Vec<Asset>>);

impl Named {
    /// How many paths there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those of one document, beside its file.
    pub(super) fn add(&mut self, document: &Document, chosen: &Chosen) {
        let Ok(assets) = document.get_array("assets") else { return };
        for asset in assets.iter().filter_map(Bson::as_document).filter_map(read) {
            let one = self.0.entry(format!("{}{}", chosen.aside, asset.path)).or_default();
            if !one.iter().any(|other| other.sha256 == asset.sha256) {
                one.push(asset);
            }
        }
    }
}

fn read(stored: &Document) -> Option<Asset> {
    let text = |key: &str| stored.get_str(key).ok().map(str::to_owned);
    Some(Asset {
        path: text("path")?,
        sha256: text("sha256")?,
        bytes: u64::try_from(integer(stored.get("bytes"))?).ok()?,
        mime: text("mime").unwrap_or_default(),
        url: text("url"),
    })
}

/// Copies them, and says of each what became of it.
pub(super) async fn copy(
    settings: &Settings,
    host: &Host,
    executor: &Executor<'_>,
    work: &Work,
    named: &Named,
) -> Result<Vec<Copied>, Failure> {
    let objects = if named.is_empty() { None } else { assets::open(settings)? };
    let mut out = Vec::new();
    for (path, wanted) in &named.0 {
        if host.cancel.is_cancelled() {
            break;
        }
        let Some(asset) = wanted.first() else { continue };
        let (fate, message) = match (&objects, wanted.len()) {
            (_, 2..) => {
                (Fate::Refused, "posts that were ingested at different times show different files".to_owned())
            }
            _ if !is_safe_asset(path) => (Fate::Refused, "its path is none below the folder".to_owned()),
            _ if asset.url.is_none() => {
                (Fate::Absent, "it was never stored: copy it from the tree".to_owned())
            }
            (None, _) => (Fate::Absent, "no asset store is configured (assets.store)".to_owned()),
            (Some(objects), _) => one(executor, objects, work, path, asset).await?,
        };
        out.push(Copied { path: path.clone(), sha256: asset.sha256.clone(), fate, message });
    }
    Ok(out)
}

async fn one(
    executor: &Executor<'_>,
    objects: &dyn Objects,
    work: &Work,
    path: &str,
    asset: &Asset,
) -> Result<(Fate, String), Failure> {
    let found = work.folder.compare(path, asset.bytes, |file| {
        let mut hasher = Sha256::new();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            match file.read(&mut chunk)? {
                0 => return Ok(hex::encode(hasher.finalize()) == asset.sha256),
                read => hasher.update(chunk.get(..read).unwrap_or_default()),
            }
        }
    });
    let name = object_name(asset);
    if found == Found::Nothing || found == Found::Other {
        let there = executor.persist(|| objects.look(name)).await.map_err(|fault| open::failure(&fault))?;
        if there != Some(asset.bytes) {
            let what = if there.is_some() { "has another size" } else { "is gone" };
            return Ok((Fate::Absent, format!("its object in {} {what}", objects.place())));
        }
    }
    let settled = work.settle(path, found, async |file| {
        let mut hasher = Sha256::new();
        let mut start = 0_u64;
        while start < asset.bytes {
            let part = executor.persist(|| objects.read(name, start)).await;
            let part = part.map_err(|fault| fault.message)?.unwrap_or_default();
            if part.is_empty() {
                return Err("its object ends early".to_owned());
            }
            hasher.update(&part);
            file.write_all(&part).map_err(|error| error.to_string())?;
            start = start.saturating_add(part.len() as u64);
        }
        if hex::encode(hasher.finalize()) == asset.sha256 {
            Ok(())
        } else {
            Err("its object does not have the digest that it is stored under".to_owned())
        }
    });
    Ok(settled.await)
}
