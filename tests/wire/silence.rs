//! Silent sockets: no command outlives its deadline, and one that hung does not hold up the next.

use std::time::{Duration, Instant};

use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Effect, Store};

use crate::scripted::{Answer, Scripted};
use crate::{COMMAND_TIMEOUT, connected, create, open};

/// What a loaded machine may need beyond the deadline.
const SLACK: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_frozen_socket_ends_at_the_deadline() {
    let server = Scripted::mongodb();
    server.on("update", [Answer::Freeze]);
    let store = connected(&server).await;
    let started = Instant::now();
    let fault = store.write(&[create("a")]).await.unwrap_err();
    assert_eq!(fault.class, Class::Unknown);
    assert!(started.elapsed() >= COMMAND_TIMEOUT && started.elapsed() < COMMAND_TIMEOUT + SLACK);
    assert_eq!(server.sends("update"), 1);
    // The next one takes another connection.
    assert_eq!(store.write(&[create("b")]).await.unwrap(), [Effect::Applied]);
}

/// Without a monitor the driver itself would wait for ever.
#[tokio::test]
async fn a_frozen_socket_behind_a_load_balancer() {
    let server = Scripted::mongodb();
    server.greet_with(bson::doc! { "serviceId": bson::oid::ObjectId::new(), "msg": "isdbgrid" });
    server.greet_without(&["setName", "hosts", "me", "primary", "setVersion"]);
    server.on("update", [Answer::Freeze]);
    let store = open(&server.uri("loadBalanced=true"));
    store.connect().await.unwrap();
    let fault = store.write(&[create("a")]).await.unwrap_err();
    assert_eq!(fault.class, Class::Unknown);
    assert_eq!(server.sends("update"), 1);
}

#[tokio::test]
async fn more_frozen_commands_than_connections() {
    let server = Scripted::mongodb();
    server.on("update", vec![Answer::Freeze; 2]);
    let store = open(&server.uri("replicaSet=rs0&maxPoolSize=2"));
    store.connect().await.unwrap();
    let (a, b) = ([create("a")], [create("b")]);
    let (first, second) = tokio::join!(store.write(&a), store.write(&b));
    assert_eq!((first.unwrap_err().class, second.unwrap_err().class), (Class::Unknown, Class::Unknown));
    assert_eq!(store.write(&[create("c")]).await.unwrap(), [Effect::Applied]);
}

#[tokio::test]
async fn a_cursor_that_stops_between_batches() {
    let server = Scripted::mongodb();
    let first = bson::doc! {
        "cursor": { "id": 77_i64, "ns": "blog.posts", "firstBatch": [{ "_id": "a", "slug": "a", "lang": "en" }] },
        "ok": 1.0,
    };
    server.on("find", [Answer::Reply(first.clone()), Answer::Reply(first)]);
    let last = bson::doc! {
        "cursor": { "id": 0_i64, "ns": "blog.posts", "nextBatch": [{ "_id": "b", "slug": "b", "lang": "en" }] },
        "ok": 1.0,
    };
    server.on("getMore", [Answer::Freeze, Answer::Reply(last)]);
    let store = connected(&server).await;
    assert_eq!(store.heads().await.unwrap_err().class, Class::Unknown);
    let heads = store.heads().await.unwrap();
    assert_eq!(heads.iter().map(|head| head.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

/// A caller that gives up leaves the command to end by itself; the connection is not used with a reply under way.
#[tokio::test]
async fn a_caller_that_goes_away_mixes_up_no_replies() {
    let server = Scripted::mongodb();
    let late = bson::doc! { "n": 0, "nModified": 0, "ok": 1.0 };
    server.on("update", [Answer::Late(Duration::from_millis(300), Box::new(Answer::Reply(late)))]);
    let store = std::sync::Arc::new(open(&server.uri("replicaSet=rs0&maxPoolSize=1")));
    store.connect().await.unwrap();
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.write(&[create("a")]).await }
    });
    tokio::task::spawn_blocking({
        let server = server.clone();
        move || server.wait_for("update", 1)
    })
    .await
    .unwrap();
    waiting.abort();
    assert_eq!(store.write(&[create("b")]).await.unwrap(), [Effect::Applied]);
}

/// The monitor gives the server up before the deadline; the driver's text is the same as for what was never sent.
#[tokio::test]
async fn a_server_that_freezes_whole() {
    let server = Scripted::mongodb();
    let options = MongoOptions { command_timeout: Duration::from_secs(20), ..MongoOptions::default() };
    let uri = server.uri("replicaSet=rs0&connectTimeoutMS=300&heartbeatFrequencyMS=500");
    let store = MongoStore::open(&uri, options).unwrap();
    store.connect().await.unwrap();
    server.freeze();
    let started = Instant::now();
    let fault = store.write(&[create("a")]).await.unwrap_err();
    assert_eq!(fault.class, Class::Unknown, "{fault:?}");
    assert!(started.elapsed() < Duration::from_secs(19), "{fault:?}");
    assert!(fault.message.contains(&server.address()), "{fault:?}");
}
