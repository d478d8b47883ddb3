//! Each asset is stored once: its row in the asset collection is the lock, inserted before the upload.
//!
//! Of all runs and posts that want one digest, the one whose insert made the row uploads; the others wait
//! until its claim ends and read back, without a call to the object store. A claim that ran out is taken
//! over by compare-and-set. A row that says `stored` answers for its object; a folder is looked at as
//! well, since every machine has its own. `sweep` takes away what no post shows any more. Begin at
//! [`AssetRows`].

pub mod row;
pub mod sweep;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bson::doc;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{Clock, lock};
use crate::post::links::Asset;
use crate::store::document::Claim;
use crate::store::objects::{Objects, object_name};
use crate::store::{Class, Fault, Inserted, Side, Store};
use row::{Row, State};

/// Where assets are kept, under their content address. Storing twice is storing once.
#[async_trait]
pub trait Promoter: Send + Sync {
    /// Whether the asset is there, whole.
    async fn stored(&self, asset: &Asset) -> Result<bool, Fault>;

    /// Stores the asset.
    async fn store(&self, asset: &Asset) -> Result<(), Fault>;

    /// The digests among these assets that are not stored, or cannot be looked up.
    async fn absent(&self, assets: &[&Asset]) -> HashSet<String> {
        let mut absent = HashSet::new();
        for asset in assets {
            if !absent.contains(&asset.sha256) && !matches!(self.stored(asset).await, Ok(true)) {
                absent.insert(asset.sha256.clone());
            }
        }
        absent
    }
}

/// Opens assets of the tree.
pub trait AssetFiles: Send + Sync {
    /// The file at a path below the content root. `Err` says why there is none.
    fn open(&self, path: &str) -> Result<File, String>;
}

/// Whether a row is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// A row that says `stored` is enough.
    Rows,
    /// Each object is looked at once (`--force`): somebody may have deleted it by hand.
    Objects,
}

/// A row is marked as used at most this often. Whoever sweeps leaves what was used within
/// [`sweep::GRACE_MIN`], which is longer by far.
pub const USED_EVERY: Duration = Duration::from_hours(1);

/// Assets whose rows are asked for one by one; of more, all rows are read at once.
const ROWS_ONE_BY_ONE_MAX: usize = 16;
/// Rows that are looked at or marked at a time.
const ROWS_AT_ONCE: usize = 16;
/// Pause between two looks at a row that somebody else holds.
const WAIT: Duration = Duration::from_millis(100);

/// Stores assets for one run.
pub struct AssetRows<'a> {
    /// Where the rows are.
    pub store: &'a dyn Store,
    /// Where the objects go.
    pub objects: &'a dyn Objects,
    /// Where the assets come from.
    pub files: &'a dyn AssetFiles,
    /// What the time is.
    pub clock: &'a dyn Clock,
    /// Who is at work.
    pub run_id: String,
    /// How long a claim lasts without being renewed.
    pub claim: Duration,
    /// Set by the first signal: nobody is waited for any more.
    pub cancel: CancellationToken,
    /// Whether rows are believed.
    pub trust: Trust,
    /// Changed by this module alone.
    pub state: AtWork,
}

/// What a run knows of its own work.
#[derive(Debug, Default)]
pub struct AtWork {
    /// One task of a run is at work on a digest at a time: its claims tell runs apart, not tasks.
    locks: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// Objects that were looked at.
    seen: Mutex<HashSet<String>>,
}

#[async_trait]
impl Promoter for AssetRows<'_> {
    async fn stored(&self, asset: &Asset) -> Result<bool, Fault> {
        loop {
            let Some(row) = self.row(asset).await? else { return Ok(false) };
            match self.judge(&row, asset).await? {
                Some(true) => return Ok(true),
                Some(false) => return Ok(false),
                // Somebody changed the row under our hands: what it says now counts.
                None => {}
            }
        }
    }

    async fn store(&self, asset: &Asset) -> Result<(), Fault> {
        let one_task = Arc::clone(lock(&self.state.locks).entry(asset.sha256.clone()).or_default());
        let _alone = one_task.lock().await;
        loop {
            let first = Row::first(
                asset,
                object_name(asset),
                self.objects.place(),
                self.our_claim(),
                self.clock.now(),
            );
            if self.store.row_insert(Side::Assets, &first.to_document()).await? == Inserted::New {
                if self.upload(asset, first, Before::Nothing).await? {
                    return Ok(());
                }
                continue;
            }
            let Some(row) = self.row(asset).await? else { continue };
            if row.state == State::Stored && self.judge(&row, asset).await? == Some(true) {
                return Ok(());
            }
            let theirs = row.claim.as_ref().is_some_and(|claim| claim.run_id != self.run_id);
            if theirs && row.is_claimed(self.clock.now()) {
                self.wait(asset).await?;
                continue;
            }
            let taken = Row {
                name: object_name(asset).to_owned(),
                place: self.objects.place().to_owned(),
                ..row.next(State::Uploading, Some(self.our_claim()))
            };
            if self.replace(&row, &taken).await? && self.upload(asset, taken, Before::Perhaps).await? {
                return Ok(());
            }
        }
    }

    async fn absent(&self, assets: &[&Asset]) -> HashSet<String> {
        let each: BTreeMap<String, Asset> =
            assets.iter().map(|asset| (asset.sha256.clone(), (*asset).clone())).collect();
        let rows = if each.len() > ROWS_ONE_BY_ONE_MAX { self.all_stored().await.ok() } else { None };
        let rows = rows.as_ref();
        futures_util::stream::iter(each)
            .map(|(sha256, asset)| async move {
                let stored = self.stored_by(rows, &asset).await;
                (!matches!(stored, Ok(true))).then_some(sha256)
            })
            .buffer_unordered(ROWS_AT_ONCE)
            .filter_map(std::future::ready)
            .collect()
            .await
    }
}

