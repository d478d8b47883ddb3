//! Reading: heads, documents, and what other programs left.

use bson::oid::ObjectId;
use bson::{Bson, Document, doc};
use idempost::store::Side;
use idempost::store::document::{Head, Status};

use crate::subject::{Subject, create, post, post_with, ready, send, sleeping, stored};

fn ids(heads: &[Head]) -> Vec<&str> {
    heads.iter().map(|head| head.id.as_str()).collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

pub async fn a_collection_that_is_not_there_is_empty(subject: &dyn Subject) {
    let store = subject.store();
    store.connect().await.unwrap();
    assert_eq!(store.heads().await.unwrap(), []);
    assert_eq!(store.heads_of(&texts(&["1"])).await.unwrap(), []);
    assert_eq!(store.heads_live(&[("a".to_owned(), "en".to_owned())]).await.unwrap(), []);
    assert_eq!(store.documents(&texts(&["1"])).await.unwrap(), Vec::<Document>::new());
    for side in Side::ALL {
        assert_eq!(store.rows(side, &doc! {}).await.unwrap(), Vec::<Document>::new());
    }
}

pub async fn heads_are_all_there_in_order_of_id(subject: &dyn Subject) {
    let store = ready(subject).await;
    // In order of bytes, which is neither a dictionary's nor UTF-16's.
    let sorted = ["", "1", "10", "2", "A", "B", "a", "é", "한", "\u{ffee}", "🌊"];
    let mut batch: Vec<_> =
        sorted.iter().enumerate().map(|(n, id)| create(post(&format!("x{id}"), &format!("s{n}")))).collect();
    batch.reverse();
    store.write(&batch).await.unwrap();
    let heads = store.heads().await.unwrap();
    assert_eq!(ids(&heads), sorted.map(|id| format!("x{id}")));
}

pub async fn a_head_says_what_the_document_says(subject: &dyn Subject) {
    let store = ready(subject).await;
    let mut ingest = post("1", "a").get_document("ingest").unwrap().clone();
    ingest.extend(doc! {
        "assetsHash": "a1:00", "linksHash": "l1:00", "revision": 12_i64, "version": 4_000_000_000_i64,
        "claim": { "runId": "r9", "until": bson::DateTime::from_millis(1_716_300_000_999) },
    });
    let publishing = post_with(
        "1",
        "바다/조수",
        doc! { "lang": "ko", "status": "publishing", "translationKey": "tides", "ingest": ingest },
    );
    let mut superseded = sleeping("2", "b", "superseded");
    superseded.insert("supersededBy", "3");
    send(&*store, create(publishing.clone())).await;
    send(&*store, create(superseded.clone())).await;

    let heads = store.heads().await.unwrap();
    assert_eq!(heads, [Head::from_document(&publishing), Head::from_document(&superseded)]);
    let head = &heads[0];
    assert_eq!((head.slug.as_str(), head.lang.as_str()), ("바다/조수", "ko"));
    assert_eq!((&head.status, head.live), (&Status::Publishing, true));
    assert_eq!(head.translation_key.as_deref(), Some("tides"));
    let ingest = head.ingest.as_ref().unwrap();
    assert_eq!((ingest.version, ingest.revision), (4_000_000_000, Some(12)));
    assert_eq!(ingest.claim.as_ref().unwrap().until, 1_716_300_000_999);
    assert_eq!((heads[1].live, heads[1].superseded_by.as_deref()), (false, Some("3")));
}

pub async fn heads_are_found_by_id(subject: &dyn Subject) {
    let store = ready(subject).await;
    for (id, slug) in [("3", "c"), ("1", "a"), ("2", "b")] {
        send(&*store, create(post(id, slug))).await;
    }
    let heads = store.heads_of(&texts(&["3", "9", "1", "3", "it's \"9\""])).await.unwrap();
    assert_eq!(ids(&heads), ["1", "3"]);
    assert_eq!(store.heads_of(&[]).await.unwrap(), []);
}

pub async fn live_heads_are_found_by_slug_and_language(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("4", "a"))).await;
    send(&*store, create(post_with("3", "a", doc! { "lang": "ko" }))).await;
    send(&*store, create(sleeping("2", "a", "archived"))).await;
    send(&*store, create(post_with("1", "b", doc! { "status": "publishing" }))).await;
    let key = |slug: &str, lang: &str| (slug.to_owned(), lang.to_owned());
    let heads = store.heads_live(&[key("a", "en"), key("b", "en"), key("c", "en")]).await.unwrap();
    assert_eq!(ids(&heads), ["1", "4"]);
    let heads = store.heads_live(&[key("a", "ko"), key("a", "ko")]).await.unwrap();
    assert_eq!(ids(&heads), ["3"]);
    // Neither is the pair of two posts' halves.
    assert_eq!(store.heads_live(&[key("b", "ko")]).await.unwrap(), []);
    assert_eq!(store.heads_live(&[]).await.unwrap(), []);
}

