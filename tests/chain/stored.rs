//! What a store holds and what is written to it, seen past the program.

use std::path::PathBuf;
use std::time::Duration;

use bson::{Bson, Document, doc};
use futures_util::{StreamExt, TryStreamExt};
use mongodb::change_stream::ChangeStream;
use mongodb::change_stream::event::ChangeStreamEvent;
use rusqlite::Connection;
use tokio::runtime::Runtime;

use crate::common::server;

/// How long a change stream may take to tell of a write that has been acknowledged.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The posts of a store.
pub trait Stored {
    /// Every document, in order of `_id`.
    fn documents(&self) -> Vec<Document>;
    /// Every stored byte of the posts, in a form that can be compared.
    fn bytes(&self) -> Vec<Vec<u8>>;
    /// Puts a document in, or in the place of another, as somebody else's program.
    fn put(&self, document: &Document);
    /// From now on, remembers what is written to the posts.
    fn watch(&self) -> Box<dyn Watch + '_>;

    /// The document of an id.
    fn get(&self, id: &str) -> Document {
        let found = self.documents().into_iter().find(|document| document.get_str("_id").ok() == Some(id));
        found.expect("it is stored")
    }

    /// The document of a slug and language.
    fn find(&self, slug: &str, lang: &str) -> Document {
        let is = |document: &Document| {
            document.get_str("slug").ok() == Some(slug) && document.get_str("lang").ok() == Some(lang)
        };
        let mut found: Vec<Document> = self.documents().into_iter().filter(is).collect();
        assert_eq!(found.len(), 1, "{slug} in {lang}");
        found.remove(0)
    }

    /// Adds fields to a document, as somebody else's program.
    fn plant(&self, id: &str, fields: Document) {
        let mut document = self.get(id);
        document.extend(fields);
        self.put(&document);
    }
}

/// What was written since it began.
pub trait Watch {
    /// The id of each write, in order of the writes.
    fn written(&self) -> Vec<String>;
}

/// A SQLite file.
pub struct Sqlite {
    path: PathBuf,
}

impl Sqlite {
    /// The file need not be there.
    pub fn new(path: PathBuf) -> Self {
        Sqlite { path }
    }

    /// Nothing where there is no table yet.
    fn open(&self) -> Option<Connection> {
        let connection = self.path.exists().then(|| Connection::open(&self.path).unwrap())?;
        connection.busy_timeout(EVENT_TIMEOUT).unwrap();
        connection.table_exists(None, "posts").unwrap().then_some(connection)
    }
}

impl Stored for Sqlite {
    fn documents(&self) -> Vec<Document> {
        let Some(connection) = self.open() else { return Vec::new() };
        let mut all = connection.prepare("SELECT doc FROM posts ORDER BY _id").unwrap();
        let rows = all.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let parse = |text: rusqlite::Result<String>| {
            let value: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
            let Bson::Document(document) = Bson::try_from(value).unwrap() else { unreachable!("an object") };
            document
        };
        rows.map(parse).collect()
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        let Some(connection) = self.open() else { return Vec::new() };
        let mut all = connection.prepare("SELECT rowid, * FROM posts ORDER BY rowid").unwrap();
        let columns = all.column_count();
        let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<u8>> {
            let values: Result<Vec<_>, _> =
                (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect();
            Ok(format!("{:?}", values?).into_bytes())
        };
        all.query_map([], row).unwrap().map(Result::unwrap).collect()
    }

    fn put(&self, document: &Document) {
        let text = Bson::Document(document.clone()).into_canonical_extjson().to_string();
        let id = document.get_str("_id").unwrap();
        let put =
            "INSERT INTO posts (_id, doc) VALUES (?1, ?2) ON CONFLICT (_id) DO UPDATE SET doc = excluded.doc";
        self.open().expect("the table is there").execute(put, [id, &text]).unwrap();
    }

    fn watch(&self) -> Box<dyn Watch + '_> {
        // A write that leaves every byte as it was is a write: triggers tell of it.
        if let Some(connection) = self.open() {
            connection
                .execute_batch(
                    "DROP TABLE IF EXISTS written;
                     CREATE TABLE written (id TEXT);
                     CREATE TRIGGER IF NOT EXISTS told_insert AFTER INSERT ON posts
                       BEGIN INSERT INTO written VALUES (NEW._id); END;
                     CREATE TRIGGER IF NOT EXISTS told_update AFTER UPDATE ON posts
                       BEGIN INSERT INTO written VALUES (NEW._id); END;
                     CREATE TRIGGER IF NOT EXISTS told_delete AFTER DELETE ON posts
                       BEGIN INSERT INTO written VALUES (OLD._id); END;",
                )
                .unwrap();
        }
        Box::new(SqliteWatch(self))
    }
}