/// Whether an object may be there before it is uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nobody had a row.
    Nothing,
    /// Somebody was at work on it.
    Perhaps,
}

impl AssetRows<'_> {
    async fn row(&self, asset: &Asset) -> Result<Option<Row>, Fault> {
        let found = self.store.rows(Side::Assets, &doc! { "_id": &asset.sha256 }).await?;
        match found.first() {
            None => Ok(None),
            Some(document) => Row::from_document(document).map(Some).ok_or_else(|| {
                Fault::new(
                    Class::Permanent,
                    format!("the row {} of the asset collection is not one of idempost's", asset.sha256),
                )
                .help("look at it; where nobody needs it, delete it")
            }),
        }
    }

    /// [`Promoter::stored`] by the rows that were read at once, where they were.
    async fn stored_by(&self, rows: Option<&HashMap<String, Row>>, asset: &Asset) -> Result<bool, Fault> {
        let Some(rows) = rows else { return self.stored(asset).await };
        let Some(row) = rows.get(&asset.sha256) else { return Ok(false) };
        match self.judge(row, asset).await? {
            Some(stored) => Ok(stored),
            None => self.stored(asset).await,
        }
    }

    async fn all_stored(&self) -> Result<HashMap<String, Row>, Fault> {
        let rows = self.store.rows(Side::Assets, &doc! { "state": State::Stored.as_str() }).await?;
        let rows = rows.iter().filter_map(Row::from_document);
        Ok(rows.map(|row| (row.sha256.clone(), row)).collect())
    }

    /// Whether a row answers for its object, which is then marked as used. `None`: the row was changed
    /// meanwhile.
    async fn judge(&self, row: &Row, asset: &Asset) -> Result<Option<bool>, Fault> {
        let ours = self.objects.is_near() || row.place == self.objects.place();
        if row.state != State::Stored || row.name != object_name(asset) || !ours {
            return Ok(Some(false));
        }
        if !self.object_is_there(asset).await? {
            return Ok(Some(false));
        }
        let now = self.clock.now();
        if now.saturating_sub(row.used_at) <= millis(USED_EVERY) {
            return Ok(Some(true));
        }
        let used = Row { used_at: now, ..row.next(State::Stored, None) };
        Ok(self.replace(row, &used).await?.then_some(true))
    }

    /// Looks at the object where its row is not enough, once a run.
    async fn object_is_there(&self, asset: &Asset) -> Result<bool, Fault> {
        if self.trust == Trust::Rows && !self.objects.is_near() {
            return Ok(true);
        }
        if lock(&self.state.seen).contains(&asset.sha256) {
            return Ok(true);
        }
        let found = self.objects.look(object_name(asset)).await? == Some(asset.bytes);
        if found {
            lock(&self.state.seen).insert(asset.sha256.clone());
        }
        Ok(found)
    }

    fn our_claim(&self) -> Claim {
        let until = self.clock.now().saturating_add(millis(self.claim));
        Claim { run_id: self.run_id.clone(), until }
    }

    async fn replace(&self, row: &Row, next: &Row) -> Result<bool, Fault> {
        self.store.row_replace(Side::Assets, row.version, &next.to_document()).await
    }

    async fn wait(&self, asset: &Asset) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::new(
                Class::Permanent,
                format!("interrupted while another run stores {}", asset.path),
            ));
        }
        tokio::time::sleep(WAIT.min(self.claim)).await;
        Ok(())
    }

    /// Uploads under a claim that this run holds, renewing it. `false`: the claim was lost.
    async fn upload(&self, asset: &Asset, mut row: Row, before: Before) -> Result<bool, Fault> {
        let sending = self.send(asset, before);
        tokio::pin!(sending);
        let sent = loop {
            tokio::select! {
                sent = &mut sending => break sent,
                () = tokio::time::sleep(self.claim / 3) => {
                    let renewed = row.next(State::Uploading, Some(self.our_claim()));
                    if !self.replace(&row, &renewed).await? {
                        return Ok(false);
                    }
                    row = renewed;
                }
            }
        };
        if let Err(fault) = sent {
            // Others need not wait for the end of a claim whose holder gave up.
            let _ = self.replace(&row, &row.next(State::Uploading, None)).await;
            return Err(fault);
        }
        lock(&self.state.seen).insert(asset.sha256.clone());
        let stored = Row { used_at: self.clock.now(), ..row.next(State::Stored, None) };
        self.replace(&row, &stored).await
    }

    async fn send(&self, asset: &Asset, before: Before) -> Result<(), Fault> {
        let name = object_name(asset);
        if before == Before::Perhaps && self.objects.look(name).await? == Some(asset.bytes) {
            return Ok(());
        }
        let file = self
            .files
            .open(&asset.path)
            .map_err(|why| Fault::new(Class::Permanent, format!("{} {why}", asset.path)).help("run again"))?;
        self.objects.put(asset, name, file).await.map(|_| ())
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
