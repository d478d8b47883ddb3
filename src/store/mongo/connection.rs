//! The client, made once and late; the engine behind it, recognised once; and every command under a deadline.
//!
//! The driver has no deadline of its own for a command: with a silent socket it would wait for ever. So each
//! command runs in a task of its own that ends at the deadline; a connection with a command in flight is closed
//! by that, never used again. Nothing here repeats a command.

use std::sync::Mutex;
use std::time::Duration;

use bson::{Document, RawDocumentBuf, doc};
use mongodb::{Client, Database};
use tokio::sync::OnceCell;

use super::super::document::integer;
use super::super::{Class, Fault};
use super::classify::Place;
use super::profile::{self, Detected, Profile};
use super::redact::Redactor;
use super::told;
use super::uri::{Bounds, Location};

/// What a connection is made with.
#[derive(Debug)]
pub struct Setup {
    /// The URI, parsed.
    pub location: Location,
    /// The database.
    pub database: String,
    /// The engine, where it is told instead of detected.
    pub engine: Option<Profile>,
    /// Deadline and pool.
    pub bounds: Bounds,
}

/// The way to the engine.
pub struct Connection {
    setup: Setup,
    client: OnceCell<Client>,
    known: OnceCell<Known>,
    /// What `buildInfo` calls itself; some engines name the version of MongoDB that they resemble.
    version: Mutex<Option<String>>,
}

/// What is known once the engine has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The engine, and why it is taken for that.
    pub detected: Detected,
    /// `maxWriteBatchSize` of its `hello`.
    pub statements_max: Option<usize>,
    /// `maxBsonObjectSize` of its `hello`.
    pub document_bytes_max: Option<usize>,
    /// `maxMessageSizeBytes` of its `hello`.
    pub message_bytes_max: Option<usize>,
    /// Reads ask for what a majority has. A server of its own need not be asked, and may refuse it.
    pub majority_reads: bool,
}

/// What a command is, for the class of its error.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Where its errors stand.
    pub place: Place,
    /// Statements that it writes; 0 for what writes none.
    pub writes: usize,
}

impl Call {
    /// A command that changes nothing.
    pub const READ: Call = Call { place: Place::Command, writes: 0 };
    /// A command that makes or lists collections and indexes.
    pub const INDEX: Call = Call { place: Place::Index, writes: 0 };

    /// A command with so many statements.
    pub fn write(statements: usize) -> Call {
        Call { place: Place::Command, writes: statements }
    }
}

impl Connection {
    /// Connects nothing yet.
    pub fn new(setup: Setup) -> Self {
        Connection { setup, client: OnceCell::new(), known: OnceCell::new(), version: Mutex::new(None) }
    }

    /// Takes secrets out of texts.
    pub fn redactor(&self) -> &Redactor {
        &self.setup.location.redactor
    }

    /// What it was made with.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The engine as far as it is known without asking: as told, as its address shows, as it answered.
    pub fn profile(&self) -> Profile {
        if let Some(known) = self.known.get() {
            return known.detected.profile;
        }
        self.setup.engine.unwrap_or_else(|| {
            profile::detect_by_address(&self.setup.location.address)
                .map_or(Profile::Unknown, |detected| detected.profile)
        })
    }

    /// What the engine answered, if it has been asked.
    pub fn known(&self) -> Option<&Known> {
        self.known.get()
    }

    /// The engine's version as `buildInfo` gives it, if it has been asked.
    pub fn version(&self) -> Option<String> {
        self.version.lock().ok().and_then(|version| version.clone())
    }

