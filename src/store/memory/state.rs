//! What the memory store holds and what one statement does to it.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document};

use super::super::document::{Head, integer};
use super::super::fields;
use super::super::{Class, Effect, Fault, Inserted, Limits, Side, Statement};
use super::check;

/// Code of a violated unique index.
const DUPLICATE_KEY: i32 = 11_000;

/// Where something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// The posts.
    Posts,
    /// A side collection.
    Rows(Side),
}

/// What a change was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A document that was not there.
    Insert,
    /// A document of which a byte changed.
    Update,
    /// A row, or a document of another maker, that is gone.
    Delete,
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Posts or a side collection.
    pub place: Place,
    /// `_id`.
    pub id: String,
    /// What happened to it.
    pub kind: Kind,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) ready: bool,
    pub(super) posts: BTreeMap<String, Document>,
    /// (slug, lang) of the live posts to their ids; more than one without the unique index.
    live: BTreeMap<(String, String), BTreeSet<String>>,
    pub(super) rows: BTreeMap<Side, BTreeMap<String, Document>>,
    pub(super) log: Vec<Change>,
    pub(super) calls: BTreeMap<&'static str, u64>,
}

impl State {
    /// One statement, all of it or nothing.
    pub(super) fn carry_out(&mut self, statement: &Statement, limits: &Limits) -> Effect {
        let done = check::statement(statement, limits).and_then(|()| match statement {
            Statement::Create { document } => self.create(document, limits),
            Statement::Update { id, slug, lang, expected_version, set, unset } => {
                self.update(&Filter { id, slug, lang, version: *expected_version }, set, unset, limits)
            }
        });
        done.unwrap_or_else(Effect::Failed)
    }

    fn create(&mut self, document: &Document, limits: &Limits) -> Result<Effect, Fault> {
        let id = document.get_str("_id").unwrap_or_default();
        if let Some(stored) = self.posts.get(id) {
            let same = |key| stored.get(key) == document.get(key);
            if same("slug") && same("lang") {
                return Ok(Effect::Existed);
            }
            return Err(duplicate(format!("`_id` {id} is stored with another slug or lang")));
        }
        self.refuse_live_twice(id, document, limits)?;
        self.put(id, document.clone(), Kind::Insert);
        Ok(Effect::Applied)
    }

    fn update(
        &mut self,
        filter: &Filter<'_>,
        set: &Document,
        unset: &[String],
        limits: &Limits,
    ) -> Result<Effect, Fault> {
        let Some(before) = self.posts.get(filter.id).filter(|stored| filter.matches(stored)) else {
            return Ok(Effect::Unmatched);
        };
        let after = fields::changed(before, set, unset).map_err(check::refused)?;
        if fields::same_bytes(before, &after) {
            return Ok(Effect::Applied);
        }
        let version = Head::from_document(&after).version();
        if version != filter.version + 1 {
            return Err(check::refused(format!(
                "a change of version {} carries {} and not {version}",
                filter.version,
                filter.version + 1
            )));
        }
        check::result(&after, limits)?;
        self.refuse_live_twice(filter.id, &after, limits)?;
        self.put(filter.id, after, Kind::Update);
        Ok(Effect::Applied)
    }

    pub(super) fn refuse_live_twice(
        &self,
        id: &str,
        document: &Document,
        limits: &Limits,
    ) -> Result<(), Fault> {
        let Some(key) = fields::live_key(document).filter(|_| limits.unique_live) else {
            return Ok(());
        };
        match self.live.get(&key).and_then(|ids| ids.iter().find(|other| *other != id)) {
            Some(other) => Err(duplicate(format!("slug `{}`, lang `{}` is live as {other}", key.0, key.1))),
            None => Ok(()),
        }
    }

    /// Puts a document in, keeping the index and the log.
    pub(super) fn put(&mut self, id: &str, document: Document, kind: Kind) {
        if let Some(key) = self.posts.get(id).and_then(fields::live_key)
            && let Some(ids) = self.live.get_mut(&key)
        {
            ids.remove(id);
        }
        if let Some(key) = fields::live_key(&document) {
            self.live.entry(key).or_default().insert(id.to_owned());
        }
        self.posts.insert(id.to_owned(), document);
        self.log.push(Change { place: Place::Posts, id: id.to_owned(), kind });
    }

