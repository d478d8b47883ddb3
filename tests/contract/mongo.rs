//! A database of the test server.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use futures_util::StreamExt;
use idempost::store::Store;
use idempost::store::mongo::{MongoOptions, MongoStore};
use mongodb::Client;
use mongodb::change_stream::ChangeStream;
use mongodb::change_stream::event::ChangeStreamEvent;
use mongodb::options::UpdateModifications;
use tokio::sync::OnceCell;

use crate::common::server;
use crate::subject::{Subject, Watch};

/// How long a change stream may take to tell of a write that has been acknowledged.
const EVENT_TIMEOUT: Duration = Duration::from_secs(30);

/// A database that nobody else uses.
pub fn subject() -> Box<dyn Subject> {
    let (uri, database) = server::shared().new_database();
    let store = Arc::new(open(&uri));
    Box::new(Mongo { uri, database, store, client: OnceCell::new() })
}

fn open(uri: &str) -> MongoStore {
    MongoStore::open(uri, MongoOptions::default()).unwrap()
}

struct Mongo {
    uri: String,
    database: String,
    store: Arc<MongoStore>,
    /// Another program.
    client: OnceCell<Client>,
}

impl Mongo {
    async fn database(&self) -> mongodb::Database {
        let client =
            self.client.get_or_init(|| async { Client::with_uri_str(&self.uri).await.unwrap() }).await;
        client.database(&self.database)
    }

    async fn posts(&self) -> mongodb::Collection<Document> {
        self.database().await.collection("posts")
    }
}

#[async_trait]
impl Subject for Mongo {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as Arc<dyn Store>
    }

    fn another(&self) -> Arc<dyn Store> {
        Arc::new(open(&self.uri))
    }

    async fn plant(&self, document: Document) {
        let id = document.get("_id").cloned().unwrap();
        self.posts().await.replace_one(doc! { "_id": id }, document).upsert(true).await.unwrap();
    }

    async fn set_field(&self, id: &str, field: &str, value: Bson) {
        let set = UpdateModifications::Document(doc! { "$set": { field: value } });
        let result = self.posts().await.update_one(doc! { "_id": id }, set).await.unwrap();
        assert_eq!(result.matched_count, 1);
    }

    async fn watch(&self) -> Box<dyn Watch> {
        let database = self.database().await;
        let stream = database.watch().await.unwrap();
        Box::new(MongoWatch { database, stream, looks: 0 })
    }
}

struct MongoWatch {
    database: mongodb::Database,
    stream: ChangeStream<ChangeStreamEvent<Document>>,
    looks: i32,
}

#[async_trait]
impl Watch for MongoWatch {
    /// Writes a mark beside the posts and reads the events up to it: nothing that came before is missed.
    async fn saw_a_write(&mut self) -> bool {
        self.looks += 1;
        let marks = self.database.collection::<Document>("marks");
        marks.insert_one(doc! { "_id": self.looks }).await.unwrap();
        let mut saw = false;
        loop {
            let event = tokio::time::timeout(EVENT_TIMEOUT, self.stream.next()).await;
            let event = event.expect("the mark's event comes").expect("the stream goes on").unwrap();
            match event.ns.and_then(|namespace| namespace.coll).as_deref() {
                Some("marks") if event.document_key == Some(doc! { "_id": self.looks }) => return saw,
                Some("posts") => saw = true,
                _ => {}
            }
        }
    }
}
