//! The rows beside the posts.

use bson::{Bson, Document, doc};
use idempost::store::{Inserted, Side, Store};

use crate::subject::{Subject, ready};

fn row(id: &str, fields: Document) -> Document {
    let mut row = doc! { "_id": id, "version": 1_i64 };
    row.extend(fields);
    row
}

async fn ids(store: &dyn Store, side: Side, filter: Document) -> Vec<String> {
    let rows = store.rows(side, &filter).await.unwrap();
    rows.iter().map(|row| row.get_str("_id").unwrap().to_owned()).collect()
}

pub async fn a_row_is_inserted_once(subject: &dyn Subject) {
    let store = ready(subject).await;
    for side in Side::ALL {
        let first =
            row("1", doc! { "state": "first", "at": bson::DateTime::from_millis(7), "n": { "a": 1_i64 } });
        assert_eq!(store.row_insert(side, &first).await.unwrap(), Inserted::New);
        let second = row("1", doc! { "state": "second" });
        assert_eq!(store.row_insert(side, &second).await.unwrap(), Inserted::Existed);
        assert_eq!(store.rows(side, &doc! {}).await.unwrap(), [first]);
    }
}

pub async fn rows_are_found_by_their_fields(subject: &dyn Subject) {
    let store = ready(subject).await;
    let side = Side::History;
    for (id, fields) in [
        ("4", doc! { "run": "r1", "n": 1_i64, "done": true }),
        ("1", doc! { "run": "r2", "n": 1_i64, "done": false }),
        ("3", doc! { "run": "r1", "n": 2_i64, "done": true, "image": { "run": "r2" } }),
        ("2", doc! { "run": "it's \"r1\"", "n": 2_i64 }),
    ] {
        store.row_insert(side, &row(id, fields)).await.unwrap();
    }
    assert_eq!(ids(&*store, side, doc! {}).await, ["1", "2", "3", "4"]);
    assert_eq!(ids(&*store, side, doc! { "run": "r1" }).await, ["3", "4"]);
    assert_eq!(ids(&*store, side, doc! { "run": "r1", "n": 1_i64 }).await, ["4"]);
    assert_eq!(ids(&*store, side, doc! { "n": 2_i32 }).await, ["2", "3"], "numbers by value");
    assert_eq!(ids(&*store, side, doc! { "done": true }).await, ["3", "4"]);
    assert_eq!(ids(&*store, side, doc! { "_id": "2" }).await, ["2"]);
    assert_eq!(ids(&*store, side, doc! { "_id": "2", "run": "r1" }).await, Vec::<String>::new());
    assert_eq!(ids(&*store, side, doc! { "run": "it's \"r1\"" }).await, ["2"]);
    assert_eq!(ids(&*store, side, doc! { "done": Bson::Null }).await, ["2"], "null like a missing field");
    assert_eq!(ids(&*store, side, doc! { "run": "r" }).await, Vec::<String>::new());
    assert_eq!(ids(&*store, side, doc! { "n": { "$gt": 1_i64 } }).await, ["2", "3"], "above a bound");
    assert_eq!(ids(&*store, side, doc! { "run": "r1", "n": { "$lt": 2_i64 } }).await, ["4"], "below a bound");
    assert_eq!(
        ids(&*store, side, doc! { "n": { "$gt": 2_i64 } }).await,
        Vec::<String>::new(),
        "a bound is outside"
    );
    let at = |millis: i64| bson::DateTime::from_millis(millis);
    store.row_insert(side, &row("5", doc! { "startedAt": at(1_000) })).await.unwrap();
    assert_eq!(ids(&*store, side, doc! { "startedAt": { "$lt": at(1_001) } }).await, ["5"], "dates too");
    assert_eq!(ids(&*store, side, doc! { "startedAt": { "$lt": at(1_000) } }).await, Vec::<String>::new());
    for id in ["r1:a", "r1:\u{d55c}", "r1;", "r1", "r2:a"] {
        store.row_insert(side, &row(id, doc! { "of": id })).await.unwrap();
    }
    for field in ["_id", "of"] {
        let of_one = doc! { field: { "$gt": "r1:", "$lt": "r1;" } };
        assert_eq!(ids(&*store, side, of_one).await, ["r1:a", "r1:\u{d55c}"], "texts byte by byte");
    }
}

pub async fn a_row_is_replaced_by_version(subject: &dyn Subject) {
    let store = ready(subject).await;
    let side = Side::Groups;
    store.row_insert(side, &row("1", doc! { "state": "incomplete", "missing": ["ko"] })).await.unwrap();
    let second = doc! { "_id": "1", "version": 2_i64, "state": "complete" };
    assert!(!store.row_replace(side, 2, &doc! { "_id": "1", "version": 3_i64 }).await.unwrap());
    assert!(!store.row_replace(side, 1, &doc! { "_id": "9", "version": 2_i64 }).await.unwrap());
    assert!(store.row_replace(side, 1, &second).await.unwrap());
    assert!(!store.row_replace(side, 1, &second).await.unwrap(), "sent again it matches nothing");
    assert_eq!(store.rows(side, &doc! {}).await.unwrap(), [second], "nothing is left of the old one");
}

