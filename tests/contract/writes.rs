//! Creates, updates and batches.

use bson::{Bson, doc};
use idempost::store::{Class, Effect};

use crate::subject::{Subject, create, post, post_with, ready, send, sleeping, stored, update};

fn is_conflict(effect: &Effect) -> bool {
    matches!(effect, Effect::Failed(fault) if fault.class == Class::Conflict)
}

pub async fn a_store_says_what_it_is(subject: &dyn Subject) {
    let store = ready(subject).await;
    store.connect().await.unwrap();
    let target = store.target();
    assert!(
        !target.store.is_empty() && !target.database.is_empty() && !target.engine.is_empty(),
        "{target:?}"
    );
    assert!(!target.store.contains('@') && !target.store.contains('?'), "{target:?}");
    assert_eq!(target.collection, "posts");
    let limits = store.limits();
    assert!(limits.statements_max >= 1 && limits.unique_live, "{limits:?}");
    assert!(limits.batch_bytes_max >= 1 << 20 && limits.document_bytes_max >= 1 << 20, "{limits:?}");
    assert!(limits.nesting_levels_max >= 10, "{limits:?}");
}

pub async fn getting_ready_twice_is_harmless(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let first = store.ensure_ready().await.unwrap();
    assert_eq!(subject.another().ensure_ready().await.unwrap(), first);
    assert!(!first.indexes.is_empty());
    assert_eq!(store.heads().await.unwrap().len(), 1);
}

pub async fn a_create_makes_the_document_once(subject: &dyn Subject) {
    let store = ready(subject).await;
    assert_eq!(send(&*store, create(post("1", "a"))).await, Effect::Applied);
    assert_eq!(stored(&*store, "1").await, Some(post("1", "a")));
    assert_eq!(send(&*store, create(post("1", "a"))).await, Effect::Existed);
    assert_eq!(stored(&*store, "1").await, Some(post("1", "a")));
    assert_eq!(store.heads().await.unwrap().len(), 1);
}

pub async fn a_create_never_changes_what_is_there(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let other = post_with("1", "a", doc! { "title": "Another", "summary": "New", "status": "publishing" });
    assert_eq!(send(&*store, create(other)).await, Effect::Existed);
    assert_eq!(stored(&*store, "1").await, Some(post("1", "a")));
}

pub async fn an_id_of_another_post_is_a_conflict(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    assert!(is_conflict(&send(&*store, create(post("1", "b"))).await));
    assert!(is_conflict(&send(&*store, create(post_with("1", "a", doc! { "lang": "ko" }))).await));
    assert_eq!(stored(&*store, "1").await, Some(post("1", "a")));
    assert_eq!(store.heads().await.unwrap().len(), 1);
}

pub async fn a_slug_is_live_once_in_a_language(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    assert!(is_conflict(&send(&*store, create(post("2", "a"))).await));
    let publishing = post_with("2", "a", doc! { "status": "publishing" });
    assert!(is_conflict(&send(&*store, create(publishing)).await));
    let korean = post_with("3", "a", doc! { "lang": "ko" });
    assert_eq!(send(&*store, create(korean)).await, Effect::Applied);
    assert_eq!(send(&*store, create(post("4", "b"))).await, Effect::Applied);
    assert_eq!(store.heads().await.unwrap().len(), 3);
}

pub async fn what_is_not_live_leaves_the_slug_free(subject: &dyn Subject) {
    let store = ready(subject).await;
    for status in ["staged", "archived", "superseded"] {
        assert_eq!(send(&*store, create(sleeping(status, "a", status))).await, Effect::Applied);
    }
    assert_eq!(send(&*store, create(post("1", "a"))).await, Effect::Applied);
    let archive = update("1", "a", 1, doc! { "status": "archived", "ingest.version": 2_i64 }, &["live"]);
    assert_eq!(send(&*store, archive).await, Effect::Applied);
    assert_eq!(send(&*store, create(post("2", "a"))).await, Effect::Applied);
}

pub async fn an_update_that_would_make_a_slug_live_twice_is_a_conflict(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let staged = sleeping("2", "a", "staged");
    send(&*store, create(staged.clone())).await;
    let set = doc! { "status": "active", "live": true, "title": "Both", "ingest.version": 2_i64 };
    assert!(is_conflict(&send(&*store, update("2", "a", 1, set, &[])).await));
    assert_eq!(stored(&*store, "2").await, Some(staged));
}