struct SqliteWatch<'a>(&'a Sqlite);

impl Watch for SqliteWatch<'_> {
    fn written(&self) -> Vec<String> {
        let Some(connection) = self.0.open() else { return Vec::new() };
        if !connection.table_exists(None, "written").unwrap() {
            // There was no table to watch: whatever is there now was written.
            return self
                .0
                .documents()
                .iter()
                .map(|document| document.get("_id").unwrap().to_string())
                .collect();
        }
        let mut all = connection.prepare("SELECT id FROM written ORDER BY rowid").unwrap();
        all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

/// A database of the test server.
pub struct Server {
    uri: String,
    posts: mongodb::Collection<Document>,
    /// The driver of the test lives in it.
    runtime: Runtime,
}

impl Server {
    /// A database that nobody else uses.
    pub fn new() -> Self {
        let (uri, database) = server::proxied().new_database();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(mongodb::Client::with_uri_str(&uri)).unwrap();
        let posts = client.database(&database).collection("posts");
        Server { uri, posts, runtime }
    }

    /// Its URI, with the database.
    pub fn uri(&self) -> &str {
        &self.uri
    }
}

impl Stored for Server {
    fn documents(&self) -> Vec<Document> {
        self.runtime.block_on(async {
            self.posts.find(doc! {}).sort(doc! { "_id": 1 }).await.unwrap().try_collect().await.unwrap()
        })
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        self.runtime.block_on(async {
            let raw = self.posts.clone_with_type::<bson::RawDocumentBuf>();
            let all = raw.find(doc! {}).sort(doc! { "_id": 1 }).await.unwrap();
            all.map_ok(bson::RawDocumentBuf::into_bytes).try_collect().await.unwrap()
        })
    }

    fn put(&self, document: &Document) {
        let id = document.get("_id").cloned().unwrap();
        let put = self.posts.replace_one(doc! { "_id": id }, document).upsert(true);
        self.runtime.block_on(async { put.await.unwrap() });
    }

    fn watch(&self) -> Box<dyn Watch + '_> {
        let stream = self.runtime.block_on(async { self.posts.watch().await.unwrap() });
        Box::new(ServerWatch { server: self, stream: std::cell::RefCell::new(stream) })
    }
}

struct ServerWatch<'a> {
    server: &'a Server,
    stream: std::cell::RefCell<ChangeStream<ChangeStreamEvent<Document>>>,
}

impl Watch for ServerWatch<'_> {
    /// Writes a sentinel among the posts and reads the events up to it: nothing that came before is missed.
    fn written(&self) -> Vec<String> {
        let sentinel = "~sentinel";
        let id = doc! { "_id": sentinel };
        let mut stream = self.stream.borrow_mut();
        self.server.runtime.block_on(async {
            self.server.posts.insert_one(&id).await.unwrap();
            let mut written = Vec::new();
            loop {
                let event = tokio::time::timeout(EVENT_TIMEOUT, stream.next()).await;
                let event = event.expect("the sentinel's event comes").expect("the stream goes on").unwrap();
                let key = event.document_key.expect("events of documents alone");
                if key == id {
                    break;
                }
                written.push(key.get_str("_id").unwrap_or("not a text").to_owned());
            }
            self.server.posts.delete_one(id).await.unwrap();
            written
        })
    }
}
