//! The stores under test, and what the suite needs beside the port: another program's hands, and eyes
//! that see whether anything was written.

use std::sync::Arc;

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use idempost::store::fault::{FaultRates, FaultStore};
use idempost::store::memory::MemoryStore;
use idempost::store::sqlite::SqliteStore;
use idempost::store::{Effect, Statement, Store};
use tempfile::TempDir;

/// An empty collection that nobody else uses.
#[async_trait]
pub trait Subject: Send + Sync {
    /// The store.
    fn store(&self) -> Arc<dyn Store>;

    /// Another client of the same collection.
    fn another(&self) -> Arc<dyn Store>;

    /// Puts a document in as another program does.
    async fn plant(&self, document: Document);

    /// Sets one field of a stored document as another program does.
    async fn set_field(&self, id: &str, field: &str, value: Bson);

    /// Begins to look whether any post is written.
    async fn watch(&self) -> Box<dyn Watch>;
}

/// Eyes on the posts.
#[async_trait]
pub trait Watch: Send {
    /// Whether anything was written since the last look.
    async fn saw_a_write(&mut self) -> bool;
}

/// The store after `ensure_ready`.
pub async fn ready(subject: &dyn Subject) -> Arc<dyn Store> {
    let store = subject.store();
    store.ensure_ready().await.unwrap();
    store
}

/// A small live post of version 1.
pub fn post(id: &str, slug: &str) -> Document {
    doc! {
        "_id": id,
        "slug": slug,
        "lang": "en",
        "publishedAt": bson::DateTime::from_millis(1_716_300_000_000),
        "status": "active",
        "live": true,
        "title": "On tides",
        "tags": ["sea", "moon"],
        "extra": { "mood": "calm", "weight": 3_i64 },
        "body": "The tide comes in.\n",
        "sourceHash": "s1:00",
        "ingest": {
            "source": "main", "path": "tides.md", "pipeline": "p1", "contentHash": "c1:00",
            "version": 1_i64, "runId": "r1", "operationId": "o1",
        },
    }
}

/// [`post`] with other fields.
pub fn post_with(id: &str, slug: &str, fields: Document) -> Document {
    let mut document = post(id, slug);
    document.extend(fields);
    document
}

/// [`post`] that is stored and not live.
pub fn sleeping(id: &str, slug: &str, status: &str) -> Document {
    let mut document = post_with(id, slug, doc! { "status": status });
    document.remove("live");
    document
}

pub fn create(document: Document) -> Statement {
    Statement::Create { document }
}

/// An update of a [`post`] by its id; the slug is the id's twin.
pub fn update(id: &str, slug: &str, expected_version: i64, set: Document, unset: &[&str]) -> Statement {
    Statement::Update {
        id: id.to_owned(),
        slug: slug.to_owned(),
        lang: "en".to_owned(),
        expected_version,
        set,
        unset: unset.iter().map(|key| (*key).to_owned()).collect(),
    }
}

/// The effect of a batch of one statement.
pub async fn send(store: &dyn Store, statement: Statement) -> Effect {
    let mut effects = store.write(&[statement]).await.unwrap();
    assert_eq!(effects.len(), 1);
    effects.remove(0)
}

/// The stored document.
pub async fn stored(store: &dyn Store, id: &str) -> Option<Document> {
    store.documents(&[id.to_owned()]).await.unwrap().pop()
}

/// The strict model.
pub fn memory() -> Box<dyn Subject> {
    Box::new(Memory { store: MemoryStore::new(), calm: false })
}

/// The store of the fault tests, with no faults: it must add nothing of its own.
pub fn calm() -> Box<dyn Subject> {
    Box::new(Memory { store: MemoryStore::new(), calm: true })
}

struct Memory {
    store: MemoryStore,
    calm: bool,
}

#[async_trait]
impl Subject for Memory {
    fn store(&self) -> Arc<dyn Store> {
        let memory = Arc::new(self.store.clone());
        if self.calm { Arc::new(FaultStore::new(memory, 0, FaultRates::CALM)) } else { memory }
    }

    fn another(&self) -> Arc<dyn Store> {
        self.store()
    }

    async fn plant(&self, document: Document) {
        self.store.plant(document);
    }

    async fn set_field(&self, id: &str, field: &str, value: Bson) {
        let mut document = self.store.snapshot().remove(id).unwrap();
        document.insert(field, value);
        self.store.plant(document);
    }

    async fn watch(&self) -> Box<dyn Watch> {
        Box::new(MemoryWatch { store: self.store.clone(), seen: self.store.post_log().len() })
    }
}

struct MemoryWatch {
    store: MemoryStore,
    seen: usize,
}

#[async_trait]
impl Watch for MemoryWatch {
    async fn saw_a_write(&mut self) -> bool {
        let before = std::mem::replace(&mut self.seen, self.store.post_log().len());
        before != self.seen
    }
}

/// A file in a folder of its own.
pub fn sqlite() -> Box<dyn Subject> {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path().join("posts.db")).unwrap();
    Box::new(Sqlite { folder, store })
}

struct Sqlite {
    folder: TempDir,
    store: SqliteStore,
}

impl Sqlite {
    fn connection(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.folder.path().join("posts.db")).unwrap()
    }
}

#[async_trait]
impl Subject for Sqlite {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    fn another(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.folder.path().join("posts.db")).unwrap())
    }

    async fn plant(&self, document: Document) {
        let json = Bson::Document(document).into_canonical_extjson();
        let id = match &json["_id"] {
            serde_json::Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let sql = "INSERT OR REPLACE INTO posts (_id, doc) VALUES (?1, ?2)";
        self.connection().execute(sql, [id, json.to_string()]).unwrap();
    }

    async fn set_field(&self, id: &str, field: &str, value: Bson) {
        let sql = "UPDATE posts SET doc = json_set(doc, ?2, json(?3)) WHERE _id = ?1";
        let value = value.into_canonical_extjson().to_string();
        let changed = self.connection().execute(sql, [id, &format!("$.{field}"), &value]).unwrap();
        assert_eq!(changed, 1);
    }

    async fn watch(&self) -> Box<dyn Watch> {
        let mut watch = SqliteWatch { connection: self.connection(), seen: 0 };
        watch.saw_a_write().await;
        Box::new(watch)
    }
}

struct SqliteWatch {
    connection: rusqlite::Connection,
    seen: i64,
}

#[async_trait]
impl Watch for SqliteWatch {
    /// SQLite counts the commits of other connections that changed the file.
    async fn saw_a_write(&mut self) -> bool {
        let version = self.connection.query_row("PRAGMA data_version", [], |row| row.get(0)).unwrap();
        let before = std::mem::replace(&mut self.seen, version);
        before != version
    }
}
