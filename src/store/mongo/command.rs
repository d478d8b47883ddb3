//! Builds the `update` commands of a batch. Pure: sends nothing.
//!
//! Every filter is equality alone on `{_id, slug, lang}`: that carries the shard key, keeps the PostgreSQL
//! engines from replacing a document whose insert they lost, and makes every lost race an error 11000.
//! Documents are encoded once, here, so that their sizes are known before anything is sent.

use std::collections::BTreeSet;
use std::time::Duration;

use bson::raw::{CStr, RawArrayBuf};
use bson::{Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};

use super::super::{Class, Effect, Fault, Limits, Statement, fields};
use super::profile::{Facts, WriteConcern};
use super::reply::Kind;

/// A command, and which statements of the batch are in it.
#[derive(Debug)]
pub struct Update {
    /// The command, encoded.
    pub command: RawDocumentBuf,
    /// For each statement in the command, its place in the batch.
    pub places: Vec<usize>,
    /// For each statement in the command, its kind.
    pub kinds: Vec<Kind>,
}

/// What commands are built with.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'a> {
    /// The collection.
    pub collection: &'a str,
    /// The engine.
    pub facts: &'a Facts,
    /// How long the engine may wait for a majority.
    pub majority_timeout: Duration,
}

/// One entry of `updates`, encoded.
struct Entry {
    place: usize,
    kind: Kind,
    encoded: RawDocumentBuf,
}

impl Shape<'_> {
    /// Appends the write concern in the form that the engine takes.
    pub fn add_write_concern(&self, command: &mut Document) {
        if let Some(concern) = self.write_concern() {
            command.insert("writeConcern", concern);
        }
    }

    fn write_concern(&self) -> Option<Document> {
        match self.facts.write_concern {
            WriteConcern::MajorityTimed => {
                let millis = i64::try_from(self.majority_timeout.as_millis()).unwrap_or(i64::MAX);
                Some(doc! { "w": "majority", "wtimeout": millis })
            }
            WriteConcern::Majority => Some(doc! { "w": "majority" }),
            WriteConcern::Unstated => None,
        }
    }

    /// The commands for those statements that can be sent; `effects` gets the refusal of each other one. There is
    /// one command, except on an engine whose replies tell of one statement alone.
    pub fn updates(
        &self,
        batch: &[Statement],
        limits: &Limits,
        effects: &mut [Option<Effect>],
    ) -> Result<Vec<Update>, Fault> {
        let mut ids = BTreeSet::new();
        if let Some(twice) = batch.iter().find(|statement| !ids.insert(statement.id())) {
            return Err(refused(format!("`{}` is twice in one batch", twice.id())));
        }
        let mut entries = Vec::with_capacity(batch.len());
        for (place, (statement, effect)) in batch.iter().zip(effects.iter_mut()).enumerate() {
            match entry(statement, limits) {
                Ok((kind, encoded)) => entries.push(Entry { place, kind, encoded }),
                Err(refusal) => *effect = Some(Effect::Failed(refused(refusal))),
            }
        }
        entries.chunks(self.facts.command_statements_max.max(1)).map(|chunk| self.update(chunk)).collect()
    }

    fn update(&self, entries: &[Entry]) -> Result<Update, Fault> {
        let mut updates = RawArrayBuf::new();
        for entry in entries {
            updates.push(&entry.encoded);
        }
        let mut command = rawdoc! { "update": self.collection, "updates": updates, "ordered": false };
        if let Some(concern) = self.write_concern() {
            let concern = RawDocumentBuf::try_from(&concern).map_err(|error| refused(error.to_string()))?;
            command.append(bson::raw::cstr!("writeConcern"), concern);
        }
        Ok(Update {
            command,
            places: entries.iter().map(|entry| entry.place).collect(),
            kinds: entries.iter().map(|entry| entry.kind).collect(),
        })
    }
}

/// One entry of `updates`. An update without operators would replace the document, so none is ever built.
fn entry(statement: &Statement, limits: &Limits) -> Result<(Kind, RawDocumentBuf), String> {
    match statement {
        Statement::Create { document } => {
            let text = |key: &str| document.get_str(key).unwrap_or_default();
            let (id, slug, lang) = (text("_id"), text("slug"), text("lang"));
            identity(id, slug, lang)?;
            fields::refuse_shape(document, limits.nesting_levels_max)?;
            let rest = encoded(document, limits)?;
            if rest.is_empty() {
                return Err("a document that is only an identity".to_owned());
            }
            let entry = rawdoc! {
                "q": { "_id": id, "slug": slug, "lang": lang },
                "u": { "$setOnInsert": rest },
                "upsert": true,
                "multi": false,
            };
            Ok((Kind::Create, entry))
        }
        Statement::Update { id, slug, lang, expected_version, set, unset } => {
            identity(id, slug, lang)?;
            fields::refuse_values(set, limits.nesting_levels_max)?;
            fields::refuse_paths(set, unset)?;
            for (key, stored) in IDENTITY.iter().zip([id, slug, lang]) {
                let other = set.get(key).is_some_and(|new| new.as_str() != Some(stored.as_str()));
                if other || unset.iter().any(|path| path == key) {
                    return Err(format!("`{key}` is part of the identity and frozen"));
                }
            }
            let mut update = RawDocumentBuf::new();
            let set = encoded(set, limits)?;
            if !set.is_empty() {
                update.append(bson::raw::cstr!("$set"), set);
            }
            if !unset.is_empty() {
                let mut paths = RawDocumentBuf::new();
                for path in unset {
                    paths.append(key(path)?, "");
                }
                update.append(bson::raw::cstr!("$unset"), paths);
            }
            if update.is_empty() {
                return Err("an update that says nothing".to_owned());
            }
            let entry = rawdoc! {
                "q": { "_id": id.as_str(), "slug": slug.as_str(), "lang": lang.as_str(),
                       "ingest.version": *expected_version },
                "u": update,
                "upsert": false,
                "multi": false,
            };
            Ok((Kind::Update, entry))
        }
    }
}

/// The fields of every filter.
const IDENTITY: [&str; 3] = ["_id", "slug", "lang"];

fn identity(id: &str, slug: &str, lang: &str) -> Result<(), String> {
    for (key, value) in IDENTITY.iter().zip([id, slug, lang]) {
        if value.is_empty() || value.contains('\0') {
            return Err(format!("`{key}` is empty, missing, no text, or holds a NUL"));
        }
    }
    Ok(())
}

fn key(path: &str) -> Result<&CStr, String> {
    <&CStr>::try_from(path).map_err(|_| format!("{path:?} is no path of a field"))
}

/// The fields without those of the filter, which an upsert copies from there; their size is checked.
fn encoded(document: &Document, limits: &Limits) -> Result<RawDocumentBuf, String> {
    let whole = RawDocumentBuf::try_from(document).map_err(|error| error.to_string())?;
    let bytes = whole.as_bytes().len();
    if bytes > limits.document_bytes_max {
        return Err(format!(
            "a document of {bytes} bytes; at most {} can be stored",
            limits.document_bytes_max
        ));
    }
    let mut rest = RawDocumentBuf::new();
    for element in &whole {
        let (key, value): (&CStr, RawBsonRef<'_>) = element.map_err(|error| error.to_string())?;
        if !IDENTITY.contains(&key.as_str()) {
            rest.append(key, value);
        }
    }
    Ok(rest)
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}
