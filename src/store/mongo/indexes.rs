//! Makes collections and indexes where they are missing, and reads them back: an engine may take an option and
//! forget it. A second run only looks.

use bson::{Bson, Document, doc};

use super::super::document::integer;
use super::super::{Class, Fault, Readiness, Side};
use super::command::Shape;
use super::connection::{Call, Connection};
use super::document_field;
use super::profile::PartialUnique;

/// The unique index on live (slug, lang): the lock of every race for an address.
pub const LIVE: &str = "idempost_live";
/// The index that has all that planning reads.
pub const HEADS: &str = "idempost_heads";
/// The index for a website's lists.
pub const READERS: &str = "idempost_readers";
/// The unique index on the runs' (source, operationId, attempt).
pub const OPERATION: &str = "idempost_operation";

const NAMESPACE_NOT_FOUND: i32 = 26;
const NAMESPACE_EXISTS: i32 = 48;
const INDEX_NOT_FOUND: i32 = 27;

/// Codes with which an engine says that it has no such index: bad value, cannot create index, invalid options,
/// command not supported, invalid option of an index, not implemented, feature not supported.
const NOT_SUPPORTED: [i32; 8] = [2, 67, 72, 115, 197, 238, 301, 303];

/// What an index must be.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    name: &'static str,
    purpose: &'static str,
    key: Document,
    unique: bool,
    live_alone: bool,
    /// Nothing may be written without it, where the engine can have it.
    guard: bool,
}

/// The lists of one collection.
struct Present(Vec<Document>);

/// Makes ready one set of collections.
pub struct Indexes<'a> {
    /// The way to the engine.
    pub connection: &'a Connection,
    /// The posts' collection.
    pub collection: &'a str,
}

/// What was found and made.
pub struct Outcome {
    /// For the report.
    pub readiness: Readiness,
    /// Whether the unique index on live posts is there.
    pub unique_live: bool,
}

