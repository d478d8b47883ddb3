//! Documents of other makers: read as they are, removed exactly as told, put back.

use bson::oid::ObjectId;
use bson::{Bson, Document, RawDocumentBuf, doc};
use idempost::store::foreign::Foreign;
use idempost::store::{Inserted, Store};

use crate::subject::{Subject, create, post, ready, send};

fn foreign(store: &dyn Store) -> &dyn Foreign {
    store.foreign().unwrap()
}

/// One for each usual kind of id.
fn others() -> Vec<Document> {
    let fields = doc! {
        "title": "Über Äpfel", "views": 7_i64, "likes": 3_i32, "score": 0.5, "gone": Bson::Null,
        "tags": ["a", "b"], "nested": { "z": 1, "a": [{ "b": Bson::Null }] }, "slug": "apples",
        "at": bson::DateTime::from_millis(1_700_000_000_123),
    };
    let ids = [
        Bson::from(ObjectId::from_bytes([7; 12])),
        Bson::from("apples"),
        Bson::from(41_i32),
        Bson::from(bson::Uuid::from_bytes([9; 16])),
    ];
    let with = |id: Bson| {
        let mut document = doc! { "_id": id };
        document.extend(fields.clone());
        document
    };
    ids.into_iter().map(with).collect()
}

fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap()
}

fn id(document: &Document) -> Bson {
    document.get("_id").unwrap().clone()
}

async fn stored(store: &dyn Store, document: &Document) -> Option<RawDocumentBuf> {
    foreign(store).wholes(&[id(document)]).await.unwrap().pop()
}

pub async fn documents_of_others_are_read_as_they_are(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(store.as_ref(), create(post("01", "ours"))).await;
    for other in others() {
        subject.plant(other).await;
    }
    let ids = foreign(store.as_ref()).foreign_ids().await.unwrap();
    assert_eq!(ids.len(), 4, "{ids:?}");
    for other in others() {
        assert!(ids.contains(&id(&other)), "{other}");
        assert_eq!(stored(store.as_ref(), &other).await, Some(raw(&other)), "byte by byte");
    }
    let ours = foreign(store.as_ref()).wholes(&[Bson::from("01"), Bson::from("none")]).await.unwrap();
    assert_eq!(ours.len(), 1);
}

pub async fn a_document_is_removed_only_as_it_was_told(subject: &dyn Subject) {
    let store = ready(subject).await;
    for other in others() {
        subject.plant(other.clone()).await;
        for (field, value) in [
            ("views", Bson::from(8_i64)),
            ("views", Bson::from(7_i32)),
            ("gone", Bson::from(1)),
            ("more", Bson::from(1)),
            ("tags", Bson::from(vec!["a"])),
        ] {
            let mut told = other.clone();
            told.insert(field, value);
            assert!(!foreign(store.as_ref()).remove(&raw(&told)).await.unwrap(), "{field}");
        }
        assert_eq!(stored(store.as_ref(), &other).await, Some(raw(&other)));
        assert!(foreign(store.as_ref()).remove(&raw(&other)).await.unwrap());
        assert_eq!(stored(store.as_ref(), &other).await, None);
        assert!(!foreign(store.as_ref()).remove(&raw(&other)).await.unwrap(), "it is gone");
    }
}

pub async fn a_document_is_put_back_byte_by_byte(subject: &dyn Subject) {
    let store = ready(subject).await;
    for other in others() {
        assert_eq!(foreign(store.as_ref()).put_back(&raw(&other)).await.unwrap(), Inserted::New);
        assert_eq!(stored(store.as_ref(), &other).await, Some(raw(&other)));
        let mut changed = other.clone();
        changed.insert("views", 9_i64);
        assert_eq!(foreign(store.as_ref()).put_back(&raw(&changed)).await.unwrap(), Inserted::Existed);
        assert_eq!(stored(store.as_ref(), &other).await, Some(raw(&other)), "what is there stays");
    }
    send(store.as_ref(), create(post("01", "pears"))).await;
    let live = doc! { "_id": "x", "slug": "pears", "lang": "en", "live": true };
    assert_eq!(foreign(store.as_ref()).put_back(&raw(&live)).await.unwrap(), Inserted::Existed);
}

pub async fn a_removed_live_document_leaves_its_slug_free(subject: &dyn Subject) {
    let store = ready(subject).await;
    let live = doc! { "_id": 5, "slug": "pears", "lang": "en", "live": true };
    subject.plant(live.clone()).await;
    assert!(foreign(store.as_ref()).remove(&raw(&live)).await.unwrap());
    let effect = send(store.as_ref(), create(post("01", "pears"))).await;
    assert_eq!(effect, idempost::store::Effect::Applied);
}

pub async fn fields_that_hold_an_id_are_counted(subject: &dyn Subject) {
    let store = ready(subject).await;
    let old = ObjectId::from_bytes([7; 12]);
    subject.plant(doc! { "_id": old, "slug": "a", "related": [ObjectId::from_bytes([8; 12])] }).await;
    subject
        .plant(doc! { "_id": "b", "slug": "b", "related": [old, old], "meta": { "post": old.to_hex() }, "views": 41 })
        .await;
    subject.plant(doc! { "_id": 41, "slug": "c", "parentId": 41_i64 }).await;
    let ids = [Bson::from(old), Bson::from(41_i32)];
    let told = foreign(store.as_ref()).mentions(&ids).await.unwrap();
    let told: Vec<(&str, usize)> = told.iter().map(|one| (one.field.as_str(), one.count)).collect();
    assert_eq!(told, [("meta.post", 1), ("parentId", 1), ("related", 2)]);
}