    /// Takes a document out, keeping the index and the log.
    pub(super) fn take(&mut self, id: &str) {
        let Some(document) = self.posts.remove(id) else { return };
        if let Some(ids) = fields::live_key(&document).and_then(|key| self.live.get_mut(&key)) {
            ids.remove(id);
        }
        self.log.push(Change { place: Place::Posts, id: id.to_owned(), kind: Kind::Delete });
    }

    pub(super) fn plant(&mut self, document: Document) {
        let id = Head::from_document(&document).id;
        let kind = if self.posts.contains_key(&id) { Kind::Update } else { Kind::Insert };
        self.put(&id, document, kind);
    }

    pub(super) fn posts_of(&self, ids: &[String]) -> Vec<&Document> {
        let ids: BTreeSet<&String> = ids.iter().collect();
        ids.into_iter().filter_map(|id| self.posts.get(id)).collect()
    }

    /// A (slug, lang) that is live more than once.
    pub(super) fn live_twice(&self) -> Option<&(String, String)> {
        self.live.iter().find(|(_, ids)| ids.len() > 1).map(|(key, _)| key)
    }

    pub(super) fn rows_of(&self, side: Side, filter: &Document) -> Vec<Document> {
        let rows = self.rows.get(&side).into_iter().flat_map(BTreeMap::values);
        rows.filter(|row| fields::matches(row, filter)).cloned().collect()
    }

    pub(super) fn row_insert(&mut self, side: Side, row: &Document) -> Inserted {
        let id = row.get_str("_id").unwrap_or_default().to_owned();
        let rows = self.rows.entry(side).or_default();
        if rows.contains_key(&id) || taken(side, &id, row, rows) {
            return Inserted::Existed;
        }
        rows.insert(id.clone(), row.clone());
        self.log.push(Change { place: Place::Rows(side), id, kind: Kind::Insert });
        Inserted::New
    }

    pub(super) fn row_replace(&mut self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        let id = row.get_str("_id").unwrap_or_default().to_owned();
        let rows = self.rows.entry(side).or_default();
        let Some(stored) = rows.get(&id).filter(|stored| integer(stored.get("version")) == Some(expected))
        else {
            return Ok(false);
        };
        if fields::same_bytes(stored, row) {
            return Ok(true);
        }
        if taken(side, &id, row, rows) {
            return Err(duplicate(format!("another row has the operation of {id}")));
        }
        rows.insert(id.clone(), row.clone());
        self.log.push(Change { place: Place::Rows(side), id, kind: Kind::Update });
        Ok(true)
    }

    pub(super) fn row_delete(&mut self, side: Side, ids: &[String]) {
        let rows = self.rows.entry(side).or_default();
        for id in ids {
            if rows.remove(id).is_some() {
                self.log.push(Change { place: Place::Rows(side), id: id.clone(), kind: Kind::Delete });
            }
        }
    }
}

/// The filter of an update.
struct Filter<'a> {
    id: &'a str,
    slug: &'a str,
    lang: &'a str,
    version: i64,
}

impl Filter<'_> {
    fn matches(&self, stored: &Document) -> bool {
        stored.get_str("_id").is_ok_and(|text| text == self.id)
            && stored.get_str("slug").is_ok_and(|text| text == self.slug)
            && stored.get_str("lang").is_ok_and(|text| text == self.lang)
            && Head::from_document(stored).ingest.is_some_and(|ingest| ingest.version == self.version)
    }
}

/// Whether another row has the unique key of this one; what is missing is null, and null equals null.
fn taken(side: Side, id: &str, row: &Document, rows: &BTreeMap<String, Document>) -> bool {
    if side != Side::Runs {
        return false;
    }
    let null = Bson::Null;
    rows.iter().any(|(other, stored)| {
        other != id
            && ["source", "operationId", "attempt"]
                .iter()
                .all(|key| fields::equal(row.get(key).unwrap_or(&null), stored.get(key).unwrap_or(&null)))
    })
}

fn duplicate(message: String) -> Fault {
    Fault::new(Class::Conflict, message).code(DUPLICATE_KEY)
}