pub async fn an_update_needs_the_version_and_the_identity(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post_with("1", "a", doc! { "ingest": { "path": "a.md", "version": 3_i64 } }))).await;
    let before = stored(&*store, "1").await;
    for (id, slug, version) in [("1", "a", 2), ("1", "a", 4), ("1", "b", 3), ("2", "a", 3), ("9", "z", 1)] {
        let set = doc! { "title": "Late", "ingest.version": version + 1 };
        assert_eq!(
            send(&*store, update(id, slug, version, set, &[])).await,
            Effect::Unmatched,
            "{id} {slug}"
        );
    }
    assert_eq!(stored(&*store, "1").await, before);
    assert_eq!(store.heads().await.unwrap().len(), 1, "an update makes no document");
}

pub async fn an_update_sets_and_unsets_and_nothing_else(subject: &dyn Subject) {
    let store = ready(subject).await;
    let created = post_with("1", "a", doc! { "summary": "Old", "cover": "c.png", "unlisted": true });
    send(&*store, create(created.clone())).await;
    let set = doc! {
        "title": "On ebb",
        "extra": { "mood": "wild" },
        "tags": ["sea"],
        "updatedAt": bson::DateTime::from_millis(1_716_400_000_000),
        "ingest.version": 2_i64,
        "ingest.runId": "r2",
        "ingest.claim": { "runId": "r2", "until": bson::DateTime::from_millis(1_716_400_000_001) },
    };
    let statement = update("1", "a", 1, set, &["summary", "unlisted", "expiresAt", "ingest.operationId"]);
    assert_eq!(send(&*store, statement).await, Effect::Applied);

    let mut wanted = created;
    wanted.extend(doc! {
        "title": "On ebb",
        "extra": { "mood": "wild" },
        "tags": ["sea"],
        "updatedAt": bson::DateTime::from_millis(1_716_400_000_000),
    });
    wanted.remove("summary");
    wanted.remove("unlisted");
    let ingest = wanted.get_document_mut("ingest").unwrap();
    ingest.insert("version", 2_i64);
    ingest.insert("runId", "r2");
    ingest.insert("claim", doc! { "runId": "r2", "until": bson::DateTime::from_millis(1_716_400_000_001) });
    ingest.remove("operationId");
    assert_eq!(stored(&*store, "1").await, Some(wanted));
}

pub async fn an_update_sent_again_matches_nothing(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let statement = update("1", "a", 1, doc! { "title": "B", "ingest.version": 2_i64 }, &["tags"]);
    assert_eq!(send(&*store, statement.clone()).await, Effect::Applied);
    let after = stored(&*store, "1").await;
    assert_eq!(send(&*store, statement).await, Effect::Unmatched);
    assert_eq!(stored(&*store, "1").await, after);
}

pub async fn a_late_update_matches_nothing(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let late = update("1", "a", 1, doc! { "title": "Late", "ingest.version": 2_i64 }, &[]);
    // The newer run has the same text as is stored: it only takes the version.
    let fence = doc! { "ingest.version": 2_i64, "ingest.revision": 9_i64 };
    assert_eq!(send(&*store, update("1", "a", 1, fence, &[])).await, Effect::Applied);
    assert_eq!(send(&*store, late).await, Effect::Unmatched);
    assert_eq!(stored(&*store, "1").await.unwrap().get_str("title").unwrap(), "On tides");
}

pub async fn a_field_of_somebody_else_survives(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    subject.set_field("1", "views", Bson::Int64(41)).await;
    subject.set_field("1", "likes", Bson::from(doc! { "by": ["x"], "last": 2.5 })).await;
    let whole = doc! { "title": "B", "ingest": { "path": "b.md", "version": 2_i64 } };
    assert_eq!(send(&*store, update("1", "a", 1, whole, &["tags", "body"])).await, Effect::Applied);
    let document = stored(&*store, "1").await.unwrap();
    assert_eq!(document.get("views"), Some(&Bson::Int64(41)));
    assert_eq!(document.get("likes"), Some(&Bson::from(doc! { "by": ["x"], "last": 2.5 })));
    assert_eq!(document.get("ingest"), Some(&Bson::from(doc! { "path": "b.md", "version": 2_i64 })));
    assert!(!document.contains_key("tags") && !document.contains_key("body"));
}

