//! MongoDB and what speaks its protocol.
//!
//! Begin at [`MongoStore::open`]. A write is one `update` command ([`command`]) whose reply is read here and not
//! by the driver ([`reply`]); every error becomes a class by one table ([`classify`]); what an engine can take
//! stands in another ([`profile`]).
//!
//! What never happens: the driver repeats no write (`retry_writes` is off whatever the URI says), nothing is
//! read from a secondary, no command outlives its deadline, no text holds a password, and nothing here retries.

pub mod classify;
pub mod command;
pub mod connection;
pub mod doctor;
mod foreign;
mod head;
pub mod indexes;
pub mod profile;
mod read;
pub mod redact;
pub mod reply;
mod rows;
pub mod told;
pub mod uri;

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bson::Document;

use super::document::Head;
use super::foreign::Foreign;
use super::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};
use command::{Shape, Update};
use connection::{Call, Connection, Setup};
use doctor::{Doctor, Explained, Rights};
use indexes::Indexes;
use profile::{Detected, PartialUnique, Profile};
use read::Reads;
use reply::Reader;
use rows::Rows;
use uri::{Bounds, Location};

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct MongoOptions {
    /// The database; without it the one that the URI names.
    pub database: Option<String>,
    /// The collection of the posts.
    pub collection: String,
    /// The engine, where it is told instead of detected.
    pub engine: Option<Profile>,
    /// Deadline of one command.
    pub command_timeout: Duration,
    /// Connections at most, where the URI has no `maxPoolSize`.
    pub pool: u32,
}

impl Default for MongoOptions {
    fn default() -> Self {
        MongoOptions {
            database: None,
            collection: "posts".to_owned(),
            engine: None,
            command_timeout: Duration::from_secs(30),
            pool: 5,
        }
    }
}

/// A collection of posts in MongoDB, and those beside it.
pub struct MongoStore {
    connection: Connection,
    collection: String,
    /// One of the `LIVE_*` below.
    live: AtomicU8,
}

impl std::fmt::Debug for MongoStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MongoStore").field("target", &self.target()).finish_non_exhaustive()
    }
}

const LIVE_NOT_ASKED: u8 = 0;
const LIVE_THERE: u8 = 1;
const LIVE_MISSING: u8 = 2;

/// Bytes of a command beside its documents: the filter, names, and what the driver adds.
const COMMAND_OVERHEAD_BYTES: usize = 8 * 1024;

/// The longest name of a collection with its database, in bytes; the suffix of a side collection included.
const NAMESPACE_BYTES_MAX: usize = 120;

impl MongoStore {
    /// Reads the URI and the options. Connects nothing: that is done by the first command.
    pub fn open(uri: &str, options: MongoOptions) -> Result<Self, Fault> {
        let location = Location::parse(uri)?;
        let database = options.database.filter(|name| !name.is_empty()).or_else(|| location.database.clone());
        let Some(database) = database else {
            return Err(Fault::new(
                Class::Permanent,
                "neither the store's URI nor `database` names a database",
            )
            .help("write mongodb://HOST/DATABASE, or set `database` in idempost.toml"));
        };
        check_names(&database, &options.collection)?;
        let bounds = Bounds { command_timeout: options.command_timeout, pool: options.pool };
        let setup = Setup { location, database, engine: options.engine, bounds };
        Ok(MongoStore {
            connection: Connection::new(setup),
            collection: options.collection,
            live: AtomicU8::new(LIVE_NOT_ASKED),
        })
    }

    /// The engine and why it is taken for that, once it has been asked; its version where it tells one.
    pub fn detected(&self) -> Option<(Detected, Option<String>)> {
        self.connection.known().map(|known| (known.detected.clone(), self.connection.version()))
    }

    /// How the engine would answer the documented queries.
    pub async fn explain(&self) -> Result<Vec<Explained>, Fault> {
        Doctor { connection: &self.connection, collection: &self.collection }.explain().await
    }

    /// Names of the wanted indexes that are not there; makes nothing.
    pub async fn missing_indexes(&self) -> Result<Vec<&'static str>, Fault> {
        Indexes { connection: &self.connection, collection: &self.collection }.missing().await
    }

    /// Whether the user may do what a run does.
    pub async fn rights(&self) -> Result<Rights, Fault> {
        Doctor { connection: &self.connection, collection: &self.collection }.rights().await
    }

    /// Sends each command once, in order. With one command its fault is that of the batch; with several it is
    /// that of the statements in it, and what comes after was not sent.
    async fn send(
        &self,
        profile: Profile,
        updates: Vec<Update>,
        effects: &mut [Option<Effect>],
    ) -> Result<(), Fault> {
        let alone = updates.len() <= 1;
        let reader = Reader { profile, redactor: self.connection.redactor() };
        let mut stopped: Option<Fault> = None;
        for update in updates {
            let told = if let Some(fault) = &stopped {
                vec![Effect::Failed(fault.clone()); update.kinds.len()]
            } else {
                match self.connection.run_raw(update.command, Call::write(update.kinds.len())).await {
                    Ok(reply) => reader.effects(&reply, &update.kinds),
                    Err(fault) if alone => return Err(fault),
                    Err(fault) => {
                        stopped = Some(Fault {
                            class: Class::NotSent,
                            message: format!(
                                "not sent after an error of the command before: {}",
                                fault.message
                            ),
                            ..fault.clone()
                        });
                        vec![Effect::Failed(fault); update.kinds.len()]
                    }
                }
            };
            for (place, effect) in update.places.into_iter().zip(told) {
                if let Some(slot) = effects.get_mut(place) {
                    *slot = Some(effect);
                }
            }
        }
        Ok(())
    }

    fn reads(&self) -> Reads<'_> {
        Reads { connection: &self.connection, collection: &self.collection }
    }

    fn side(&self, side: Side) -> String {
        format!("{}{}", self.collection, side.suffix())
    }
}

