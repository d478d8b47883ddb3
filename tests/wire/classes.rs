//! What stands at the top of a reply, or in place of one, becomes a class; and the command was sent once.

use std::time::Duration;

use bson::{Document, doc};
use idempost::store::{Class, Effect, Fault, Statement, Store};

use crate::scripted::{Answer, Scripted, error, labelled};
use crate::{answered, connected, create, update};

async fn fault(batch: &[Statement], reply: Document) -> Fault {
    let (outcome, sends) = answered(batch, Answer::Reply(reply.clone())).await;
    assert_eq!(sends, 1, "{reply}");
    outcome.expect_err(&reply.to_string())
}

#[tokio::test]
async fn an_error_of_a_command_with_one_statement() {
    for (code, class) in [
        // The engine did nothing.
        (462, Class::NotApplied),
        (10107, Class::NotApplied),
        (13435, Class::NotApplied),
        (13436, Class::NotApplied),
        (189, Class::NotApplied),
        (112, Class::NotApplied),
        (24, Class::NotApplied),
        (365, Class::NotApplied),
        (16500, Class::NotApplied),
        // It may have.
        (11600, Class::Unknown),
        (11602, Class::Unknown),
        (91, Class::Unknown),
        (6, Class::Unknown),
        (7, Class::Unknown),
        (89, Class::Unknown),
        (9001, Class::Unknown),
        (262, Class::Unknown),
        (50, Class::Unknown),
        (1, Class::Unknown),
        (987_654, Class::Unknown),
        // Somebody was first.
        (11000, Class::Conflict),
        // It never works.
        (2, Class::Permanent),
        (9, Class::Permanent),
        (14, Class::Permanent),
        (16, Class::Permanent),
        (20, Class::Permanent),
        (52, Class::Permanent),
        (57, Class::Permanent),
        (61, Class::Permanent),
        (66, Class::Permanent),
        (67, Class::Permanent),
        (79, Class::Permanent),
        (115, Class::Permanent),
        (121, Class::Permanent),
        (301, Class::Permanent),
        (10334, Class::Permanent),
        (17280, Class::Permanent),
        // Who are you.
        (13, Class::Auth),
        (18, Class::Auth),
    ] {
        let fault = fault(&[create("a")], error(code, "Named", "it said so")).await;
        assert_eq!((fault.class, fault.code), (class, Some(code)), "{fault:?}");
        assert!(fault.message.contains(&code.to_string()), "{fault:?}");
    }
}

/// What came before the error is hidden by it: nothing but errors of the request itself are sure.
#[tokio::test]
async fn an_error_of_a_command_with_many_statements() {
    for (code, class) in [
        (10107, Class::Unknown),
        (189, Class::Unknown),
        (112, Class::Unknown),
        (16500, Class::Unknown),
        (11000, Class::Unknown),
        (11600, Class::Unknown),
        (1, Class::Unknown),
        (13, Class::Auth),
        (301, Class::Permanent),
        (10334, Class::Permanent),
    ] {
        let fault = fault(&[create("a"), update("b")], error(code, "", "it said so")).await;
        assert_eq!(fault.class, class, "{fault:?}");
    }
}

#[tokio::test]
async fn labels_say_more_than_codes() {
    let overloaded = ["SystemOverloadedError", "RetryableError"];
    for (code, labels, class) in [
        (462, &overloaded[..], Class::NotApplied),
        (91, &["NoWritesPerformed"][..], Class::NotApplied),
        (91, &["RetryableWriteError"][..], Class::Unknown),
        (462, &overloaded[..1], Class::Unknown),
    ] {
        let fault = fault(&[create("a"), create("b")], labelled(code, "busy", labels)).await;
        assert_eq!(fault.class, class, "{code} {labels:?}");
    }
}

#[tokio::test]
async fn the_servers_own_pause_is_passed_on() {
    let mut busy = labelled(462, "busy", &["SystemOverloadedError", "RetryableError"]);
    busy.insert("baseBackoffMS", 250);
    assert_eq!(fault(&[create("a")], busy).await.retry_after, Some(Duration::from_millis(250)));
    let throttled = error(16500, "", "Error=16500, RetryAfterMs=34, Details='Request rate is large'");
    assert_eq!(fault(&[create("a")], throttled).await.retry_after, Some(Duration::from_millis(34)));
    let endless = error(16500, "", "RetryAfterMs=99999999999999999999");
    assert_eq!(fault(&[create("a")], endless).await.retry_after, None);
}