impl Indexes<'_> {
    /// Makes and reads back.
    pub async fn ensure(&self) -> Result<Outcome, Fault> {
        let facts = self.connection.ready().await?.detected.profile.facts();
        let mut outcome = Outcome { readiness: Readiness::default(), unique_live: false };
        outcome.readiness.warnings.extend(facts.lost.iter().map(|lost| (*lost).to_owned()));
        let sides = Side::ALL.map(|side| format!("{}{}", self.collection, side.suffix()));
        self.make_collections(&sides).await?;
        let mut posts = Vec::new();
        if facts.partial_unique == PartialUnique::No {
            outcome.readiness.warnings.push(no_guard(facts.name));
        } else {
            posts.push(live());
        }
        if facts.covering_heads {
            posts.push(heads());
        }
        posts.push(readers());
        let runs = format!("{}{}", self.collection, Side::Runs.suffix());
        let made = self.ensure_on(self.collection, &posts, &mut outcome.readiness).await?;
        outcome.unique_live = made.contains(&LIVE);
        self.ensure_on(&runs, &[operation()], &mut outcome.readiness).await?;
        Ok(outcome)
    }

    /// Names of the wanted indexes that are not there; makes nothing.
    pub async fn missing(&self) -> Result<Vec<&'static str>, Fault> {
        let facts = self.connection.ready().await?.detected.profile.facts();
        let mut posts = vec![readers()];
        if facts.partial_unique != PartialUnique::No {
            posts.push(live());
        }
        if facts.covering_heads {
            posts.push(heads());
        }
        let runs = format!("{}{}", self.collection, Side::Runs.suffix());
        let (on_posts, on_runs) = (self.list(self.collection).await?, self.list(&runs).await?);
        let mut missing: Vec<&'static str> = posts
            .iter()
            .filter(|wanted| on_posts.holding(wanted).is_none())
            .map(|wanted| wanted.name)
            .collect();
        if on_runs.holding(&operation()).is_none() {
            missing.push(operation().name);
        }
        Ok(missing)
    }

    /// Whether the unique index on live posts is there; makes nothing.
    pub async fn has_live(&self) -> Result<bool, Fault> {
        let present = self.list(self.collection).await?;
        Ok(present.holding(&live()).is_some())
    }

    async fn make_collections(&self, sides: &[String]) -> Result<(), Fault> {
        let names: Vec<&str> =
            std::iter::once(self.collection).chain(sides.iter().map(String::as_str)).collect();
        let list = doc! {
            "listCollections": 1,
            "nameOnly": true,
            "authorizedCollections": true,
            "filter": { "name": { "$in": names.clone() } },
        };
        let present: Vec<String> = match self.connection.run(list, Call::READ).await {
            Ok(reply) => first_batch(&reply)
                .iter()
                .filter_map(|entry| entry.get_str("name").ok().map(str::to_owned))
                .collect(),
            // Who may not look can still make; what is there already says so.
            Err(fault) if matches!(fault.class, Class::Permanent | Class::Auth | Class::Unknown) => {
                Vec::new()
            }
            Err(fault) => return Err(fault),
        };
        for name in names {
            if present.iter().any(|present| present == name) {
                continue;
            }
            match self.connection.run(doc! { "create": name }, Call::INDEX).await {
                Ok(_) => {}
                Err(fault) if fault.code == Some(NAMESPACE_EXISTS) => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Makes the wanted indexes that are missing; returns the names of those that are there in the end.
    async fn ensure_on(
        &self,
        collection: &str,
        wanted: &[Wanted],
        readiness: &mut Readiness,
    ) -> Result<Vec<&'static str>, Fault> {
        let mut present = self.list(collection).await?;
        let mut asked: Vec<&'static str> = Vec::new();
        let mut given_up: Vec<&'static str> = Vec::new();
        for index in wanted {
            if present.holding(index).is_some() {
                continue;
            }
            if let Some(other) = present.named(index.name) {
                return Err(differs(collection, index, other));
            }
            asked.push(index.name);
            if let Err(fault) = self.create(collection, index).await {
                self.answer(collection, index, fault, readiness, &mut given_up).await?;
            }
        }
        if !asked.is_empty() {
            present = self.list(collection).await?;
        }
        let mut there = Vec::new();
        for index in wanted.iter().filter(|index| !given_up.contains(&index.name)) {
            if let Some(found) = present.holding(index) {
                readiness.indexes.push(format!("{collection}.{found}: {}", index.purpose));
                there.push(index.name);
            } else {
                self.forgotten(collection, index, &present, readiness).await?;
            }
        }
        Ok(there)
    }

    async fn create(&self, collection: &str, index: &Wanted) -> Result<(), Fault> {
        let facts = self.connection.ready().await?.detected.profile.facts();
        let mut command = doc! { "createIndexes": collection, "indexes": [index.spec()] };
        Shape { collection, facts, majority_timeout: self.connection.majority_timeout() }
            .add_write_concern(&mut command);
        self.connection.run(command, Call::INDEX).await.map(|_| ())
    }

    /// A refused index: made by another process meanwhile, not known to this engine, or a fault.
    async fn answer(
        &self,
        collection: &str,
        index: &Wanted,
        fault: Fault,
        readiness: &mut Readiness,
        given_up: &mut Vec<&'static str>,
    ) -> Result<(), Fault> {
        if matches!(fault.code, Some(85 | 86)) {
            let present = self.list(collection).await?;
            if present.holding(index).is_some() {
                return Ok(());
            }
            return Err(present.named(index.name).map_or(fault, |other| differs(collection, index, other)));
        }
        let partial_unique = self.connection.profile().facts().partial_unique;
        let unsupported = fault.code.is_some_and(|code| NOT_SUPPORTED.contains(&code));
        let may_be_missing = !index.guard || (index.live_alone && partial_unique == PartialUnique::Perhaps);
        if unsupported && may_be_missing {
            readiness.warnings.push(lost(index, &fault.message));
            given_up.push(index.name);
            return Ok(());
        }
        Err(fault)
    }

    /// An index that the engine accepted and does not have, or has with less than was asked.
    async fn forgotten(
        &self,
        collection: &str,
        index: &Wanted,
        present: &Present,
        readiness: &mut Readiness,
    ) -> Result<(), Fault> {
        let partial_unique = self.connection.profile().facts().partial_unique;
        if index.guard && !(index.live_alone && partial_unique == PartialUnique::Perhaps) {
            let found = present.named(index.name);
            return Err(found.map_or_else(
                || {
                    Fault::new(
                        Class::Permanent,
                        format!("the engine made the index {} and does not have it", index.name),
                    )
                    .help("tell the engine's profile with --engine; `unknown` accepts what is lost")
                },
                |found| differs(collection, index, found),
            ));
        }
        if present.named(index.name).is_some() {
            // It was made a moment ago without the option that makes it harmless.
            match self
                .connection
                .run(doc! { "dropIndexes": collection, "index": index.name }, Call::INDEX)
                .await
            {
                Ok(_) => {}
                Err(fault) if fault.code == Some(INDEX_NOT_FOUND) => {}
                Err(fault) => return Err(fault),
            }
        }
        readiness.warnings.push(lost(index, "the engine accepted it and does not have it"));
        Ok(())
    }

    async fn list(&self, collection: &str) -> Result<Present, Fault> {
        match self.connection.run(doc! { "listIndexes": collection }, Call::INDEX).await {
            Ok(reply) => Ok(Present(first_batch(&reply).into_iter().cloned().collect())),
            Err(fault) if fault.code == Some(NAMESPACE_NOT_FOUND) => Ok(Present(Vec::new())),
            Err(fault) => Err(fault),
        }
    }
}

fn live() -> Wanted {
    Wanted {
        name: LIVE,
        purpose: "one live post for each slug and language",
        key: doc! { "slug": 1, "lang": 1 },
        unique: true,
        live_alone: true,
        guard: true,
    }
}

/// `ingest` is one key as a whole, so that the index has all of a head, whatever a later version adds to it.
fn heads() -> Wanted {
    Wanted {
        name: HEADS,
        purpose: "planning reads every head without a body",
        key: doc! {
            "_id": 1, "slug": 1, "lang": 1, "status": 1, "live": 1, "translationKey": 1, "sourceHash": 1,
            "supersededBy": 1, "ingest": 1,
        },
        unique: false,
        live_alone: false,
        guard: false,
    }
}

fn readers() -> Wanted {
    Wanted {
        name: READERS,
        purpose: "lists of a website, newest first",
        key: doc! { "lang": 1, "status": 1, "publishedAt": -1 },
        unique: false,
        live_alone: false,
        guard: false,
    }
}

fn operation() -> Wanted {
    Wanted {
        name: OPERATION,
        purpose: "one row for each attempt of an operation",
        key: doc! { "source": 1, "operationId": 1, "attempt": 1 },
        unique: true,
        live_alone: false,
        guard: true,
    }
}

impl Wanted {
    fn spec(&self) -> Document {
        let mut spec = doc! { "key": self.key.clone(), "name": self.name };
        if self.unique {
            spec.insert("unique", true);
        }
        if self.live_alone {
            spec.insert("partialFilterExpression", doc! { "live": true });
        }
        spec
    }

    /// Whether an index as listed does all that this one must.
    fn is(&self, listed: &Document) -> bool {
        let same_key = document_field(listed, "key").is_some_and(|key| {
            key.len() == self.key.len()
                && key.iter().zip(&self.key).all(|((name, order), (wanted, wanted_order))| {
                    name == wanted && integer(Some(order)) == integer(Some(wanted_order))
                })
        });
        let live_alone = match document_field(listed, "partialFilterExpression") {
            None => false,
            Some(filter) => is_live_alone(filter),
        };
        let other_filter = listed.contains_key("partialFilterExpression") && !live_alone;
        same_key
            && truth(listed.get("unique")) == self.unique
            && live_alone == self.live_alone
            && !other_filter
            && !truth(listed.get("sparse"))
            && !listed.contains_key("collation")
            && !listed.contains_key("expireAfterSeconds")
    }
}

impl Present {
    /// The name of an index that is as wanted, whatever it is called.
    fn holding(&self, wanted: &Wanted) -> Option<&str> {
        self.0.iter().find(|listed| wanted.is(listed)).and_then(|listed| listed.get_str("name").ok())
    }

    fn named(&self, name: &str) -> Option<&Document> {
        self.0.iter().find(|listed| listed.get_str("name").is_ok_and(|listed| listed == name))
    }
}

fn is_live_alone(filter: &Document) -> bool {
    filter.len() == 1
        && match filter.get("live") {
            Some(Bson::Boolean(true)) => true,
            Some(Bson::Document(operator)) => {
                operator.len() == 1 && matches!(operator.get_bool("$eq"), Ok(true))
            }
            _ => false,
        }
}

fn truth(value: Option<&Bson>) -> bool {
    match value {
        Some(Bson::Boolean(truth)) => *truth,
        value => integer(value).is_some_and(|number| number != 0),
    }
}

fn first_batch(reply: &Document) -> Vec<&Document> {
    let batch = document_field(reply, "cursor").and_then(|cursor| cursor.get_array("firstBatch").ok());
    batch.map(|batch| batch.iter().filter_map(Bson::as_document).collect()).unwrap_or_default()
}

fn differs(collection: &str, wanted: &Wanted, found: &Document) -> Fault {
    Fault::new(
        Class::Permanent,
        format!(
            "the index {} of {collection} is not as it must be: wanted {}, found {found}",
            wanted.name,
            wanted.spec()
        ),
    )
    .help(format!(
        "drop that index (`db.{collection}.dropIndex(\"{}\")`) and run again: it is made anew",
        wanted.name
    ))
}

fn no_guard(engine: &str) -> String {
    format!(
        "{engine} has no partial unique indexes: two runs at once could make two live posts of one slug and \
         language; each run still looks before it writes, so let only one run write at a time"
    )
}

fn lost(index: &Wanted, why: &str) -> String {
    let lost = if index.live_alone {
        "two runs at once could make two live posts of one slug and language; each run still looks before it \
         writes, so let only one run write at a time"
    } else {
        "queries that would use it read whole documents"
    };
    format!("the index {} ({}) cannot be had here ({why}): {lost}", index.name, index.purpose)
}
