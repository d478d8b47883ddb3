//! The harness itself: a test of the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets something unforeseen fails"
)]

#[path = "../common/mod.rs"]
mod common;

use common::server::{self, Options, Server, User};
use mongodb::Client;
use mongodb::bson::{Document, doc};

async fn collection(uri: &str) -> mongodb::Collection<Document> {
    let client = Client::with_uri_str(uri).await.unwrap();
    client.default_database().unwrap().collection("posts")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shared_server_gives_each_test_a_database() {
    let (first, name) = server::shared().new_database();
    let (second, other) = server::shared().new_database();
    assert_ne!(name, other);
    collection(&first).await.insert_one(doc! { "_id": "1" }).await.unwrap();
    assert_eq!(collection(&first).await.count_documents(doc! {}).await.unwrap(), 1);
    assert_eq!(collection(&second).await.count_documents(doc! {}).await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_comes_back_on_its_port_with_what_it_acknowledged() {
    let server = Server::start(Options { sync_on_commit: true, ..Options::default() });
    let uri = server.uri("blog");
    let posts = collection(&uri).await;
    for n in 0..20 {
        posts.insert_one(doc! { "_id": n }).await.unwrap();
    }
    server.kill();
    assert!(std::net::TcpStream::connect(server.address()).is_err());
    server.restart();
    assert_eq!(collection(&uri).await.count_documents(doc! {}).await.unwrap(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_users_lets_nobody_else_in() {
    let reader = User { name: "reader", password: "r-pass", role: "readAnyDatabase" };
    let writer = User { name: "writer", password: "w-pass", role: "readWriteAnyDatabase" };
    let server = Server::start(Options { users: vec![reader, writer], ..Options::default() });
    let anybody = collection(&server.uri("blog")).await.insert_one(doc! { "_id": "1" }).await;
    assert!(anybody.is_err());
    collection(&server.uri_as("writer", "w-pass", "blog"))
        .await
        .insert_one(doc! { "_id": "1" })
        .await
        .unwrap();
    let posts = collection(&server.uri_as("reader", "r-pass", "blog")).await;
    assert_eq!(posts.count_documents(doc! {}).await.unwrap(), 1);
    assert!(posts.insert_one(doc! { "_id": "2" }).await.is_err());
    let wrong = collection(&server.uri_as("writer", "wrong", "blog")).await;
    assert!(wrong.count_documents(doc! {}).await.is_err());
}

#[test]
fn the_database_of_a_uri_is_replaced() {
    for (uri, expected) in [
        ("mongodb://h", "mongodb://h/db"),
        ("mongodb://u:p@h:1,i:2/old?replicaSet=r", "mongodb://u:p@h:1,i:2/db?replicaSet=r"),
        ("mongodb+srv://h/?w=majority", "mongodb+srv://h/db?w=majority"),
    ] {
        assert_eq!(server::uri_of_database(uri, "db"), expected);
    }
}