pub async fn rows_are_deleted_and_missing_ones_are_no_error(subject: &dyn Subject) {
    let store = ready(subject).await;
    for id in ["1", "2", "3"] {
        store.row_insert(Side::Assets, &row(id, doc! {})).await.unwrap();
    }
    let gone = ["1", "3", "9"].map(str::to_owned);
    store.row_delete(Side::Assets, &gone).await.unwrap();
    store.row_delete(Side::Assets, &gone).await.unwrap();
    store.row_delete(Side::Assets, &[]).await.unwrap();
    assert_eq!(ids(&*store, Side::Assets, doc! {}).await, ["2"]);
}

pub async fn the_sides_are_apart(subject: &dyn Subject) {
    let store = ready(subject).await;
    for side in Side::ALL {
        let row = row("1", doc! { "side": side.suffix() });
        assert_eq!(store.row_insert(side, &row).await.unwrap(), Inserted::New);
    }
    store.row_delete(Side::Runs, &["1".to_owned()]).await.unwrap();
    for side in [Side::Assets, Side::Groups, Side::History] {
        assert_eq!(ids(&*store, side, doc! { "side": side.suffix() }).await, ["1"]);
    }
    assert_eq!(ids(&*store, Side::Runs, doc! {}).await, Vec::<String>::new());
    assert_eq!(store.heads().await.unwrap(), []);
}

pub async fn an_attempt_of_an_operation_has_one_row(subject: &dyn Subject) {
    let store = ready(subject).await;
    let attempt = |source: &str, operation: &str, attempt: i64| {
        doc! { "source": source, "operationId": operation, "attempt": attempt }
    };
    let mut nobody = attempt("", "o1", 1);
    nobody.remove("source");
    for (id, fields, inserted) in [
        ("1", attempt("main", "o1", 1), Inserted::New),
        ("2", attempt("main", "o1", 1), Inserted::Existed),
        ("3", attempt("main", "o1", 2), Inserted::New),
        ("4", attempt("main", "o2", 1), Inserted::New),
        ("5", attempt("docs", "o1", 1), Inserted::New),
        ("6", nobody.clone(), Inserted::New),
        ("7", nobody, Inserted::Existed),
    ] {
        assert_eq!(store.row_insert(Side::Runs, &row(id, fields)).await.unwrap(), inserted, "{id}");
    }
    assert_eq!(ids(&*store, Side::Runs, doc! {}).await, ["1", "3", "4", "5", "6"]);
    // Only runs are counted so.
    for id in ["1", "2"] {
        let row = row(id, attempt("main", "o1", 1));
        assert_eq!(store.row_insert(Side::History, &row).await.unwrap(), Inserted::New);
    }
}

pub async fn there_is_one_row_without_an_operation_a_source(subject: &dyn Subject) {
    let store = ready(subject).await;
    for (id, fields, inserted) in [
        ("settings:main", doc! { "source": "main" }, Inserted::New),
        ("settings:docs", doc! { "source": "docs" }, Inserted::New),
        ("settings", doc! {}, Inserted::New),
        ("another:main", doc! { "source": "main" }, Inserted::Existed),
        ("another", doc! {}, Inserted::Existed),
    ] {
        assert_eq!(store.row_insert(Side::Runs, &row(id, fields)).await.unwrap(), inserted, "{id}");
    }
    assert_eq!(ids(&*store, Side::Runs, doc! { "source": "main" }).await, ["settings:main"]);
}

pub async fn many_rows_are_inserted_and_what_is_there_stays(subject: &dyn Subject) {
    let store = ready(subject).await;
    let side = Side::History;
    store.row_insert(side, &row("2", doc! { "state": "first" })).await.unwrap();
    let many: Vec<Document> = (1..=250).map(|n| row(&n.to_string(), doc! { "state": "second" })).collect();
    store.rows_insert(side, &many).await.unwrap();
    store.rows_insert(side, &many).await.unwrap();
    store.rows_insert(side, &[]).await.unwrap();
    assert_eq!(store.rows(side, &doc! {}).await.unwrap().len(), 250);
    assert_eq!(ids(&*store, side, doc! { "state": "first" }).await, ["2"], "what is there stays");
    let broken = [row("300", doc! {}), doc! { "version": 1_i64 }];
    assert!(store.rows_insert(side, &broken).await.is_err(), "a row has an `_id`");
}
