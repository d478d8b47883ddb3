//! Making collections and indexes: what is missing is made, what is there is read, what was forgotten is noticed.

use bson::{Bson, Document, doc};
use idempost::store::mongo::profile::Profile;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Store};

use crate::scripted::{Answer, Scripted, error};
use crate::{connected, options};

fn list(indexes: &[Document]) -> Answer {
    let mut all = vec![Bson::from(doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" })];
    all.extend(indexes.iter().cloned().map(Bson::from));
    Answer::Reply(doc! { "cursor": { "id": 0_i64, "ns": "blog.posts", "firstBatch": all }, "ok": 1.0 })
}

fn live() -> Document {
    doc! { "v": 2, "key": { "slug": 1, "lang": 1 }, "name": "idempost_live", "unique": true,
    "partialFilterExpression": { "live": true } }
}

fn heads() -> Document {
    doc! { "v": 2, "name": "idempost_heads", "key": { "_id": 1, "slug": 1, "lang": 1, "status": 1, "live": 1,
    "translationKey": 1, "sourceHash": 1, "supersededBy": 1, "ingest": 1 } }
}

fn readers() -> Document {
    // Another client's numbers are doubles.
    doc! { "v": 2, "name": "by_date", "key": { "lang": 1.0, "status": 1.0, "publishedAt": -1.0 } }
}

fn operation() -> Document {
    doc! { "v": 2, "name": "idempost_operation", "key": { "source": 1, "operationId": 1, "attempt": 1 },
    "unique": true }
}

fn collections() -> Answer {
    let names = ["posts", "posts_runs", "posts_assets", "posts_groups", "posts_history", "posts_adopted"];
    let all: Vec<Bson> =
        names.iter().map(|name| Bson::from(doc! { "name": *name, "type": "collection" })).collect();
    Answer::Reply(doc! { "cursor": { "id": 0_i64, "ns": "blog.$cmd", "firstBatch": all }, "ok": 1.0 })
}

fn flagged(server: &Scripted, profile: Profile) -> MongoStore {
    let flagged = MongoOptions { engine: Some(profile), ..options() };
    MongoStore::open(&server.uri("replicaSet=rs0"), flagged).unwrap()
}

#[tokio::test]
async fn a_second_run_only_looks() {
    let server = Scripted::mongodb();
    server.on("listCollections", [collections()]);
    server.on("listIndexes", [list(&[live(), heads(), readers()]), list(&[operation()])]);
    let store = connected(&server).await;
    let readiness = store.ensure_ready().await.unwrap();
    assert_eq!(readiness.indexes.len(), 4, "{readiness:?}");
    assert!(readiness.warnings.is_empty() && store.limits().unique_live);
    assert_eq!((server.sends("create"), server.sends("createIndexes")), (0, 0));
    assert_eq!((server.sends("listCollections"), server.sends("listIndexes")), (1, 2));
}

#[tokio::test]
async fn a_first_run_makes_all_and_reads_it_back() {
    let server = Scripted::mongodb();
    server
        .on("listIndexes", [list(&[]), list(&[live(), heads(), readers()]), list(&[]), list(&[operation()])]);
    // Another process was faster with one collection.
    server.on("create", [Answer::Reply(error(48, "NamespaceExists", "it exists"))]);
    let store = connected(&server).await;
    let readiness = store.ensure_ready().await.unwrap();
    assert_eq!(readiness.indexes.len(), 4, "{readiness:?}");
    assert_eq!((server.sends("create"), server.sends("createIndexes")), (6, 4));
    let spec = &server.commands("createIndexes")[0];
    let spec = spec.get_array("indexes").unwrap()[0].as_document().unwrap();
    assert_eq!(spec.get_document("partialFilterExpression").unwrap(), &doc! { "live": true });
    assert!(spec.get_bool("unique").unwrap());
}

#[tokio::test]
async fn an_index_with_other_options_is_refused() {
    let mut over_all = live();
    over_all.remove("partialFilterExpression");
    let mut not_unique = live();
    not_unique.remove("unique");
    let mut other_filter = live();
    other_filter.insert("partialFilterExpression", doc! { "live": true, "lang": "en" });
    let mut other_order = live();
    other_order.insert("key", doc! { "lang": 1, "slug": 1 });
    let mut folded = live();
    folded.insert("collation", doc! { "locale": "en", "strength": 2 });
    for wrong in [over_all, not_unique, other_filter, other_order, folded] {
        let server = Scripted::mongodb();
        server.on("listCollections", [collections()]);
        server.on("listIndexes", [list(std::slice::from_ref(&wrong))]);
        let fault = connected(&server).await.ensure_ready().await.unwrap_err();
        assert_eq!(fault.class, Class::Permanent, "{wrong}");
        assert!(fault.message.contains("idempost_live") && fault.help.contains("drop"), "{fault:?}");
        assert_eq!(server.sends("createIndexes"), 0);
    }
}

/// Several processes make the same index at once.
#[tokio::test]
async fn an_index_that_another_made_meanwhile() {
    let server = Scripted::mongodb();
    server.on("listCollections", [collections()]);
    server
        .on("createIndexes", [Answer::Reply(error(85, "IndexOptionsConflict", "exists with another name"))]);
    let mut named = live();
    named.insert("name", "slug_1_lang_1");
    let lists = [heads(), readers()];
    let with = |first: Document| list(&[first, lists[0].clone(), lists[1].clone()]);
    server.on("listIndexes", [list(&lists), with(named.clone()), with(named), list(&[operation()])]);
    let store = connected(&server).await;
    let readiness = store.ensure_ready().await.unwrap();
    assert!(readiness.indexes[0].contains("slug_1_lang_1"), "{readiness:?}");
    assert!(store.limits().unique_live);
}

#[tokio::test]
async fn two_live_posts_of_one_address_keep_the_index_from_being_made() {
    let server = Scripted::mongodb();
    server.on("createIndexes", [Answer::Reply(error(11000, "DuplicateKey", "E11000"))]);
    let fault = connected(&server).await.ensure_ready().await.unwrap_err();
    assert_eq!(fault.class, Class::Permanent);
    assert!(fault.help.contains("verify"), "{fault:?}");
}

#[tokio::test]
async fn an_engine_that_has_no_partial_index() {
    // One that says so.
    let server = Scripted::mongodb();
    server.on("createIndexes", [Answer::Reply(error(67, "CannotCreateIndex", "not supported"))]);
    server.on("listIndexes", [list(&[]), list(&[readers()]), list(&[operation()])]);
    let store = flagged(&server, Profile::DocumentDb);
    let readiness = store.ensure_ready().await.unwrap();
    assert!(readiness.warnings[0].contains("one run write"), "{readiness:?}");
    assert!(!store.limits().unique_live);

    // One that takes the index and forgets the filter: archived posts would clash with live ones.
    let mut over_all = live();
    over_all.remove("partialFilterExpression");
    let server = Scripted::mongodb();
    server.on("listIndexes", [list(&[]), list(&[over_all, readers()]), list(&[operation()])]);
    let store = flagged(&server, Profile::Unknown);
    let readiness = store.ensure_ready().await.unwrap();
    assert_eq!(server.sends("dropIndexes"), 1);
    assert!(!readiness.warnings.is_empty() && !store.limits().unique_live);

    // One that takes it and makes nothing.
    let server = Scripted::mongodb();
    server.on("listIndexes", [list(&[]), list(&[readers()]), list(&[operation()])]);
    let store = flagged(&server, Profile::Oracle);
    store.ensure_ready().await.unwrap();
    assert!(!store.limits().unique_live);

    // One that is known to have none is not asked.
    let server = Scripted::mongodb();
    server.on("listIndexes", [list(&[readers()]), list(&[operation()])]);
    let store = flagged(&server, Profile::FerretDb1);
    let readiness = store.ensure_ready().await.unwrap();
    assert_eq!(server.sends("createIndexes"), 0);
    assert!(readiness.warnings.iter().all(|warning| warning.contains("one run write")), "{readiness:?}");
}

/// MongoDB has them: there a refusal is an error, and so is an index that is not there afterwards.
#[tokio::test]
async fn the_guard_is_not_given_up_where_it_can_be_had() {
    let server = Scripted::mongodb();
    server.on("createIndexes", [Answer::Reply(error(67, "CannotCreateIndex", "no"))]);
    assert_eq!(connected(&server).await.ensure_ready().await.unwrap_err().class, Class::Permanent);
    let server = Scripted::mongodb();
    server.on("listIndexes", [list(&[]), list(&[heads(), readers()])]);
    let fault = connected(&server).await.ensure_ready().await.unwrap_err();
    assert!(fault.message.contains("does not have it"), "{fault:?}");
}

#[tokio::test]
async fn an_error_that_passes_is_left_to_the_executor() {
    for (code, class) in [(1, Class::Unknown), (112, Class::NotApplied), (13, Class::Auth)] {
        let server = Scripted::mongodb();
        server.on("createIndexes", [Answer::Reply(error(code, "", "deadlock detected"))]);
        let fault = connected(&server).await.ensure_ready().await.unwrap_err();
        assert_eq!(fault.class, class);
        assert_eq!(server.sends("createIndexes"), 1);
    }
}
