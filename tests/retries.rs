//! What the executor does with each class of fault: how often it sends, whether it reads back first, how
//! long it waits, and what it says at the end. One row a class and a place; time is virtual.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bson::{Document, doc};
use idempost::apply::retry::RetryPolicy;
use idempost::apply::statement::Writer;
use idempost::apply::{Applied, Clock, Executor, Guards, Settled, Supervisor};
use idempost::diagnostic::Diagnostic;
use idempost::identity::{PostId, SourceHash};
use idempost::plan::compose::{Composer, Sources, Written};
use idempost::plan::lifecycle::By;
use idempost::plan::{Action, Operation, Origin, Others, Plan, Reason, Stamp, Summary};
use idempost::post::date::PublishedAt;
use idempost::post::lang::Lang;
use idempost::post::render::RenderOptions;
use idempost::post::slug::Slug;
use idempost::post::{Body, From, Meta, Post};
use idempost::store::document::{Head, Ingest, Status};
use idempost::store::memory::MemoryStore;
use idempost::store::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// What one send gets.
enum Answer {
    /// The store's own.
    Own,
    /// A fault of the whole command, after or without its being applied.
    Whole(Fault, bool),
    /// A fault of these statements alone; the others are applied.
    Some(Vec<usize>, Fault),
    /// The reply does not tell anything.
    Untold,
}

struct Scripted {
    inner: MemoryStore,
    answers: Mutex<VecDeque<Answer>>,
    /// Ids of each send.
    sends: Mutex<Vec<Vec<String>>>,
    read_backs: AtomicUsize,
}

#[async_trait]
impl Store for Scripted {
    fn target(&self) -> Target {
        self.inner.target()
    }
    fn limits(&self) -> Limits {
        self.inner.limits()
    }
    async fn connect(&self) -> Result<(), Fault> {
        self.inner.connect().await
    }
    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        self.inner.ensure_ready().await
    }
    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.inner.heads().await
    }
    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        self.read_backs.fetch_add(1, Ordering::Relaxed);
        self.inner.heads_of(ids).await
    }
    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        self.inner.heads_live(keys).await
    }
    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        self.inner.documents(ids).await
    }
    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        self.sends.lock().unwrap().push(batch.iter().map(|one| one.id().to_owned()).collect());
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Answer::Own);
        match answer {
            Answer::Own => self.inner.write(batch).await,
            Answer::Whole(fault, applied) => {
                if applied {
                    self.inner.write(batch).await?;
                }
                Err(fault)
            }
            Answer::Some(indexes, fault) => {
                let (mut effects, rest): (Vec<Option<Effect>>, Vec<Statement>) = (
                    (0..batch.len())
                        .map(|at| indexes.contains(&at).then(|| Effect::Failed(fault.clone())))
                        .collect(),
                    batch
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| !indexes.contains(at))
                        .map(|(_, one)| one.clone())
                        .collect(),
                );
                let mut own = self.inner.write(&rest).await?.into_iter();
                for effect in effects.iter_mut().filter(|effect| effect.is_none()) {
                    *effect = own.next();
                }
                Ok(effects.into_iter().flatten().collect())
            }
            Answer::Untold => {
                self.inner.write(batch).await?;
                Ok(batch.iter().map(|_| Effect::Untold).collect())
            }
        }
    }
    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        self.inner.rows(side, filter).await
    }
    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        self.inner.row_insert(side, row).await
    }
    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        self.inner.row_replace(side, expected, row).await
    }
    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        self.inner.row_delete(side, ids).await
    }
}

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> i64 {
        1_900_000_000_000
    }
}

/// Nobody else is there.
struct Alone;

#[async_trait]
impl Supervisor for Alone {
    async fn look(&self) -> Result<Others, Fault> {
        Ok(Others::default())
    }
    fn plan_again(&self, _: &Operation, _: &[Head], _: &Others) -> Option<Arc<Operation>> {
        None
    }
    async fn alive(&self) {}
}

fn create(at: usize) -> Arc<Operation> {
    let id = format!("{at:026}");
    let slug = format!("s{at}");
    let content = doc! { "_id": &id, "slug": &slug, "lang": "en", "title": "T", "sourceHash": "s1:0" };
    Arc::new(Operation {
        content: Some(Written::Given(Box::new(content))),
        id,
        slug,
        lang: "en".to_owned(),
        file: Some(format!("{at}.md")),
        line: None,
        action: Action::Create,
        by: By::Ingest,
        reason: Reason::of("new"),
        expected_version: None,
        seen: None,
        stamp: Some(Stamp {
            status: Status::Active,
            ingest: Ingest {
                path: format!("{at}.md"),
                pipeline: "1.1-0".to_owned(),
                content_hash: "c1:0".to_owned(),
                version: 1,
                ..Ingest::default()
            },
            assets: Vec::new(),
        }),
    })
}