#[async_trait]
impl Store for MongoStore {
    fn target(&self) -> Target {
        let setup = self.connection.setup();
        Target {
            store: setup.location.store.clone(),
            database: setup.database.clone(),
            collection: self.collection.clone(),
            engine: self.connection.profile().name().to_owned(),
        }
    }

    fn limits(&self) -> Limits {
        let facts = self.connection.profile().facts();
        let known = self.connection.known();
        let told = |size: Option<usize>| size.unwrap_or(usize::MAX);
        let document = facts.document_bytes_max.min(told(known.and_then(|known| known.document_bytes_max)));
        let batch = facts
            .batch_bytes_max
            .min(told(known.and_then(|known| known.document_bytes_max)))
            .min(told(known.and_then(|known| known.message_bytes_max)))
            .saturating_sub(COMMAND_OVERHEAD_BYTES);
        Limits {
            statements_max: facts
                .statements_max
                .min(told(known.and_then(|known| known.statements_max)))
                .max(1),
            batch_bytes_max: batch,
            // What cannot be sent in one command cannot be stored.
            document_bytes_max: document.min(batch),
            nesting_levels_max: facts.nesting_levels_max,
            unique_live: match self.live.load(Ordering::Relaxed) {
                LIVE_THERE => true,
                LIVE_MISSING => false,
                _ => facts.partial_unique == PartialUnique::Yes,
            },
        }
    }

    async fn connect(&self) -> Result<(), Fault> {
        self.connection.greet().await.map(|_| ())
    }

    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        let outcome = Indexes { connection: &self.connection, collection: &self.collection }.ensure().await?;
        self.live.store(if outcome.unique_live { LIVE_THERE } else { LIVE_MISSING }, Ordering::Relaxed);
        Ok(outcome.readiness)
    }

    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.reads().heads().await
    }

    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        self.reads().heads_of(ids).await
    }

    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        self.reads().heads_live(keys).await
    }

    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        self.reads().documents(ids).await
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let profile = self.connection.ready().await?.detected.profile;
        let limits = self.limits();
        if batch.len() > limits.statements_max {
            return Err(Fault::new(
                Class::Permanent,
                format!(
                    "a batch of {} statements; {} takes {}",
                    batch.len(),
                    profile.name(),
                    limits.statements_max
                ),
            ));
        }
        let shape = Shape {
            collection: &self.collection,
            facts: profile.facts(),
            majority_timeout: self.connection.majority_timeout(),
        };
        let mut effects: Vec<Option<Effect>> = vec![None; batch.len()];
        let updates = shape.updates(batch, &limits, &mut effects)?;
        if let Some(update) = updates.iter().find(|update| {
            update.command.as_bytes().len() > limits.batch_bytes_max.saturating_add(COMMAND_OVERHEAD_BYTES)
        }) {
            let bytes = update.command.as_bytes().len();
            let most = limits.batch_bytes_max;
            return Err(Fault::new(
                Class::Permanent,
                format!("a batch of {bytes} bytes; {} takes {most}", profile.name()),
            ));
        }
        self.send(profile, updates, &mut effects).await?;
        Ok(effects.into_iter().map(|effect| effect.unwrap_or(Effect::Untold)).collect())
    }

    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        Rows { connection: &self.connection, collection: &self.side(side) }.find(filter).await
    }

    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        Rows { connection: &self.connection, collection: &self.side(side) }.insert(row).await
    }

    async fn rows_insert(&self, side: Side, rows: &[Document]) -> Result<(), Fault> {
        Rows { connection: &self.connection, collection: &self.side(side) }.insert_all(rows).await
    }

    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        Rows { connection: &self.connection, collection: &self.side(side) }.replace(expected, row).await
    }

    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        Rows { connection: &self.connection, collection: &self.side(side) }.delete(ids).await
    }

    fn foreign(&self) -> Option<&dyn Foreign> {
        Some(self)
    }
}

fn check_names(database: &str, collection: &str) -> Result<(), Fault> {
    let refused = |message: String| Err(Fault::new(Class::Permanent, message));
    if database.len() > 63 || database.contains(['/', '\\', '.', ' ', '"', '$', '\0']) {
        return refused(format!("`{}` cannot be the name of a database", database.escape_debug()));
    }
    let longest = Side::ALL.iter().map(|side| side.suffix().len()).max().unwrap_or(0);
    if collection.is_empty()
        || collection.contains(['$', '\0'])
        || collection.starts_with("system.")
        || collection.starts_with('.')
        || database.len() + 1 + collection.len() + longest > NAMESPACE_BYTES_MAX
    {
        return refused(format!("`{}` cannot be the name of a collection", collection.escape_debug()));
    }
    Ok(())
}

/// A field that is a document.
fn document_field<'a>(document: &'a Document, key: &str) -> Option<&'a Document> {
    document.get_document(key).ok()
}