/// Codes of other types than the driver's struct has, and none at all.
#[tokio::test]
async fn an_odd_error_is_still_read() {
    let odd = doc! { "ok": 0.0, "code": 10107.0, "errmsg": "not primary" };
    assert_eq!(fault(&[create("a")], odd).await.class, Class::NotApplied);
    let nameless = doc! { "ok": 0, "errmsg": "no code here" };
    let fault_nameless = fault(&[create("a")], nameless).await;
    assert_eq!(fault_nameless.class, Class::Unknown);
    assert!(fault_nameless.message.contains("no code here"), "{fault_nameless:?}");
    assert_eq!(fault(&[create("a")], doc! { "ok": 0 }).await.class, Class::Unknown);
    assert_eq!(fault(&[create("a")], doc! { "n": 1 }).await.class, Class::Unknown);
    let text = doc! { "ok": 0, "code": "10107", "errmsg": 7, "errorLabels": "x" };
    assert_eq!(fault(&[create("a")], text).await.class, Class::Unknown);
}

#[tokio::test]
async fn a_lost_reply_is_an_unknown_outcome() {
    for answer in [Answer::Close, Answer::Garbage] {
        let (outcome, sends) = answered(&[create("a")], answer).await;
        assert_eq!(outcome.unwrap_err().class, Class::Unknown);
        assert_eq!(sends, 1);
    }
}

/// The driver would send it again by itself if it were let.
#[tokio::test]
async fn no_number_of_a_transaction_is_sent() {
    let server = Scripted::mongodb();
    let store = crate::open(&server.uri("replicaSet=rs0&retryWrites=true&w=1"));
    let effects = store.write(&[create("a")]).await.unwrap();
    assert_eq!(effects, [Effect::Applied]);
    let sent = server.commands("update").remove(0);
    assert!(!sent.contains_key("txnNumber"), "{sent}");
    assert_eq!(sent.get_document("writeConcern").unwrap().get_str("w").unwrap(), "majority");
    assert!(!sent.get_document("writeConcern").unwrap().contains_key("j"));
    assert!(!sent.get_bool("ordered").unwrap());
}

#[tokio::test]
async fn a_failing_read_is_classed_too_and_sent_once() {
    for (reply, class) in [
        (error(43, "CursorNotFound", "gone"), Class::NotApplied),
        (error(10107, "NotWritablePrimary", "not primary"), Class::NotApplied),
        (error(13, "Unauthorized", "not allowed"), Class::Auth),
        (error(50, "MaxTimeMSExpired", "too slow"), Class::Unknown),
    ] {
        let server = Scripted::mongodb();
        server.on("find", [Answer::Reply(reply)]);
        let store = connected(&server).await;
        assert_eq!(store.heads().await.unwrap_err().class, class);
        assert_eq!(server.sends("find"), 1);
    }
}

#[tokio::test]
async fn a_row_that_is_there_already_is_no_error() {
    use idempost::store::{Inserted, Side};
    let server = Scripted::mongodb();
    let row = doc! { "_id": "r1", "version": 1_i64 };
    let twice =
        doc! { "n": 0, "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000" }], "ok": 1.0 };
    let unsure = doc! { "n": 1, "writeConcernError": { "code": 64, "errmsg": "timed out" }, "ok": 1.0 };
    server.on(
        "insert",
        [Answer::Reply(twice), Answer::Reply(unsure), Answer::Close, Answer::Reply(doc! { "ok": 1 })],
    );
    let store = connected(&server).await;
    assert_eq!(store.row_insert(Side::Runs, &row).await, Ok(Inserted::Existed));
    assert_eq!(store.row_insert(Side::Runs, &row).await.unwrap_err().class, Class::AppliedNotDurable);
    assert_eq!(store.row_insert(Side::Runs, &row).await.unwrap_err().class, Class::Unknown);
    assert_eq!(store.row_insert(Side::Runs, &row).await.unwrap_err().class, Class::Unknown);
    assert_eq!(server.sends("insert"), 4);
}