struct Told {
    applied: Applied,
    stored: Vec<Document>,
    sends: Vec<Vec<String>>,
    read_backs: usize,
    took: Duration,
}

impl Told {
    fn all_in(&self) -> bool {
        self.applied.settled.iter().all(|(_, ended)| *ended == Settled::Applied(Action::Create))
    }

    fn failed(&self) -> (Class, String) {
        match &self.applied.settled[0].1 {
            Settled::Failed(failed, class) => (*class, failed.message.clone()),
            other => panic!("{other:?}"),
        }
    }
}

fn run(posts: usize, answers: Vec<Answer>) -> Told {
    run_plan((0..posts).map(create).collect(), Composer::of_given(), answers)
}

fn run_plan(operations: Vec<Arc<Operation>>, composer: Composer, answers: Vec<Answer>) -> Told {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let store = Scripted {
            inner: MemoryStore::new(),
            answers: Mutex::new(answers.into()),
            sends: Mutex::default(),
            read_backs: AtomicUsize::new(0),
        };
        store.ensure_ready().await.unwrap();
        let executor = Executor {
            store: &store,
            clock: &Fixed,
            retry: RetryPolicy { deadline: Duration::from_mins(1), ..RetryPolicy::default() },
            batch: 100,
            in_flight: 1,
            writer: Writer { run_id: "run".to_owned(), operation_id: "operation".to_owned() },
            revision: None,
            cancel: CancellationToken::new(),
            events: &|_| {},
            composer,
            promoter: None,
            claim: Duration::from_secs(15),
            guards: Guards::default(),
            state: idempost::apply::State::new(7),
        };
        let plan = Plan {
            source: Origin::default(),
            target: store.target(),
            pipeline: "1.1-0".to_owned(),
            summary: Summary::default(),
            operations,
            orphans: Vec::new(),
            diagnostics: Vec::new(),
            skipped: Vec::new(),
            live: 0,
            notes: Vec::new(),
            settings_change: None,
        };
        let begun = Instant::now();
        let applied = executor.apply(&plan, &Alone).await;
        Told {
            applied,
            stored: store.inner.snapshot().into_values().collect(),
            sends: store.sends.into_inner().unwrap(),
            read_backs: store.read_backs.load(Ordering::Relaxed),
            took: begun.elapsed(),
        }
    })
}

fn fault(class: Class) -> Fault {
    Fault::new(class, "as scripted")
}

#[test]
fn not_sent_and_not_applied_are_sent_again_without_reading_back() {
    for class in [Class::NotSent, Class::NotApplied] {
        let told = run(1, vec![Answer::Whole(fault(class), false), Answer::Whole(fault(class), false)]);
        assert!(told.all_in());
        assert_eq!((told.sends.len(), told.read_backs), (3, 0), "{class:?}");
        assert_eq!(told.applied.retries, 2, "{class:?}");
    }
}

#[test]
fn an_unknown_outcome_that_was_applied_is_read_back_and_not_sent_again() {
    for class in [Class::Unknown, Class::AppliedNotDurable] {
        let told = run(3, vec![Answer::Whole(fault(class), true)]);
        assert!(told.all_in(), "told as created, once: {class:?}");
        assert_eq!((told.sends.len(), told.read_backs), (1, 1), "{class:?}");
        assert!(!told.applied.unsettled, "{class:?}");
    }
}

#[test]
fn an_unknown_outcome_that_was_not_applied_is_read_back_and_sent_again() {
    let told = run(3, vec![Answer::Whole(fault(Class::Unknown), false)]);
    assert!(told.all_in());
    assert_eq!((told.sends.len(), told.read_backs), (2, 1));
}

#[test]
fn a_reply_that_tells_nothing_is_read_back() {
    let told = run(4, vec![Answer::Untold]);
    assert!(told.all_in());
    assert_eq!((told.sends.len(), told.read_backs), (1, 1));
}

#[test]
fn only_the_throttled_statements_are_sent_again_after_the_pause_that_was_asked_for() {
    let mut throttled = fault(Class::NotApplied).code(16_500);
    throttled.retry_after = Some(Duration::from_secs(3));
    let told = run(5, vec![Answer::Some(vec![1, 3, 4], throttled)]);
    assert!(told.all_in());
    let again: Vec<String> = [1, 3, 4].iter().map(|at| format!("{at:026}")).collect();
    assert_eq!(told.sends.len(), 2);
    assert_eq!(told.sends[1], again);
    assert_eq!(told.read_backs, 0);
    assert!(told.took >= Duration::from_secs(3), "{:?}", told.took);
}

#[test]
fn a_permanent_fault_ends_its_post_at_once_and_no_other() {
    for class in [Class::Permanent, Class::Auth] {
        let told = run(3, vec![Answer::Some(vec![0], fault(class))]);
        assert_eq!((told.sends.len(), told.read_backs), (1, 0), "{class:?}");
        assert_eq!(told.failed().0, class);
        let others = &told.applied.settled[1..];
        assert!(others.iter().all(|(_, ended)| *ended == Settled::Applied(Action::Create)), "{class:?}");
    }
}

