//! A reply that the driver calls a success, and what became of each statement.

use std::time::Duration;

use bson::{Bson, Document, doc};
use idempost::store::{Class, Effect};

use crate::{create, effects, update};

fn failed(effect: &Effect) -> (Class, Option<i32>) {
    match effect {
        Effect::Failed(fault) => (fault.class, fault.code),
        other => panic!("{other:?}"),
    }
}

fn ok(n: impl Into<Bson>, upserted: &[i32]) -> Document {
    let upserted: Vec<Bson> =
        upserted.iter().map(|index| Bson::from(doc! { "index": *index, "_id": "echo" })).collect();
    doc! { "n": n.into(), "nModified": 0, "upserted": upserted, "ok": 1.0 }
}

fn error_at(index: i32, code: i32) -> Document {
    doc! { "index": index, "code": code, "errmsg": "it said so" }
}

#[tokio::test]
async fn inserted_or_there_already() {
    let batch = [create("a"), create("b"), create("c")];
    assert_eq!(
        effects(&batch, ok(3, &[0, 2])).await,
        [Effect::Applied, Effect::Existed, Effect::Applied],
        "a create that matched is no success"
    );
    // An engine that does not list what it inserted: nothing is taken for a success.
    assert_eq!(
        effects(&batch, doc! { "n": 3, "ok": 1.0 }).await,
        [Effect::Existed, Effect::Existed, Effect::Existed]
    );
}

#[tokio::test]
async fn all_updates_matched_or_none_or_nobody_knows() {
    let batch = [update("a"), update("b"), update("c")];
    assert_eq!(effects(&batch, ok(3, &[])).await, vec![Effect::Applied; 3]);
    assert_eq!(effects(&batch, ok(0, &[])).await, vec![Effect::Unmatched; 3]);
    assert_eq!(effects(&batch, ok(2, &[])).await, vec![Effect::Untold; 3]);
    assert_eq!(effects(&batch[..1], ok(1, &[])).await, [Effect::Applied]);
    assert_eq!(effects(&batch[..1], ok(0, &[])).await, [Effect::Unmatched]);
    // Numbers of other widths.
    assert_eq!(effects(&batch, ok(3_i64, &[])).await, vec![Effect::Applied; 3]);
    assert_eq!(effects(&batch, ok(3.0, &[])).await, vec![Effect::Applied; 3]);
}

#[tokio::test]
async fn both_kinds_in_one_batch() {
    let batch = [create("a"), update("b"), create("c"), update("d")];
    // Both creates count, inserted or matched.
    assert_eq!(
        effects(&batch, ok(4, &[0])).await,
        [Effect::Applied, Effect::Applied, Effect::Existed, Effect::Applied]
    );
    assert_eq!(
        effects(&batch, ok(2, &[0, 2])).await,
        [Effect::Applied, Effect::Unmatched, Effect::Applied, Effect::Unmatched]
    );
    assert_eq!(
        effects(&batch, ok(3, &[0, 2])).await,
        [Effect::Applied, Effect::Untold, Effect::Applied, Effect::Untold]
    );
}

#[tokio::test]
async fn an_ok_reply_that_holds_errors() {
    let batch = [create("a"), update("b"), create("c"), create("d"), create("e")];
    let mut reply = ok(2, &[0]);
    let throttled = doc! {
        "index": 3, "code": 16500, "errmsg": "Error=16500, RetryAfterMs=8, Details='no changes were made'",
    };
    reply.insert("writeErrors", [error_at(2, 11000), throttled, error_at(4, 121)]);
    let effects = effects(&batch, reply).await;
    assert_eq!(effects[0], Effect::Applied);
    assert_eq!(effects[1], Effect::Applied);
    assert_eq!(failed(&effects[2]), (Class::Conflict, Some(11000)));
    assert_eq!(failed(&effects[3]), (Class::NotApplied, Some(16500)));
    assert_eq!(failed(&effects[4]), (Class::Permanent, Some(121)));
    let Effect::Failed(fault) = &effects[3] else { panic!() };
    assert_eq!(fault.retry_after, Some(Duration::from_millis(8)));
}

/// Three of five are throttled: these three alone did nothing.
#[tokio::test]
async fn throttling_is_told_for_each_statement() {
    let batch = ["a", "b", "c", "d", "e"].map(create);
    let mut reply = ok(2, &[0, 2]);
    reply.insert("writeErrors", [error_at(1, 16500), error_at(3, 16500), error_at(4, 16500)]);
    let effects = effects(&batch, reply).await;
    let classes: Vec<_> = [1, 3, 4].map(|at| failed(&effects[at]).0).to_vec();
    assert_eq!(classes, [Class::NotApplied; 3]);
    assert_eq!((&effects[0], &effects[2]), (&Effect::Applied, &Effect::Applied));
}

#[tokio::test]
async fn codes_of_single_statements() {
    for (code, class) in [
        (11000, Class::Conflict),
        (16500, Class::NotApplied),
        (112, Class::NotApplied),
        (24, Class::NotApplied),
        (365, Class::NotApplied),
        (13, Class::Auth),
        (66, Class::Permanent),
        (10334, Class::Permanent),
        (17420, Class::Permanent),
        // A code of a stepped-down primary inside a list says nothing sure.
        (10107, Class::Unknown),
        (50, Class::Unknown),
        (1, Class::Unknown),
        (424_242, Class::Unknown),
    ] {
        let mut reply = ok(0, &[]);
        reply.insert("writeErrors", [error_at(0, code)]);
        assert_eq!(failed(&effects(&[create("a")], reply).await[0]), (class, Some(code)));
    }
}

