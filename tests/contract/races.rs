//! Several writers at once: exactly one wins, and what is stored is the winner's.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use bson::{Document, doc};
use idempost::store::{Class, Effect, Inserted, Side, Store};

use crate::subject::{Subject, create, post, post_with, ready, send, stored, update};

const WRITERS: usize = 8;
const IDS: usize = 50;

/// Runs one task a writer, each with a client of its own.
async fn race<T, F>(subject: &dyn Subject, write: impl Fn(usize, Arc<dyn Store>) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let writers: Vec<_> = (0..WRITERS).map(|n| tokio::spawn(write(n, subject.another()))).collect();
    let mut out = Vec::new();
    for writer in writers {
        out.push(writer.await.unwrap());
    }
    out
}

fn lost(effect: &Effect) -> bool {
    match effect {
        Effect::Existed | Effect::Unmatched | Effect::Untold => true,
        Effect::Failed(fault) => fault.class == Class::Conflict,
        Effect::Applied => false,
    }
}

pub async fn of_creates_of_one_id_one_wins(subject: &dyn Subject) {
    ready(subject).await;
    let document = |writer: usize, id: usize| {
        post_with(&format!("{id:03}"), &format!("s{id}"), doc! { "title": format!("by {writer}") })
    };
    let effects = race(subject, |writer, store| async move {
        let mut effects = Vec::new();
        // In another order each.
        for at in 0..IDS {
            let id = (at * 7 + writer * 11) % IDS;
            effects.push((id, send(&*store, create(document(writer, id))).await));
        }
        effects
    })
    .await;
    let store = subject.another();
    let mut winners: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (writer, effects) in effects.into_iter().enumerate() {
        for (id, effect) in effects {
            if effect == Effect::Applied {
                winners.entry(id).or_default().push(writer);
            } else {
                assert!(lost(&effect), "{effect:?}");
            }
        }
    }
    assert_eq!(winners.len(), IDS);
    for (id, writers) in winners {
        assert_eq!(writers.len(), 1, "{id}: {writers:?}");
        assert_eq!(stored(&*store, &format!("{id:03}")).await, Some(document(writers[0], id)));
    }
    assert_eq!(store.heads().await.unwrap().len(), IDS);
}

pub async fn of_creates_of_one_slug_one_wins(subject: &dyn Subject) {
    ready(subject).await;
    let effects = race(subject, |writer, store| async move {
        let batch: Vec<_> =
            (0..IDS).map(|n| create(post(&format!("{writer}-{n:03}"), &format!("s{n}")))).collect();
        store.write(&batch).await.unwrap()
    })
    .await;
    let mut won = 0;
    for effect in effects.iter().flatten() {
        match effect {
            Effect::Applied => won += 1,
            Effect::Failed(fault) if fault.class == Class::Conflict => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(won, IDS);
    let heads = subject.another().heads().await.unwrap();
    let mut slugs: Vec<&str> = heads.iter().map(|head| head.slug.as_str()).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!((heads.len(), slugs.len()), (IDS, IDS));
}

pub async fn of_updates_of_one_version_one_wins(subject: &dyn Subject) {
    let store = ready(subject).await;
    send(&*store, create(post("1", "a"))).await;
    let rounds = 10;
    let effects = race(subject, |writer, store| async move {
        let mut effects = Vec::new();
        for version in 1..=rounds {
            let set = doc! { "title": format!("{version} by {writer}"), "ingest.version": version + 1 };
            // A writer that is behind waits for the version that it expects.
            while store.heads().await.unwrap()[0].version() < version {
                tokio::task::yield_now().await;
            }
            effects.push(send(&*store, update("1", "a", version, set, &[])).await);
        }
        effects
    })
    .await;
    for version in 1..=rounds {
        let round = usize::try_from(version).unwrap() - 1;
        let won: Vec<usize> =
            (0..WRITERS).filter(|writer| effects[*writer][round] == Effect::Applied).collect();
        assert_eq!(won.len(), 1, "version {version}: {won:?}");
    }
    assert!(effects.iter().flatten().all(|effect| *effect == Effect::Applied || lost(effect)));
    let last = (0..WRITERS).find(|writer| effects[*writer].last() == Some(&Effect::Applied)).unwrap();
    let document = stored(&*store, "1").await.unwrap();
    assert_eq!(document.get_str("title").unwrap(), format!("{rounds} by {last}"));
    assert_eq!(store.heads().await.unwrap()[0].version(), rounds + 1);
}

fn run_row(writer: usize) -> Document {
    doc! {
        "_id": format!("r{writer}"), "version": 1_i64, "source": "main", "operationId": "o1",
        "attempt": 1_i64, "writer": i64::try_from(writer).unwrap(),
    }
}

pub async fn of_inserts_of_one_row_one_wins(subject: &dyn Subject) {
    ready(subject).await;
    let inserted = race(subject, |writer, store| async move {
        store.row_insert(Side::Runs, &run_row(writer)).await.unwrap()
    })
    .await;
    let won: Vec<usize> = (0..WRITERS).filter(|writer| inserted[*writer] == Inserted::New).collect();
    assert_eq!(won.len(), 1, "{inserted:?}");
    assert_eq!(subject.another().rows(Side::Runs, &doc! {}).await.unwrap(), [run_row(won[0])]);
}

pub async fn of_replacements_of_one_row_one_wins(subject: &dyn Subject) {
    let store = ready(subject).await;
    let row = |writer: usize, version: i64| {
        doc! { "_id": "1", "version": version, "writer": i64::try_from(writer).unwrap() }
    };
    store.row_insert(Side::Groups, &row(99, 1)).await.unwrap();
    let replaced = race(subject, |writer, store| async move {
        store.row_replace(Side::Groups, 1, &row(writer, 2)).await.unwrap()
    })
    .await;
    let won: Vec<usize> = (0..WRITERS).filter(|writer| replaced[*writer]).collect();
    assert_eq!(won.len(), 1, "{replaced:?}");
    assert_eq!(store.rows(Side::Groups, &doc! {}).await.unwrap(), [row(won[0], 2)]);
}