pub async fn a_batch_tells_each_statement_by_itself(subject: &dyn Subject) {
    let store = ready(subject).await;
    for (id, slug) in [("0", "y"), ("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")] {
        send(&*store, create(post(id, slug))).await;
    }
    let set = || doc! { "title": "B", "ingest.version": 2_i64 };
    let batch = [
        create(post("5", "e")),
        create(post("1", "a")),
        create(post("6", "b")),
        update("2", "b", 1, set(), &["summary"]),
        create(post("0", "z")),
        update("3", "c", 7, doc! { "title": "B", "ingest.version": 8_i64 }, &[]),
        update("7", "g", 1, set(), &[]),
        update("4", "d", 1, set(), &[]),
        create(post("8", "h")),
    ];
    let effects = store.write(&batch).await.unwrap();
    let told: Vec<&str> = effects
        .iter()
        .map(|effect| match effect {
            Effect::Applied => "applied",
            Effect::Existed => "existed",
            Effect::Unmatched => "unmatched",
            Effect::Untold => "untold",
            Effect::Failed(fault) => fault.class.as_str(),
        })
        .collect();
    // A reply that only counts cannot tell which of several updates matched nothing.
    let update_told = |told: &str, exact: &str| assert!(told == exact || told == "untold", "{effects:?}");
    assert_eq!(told.len(), batch.len());
    for at in [0, 8] {
        assert_eq!(told[at], "applied", "{effects:?}");
    }
    for at in [2, 4] {
        assert_eq!(told[at], "conflict", "{effects:?}");
    }
    assert_eq!(told[1], "existed", "{effects:?}");
    for (at, exact) in [(3, "applied"), (5, "unmatched"), (6, "unmatched"), (7, "applied")] {
        update_told(told[at], exact);
    }
    let titles: Vec<String> = store
        .documents(&["0", "1", "2", "3", "4", "5", "6", "7", "8"].map(str::to_owned))
        .await
        .unwrap()
        .iter()
        .map(|document| {
            format!("{} {}", document.get_str("_id").unwrap(), document.get_str("title").unwrap())
        })
        .collect();
    assert_eq!(titles, ["0 On tides", "1 On tides", "2 B", "3 On tides", "4 B", "5 On tides", "8 On tides"]);
}

pub async fn a_full_batch_goes_in(subject: &dyn Subject) {
    let store = ready(subject).await;
    let count = store.limits().statements_max.min(1_000);
    let batch: Vec<_> = (0..count).map(|n| create(post(&format!("{n:05}"), &format!("s{n}")))).collect();
    let effects = store.write(&batch).await.unwrap();
    assert_eq!(effects, vec![Effect::Applied; count]);
    let ids: Vec<String> = store.heads().await.unwrap().into_iter().map(|head| head.id).collect();
    assert_eq!(ids, (0..count).map(|n| format!("{n:05}")).collect::<Vec<_>>());
}

pub async fn a_batch_sent_again_changes_nothing(subject: &dyn Subject) {
    let store = ready(subject).await;
    let creates: Vec<_> = (0..20).map(|n| create(post(&format!("{n:02}"), &format!("s{n}")))).collect();
    let updates: Vec<_> = (0..20)
        .map(|n| {
            let set = doc! { "title": format!("T{n}"), "ingest.version": 2_i64 };
            update(&format!("{n:02}"), &format!("s{n}"), 1, set, &["extra"])
        })
        .collect();
    let ids: Vec<String> = (0..20).map(|n| format!("{n:02}")).collect();
    assert_eq!(store.write(&creates).await.unwrap(), vec![Effect::Applied; 20]);
    assert_eq!(store.write(&updates).await.unwrap(), vec![Effect::Applied; 20]);
    let after = store.documents(&ids).await.unwrap();
    assert_eq!(store.write(&creates).await.unwrap(), vec![Effect::Existed; 20]);
    let again = store.write(&updates).await.unwrap();
    assert!(again.iter().all(|effect| matches!(effect, Effect::Unmatched | Effect::Untold)), "{again:?}");
    assert_eq!(store.documents(&ids).await.unwrap(), after);
}

pub async fn what_says_nothing_new_is_not_written(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let mut watch = subject.watch().await;
    let same = doc! {
        "title": "On tides", "tags": ["sea", "moon"], "extra": { "mood": "calm", "weight": 3_i64 },
        "publishedAt": bson::DateTime::from_millis(1_716_300_000_000), "ingest.version": 1_i64,
    };
    assert_eq!(send(&*store, update("1", "a", 1, same, &["summary", "ingest.claim"])).await, Effect::Applied);
    assert_eq!(send(&*store, create(post("1", "a"))).await, Effect::Existed);
    let late = doc! { "title": "B", "ingest.version": 9_i64 };
    assert_eq!(send(&*store, update("1", "a", 8, late, &[])).await, Effect::Unmatched);
    assert!(is_conflict(&send(&*store, create(post("2", "a"))).await));
    store.heads().await.unwrap();
    assert!(!watch.saw_a_write().await, "something was written");

    let real = update("1", "a", 1, doc! { "title": "B", "ingest.version": 2_i64 }, &[]);
    assert_eq!(send(&*store, real).await, Effect::Applied);
    assert!(watch.saw_a_write().await, "the eyes see nothing");
}
