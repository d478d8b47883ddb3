//! The same adapter against a server that stores: who may do what, and a server that goes away.

use std::time::Duration;

use bson::doc;
use idempost::store::mongo::doctor::Rights;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Effect, Side, Store};

use crate::common::server::{Options, Server, User};
use crate::create;

fn patient() -> MongoOptions {
    MongoOptions { command_timeout: Duration::from_secs(15), ..MongoOptions::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_and_rights() {
    let user = |name, role| User { name, password: "Geheim-7391", role };
    let server = tokio::task::spawn_blocking(move || {
        Server::start(Options {
            users: vec![user("writer", "readWriteAnyDatabase"), user("reader", "readAnyDatabase")],
            ..Options::default()
        })
    })
    .await
    .unwrap();
    let open = |uri: &str| MongoStore::open(uri, patient()).unwrap();

    let writer = open(&server.uri_as("writer", "Geheim-7391", "blog"));
    writer.ensure_ready().await.unwrap();
    assert_eq!(writer.write(&[create("a")]).await.unwrap(), [Effect::Applied]);
    assert!(!matches!(writer.rights().await.unwrap(), Rights::Open));

    let reader = open(&server.uri_as("reader", "Geheim-7391", "blog"));
    assert_eq!(reader.heads().await.unwrap().len(), 1);
    let fault = reader.write(&[create("b")]).await.unwrap_err();
    assert_eq!((fault.class, fault.code), (Class::Auth, Some(13)), "{fault:?}");
    let fault = reader.row_insert(Side::Runs, &doc! { "_id": "r", "version": 1_i64 }).await.unwrap_err();
    assert_eq!(fault.class, Class::Auth, "{fault:?}");
    // Everything is there already, so looking is enough.
    reader.ensure_ready().await.unwrap();

    let stranger = open(&server.uri_as("writer", "Falsch-7391", "blog"));
    let fault = stranger.connect().await.unwrap_err();
    assert_eq!(fault.class, Class::Auth, "{fault:?}");
    assert!(!format!("{fault:?}{stranger:?}").contains("7391"), "{fault:?}");

    let nobody = open(&server.uri("blog"));
    let fault = nobody.heads().await.unwrap_err();
    assert_eq!(fault.class, Class::Auth, "{fault:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_away_and_comes_back() {
    let server =
        tokio::task::spawn_blocking(|| Server::start(Options { sync_on_commit: true, ..Options::default() }))
            .await
            .unwrap();
    let store = MongoStore::open(&server.uri("blog"), patient()).unwrap();
    store.ensure_ready().await.unwrap();
    assert_eq!(store.write(&[create("a")]).await.unwrap(), [Effect::Applied]);
    server.kill();
    let fault = store.write(&[create("b")]).await.unwrap_err();
    assert!(matches!(fault.class, Class::NotSent | Class::Unknown), "{fault:?}");
    let fault = store.write(&[create("b")]).await.unwrap_err();
    assert_eq!(fault.class, Class::NotSent, "{fault:?}");
    server.restart();
    assert_eq!(store.write(&[create("a"), create("b")]).await.unwrap(), [Effect::Existed, Effect::Applied]);
}
