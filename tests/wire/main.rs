//! The MongoDB adapter against a server that says what a test tells it: every class of error, every oddity of a
//! reply, every way of a socket to end; and that nothing is ever sent twice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unreachable,
    reason = "a test that meets something unforeseen fails"
)]

#[path = "../common/scripted.rs"]
mod scripted;

#[path = "../common/mod.rs"]
mod common;

mod classes;
mod connect;
mod effects;
mod engines;
mod live;
mod ready;
mod secrets;
mod silence;

use std::time::Duration;

use bson::{Document, doc};
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Effect, Fault, Statement, Store};

use scripted::{Answer, Scripted};

/// A deadline that a test can wait for.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(1_500);

fn options() -> MongoOptions {
    MongoOptions { command_timeout: COMMAND_TIMEOUT, ..MongoOptions::default() }
}

fn open(uri: &str) -> MongoStore {
    MongoStore::open(uri, options()).unwrap()
}

/// A store on the server, already greeted.
async fn connected(server: &Scripted) -> MongoStore {
    let store = open(&server.uri("replicaSet=rs0"));
    store.connect().await.unwrap();
    store
}

fn create(id: &str) -> Statement {
    Statement::Create {
        document: doc! {
            "_id": id, "slug": id, "lang": "en", "status": "active", "live": true, "title": "On dew",
            "ingest": { "version": 1_i64, "runId": "r" },
        },
    }
}

fn update(id: &str) -> Statement {
    Statement::Update {
        id: id.to_owned(),
        slug: id.to_owned(),
        lang: "en".to_owned(),
        expected_version: 3,
        set: doc! { "title": "On frost", "ingest.version": 4_i64 },
        unset: vec!["summary".to_owned()],
    }
}

/// Sends one batch to a server that answers it so.
async fn answered(batch: &[Statement], answer: Answer) -> (Result<Vec<Effect>, Fault>, usize) {
    let server = Scripted::mongodb();
    server.on("update", [answer]);
    let store = connected(&server).await;
    let outcome = store.write(batch).await;
    (outcome, server.sends("update"))
}

/// The effects of a batch whose reply is this.
async fn effects(batch: &[Statement], reply: Document) -> Vec<Effect> {
    let (outcome, sends) = answered(batch, Answer::Reply(reply)).await;
    assert_eq!(sends, 1);
    outcome.unwrap()
}
