//! The adapter behind the proxy: each fault has the class that says what may have been done, and what was
//! done is what the class allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bson::{Document, doc};
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Effect, Fault, Statement, Store};
use tokio::sync::Notify;

use crate::common::server::{Options, Server, blocking, database_name, proxied};
use crate::proxy::{Fate, Proxy};

/// How long a write that has no reply may land later.
const LANDING_TIMEOUT: Duration = Duration::from_secs(30);

fn post(n: usize) -> Document {
    doc! {
        "_id": format!("{n:03}"), "slug": format!("s{n}"), "lang": "en", "status": "active", "live": true,
        "title": "On tides", "ingest": { "path": "a.md", "version": 1_i64 },
    }
}

fn create(n: usize) -> Statement {
    Statement::Create { document: post(n) }
}

fn rename(n: usize, expected_version: i64, title: &str) -> Statement {
    Statement::Update {
        id: format!("{n:03}"),
        slug: format!("s{n}"),
        lang: "en".to_owned(),
        expected_version,
        set: doc! { "title": title, "ingest.version": expected_version + 1 },
        unset: Vec::new(),
    }
}

/// A store through a proxy, ready, and the same one past it.
struct Scene {
    proxy: Proxy,
    store: Arc<MongoStore>,
    past: MongoStore,
}

impl Scene {
    async fn set(command_timeout: Duration) -> Self {
        let server = tokio::task::spawn_blocking(proxied).await.unwrap();
        let database = database_name();
        let proxy = Proxy::start(&server.address().unwrap()).await;
        let options = MongoOptions { command_timeout, ..MongoOptions::default() };
        let store =
            Arc::new(MongoStore::open(&server.uri_through(&proxy.address(), &database), options).unwrap());
        store.ensure_ready().await.unwrap();
        let past = MongoStore::open(&server.uri(&database), MongoOptions::default()).unwrap();
        Scene { proxy, store, past }
    }

    /// Gives the next batch of posts a fate.
    fn next(&self, fate: Fate) {
        let at = self.proxy.writes();
        self.proxy.script(
            move |command| {
                if command.is_write() && command.number == at { fate.clone() } else { Fate::Pass }
            },
        );
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let before = self.proxy.writes();
        let done = self.store.write(batch).await;
        assert_eq!(self.proxy.writes(), before + 1, "the proxy sees every write, once");
        done
    }

    async fn stored(&self) -> usize {
        self.past.heads().await.unwrap().len()
    }

    async fn wait_for(&self, count: usize) {
        let started = Instant::now();
        while self.stored().await != count {
            assert!(started.elapsed() < LANDING_TIMEOUT, "{} of {count} landed", self.stored().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

const PATIENT: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread")]
async fn a_calm_proxy_changes_nothing_and_sees_every_write() {
    let scene = Scene::set(PATIENT).await;
    for n in 0..20 {
        assert_eq!(scene.write(&[create(n)]).await.unwrap(), [Effect::Applied]);
    }
    assert_eq!((scene.proxy.writes(), scene.proxy.replies_dropped(), scene.stored().await), (20, 0, 20));
    assert!(scene.proxy.seen("find", "posts") + scene.proxy.seen("hello", "") > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_reply_is_lost_is_applied_and_its_outcome_unknown() {
    let scene = Scene::set(PATIENT).await;
    for size in [1, 10] {
        let batch: Vec<Statement> = (0..size).map(|n| create(size * 100 + n)).collect();
        let before = scene.stored().await;
        scene.next(Fate::DropReply);
        assert_eq!(scene.write(&batch).await.unwrap_err().class, Class::Unknown);
        assert_eq!(scene.stored().await, before + size);
        assert_eq!(scene.write(&batch).await.unwrap(), vec![Effect::Existed; size], "it may be sent again");
    }
    assert_eq!(scene.proxy.replies_dropped(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_cut_or_never_leaves_does_nothing() {
    let scene = Scene::set(PATIENT).await;
    for (n, fate) in [Fate::Cut, Fate::CloseBefore].into_iter().enumerate() {
        scene.next(fate.clone());
        let fault = scene.write(&[create(n)]).await.unwrap_err();
        // From here it looks like a lost reply: nobody can tell.
        assert_eq!(fault.class, Class::Unknown, "{fate:?}");
        assert_eq!(scene.write(&[create(n)]).await.unwrap(), [Effect::Applied], "{fate:?}");
    }
    assert_eq!(scene.stored().await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_is_held_lands_late_and_a_newer_one_stays() {
    let scene = Scene::set(PATIENT).await;
    scene.write(&[create(1)]).await.unwrap();
    let release = Arc::new(Notify::new());
    scene.next(Fate::Hold(Arc::clone(&release)));
    assert_eq!(scene.write(&[rename(1, 1, "old")]).await.unwrap_err().class, Class::Unknown);
    scene.proxy.calm();
    assert_eq!(scene.write(&[rename(1, 1, "new")]).await.unwrap(), [Effect::Applied]);
    release.notify_one();
    while scene.proxy.replies_dropped() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let document = scene.past.documents(&["001".to_owned()]).await.unwrap().remove(0);
    assert_eq!(document.get_str("title").unwrap(), "new");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_write_is_given_up_at_the_deadline_and_lands_after_it() {
    let scene = Scene::set(Duration::from_secs(1)).await;
    scene.next(Fate::Delay(Duration::from_secs(3)));
    let started = Instant::now();
    assert_eq!(scene.write(&[create(1)]).await.unwrap_err().class, Class::Unknown);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(scene.stored().await, 0);
    scene.wait_for(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_connection_does_not_hang_the_caller() {
    let scene = Scene::set(Duration::from_secs(1)).await;
    scene.next(Fate::Freeze);
    let started = Instant::now();
    assert_eq!(scene.write(&[create(1)]).await.unwrap_err().class, Class::Unknown);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    scene.proxy.calm();
    assert_eq!(scene.write(&[create(1)]).await.unwrap(), [Effect::Applied], "another connection serves");

    scene.proxy.freeze();
    let started = Instant::now();
    assert!(scene.store.write(&[create(2)]).await.is_err());
    assert!(scene.store.heads().await.is_err());
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    scene.proxy.thaw();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_told_and_serves_again_with_what_it_acknowledged() {
    let options = Options { sync_on_commit: true, ..Options::default() };
    let server = Arc::new(tokio::task::spawn_blocking(|| Server::start(options)).await.unwrap());
    let options = MongoOptions { command_timeout: Duration::from_secs(5), ..MongoOptions::default() };
    let store = MongoStore::open(&server.uri("blog"), options).unwrap();
    store.ensure_ready().await.unwrap();
    for n in 0..30 {
        assert_eq!(store.write(&[create(n)]).await.unwrap(), [Effect::Applied]);
    }
    blocking(async { server.kill() });
    let fault = store.write(&[create(30)]).await.unwrap_err();
    assert!(matches!(fault.class, Class::NotSent | Class::Unknown), "{fault:?}");
    blocking(async { server.restart() });
    let started = Instant::now();
    // The driver looks for the server again by itself; nothing here is repeated by the adapter.
    while store.write(&[create(30)]).await.is_err() {
        assert!(started.elapsed() < LANDING_TIMEOUT, "it does not come back");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(store.heads().await.unwrap().len(), 31);
}