pub async fn documents_are_found_by_id(subject: &dyn Subject) {
    let store = ready(subject).await;
    for (id, slug) in [("3", "c"), ("1", "a"), ("2", "b")] {
        send(&*store, create(post(id, slug))).await;
    }
    let documents = store.documents(&texts(&["3", "9", "1", "1"])).await.unwrap();
    assert_eq!(documents, [post("1", "a"), post("3", "c")]);
    assert_eq!(store.documents(&[]).await.unwrap(), Vec::<Document>::new());
}

pub async fn hand_made_documents_make_no_head_fail(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("5", "e"))).await;
    for odd in [
        doc! { "_id": "1" },
        doc! { "_id": "2", "slug": 7, "lang": ["en"], "status": 3.5, "live": "yes", "ingest": "by hand" },
        doc! { "_id": "3", "slug": Bson::Null, "lang": {}, "status": "hidden", "sourceHash": 1, "ingest": {} },
        doc! {
            "_id": "4", "slug": "d", "lang": "en", "live": true, "translationKey": { "a": 1 },
            "ingest": { "version": "3", "revision": 2.0, "claim": { "runId": 1 }, "path": Bson::Null },
        },
        doc! { "_id": "6", "slug": "f", "lang": "en", "ingest": { "version": 3_i32, "claim": [] } },
        doc! { "_id": ObjectId::from_bytes([7; 12]), "slug": "g", "lang": "en" },
    ] {
        subject.plant(odd).await;
    }
    let heads = store.heads().await.unwrap();
    assert_eq!(heads.len(), 7, "{heads:?}");
    let head = |id: &str| heads.iter().find(|head| head.id == id).unwrap();
    assert_eq!((head("1").slug.as_str(), head("1").live, head("1").version()), ("", false, 0));
    assert_eq!((head("2").slug.as_str(), head("2").live, head("2").ingest.is_none()), ("", false, true));
    assert_eq!((head("2").lang.as_str(), &head("2").status), ("", &Status::Other(String::new())));
    assert_eq!(head("3").status, Status::Other("hidden".to_owned()));
    assert_eq!((head("3").ingest.is_some(), head("3").source_hash.is_none()), (true, true));
    assert_eq!((head("4").live, head("4").version()), (true, 0));
    assert_eq!(head("4").ingest.as_ref().unwrap().revision, Some(2));
    assert_eq!(head("6").version(), 3);
    assert!(heads.iter().any(|head| head.slug == "g" && head.id.contains("070707070707070707070707")));
    assert_eq!(stored(&*store, "4").await.unwrap().get_document("ingest").unwrap().len(), 4);
    let by_hand = store.heads_live(&[("d".to_owned(), "en".to_owned())]).await.unwrap();
    assert_eq!(ids(&by_hand), ["4"]);
}

pub async fn another_client_sees_a_write_at_once(subject: &dyn Subject) {
    let store = ready(subject).await;
    let another = subject.another();
    assert_eq!(another.heads().await.unwrap(), []);
    for n in 0..10 {
        send(&*store, create(post(&n.to_string(), &format!("s{n}")))).await;
        assert_eq!(another.heads().await.unwrap().len(), n + 1);
        assert!(stored(&*another, &n.to_string()).await.is_some());
    }
}
