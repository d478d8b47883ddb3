//! Getting there: what fails before anything is sent says so, in time, and with what to do.

use std::time::Instant;

use bson::doc;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Fault, Store};

use crate::scripted::{Answer, Scripted, closed_port, error};
use crate::{COMMAND_TIMEOUT, connected, create, open, options};

#[tokio::test]
async fn nobody_listens() {
    let port = closed_port();
    let store = open(&format!("mongodb://127.0.0.1:{port}/blog"));
    let started = Instant::now();
    let fault = store.write(&[create("a")]).await.unwrap_err();
    assert_eq!(fault.class, Class::NotSent);
    assert!(started.elapsed() < COMMAND_TIMEOUT * 4, "{:?}", started.elapsed());
    assert!(fault.message.contains(&format!("127.0.0.1:{port}")), "{fault:?}");
    assert!(fault.message.contains("refused"), "{fault:?}");
    assert!(!fault.message.contains("Topology") && !fault.help.is_empty(), "{fault:?}");
}

#[tokio::test]
async fn a_server_of_another_set() {
    let server = Scripted::mongodb();
    let fault = open(&server.uri("replicaSet=other")).connect().await.unwrap_err();
    assert_eq!(fault.class, Class::NotSent, "{fault:?}");
    assert!(
        fault.message.ends_with("the replica set other") && fault.help.contains("replicaSet"),
        "{fault:?}"
    );
}

#[tokio::test]
async fn a_name_that_nobody_has() {
    for uri in ["mongodb://no-such-host.invalid/blog", "mongodb+srv://no-such-host.invalid/blog"] {
        let fault = open(uri).connect().await.unwrap_err();
        assert_eq!(fault.class, Class::NotSent, "{fault:?}");
        assert!(fault.message.contains("no-such-host.invalid") && fault.help.contains("name"), "{fault:?}");
    }
}

#[tokio::test]
async fn a_greeting_that_is_refused() {
    let server = Scripted::mongodb();
    server.on("isMaster", vec![Answer::Close; 50]);
    server.on("ismaster", vec![Answer::Close; 50]);
    server.on("hello", vec![Answer::Close; 50]);
    let fault = open(&server.uri("replicaSet=rs0")).connect().await.unwrap_err();
    assert_eq!(fault.class, Class::NotSent, "{fault:?}");
    assert_eq!(server.sends("update"), 0);
}

