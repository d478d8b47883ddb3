//! A network between a run and its store that delays, reorders, repeats and loses.
//!
//! Every command travels as a task of its own: dropping the caller (a killed process) does not call it
//! back. What it does is drawn from one seeded generator, so a seed replays.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bson::Document;
use idempost::apply::Clock;
use idempost::store::document::Head;
use idempost::store::memory::MemoryStore;
use idempost::store::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};
use rand::{RngExt, SeedableRng, rngs::SmallRng};

/// How often what goes wrong, in percent of the commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    pub lost_request: u32,
    pub lost_reply: u32,
    pub late: u32,
    pub repeated: u32,
    pub throttled: u32,
    pub failed_read: u32,
    pub delay_millis: u64,
    pub late_millis: u64,
}

/// The clock of a simulation: it moves when everybody sleeps.
#[derive(Clone)]
pub struct VirtualClock(pub tokio::time::Instant);

impl Clock for VirtualClock {
    fn now(&self) -> i64 {
        1_900_000_000_000 + i64::try_from(self.0.elapsed().as_millis()).unwrap()
    }
}

/// What a mutation takes out below the port.
#[derive(Debug, Clone, Copy, Default)]
pub struct Below {
    /// Updates match whatever version is stored.
    pub no_version_guard: bool,
    /// An unfinished row whose lease is over is not seen any more.
    pub rows_age: bool,
}

pub struct Hostile {
    inner: MemoryStore,
    clock: VirtualClock,
    rates: Rates,
    below: Below,
    rng: Arc<Mutex<SmallRng>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Fine,
    LostRequest,
    LostReply,
    Late,
    Repeated,
    Throttled,
}

impl Hostile {
    pub fn new(inner: MemoryStore, clock: VirtualClock, rates: Rates, below: Below, seed: u64) -> Self {
        Hostile { inner, clock, rates, below, rng: Arc::new(Mutex::new(SmallRng::seed_from_u64(seed))) }
    }

    fn draw(&self, below: u64) -> u64 {
        if below == 0 { 0 } else { self.rng.lock().unwrap().random_range(0..below) }
    }

    fn fate(&self) -> Fate {
        let drawn = u32::try_from(self.draw(100)).unwrap();
        let rates = [
            (self.rates.lost_request, Fate::LostRequest),
            (self.rates.lost_reply, Fate::LostReply),
            (self.rates.late, Fate::Late),
            (self.rates.repeated, Fate::Repeated),
            (self.rates.throttled, Fate::Throttled),
        ];
        let mut sum = 0;
        for (rate, fate) in rates {
            sum += rate;
            if drawn < sum {
                return fate;
            }
        }
        Fate::Fine
    }

    fn delay(&self) -> Duration {
        Duration::from_millis(self.draw(self.rates.delay_millis + 1))
    }

    fn late(&self) -> Duration {
        Duration::from_millis(self.draw(self.rates.late_millis + 1))
    }

    async fn read<T, F>(&self, read: F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        tokio::time::sleep(self.delay()).await;
        if self.draw(100) < u64::from(self.rates.failed_read) {
            return Err(Fault::new(Class::NotSent, "no server is there"));
        }
        let found = read.await;
        tokio::time::sleep(self.delay()).await;
        found
    }

    /// Sends one command on its way: applied when it arrives, perhaps twice, perhaps never, perhaps
    /// after its sender gave up.
    async fn send<T, F>(&self, command: impl Fn(MemoryStore) -> F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        let unknown = || Fault::new(Class::Unknown, "the connection was closed");
        let fate = self.fate();
        let there = self.delay();
        let once = command(self.inner.clone());
        match fate {
            Fate::Throttled => {
                tokio::time::sleep(there).await;
                return Err(Fault::new(Class::NotApplied, "too many requests"));
            }
            Fate::LostRequest => {
                tokio::time::sleep(there).await;
                return Err(unknown());
            }
            Fate::Late => {
                let late = self.late();
                tokio::spawn(async move {
                    tokio::time::sleep(late).await;
                    let _ = once.await;
                });
                tokio::time::sleep(there).await;
                return Err(unknown());
            }
            Fate::Repeated => {
                let again = command(self.inner.clone());
                let late = self.late();
                tokio::spawn(async move {
                    tokio::time::sleep(there + late).await;
                    let _ = again.await;
                });
            }
            Fate::Fine | Fate::LostReply => {}
        }
        let sent = tokio::spawn(async move {
            tokio::time::sleep(there).await;
            once.await
        });
        let reply = sent.await.map_err(|_| unknown())?;
        tokio::time::sleep(self.delay()).await;
        if fate == Fate::LostReply { Err(unknown()) } else { reply }
    }

    /// The statements as they arrive, under a mutation below the port.
    async fn arriving(inner: &MemoryStore, below: Below, mut batch: Vec<Statement>) -> Vec<Statement> {
        if below.no_version_guard {
            for statement in &mut batch {
                if let Statement::Update { id, expected_version, .. } = statement
                    && let Ok(heads) = inner.heads_of(std::slice::from_ref(id)).await
                    && let Some(head) = heads.first()
                {
                    *expected_version = head.version();
                }
            }
        }
        batch
    }
}

#[async_trait]
impl Store for Hostile {
    fn target(&self) -> Target {
        self.inner.target()
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }

    async fn connect(&self) -> Result<(), Fault> {
        self.inner.connect().await
    }

    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        self.inner.ensure_ready().await
    }

    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.read(self.inner.heads()).await
    }

    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        self.read(self.inner.heads_of(ids)).await
    }

    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        self.read(self.inner.heads_live(keys)).await
    }

    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        self.read(self.inner.documents(ids)).await
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let below = self.below;
        // An unordered batch may be applied in part: each half travels by itself.
        if batch.len() > 1 && self.draw(2) == 0 {
            let (left, right) = batch.split_at(batch.len() / 2);
            let (left, right) = (self.half(left), self.half(right));
            let mut effects = left.await?;
            effects.extend(right.await?);
            return Ok(effects);
        }
        let batch = batch.to_vec();
        self.send(move |inner| {
            let batch = batch.clone();
            async move {
                let batch = Self::arriving(&inner, below, batch).await;
                inner.write(&batch).await
            }
        })
        .await
    }

    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        let mut rows = self.read(self.inner.rows(side, filter)).await?;
        if self.below.rows_age {
            let now = bson::DateTime::from_millis(self.clock.now());
            rows.retain(|row| {
                let over = row.get_datetime("leaseUntil").is_ok_and(|until| *until < now);
                !(over && row.get_bool("open").unwrap_or(false))
            });
        }
        Ok(rows)
    }

    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        let row = row.clone();
        self.send(move |inner| {
            let row = row.clone();
            async move { inner.row_insert(side, &row).await }
        })
        .await
    }

    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        let row = row.clone();
        self.send(move |inner| {
            let row = row.clone();
            async move { inner.row_replace(side, expected, &row).await }
        })
        .await
    }

    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        self.inner.row_delete(side, ids).await
    }
}

impl Hostile {
    async fn half(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let below = self.below;
        let batch = batch.to_vec();
        self.send(move |inner| {
            let batch = batch.clone();
            async move {
                let batch = Self::arriving(&inner, below, batch).await;
                inner.write(&batch).await
            }
        })
        .await
    }
}