/// Done, but perhaps not for good: never a plain success, whatever else is in the reply.
#[tokio::test]
async fn a_write_concern_that_was_not_met() {
    for code in [64, 91, 189, 11600, 11602, 50, 100] {
        let mut reply = ok(2, &[0]);
        reply.insert(
            "writeConcernError",
            doc! { "code": code, "errmsg": "waiting for replication timed out" },
        );
        reply.insert("writeErrors", [error_at(2, 11000)]);
        let effects = effects(&[create("a"), update("b"), create("c")], reply).await;
        assert_eq!(failed(&effects[0]), (Class::AppliedNotDurable, Some(code)));
        assert_eq!(failed(&effects[1]), (Class::AppliedNotDurable, Some(code)));
        assert_eq!(failed(&effects[2]), (Class::Conflict, Some(11000)));
    }
    for odd in [Bson::from("yes"), Bson::from(doc! {}), Bson::from(doc! { "code": "x" })] {
        let mut reply = ok(1, &[0]);
        reply.insert("writeConcernError", odd);
        assert_eq!(failed(&effects(&[create("a")], reply).await[0]).0, Class::Unknown);
    }
}

/// What makes no sense is never a success and never a failure: it is read back.
#[tokio::test]
async fn a_reply_that_makes_no_sense() {
    let batch = [create("a"), update("b")];
    for reply in [
        doc! { "ok": 1.0 },
        doc! { "n": 3, "ok": 1.0 },
        doc! { "n": -1, "ok": 1.0 },
        doc! { "n": "2", "ok": 1.0 },
        doc! { "n": 1.5, "ok": 1.0 },
        doc! { "n": bson::DateTime::from_millis(2), "ok": 1.0 },
        doc! { "n": 2, "upserted": "all", "ok": 1.0 },
        doc! { "n": 2, "upserted": [7], "ok": 1.0 },
        doc! { "n": 2, "upserted": [{ "_id": "a" }], "ok": 1.0 },
        doc! { "n": 2, "upserted": [{ "index": 2 }], "ok": 1.0 },
        doc! { "n": 2, "upserted": [{ "index": -1 }], "ok": 1.0 },
        // An update cannot have inserted.
        doc! { "n": 2, "upserted": [{ "index": 1 }], "ok": 1.0 },
        doc! { "n": 2, "upserted": [{ "index": 0 }, { "index": 0 }], "ok": 1.0 },
        doc! { "n": 1, "writeErrors": {}, "ok": 1.0 },
        doc! { "n": 1, "writeErrors": ["E11000"], "ok": 1.0 },
        doc! { "n": 1, "writeErrors": [{ "code": 11000 }], "ok": 1.0 },
        doc! { "n": 1, "writeErrors": [{ "index": 2, "code": 11000 }], "ok": 1.0 },
        doc! { "n": 1, "writeErrors": [{ "index": 0, "code": 1 }, { "index": 0, "code": 1 }], "ok": 1.0 },
        // Without totals the index of an error means nothing: one engine says 0 for whichever it was.
        doc! { "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000" }], "ok": 1.0 },
    ] {
        assert_eq!(effects(&batch, reply.clone()).await, [Effect::Untold, Effect::Untold], "{reply}");
    }
}

#[tokio::test]
async fn a_reply_that_counts_too_little_for_its_creates() {
    // One create neither failed nor was inserted, so it matched and counts; 0 contradicts that.
    assert_eq!(effects(&[create("a")], ok(0, &[])).await, [Effect::Untold]);
    // Inserted and failed at once.
    let mut reply = ok(1, &[0]);
    reply.insert("writeErrors", [error_at(0, 112)]);
    let both = effects(&[create("a"), update("b")], reply).await;
    assert_eq!(both[1], Effect::Untold);
}

/// One statement that is no statement does not hold up the others, and is not sent.
#[tokio::test]
async fn what_cannot_be_sent_is_refused_by_itself() {
    use idempost::store::Statement;
    let empty = Statement::Update {
        id: "x".to_owned(),
        slug: "x".to_owned(),
        lang: "en".to_owned(),
        expected_version: 1,
        set: doc! {},
        unset: vec![],
    };
    let dotted = Statement::Update {
        id: "y".to_owned(),
        slug: "y".to_owned(),
        lang: "en".to_owned(),
        expected_version: 1,
        set: doc! { "extra": { "a.b": 1 } },
        unset: vec![],
    };
    let moved = Statement::Update {
        id: "z".to_owned(),
        slug: "z".to_owned(),
        lang: "en".to_owned(),
        expected_version: 1,
        set: doc! { "slug": "elsewhere" },
        unset: vec![],
    };
    let effects = effects(&[empty, create("a"), dotted, moved], ok(1, &[0])).await;
    assert_eq!(effects[1], Effect::Applied);
    for at in [0, 2, 3] {
        assert_eq!(failed(&effects[at]).0, Class::Permanent, "{at}");
    }
}