    /// Asks `hello` and recognises the engine. Every call asks again: it is how reaching is checked.
    pub async fn greet(&self) -> Result<&Known, Fault> {
        let hello = self.run_on("admin", doc! { "hello": 1 }, Call::READ).await?;
        refuse_secondary(&hello)?;
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let build = match self.run_on("admin", doc! { "buildInfo": 1 }, Call::READ).await {
            Ok(build) => Some(build),
            // Not every engine has it, and not every user may ask.
            Err(fault) if matches!(fault.class, Class::Permanent | Class::Auth | Class::Unknown) => None,
            Err(fault) => return Err(fault),
        };
        if let (Ok(mut version), Some(build)) = (self.version.lock(), &build) {
            *version = build.get_str("version").ok().map(str::to_owned);
        }
        let size = |key| {
            integer(hello.get(key)).and_then(|size| usize::try_from(size).ok()).filter(|size| *size > 0)
        };
        let detected = match self.setup.engine {
            Some(profile) => Detected { profile, reason: "it was told by --engine".to_owned() },
            None => profile::detect(&self.setup.location.address, &hello, build.as_ref()),
        };
        let known = Known {
            statements_max: size("maxWriteBatchSize"),
            document_bytes_max: size("maxBsonObjectSize"),
            message_bytes_max: size("maxMessageSizeBytes"),
            majority_reads: detected.profile.facts().read_majority
                && (hello.contains_key("setName") || hello.contains_key("msg")),
            detected,
        };
        Ok(self.known.get_or_init(|| async { known }).await)
    }

    /// The engine, asked if it has not been.
    pub async fn ready(&self) -> Result<&Known, Fault> {
        match self.known.get() {
            Some(known) => Ok(known),
            None => self.greet().await,
        }
    }

    /// The database; makes the client the first time.
    pub async fn database(&self) -> Result<Database, Fault> {
        self.named(&self.setup.database).await
    }

    async fn named(&self, name: &str) -> Result<Database, Fault> {
        let client = self
            .client
            .get_or_try_init(|| async {
                let limit = self.setup.bounds.command_timeout;
                let options = self.setup.location.client_options(self.setup.bounds);
                let options = if let Ok(options) = tokio::time::timeout(limit, options).await {
                    options.map_err(|error| self.fault(Call::READ, &error))?
                } else {
                    let store = &self.setup.location.store;
                    return Err(Fault::new(Class::NotSent, format!("{store} was not resolved in time"))
                        .help("is the host's name right, and can its DNS be reached?"));
                };
                Client::with_options(options).map_err(|error| self.fault(Call::READ, &error))
            })
            .await?;
        Ok(client.database(name))
    }

    /// Runs one command on the database, once.
    pub async fn run(&self, command: Document, call: Call) -> Result<Document, Fault> {
        self.run_on(&self.setup.database, command, call).await
    }

    async fn run_on(&self, database: &str, command: Document, call: Call) -> Result<Document, Fault> {
        let database = self.named(database).await?;
        self.within(call, async move { database.run_command(command).await }).await
    }

    /// As [`Connection::run`] for a command that is encoded already.
    pub async fn run_raw(&self, command: RawDocumentBuf, call: Call) -> Result<Document, Fault> {
        let database = self.database().await?;
        self.within(call, async move { database.run_raw_command(command).await }).await
    }

    /// Runs a piece of the driver's work in a task of its own, no longer than the deadline.
    pub async fn within<T, F>(&self, call: Call, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = mongodb::error::Result<T>> + Send + 'static,
    {
        let limit = self.setup.bounds.command_timeout;
        match tokio::spawn(tokio::time::timeout(limit, work)).await {
            Ok(Ok(Ok(out))) => Ok(out),
            Ok(Ok(Err(error))) => Err(self.fault(call, &error)),
            Ok(Err(_)) => Err(told::deadline(self.profile(), call.place, limit)),
            Err(_) => Err(Fault::new(Class::Unknown, "the driver gave up on a command")),
        }
    }

    /// The part of the deadline that a majority may take: what is left must do for the rest of a command.
    pub fn majority_timeout(&self) -> Duration {
        self.setup.bounds.command_timeout * 3 / 4
    }

    fn fault(&self, call: Call, error: &mongodb::error::Error) -> Fault {
        told::driver(self.profile(), call.place, call.writes, error, self.redactor())
    }
}

/// `directConnection=true` can lead to a server that takes no writes and whose reads are old.
fn refuse_secondary(hello: &Document) -> Result<(), Fault> {
    let writable = hello.get_bool("isWritablePrimary").or_else(|_| hello.get_bool("ismaster"));
    if matches!(writable, Ok(false)) {
        return Err(Fault::new(
            Class::NotSent,
            "the server takes no writes: it is not the primary of its replica set",
        )
        .help("leave directConnection out of the URI, or name the primary"));
    }
    Ok(())
}
