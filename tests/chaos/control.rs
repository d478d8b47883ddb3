//! Tests of the test: the same fault against writers that do it the simple way. With ids made anew for
//! every send and no unique index a lost reply makes a duplicate; with the unique index alone it makes an
//! error.

use bson::{Document, doc};
use mongodb::Client;

use crate::common::server::database_name;
use crate::proxy::Fate;
use crate::scene::behind_a_proxy;

/// Inserts posts one by one through the proxy, sending again after every error, with an id made at each
/// send. Returns how many documents there are, and the errors that repeating did not help.
async fn insert_simply(unique: bool) -> (u64, Vec<String>) {
    let (proxy, through, past) = behind_a_proxy().await;
    let past = Client::with_uri_str(past).await.unwrap().default_database().unwrap();
    if unique {
        past.run_command(doc! {
            "createIndexes": "posts",
            "indexes": [{ "key": { "slug": 1, "lang": 1 }, "name": "one", "unique": true }],
        })
        .await
        .unwrap();
    }
    let uri = format!("{through}&retryWrites=false");
    let through = Client::with_uri_str(uri).await.unwrap().default_database().unwrap();
    proxy.script(
        |command| {
            if command.is_write() && command.number == 3 { Fate::DropReply } else { Fate::Pass }
        },
    );
    let mut errors = Vec::new();
    for at in 0..8 {
        for attempt in 0..3 {
            let new_id = format!("{at}-{attempt}-{}", database_name());
            let update = doc! {
                "q": { "_id": new_id }, "u": { "$setOnInsert": { "slug": format!("s{at}"), "lang": "en" } }, "upsert": true,
            };
            match through.run_command(doc! { "update": "posts", "updates": [update] }).await {
                Ok(reply) if reply.contains_key("writeErrors") => {
                    errors.push(reply.get_array("writeErrors").unwrap()[0].to_string());
                    break;
                }
                Ok(_) => break,
                Err(_) => {}
            }
        }
    }
    assert_eq!(proxy.replies_dropped(), 1, "the fault happened");
    let count = past.collection::<Document>("posts").count_documents(doc! {}).await.unwrap();
    (count, errors)
}

#[tokio::test(flavor = "multi_thread")]
async fn random_ids_without_an_index_make_a_duplicate() {
    let (count, errors) = insert_simply(false).await;
    assert_eq!(count, 9, "eight posts and one double");
    assert!(errors.is_empty(), "{errors:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn random_ids_with_a_unique_index_make_an_error() {
    let (count, errors) = insert_simply(true).await;
    assert_eq!(count, 8);
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("11000"), "{errors:?}");
}