#[test]
fn a_conflict_is_read_back_and_never_repeated_blindly() {
    // Somebody else holds the slug under another id.
    let told = run(1, vec![Answer::Whole(fault(Class::Conflict).code(11_000), false)]);
    // Nothing is in the way when it is read back: the rival has left, and the create is sent again.
    assert!(told.all_in());
    assert_eq!((told.sends.len(), told.read_backs), (2, 1));
}

#[test]
fn attempts_end_and_the_last_word_says_how_often() {
    let answers = (0..20).map(|_| Answer::Whole(fault(Class::NotSent), false)).collect();
    let told = run(1, answers);
    let (class, message) = told.failed();
    assert_eq!(class, Class::NotSent);
    assert_eq!(told.sends.len(), 8);
    assert!(message.contains("tried 8 times"), "{message}");
    assert!(!told.applied.unsettled, "nothing was sent, nothing can land");
}

#[test]
fn an_unknown_outcome_for_good_leaves_the_run_unsettled() {
    let answers = (0..20).map(|_| Answer::Whole(fault(Class::Unknown), false)).collect();
    let told = run(1, answers);
    assert_eq!((told.sends.len(), told.read_backs), (8, 8));
    assert!(told.applied.unsettled, "a send of it may still land");
}

#[test]
fn an_engine_that_asks_for_patience_is_only_bounded_by_time() {
    let mut busy = fault(Class::NotApplied);
    busy.retry_after = Some(Duration::from_secs(5));
    let answers = (0..400).map(|_| Answer::Whole(busy.clone(), false)).collect();
    let told = run(1, answers);
    assert!(told.sends.len() > 8, "{} sends", told.sends.len());
    assert!(told.applied.out_of_time);
    assert!(told.took >= Duration::from_mins(1) && told.took < Duration::from_secs(75), "{:?}", told.took);
}

/// A folder of one text, which is not the one that was planned for post 1.
struct Edited;

impl Sources for Edited {
    fn post(&self, file: &str) -> Result<Post, Box<Diagnostic>> {
        let text = if file == "1.md" { "edited" } else { "as planned" };
        Ok(post(file, text))
    }
}

fn post(file: &str, text: &str) -> Post {
    let slug = Slug::parse(&format!("s{}", file.trim_end_matches(".md"))).unwrap();
    let (lang, day) = (Lang::parse("en").unwrap(), PublishedAt::from_unix_millis(0).unwrap());
    Post {
        file: file.to_owned(),
        id: PostId::derive(&slug, &lang, day),
        slug,
        lang,
        published_at: day,
        from: From::default(),
        source_hash: SourceHash::of_normalised(text),
        meta: Meta::default(),
        front_matter: None,
        source_bytes: text.len(),
        body: Body::Text(text.to_owned()),
        body_start: 0,
        body_line: 1,
        mdx: false,
        translation_path: String::new(),
    }
}

/// A file that was changed since it was planned is not written, and stops nobody else.
#[test]
fn a_file_that_is_not_what_was_planned_fails_alone() {
    let planned = |at: usize| {
        let post = post(&format!("{at}.md"), "as planned");
        let mut operation = Arc::unwrap_or_clone(create(at));
        operation.id = post.id.to_string();
        operation.content = Some(Written::of(&post, &Arc::default()));
        operation.stamp.as_mut().unwrap().ingest.content_hash.clear();
        Arc::new(operation)
    };
    let composer = Composer::new(Arc::new(Edited), RenderOptions::default());
    let told = run_plan((0..3).map(planned).collect(), composer, Vec::new());
    let ended: Vec<&Settled> = told.applied.settled.iter().map(|(_, ended)| ended).collect();
    assert_eq!((ended[0], ended[2]), (&Settled::Applied(Action::Create), &Settled::Applied(Action::Create)));
    let Settled::Failed(failed, Class::Permanent) = ended[1] else { panic!("{:?}", ended[1]) };
    assert_eq!((failed.class.as_str(), failed.file.as_deref()), ("changed-meanwhile", Some("1.md")));
    assert!(failed.message.contains("changed while it was being ingested"), "{}", failed.message);
    assert_eq!(told.sends.concat().len(), 2, "and it was not sent");
    assert!(!told.applied.unsettled);
    let stored: Vec<&str> = told.stored.iter().map(|one| one.get_str("body").unwrap()).collect();
    assert_eq!(stored, ["as planned", "as planned"]);
    let digests = told.stored.iter().map(|one| one.get_document("ingest").unwrap().get_str("contentHash"));
    assert!(digests.into_iter().all(|digest| digest.is_ok_and(|digest| digest.starts_with("c1:"))));
}
