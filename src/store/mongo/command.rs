//! Builds the `update` command of a batch. Pure: sends nothing.
//!
//! Every filter is equality alone on `{_id, slug, lang}`: that carries the shard key, keeps the PostgreSQL
//! engines from replacing a document whose insert they lost, and makes every lost race an error 11000.

use std::collections::BTreeSet;
use std::time::Duration;

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::super::{Class, Effect, Fault, Statement, fields};
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

impl Shape<'_> {
    /// Appends the write concern in the form that the engine takes.
    pub fn add_write_concern(&self, command: &mut Document) {
        let concern = match self.facts.write_concern {
            WriteConcern::MajorityTimed => {
                let millis = i64::try_from(self.majority_timeout.as_millis()).unwrap_or(i64::MAX);
                doc! { "w": "majority", "wtimeout": millis }
            }
            WriteConcern::Majority => doc! { "w": "majority" },
            WriteConcern::Unstated => return,
        };
        command.insert("writeConcern", concern);
    }

    /// The command for those statements that can be sent; `effects` gets the refusal of each other one. `None`
    /// if nothing is left to send.
    pub fn update(
        &self,
        batch: &[Statement],
        levels_max: usize,
        effects: &mut [Option<Effect>],
    ) -> Result<Option<Update>, Fault> {
        let mut ids = BTreeSet::new();
        if let Some(twice) = batch.iter().find(|statement| !ids.insert(statement.id())) {
            return Err(refused(format!("`{}` is twice in one batch", twice.id())));
        }
        let mut updates: Vec<Bson> = Vec::with_capacity(batch.len());
        let mut places = Vec::with_capacity(batch.len());
        let mut kinds = Vec::with_capacity(batch.len());
        for (place, (statement, effect)) in batch.iter().zip(effects.iter_mut()).enumerate() {
            match entry(statement, levels_max) {
                Ok((kind, entry)) => {
                    updates.push(Bson::Document(entry));
                    places.push(place);
                    kinds.push(kind);
                }
                Err(refusal) => *effect = Some(Effect::Failed(refused(refusal))),
            }
        }
        if updates.is_empty() {
            return Ok(None);
        }
        let mut command = doc! { "update": self.collection, "updates": updates, "ordered": false };
        self.add_write_concern(&mut command);
        let command = RawDocumentBuf::try_from(&command).map_err(|error| refused(error.to_string()))?;
        Ok(Some(Update { command, places, kinds }))
    }
}

/// One entry of `updates`. An update without operators would replace the document, so none is ever built.
fn entry(statement: &Statement, levels_max: usize) -> Result<(Kind, Document), String> {
    match statement {
        Statement::Create { document } => {
            let text = |key: &str| document.get_str(key).unwrap_or_default();
            let (id, slug, lang) = (text("_id"), text("slug"), text("lang"));
            identity(id, slug, lang)?;
            fields::refuse_shape(document, levels_max)?;
            let rest: Document = document
                .iter()
                .filter(|(key, _)| !IDENTITY.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if rest.is_empty() {
                return Err("a document that is only an identity".to_owned());
            }
            let filter = doc! { "_id": id, "slug": slug, "lang": lang };
            let update = doc! { "$setOnInsert": rest };
            Ok((Kind::Create, doc! { "q": filter, "u": update, "upsert": true, "multi": false }))
        }
        Statement::Update { id, slug, lang, expected_version, set, unset } => {
            identity(id, slug, lang)?;
            fields::refuse_values(set, levels_max)?;
            fields::refuse_paths(set, unset)?;
            for (key, stored) in IDENTITY.iter().zip([id, slug, lang]) {
                let other = set.get(key).is_some_and(|new| new.as_str() != Some(stored.as_str()));
                if other || unset.iter().any(|path| path == key) {
                    return Err(format!("`{key}` is part of the identity and frozen"));
                }
            }
            let mut update = Document::new();
            let set: Document = set
                .iter()
                .filter(|(key, _)| !IDENTITY.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if !set.is_empty() {
                update.insert("$set", set);
            }
            if !unset.is_empty() {
                let unset: Document = unset.iter().map(|path| (path.clone(), Bson::from(""))).collect();
                update.insert("$unset", unset);
            }
            if update.is_empty() {
                return Err("an update that says nothing".to_owned());
            }
            let filter = doc! { "_id": id, "slug": slug, "lang": lang, "ingest.version": *expected_version };
            Ok((Kind::Update, doc! { "q": filter, "u": update, "upsert": false, "multi": false }))
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

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}
