//! Each fate does what it says, and a seed is a history.

use bson::doc;

use super::super::memory::MemoryStore;
use super::*;

fn create(n: usize) -> Statement {
    Statement::Create {
        document: doc! {
            "_id": format!("{n:02}"), "slug": format!("s{n}"), "lang": "en", "status": "active", "live": true,
            "ingest": { "version": 1_i64 },
        },
    }
}

fn rename(n: usize, expected: i64, title: &str) -> Statement {
    Statement::Update {
        id: format!("{n:02}"),
        slug: format!("s{n}"),
        lang: "en".to_owned(),
        expected_version: expected,
        set: doc! { "title": title, "ingest.version": expected + 1 },
        unset: Vec::new(),
    }
}

/// A store whose every batch meets `fate`.
async fn always(fate: Fate) -> (MemoryStore, FaultStore) {
    let memory = MemoryStore::new();
    memory.ensure_ready().await.unwrap();
    let inner = Arc::new(memory.clone());
    (memory, FaultStore::scripted(inner, move |_| fate))
}

const LATER: Duration = Duration::from_secs(3_600);

#[tokio::test(start_paused = true)]
async fn each_fate_does_what_it_says() {
    let batch: Vec<Statement> = (0..10).map(create).collect();
    for (fate, class, at_once, at_last) in [
        (Fate::Pass, None, 10..=10, 10),
        (Fate::NotSent, Some(Class::NotSent), 0..=0, 0),
        (Fate::NotApplied, Some(Class::NotApplied), 0..=0, 0),
        (Fate::LostRequest, Some(Class::Unknown), 0..=0, 0),
        (Fate::LostReply, Some(Class::Unknown), 10..=10, 10),
        (Fate::Late(LATER), Some(Class::Unknown), 0..=0, 10),
        (Fate::Duplicate(LATER), None, 10..=10, 10),
        (Fate::Partial(LATER), Some(Class::Unknown), 0..=9, 10),
        (Fate::NotDurable, Some(Class::AppliedNotDurable), 10..=10, 10),
        (Fate::Untold, None, 10..=10, 10),
        (Fate::Split, None, 10..=10, 10),
    ] {
        let (memory, store) = always(fate).await;
        let reply = store.write(&batch).await;
        assert_eq!(reply.as_ref().err().map(|fault| fault.class), class, "{fate:?}");
        if let Ok(effects) = reply {
            assert!(
                effects.iter().all(|effect| matches!(effect, Effect::Applied | Effect::Untold)),
                "{fate:?}"
            );
            assert_eq!(effects.contains(&Effect::Untold), fate == Fate::Untold, "{fate:?}");
        }
        let stored = memory.snapshot().len();
        assert!(at_once.contains(&stored), "{fate:?}: {stored}");
        store.settled().await;
        assert_eq!((memory.snapshot().len(), store.pending()), (at_last, 0), "{fate:?}");
        assert_eq!(store.fates(), BTreeMap::from([(fate.name(), 1)]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_write_lands_after_a_newer_one_and_is_told_to_nobody() {
    let (memory, _) = always(Fate::Pass).await;
    memory.write(&[create(1)]).await.unwrap();
    let inner: Arc<dyn Store> = Arc::new(memory.clone());
    let store = FaultStore::scripted(inner, |call| match call.number {
        0 => Fate::Late(LATER),
        _ => Fate::Pass,
    });
    assert!(store.write(&[rename(1, 1, "old")]).await.is_err());
    assert_eq!(store.write(&[rename(1, 1, "new")]).await.unwrap(), [Effect::Applied]);
    assert_eq!(store.pending(), 1);
    store.settled().await;
    assert_eq!(memory.snapshot()["01"].get_str("title").unwrap(), "new", "the guard stops it");
    assert_eq!(memory.calls()["write"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_sender_dies_lands_all_the_same() {
    let (memory, _) = always(Fate::Pass).await;
    let rates = FaultRates { delay: (LATER, LATER), ..FaultRates::CALM };
    let store = FaultStore::new(Arc::new(memory.clone()), 1, rates);
    let batch = [create(1)];
    assert!(tokio::time::timeout(Duration::from_secs(1), store.write(&batch)).await.is_err());
    assert!(memory.snapshot().is_empty());
    store.settled().await;
    assert_eq!(memory.snapshot().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn rows_are_lost_and_late_too() {
    let row = doc! { "_id": "r", "version": 1_i64 };
    let (memory, store) = always(Fate::Late(LATER)).await;
    assert_eq!(store.row_insert(Side::Runs, &row).await.unwrap_err().class, Class::Unknown);
    assert!(memory.snapshot_rows(Side::Runs).is_empty());
    store.settled().await;
    assert_eq!(memory.snapshot_rows(Side::Runs).len(), 1);

    let (memory, store) = always(Fate::LostReply).await;
    assert_eq!(store.row_insert(Side::Runs, &row).await.unwrap_err().class, Class::Unknown);
    let next = doc! { "_id": "r", "version": 2_i64 };
    assert_eq!(store.row_replace(Side::Runs, 1, &next).await.unwrap_err().class, Class::Unknown);
    assert_eq!(memory.snapshot_rows(Side::Runs)["r"], next);
    assert!(store.row_delete(Side::Runs, &["r".to_owned()]).await.is_err());
    assert!(memory.snapshot_rows(Side::Runs).is_empty());
}

/// Four writers over one hostile store: what each heard, and what is stored.
async fn history(seed: u64) -> (Vec<String>, BTreeMap<String, Document>, BTreeMap<&'static str, u64>) {
    let (memory, _) = always(Fate::Pass).await;
    let store = FaultStore::new(Arc::new(memory.clone()), seed, FaultRates::HOSTILE);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut heard = Vec::new();
                for round in 0..20 {
                    let batch: Vec<Statement> = (0..5).map(|n| create(round + n)).collect();
                    heard.push(format!("{writer} {:?}", store.write(&batch).await));
                    let update = rename(round, 1, &format!("by {writer}"));
                    heard.push(format!("{writer} {:?}", store.write(&[update]).await));
                    heard.push(format!("{writer} {:?}", store.heads().await.map(|heads| heads.len())));
                }
                heard
            })
        })
        .collect();
    let mut heard = Vec::new();
    for writer in writers {
        heard.extend(writer.await.unwrap());
    }
    store.settled().await;
    (heard, memory.snapshot(), store.fates())
}

#[tokio::test(start_paused = true)]
async fn a_seed_is_a_history() {
    let first = history(42).await;
    assert_eq!(history(42).await, first);
    assert_ne!(history(43).await.0, first.0);
    let (_, _, fates) = first;
    assert!(fates.len() >= 9, "{fates:?}");
}
