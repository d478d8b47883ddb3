//! What the model refuses beyond the port; what the port promises is in `tests/contract`.

use bson::{Bson, doc};

use super::*;

fn post(id: &str, slug: &str) -> Document {
    doc! {
        "_id": id, "slug": slug, "lang": "en", "status": "active", "live": true,
        "title": "A title", "ingest": { "path": "a.md", "version": 1_i64 },
    }
}

fn create(document: Document) -> Statement {
    Statement::Create { document }
}

fn update(version: i64, set: Document) -> Statement {
    Statement::Update {
        id: "1".to_owned(),
        slug: "a".to_owned(),
        lang: "en".to_owned(),
        expected_version: version,
        set,
        unset: Vec::new(),
    }
}

async fn ready() -> MemoryStore {
    let store = MemoryStore::new();
    store.ensure_ready().await.unwrap();
    store
}

async fn one(store: &MemoryStore, statement: Statement) -> Effect {
    store.write(&[statement]).await.unwrap().remove(0)
}

fn is_refused(effect: &Effect) -> bool {
    matches!(effect, Effect::Failed(fault) if fault.class == Class::Permanent)
}

#[tokio::test]
async fn a_write_before_it_is_ready_is_refused() {
    let store = MemoryStore::new();
    assert_eq!(store.write(&[create(post("1", "a"))]).await.unwrap_err().class, Class::Permanent);
}

#[tokio::test]
async fn statements_that_some_engine_refuses_are_refused() {
    let store = ready().await;
    let with = |key: &str, value: Bson| {
        let mut document = post("1", "a");
        document.insert(key, value);
        create(document)
    };
    for statement in [
        with("summary", Bson::Null),
        with("slug", Bson::from("")),
        with("lang", Bson::from(3)),
        with("_id", Bson::from("")),
        with("extra", Bson::from(doc! { "a.b": 1 })),
        with("extra", Bson::from(doc! { "a": [{ "$b": 1 }] })),
        with("status", Bson::from("archived")),
        with("live", Bson::from(false)),
        with("body", Bson::from("a\0b")),
        with("ingest", Bson::from(doc! { "version": 1_i32 })),
    ] {
        assert!(is_refused(&one(&store, statement.clone()).await), "{statement:?}");
    }
    assert!(store.snapshot().is_empty());
    assert!(store.log().is_empty());
}

#[tokio::test]
async fn updates_that_break_a_rule_are_refused_and_change_nothing() {
    let store = ready().await;
    assert_eq!(one(&store, create(post("1", "a"))).await, Effect::Applied);
    let before = store.snapshot();
    for set in [
        doc! { "title": "B" },
        doc! { "title": "B", "ingest.version": 3_i64 },
        doc! { "slug": "b", "ingest.version": 2_i64 },
        doc! { "status": "archived", "ingest.version": 2_i64 },
        doc! { "extra.a": 1, "ingest.version": 2_i64 },
        doc! { "summary": Bson::Null, "ingest.version": 2_i64 },
        doc! { "ingest": {}, "ingest.version": 2_i64 },
    ] {
        assert!(is_refused(&one(&store, update(1, set.clone())).await), "{set}");
    }
    assert_eq!(store.snapshot(), before);
}

#[tokio::test]
async fn a_batch_that_names_an_id_twice_or_is_too_big_is_refused_whole() {
    let store = ready().await;
    let batch = [create(post("1", "a")), create(post("1", "a"))];
    assert_eq!(store.write(&batch).await.unwrap_err().class, Class::Permanent);
    let many: Vec<Statement> =
        (0..=STATEMENTS_MAX).map(|n| create(post(&n.to_string(), &n.to_string()))).collect();
    assert_eq!(store.write(&many).await.unwrap_err().class, Class::Permanent);
    assert!(store.snapshot().is_empty());
}

#[tokio::test]
async fn without_the_unique_index_a_slug_is_live_twice() {
    let store = MemoryStore::builder().unique_live(false).build();
    assert!(!store.ensure_ready().await.unwrap().warnings.is_empty());
    assert_eq!(one(&store, create(post("1", "a"))).await, Effect::Applied);
    assert_eq!(one(&store, create(post("2", "a"))).await, Effect::Applied);
    let keys = [("a".to_owned(), "en".to_owned())];
    assert_eq!(store.heads_live(&keys).await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_log_tells_what_changed_and_a_clone_is_the_same_store() {
    let store = ready().await;
    let other = store.clone();
    one(&other, create(post("1", "a"))).await;
    one(&other, create(post("1", "a"))).await;
    one(&other, update(1, doc! { "title": "A title" })).await;
    one(&other, update(1, doc! { "title": "B", "ingest.version": 2_i64 })).await;
    one(&other, update(1, doc! { "title": "C", "ingest.version": 2_i64 })).await;
    let kinds: Vec<Kind> = store.post_log().into_iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [Kind::Insert, Kind::Update]);
    assert_eq!(store.calls().get("write"), Some(&5));
}