#[tokio::test]
async fn a_server_that_is_too_old() {
    for version in [6, 7, 8] {
        let server = Scripted::mongodb();
        server.greet_with(doc! { "maxWireVersion": version });
        let fault = open(&server.uri("replicaSet=rs0")).connect().await.unwrap_err();
        assert_eq!(fault.class, Class::Permanent, "{fault:?}");
        assert!(fault.message.contains("wire version") && fault.help.contains("4.4"), "{fault:?}");
    }
    let server = Scripted::mongodb();
    server.greet_with(doc! { "maxWireVersion": 9 });
    open(&server.uri("replicaSet=rs0")).connect().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password() {
    let server = Scripted::mongodb();
    server
        .on("saslStart", vec![Answer::Reply(error(18, "AuthenticationFailed", "Authentication failed.")); 9]);
    let uri = format!("mongodb://ann:wr0ngWr0ng@{}/blog?replicaSet=rs0", server.address());
    let fault = open(&uri).connect().await.unwrap_err();
    assert_eq!(fault.class, Class::Auth, "{fault:?}");
    assert!(!format!("{fault:?}").contains("wr0ngWr0ng"), "{fault:?}");
    assert!(fault.help.contains("authSource"), "{fault:?}");
}

/// `directConnection` leads to a secondary: reads there would be old and writes refused.
#[tokio::test]
async fn a_secondary_is_not_read() {
    let server = Scripted::mongodb();
    server.greet_with(doc! { "isWritablePrimary": false, "ismaster": false, "secondary": true });
    let store = open(&server.uri("directConnection=true"));
    let fault = store.connect().await.unwrap_err();
    assert_eq!(fault.class, Class::NotSent, "{fault:?}");
    assert!(fault.help.contains("directConnection"), "{fault:?}");
    assert!(store.heads().await.is_err());
    assert_eq!(server.sends("find"), 0);
}

#[tokio::test]
async fn reads_are_of_the_primary_whatever_the_uri_says() {
    let server = Scripted::mongodb();
    let store = open(&server.uri("replicaSet=rs0&readPreference=secondaryPreferred&readConcernLevel=local"));
    store.heads().await.unwrap();
    let sent = server.commands("find").remove(0);
    let mode =
        sent.get_document("$readPreference").map(|preference| preference.get_str("mode").unwrap().to_owned());
    assert!(mode.is_err() || mode.unwrap() == "primary", "{sent}");
    assert_eq!(sent.get_document("readConcern").unwrap().get_str("level").unwrap(), "majority");
}

#[tokio::test]
async fn opening_sends_nothing() {
    let server = Scripted::mongodb();
    let store = open(&server.uri("replicaSet=rs0"));
    assert_eq!(store.target().store, format!("mongodb://{}", server.address()));
    assert_eq!((store.target().database.as_str(), store.target().collection.as_str()), ("blog", "posts"));
    assert_eq!(server.connections(), 0);
}

fn refused(uri: &str) -> Fault {
    let fault = MongoStore::open(uri, options()).expect_err(uri);
    assert_eq!(fault.class, Class::Permanent, "{uri}");
    fault
}

#[test]
fn a_uri_that_cannot_be_used_says_why() {
    for (uri, message, help) in [
        ("mongodb://h/blog?w=0", "w=0", "majority"),
        ("mongodb://h/blog?socketTimeoutMS=1000", "socketTimeoutMS", "--command-timeout"),
        ("mongodb://h/blog?timeoutMS=1000", "timeoutMS", "--command-timeout"),
        ("mongodb://h/blog?compressors=zstd", "compressors", "leave it out"),
        ("mongodb://h/blog?retryWrites=FALSE", "retryWrites", "lower case"),
        ("mongodb://h/blog?retryWrits=false", "retryWrits", "retryWrites"),
        ("mongodb://h/blog?frobnicate=1", "frobnicate", ""),
        ("mongodb://h/blog?tls=true&tls=true", "twice", ""),
        ("mongodb://h/blog?tls", "KEY=VALUE", ""),
        ("mongodb://h/blog?maxPoolSize=0", "maxPoolSize", ""),
        ("mongodb://h/blog?loadBalanced=true&replicaSet=rs0", "replicaSet", ""),
        ("mongodb://h", "database", "idempost.toml"),
        ("mongodb://h:99999/blog", "port", ""),
        ("mongodb+srv://h:27017/blog", "port", ""),
        ("mongodb://a b:pw@h/blog", "percent-encoded", "%40"),
        ("postgres://h/blog", "scheme", "mongodb://"),
        ("h/blog", "scheme", "mongodb://"),
        ("mongodb:///blog", "hostname", ""),
    ] {
        let fault = refused(uri);
        assert!(fault.message.to_lowercase().contains(&message.to_lowercase()), "{uri}: {fault:?}");
        assert!(fault.help.contains(help), "{uri}: {fault:?}");
    }
    let named = MongoOptions { database: Some("other".to_owned()), ..options() };
    assert_eq!(MongoStore::open("mongodb://h", named.clone()).unwrap().target().database, "other");
    assert_eq!(MongoStore::open("mongodb://h/blog", named).unwrap().target().database, "other");
    for collection in ["", "a$b", "system.x", "x\0"] {
        let options = MongoOptions { collection: collection.to_owned(), ..options() };
        assert!(MongoStore::open("mongodb://h/blog", options).is_err(), "{collection:?}");
    }
}

#[test]
fn uris_of_the_engines_are_accepted() {
    for (uri, engine) in [
        (
            "mongodb://acct:a2V5%3D%3D@acct.mongo.cosmos.azure.com:10255/blog?ssl=true&replicaSet=globaldb&retrywrites=false&maxIdleTimeMS=120000&appName=@acct@",
            "cosmos-ru",
        ),
        (
            "mongodb+srv://u:p@c.mongocluster.cosmos.azure.com/blog?tls=true&authMechanism=SCRAM-SHA-256&retrywrites=false&maxIdleTimeMS=120000",
            "documentdb-vcore",
        ),
        (
            "mongodb://u:p@c.docdb.amazonaws.com:27017/blog?tls=true&tlsCAFile=global-bundle.pem&replicaSet=rs0&readPreference=secondaryPreferred&retryWrites=false",
            "documentdb",
        ),
        (
            "mongodb://u:p@UID.eu.firestore.goog:443/blog?loadBalanced=true&authMechanism=SCRAM-SHA-256&tls=true&retryWrites=false",
            "firestore",
        ),
        (
            "mongodb://u:p@db.example.com:27017/blog?authMechanism=PLAIN&authSource=$external&ssl=true&retryWrites=false&loadBalanced=true",
            "oracle",
        ),
        ("mongodb://u:p@ferret.example.com/blog", "unknown"),
        (
            "MongoDB://u:p@h1:1,h2:2/blog?readPreferenceTags=dc:ny&readPreferenceTags=&readPreference=nearest",
            "unknown",
        ),
    ] {
        let store = MongoStore::open(uri, options()).unwrap_or_else(|fault| panic!("{uri}: {fault:?}"));
        assert_eq!(store.target().engine, engine, "{uri}");
        assert!(!store.target().store.contains('@'), "{}", store.target().store);
    }
}

#[tokio::test]
async fn connecting_again_asks_again() {
    let server = Scripted::mongodb();
    let store = connected(&server).await;
    server.on("hello", vec![Answer::Reply(error(91, "ShutdownInProgress", "going down")); 9]);
    assert!(store.connect().await.is_err());
}
