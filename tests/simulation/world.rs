//! One scenario in virtual time, and what is checked after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use idempost::apply::assets::Promoter;
use idempost::apply::job::{Closing, Ended, Job};
use idempost::apply::planner::TreePlanner;
use idempost::apply::retry::RetryPolicy;
use idempost::apply::run::{Row, Rows, State};
use idempost::apply::statement::Writer;
use idempost::apply::{Applied, Clock, Executor, Guards, Settled};
use idempost::catalog::Catalog;
use idempost::catalog::links::PostLinks;
use idempost::diagnostic::Diagnostic;
use idempost::error::Exit;
use idempost::identity::{AssetsHash, PostId, SourceHash};
use idempost::plan::compose::{self, Composer, Sources};
use idempost::plan::pipeline::Pipeline;
use idempost::plan::{IdentitySettings, Origin, Policy};
use idempost::post::date::PublishedAt;
use idempost::post::lang::Lang;
use idempost::post::links::Asset;
use idempost::post::render::RenderOptions;
use idempost::post::slug::Slug;
use idempost::post::{Body, From, Meta, Post};
use idempost::store::document::{Head, Status};
use idempost::store::memory::MemoryStore;
use idempost::store::{Fault, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::hostile::{Below, Hostile, Rates, VirtualClock};
use super::scenario::{Planned, Scenario, Text, Tree};

/// What is taken out of the program for one simulation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mutation {
    pub guards: Guards,
    pub below: Below,
    pub no_unique_index: bool,
    pub no_revisions: bool,
}

const DAY: i64 = 86_400_000;
const SOURCE: &str = "simulated";
/// Runs named from here on prune.
const PRUNING: usize = 900;
/// How long a claim lasts in a simulation.
pub const CLAIM: Duration = Duration::from_secs(2);

/// An object store that is slow, and remembers who asked it.
struct Objects {
    by_run: usize,
    shared: Arc<Mutex<Shared>>,
    slow: Duration,
}

#[derive(Default)]
struct Shared {
    stored: BTreeSet<String>,
    asked: BTreeMap<String, BTreeSet<usize>>,
}

#[async_trait]
impl Promoter for Objects {
    async fn stored(&self, asset: &Asset) -> Result<bool, Fault> {
        Ok(self.shared.lock().unwrap().stored.contains(&asset.sha256))
    }

    async fn store(&self, asset: &Asset) -> Result<(), Fault> {
        self.shared.lock().unwrap().asked.entry(asset.sha256.clone()).or_default().insert(self.by_run);
        tokio::time::sleep(self.slow).await;
        self.shared.lock().unwrap().stored.insert(asset.sha256.clone());
        Ok(())
    }
}

/// The files of a tree, which nobody changes while it is ingested.
struct Held(Vec<Post>);

impl Sources for Held {
    fn post(&self, file: &str) -> Result<Post, Box<Diagnostic>> {
        let found = self.0.iter().find(|post| post.file == file).cloned();
        found.ok_or_else(|| compose::changed(file, "there is no such file"))
    }
}

/// How one run ended, as it tells.
pub struct Told {
    planned: Planned,
    pub killed: bool,
    pub exit: Option<Exit>,
    /// (post, version it was planned on) of each write that it says is in.
    applied: Vec<(String, Option<i64>)>,
}

/// Runs a scenario and returns everything that is wrong with its end.
pub fn simulate(scenario: &Scenario, mutation: Mutation) -> Vec<String> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async { World::new(scenario, mutation).run().await })
}

/// Ids of archived posts, and of live ones.
type Stood = (BTreeSet<String>, BTreeSet<String>);

pub struct World<'a> {
    scenario: &'a Scenario,
    mutation: Mutation,
    store: MemoryStore,
    clock: VirtualClock,
    objects: Arc<Mutex<Shared>>,
    slow: Option<Duration>,
    unsound: Mutex<Vec<String>>,
    /// What each run saw when it planned: archived posts, live posts.
    seen: Mutex<BTreeMap<usize, Stood>>,
    wrong: Vec<String>,
}

impl<'a> World<'a> {
    pub fn new(scenario: &'a Scenario, mutation: Mutation) -> Self {
        World {
            scenario,
            mutation,
            store: MemoryStore::builder().unique_live(!mutation.no_unique_index).build(),
            clock: VirtualClock(Instant::now()),
            objects: Arc::default(),
            slow: None,
            unsound: Mutex::default(),
            seen: Mutex::default(),
            wrong: Vec::new(),
        }
    }

    /// Storing one picture takes this long.
    pub fn with_slow_objects(mut self, slow: Duration) -> Self {
        self.slow = Some(slow);
        self
    }

    pub async fn ready(&self) {
        self.store.ensure_ready().await.unwrap();
    }

    /// The status of every stored post, in order of id.
    pub fn statuses(&self) -> Vec<String> {
        self.store.snapshot().values().map(|post| post.get_str("status").unwrap().to_owned()).collect()
    }

    /// How many runs asked the object store to keep something.
    pub fn asked(&self) -> usize {
        self.objects.lock().unwrap().asked.values().map(BTreeSet::len).sum()
    }

    async fn run(mut self) -> Vec<String> {
        self.ready().await;
        if let Some(tree) = &self.scenario.first {
            let first = Self::clean(usize::MAX, self.scenario.with_revisions.then_some(0), tree);
            self.go(first, Rates::default()).await;
            if self.scenario.first_archived {
                let nothing: Tree = tree.iter().map(|_| None).collect();
                self.go(Self::clean(PRUNING + 99, Some(0), &nothing), Rates::default()).await;
            }
        }
        let runs: Vec<Planned> = self.scenario.runs.clone();
        let told = futures_util::future::join_all(
            runs.into_iter().map(|planned| self.go(planned, self.scenario.rates)),
        )
        .await;
        // Everything that is on its way arrives.
        tokio::time::sleep(Duration::from_secs(30)).await;
        self.check_runs(&told);
        self.check_newest(&told);
        self.check_lives("after the runs");
        self.finish(&told).await;
        self.wrong.append(&mut self.unsound.into_inner().unwrap());
        self.wrong
    }

    fn clean(name: usize, revision: Option<i64>, tree: &Tree) -> Planned {
        Planned {
            name,
            revision,
            tree: tree.clone(),
            begins_millis: 0,
            killed_after_millis: None,
            batch: 2,
            in_flight: 1,
            attempts: 8,
        }
    }

    pub async fn go(&self, planned: Planned, rates: Rates) -> Told {
        tokio::time::sleep(Duration::from_millis(planned.begins_millis)).await;
        let seed = self.scenario.seed.wrapping_mul(1_000_003).wrapping_add(planned.name as u64);
        let store = Hostile::new(self.store.clone(), self.clock.clone(), rates, self.mutation.below, seed);
        let work = self.work(&planned, &store, seed);
        let ended = match planned.killed_after_millis {
            Some(after) => tokio::time::timeout(Duration::from_millis(after), work).await.ok(),
            None => Some(work.await),
        };
        let killed = ended.is_none();
        let (exit, applied) = ended.unwrap_or((None, Vec::new()));
        Told { planned, killed, exit, applied }
    }

    async fn work(
        &self,
        planned: &Planned,
        store: &Hostile,
        seed: u64,
    ) -> (Option<Exit>, Vec<(String, Option<i64>)>) {
        let (catalog, links) = catalog(&planned.tree);
        let revision = planned.revision.filter(|_| !self.mutation.no_revisions);
        let run_id = run_id(planned);
        let objects = Objects {
            by_run: planned.name,
            shared: Arc::clone(&self.objects),
            slow: self.slow.unwrap_or_else(|| Duration::from_millis(self.scenario.seed % 700)),
        };
        let executor = Executor {
            store,
            clock: &self.clock,
            retry: RetryPolicy {
                deadline: Duration::from_secs(20),
                attempts: planned.attempts,
                backoff_min: Duration::from_millis(20),
                backoff_max: Duration::from_millis(500),
            },
            batch: planned.batch,
            in_flight: planned.in_flight,
            writer: Writer { run_id: run_id.clone(), operation_id: run_id.clone() },
            revision,
            cancel: CancellationToken::new(),
            events: &|_| {},
            composer: Composer::new(
                Arc::new(Held(catalog.posts.clone())),
                RenderOptions { html: false, ..RenderOptions::default() },
            ),
            promoter: Some(&objects),
            claim: CLAIM,
            guards: self.mutation.guards,
            state: idempost::apply::State::new(seed),
        };
        let rows = Rows { store, clock: &self.clock, source: SOURCE.to_owned() };
        let policy = policy(store, revision, (PRUNING..PRUNING + 100).contains(&planned.name));
        let row = Row {
            run_id: run_id.clone(),
            version: 1,
            source: SOURCE.to_owned(),
            operation_id: run_id,
            attempt: 1,
            fingerprint: format!("{:?}", planned.tree),
            verb: "ingest".to_owned(),
            revision,
            counter: None,
            commit: None,
            reference: None,
            ci_run: None,
            started: self.clock.now(),
            lease_until: self.clock.now() + 60_000,
            state: State::Running,
            open: true,
            fenced: false,
            exit: None,
            result: None,
        };
        let planner = TreePlanner {
            catalog: &catalog,
            links: &links,
            policy: &policy,
            composer: &executor.composer,
            repair: false,
        };
        let job = Job {
            executor: &executor,
            rows: &rows,
            planner: &planner,
            keep: 90 * DAY,
            // The named seeds count the store's calls.
            history: 0,
            review: &|plan, observed| {
                let ids = |wanted: fn(&Head) -> bool| -> BTreeSet<String> {
                    observed.heads.iter().filter(|head| wanted(head)).map(|head| head.id.clone()).collect()
                };
                let stood = (ids(|head| head.status == Status::Archived), ids(|head| head.live));
                self.seen.lock().unwrap().insert(planned.name, stood);
                let broken = idempost::plan::check::check(plan);
                self.unsound.lock().unwrap().extend(broken.iter().cloned());
                (!broken.is_empty()).then_some(Exit::Failed)
            },
        };
        let closing =
            |plan: &idempost::plan::Plan, applied: &Applied, late: Option<&idempost::plan::Late>| {
                let exit = exit(plan, applied, late);
                let state = match exit {
                    Exit::Done => State::Done,
                    Exit::Partly | Exit::Conflict => State::Partial,
                    _ => State::Failed,
                };
                Closing { state, exit, result: None }
            };
        match job.run(row, closing).await {
            Ok(Ended::Applied { plan, applied, late }) => {
                let writes = applied
                    .settled
                    .iter()
                    .filter(|(_, ended)| matches!(ended, Settled::Applied(_)))
                    .map(|(operation, _)| (operation.id.clone(), operation.expected_version))
                    .collect();
                (Some(exit(&plan, &applied, late.as_ref())), writes)
            }
            Ok(_) => (Some(Exit::Failed), Vec::new()),
            Err(fault) => {
                if std::env::var_os("IDEMPOST_TELL").is_some() {
                    eprintln!("run {} failed: {fault:?}", planned.name);
                }
                (Some(Exit::Unreachable), Vec::new())
            }
        }
    }

    /// No two writes that count were planned on the same version of a post, and runs of one tree agree.
    fn check_runs(&mut self, told: &[Told]) {
        let mut planned_on: BTreeMap<(&str, Option<i64>), usize> = BTreeMap::new();
        for one in told {
            for (id, version) in &one.applied {
                if let Some(first) = planned_on.insert((id, *version), one.planned.name) {
                    self.wrong.push(format!(
                        "lost update: runs {first} and {} both wrote {id} on version {version:?}",
                        one.planned.name
                    ));
                }
            }
        }
        let nobody_killed = told.iter().all(|one| !one.killed);
        if self.scenario.equal_trees && nobody_killed {
            for one in told.iter().filter(|one| !matches!(one.exit, Some(Exit::Done | Exit::Unreachable))) {
                // A post that begins under the other date is refused by every run, rightly.
                let first = self.scenario.first.iter().flatten();
                let dates = one.planned.tree.iter().chain(first).flatten().any(|text| text.other_date);
                if !dates {
                    self.wrong
                        .push(format!("run {} of an equal tree ended {:?}", one.planned.name, one.exit));
                }
            }
            let one_promotes = told.iter().all(|one| one.exit == Some(Exit::Done));
            for (asset, runs) in self.objects.lock().unwrap().asked.iter().filter(|_| one_promotes) {
                if runs.len() > 1 {
                    self.wrong.push(format!("asset {asset} was stored by runs {runs:?}"));
                }
            }
        }
    }

    /// Where the newest run ended well, no older one put its text back.
    fn check_newest(&mut self, told: &[Told]) {
        let Some(newest) =
            told.iter().filter(|one| one.planned.revision.is_some()).max_by_key(|one| one.planned.revision)
        else {
            return;
        };
        if newest.killed || newest.exit != Some(Exit::Done) {
            return;
        }
        let documents = self.store.snapshot();
        for (at, text) in newest.planned.tree.iter().enumerate() {
            let Some(text) = text else { continue };
            let (id, body) = (id(at, *text).to_string(), body(at, *text));
            match documents.get(&id) {
                Some(stored) if is(stored, "body", &body) && is(stored, "status", "active") => {}
                Some(stored) => self.wrong.push(format!(
                    "post {at} is {:?} {:?} after revision {:?} ended well with {body:?}",
                    stored.get_str("status"),
                    stored.get_str("body"),
                    newest.planned.revision
                )),
                None => {
                    self.wrong
                        .push(format!("post {at} is gone after revision {:?}", newest.planned.revision));
                }
            }
        }
        let (archived, live) = self.seen_by(newest);
        for (id, document) in &documents {
            let head = Head::from_document(document);
            if !head.live || Self::is_of(&newest.planned.tree, id) || live.contains(id) {
                continue;
            }
            // A create of a run that died, or that could not settle it, may land when it likes: the next
            // run takes it down.
            let live_by = head.ingest.and_then(|ingest| ingest.live_by).unwrap_or_default();
            let unsettled = told
                .iter()
                .any(|one| run_id(&one.planned) == live_by && (one.killed || one.exit != Some(Exit::Done)));
            if archived.contains(id) || !unsettled {
                self.wrong.push(format!(
                    "{id} is live by {live_by:?} after revision {:?} ended well without it",
                    newest.planned.revision
                ));
            }
        }
    }

    fn seen_by(&self, one: &Told) -> Stood {
        self.seen.lock().unwrap().get(&one.planned.name).cloned().unwrap_or_default()
    }

    fn is_of(tree: &Tree, wanted: &str) -> bool {
        tree.iter().enumerate().any(|(at, text)| text.is_some_and(|text| id(at, text).to_string() == wanted))
    }

    /// One live document a slug.
    fn check_lives(&mut self, when: &str) {
        let mut live: BTreeMap<String, String> = BTreeMap::new();
        for (id, document) in self.store.snapshot() {
            let head = Head::from_document(&document);
            if head.live != head.status.is_live() {
                self.wrong.push(format!("{id} is {} and live is {} {when}", head.status.as_str(), head.live));
            }
            if head.live
                && let Some(first) = live.insert(head.slug.clone(), id.clone())
            {
                self.wrong.push(format!("{} is live twice {when}: {first} and {id}", head.slug));
            }
        }
    }

    /// One clean run brings the store to its tree; the next finds nothing to do.
    async fn finish(&mut self, told: &[Told]) {
        let newest = told.iter().max_by_key(|one| one.planned.revision).unwrap();
        let tree: Tree = newest
            .planned
            .tree
            .iter()
            .enumerate()
            .map(|(at, text)| text.map(|text| self.live_date(at, text)))
            .collect();
        // Waits out every lease and claim.
        tokio::time::sleep(Duration::from_secs(180)).await;
        let revision = self.scenario.with_revisions.then_some(1_000);
        // Where the newest run ended well, the next one must take down what was left without being told.
        let well = self.scenario.with_revisions && !newest.killed && newest.exit == Some(Exit::Done);
        let left = if well { self.seen_by(newest).1 } else { BTreeSet::new() };
        let last = Self::clean(if well { 898 } else { PRUNING + 8 }, revision, &tree);
        let ended = self.go(last, Rates::default()).await;
        if ended.exit != Some(Exit::Done) {
            self.wrong.push(format!("the clean run ended {:?}", ended.exit));
        }
        self.check_lives("after the clean run");
        self.check_equal(&tree, &left);
        let before = self.store.post_log().len();
        let again = self
            .go(Self::clean(if well { 899 } else { PRUNING + 9 }, revision, &tree), Rates::default())
            .await;
        let written = self.store.post_log().len() - before;
        if again.exit != Some(Exit::Done) || written > 0 {
            self.wrong.push(format!("the next run ended {:?} and wrote {written} posts", again.exit));
        }
    }

    /// The date under which the post is live: changing it is refused, so the clean run takes that one.
    fn live_date(&self, at: usize, text: Text) -> Text {
        let other = Text { other_date: !text.other_date, ..text };
        let live = |text: Text| {
            self.store
                .snapshot()
                .get(&id(at, text).to_string())
                .is_some_and(|document| document.get_bool("live").unwrap_or(false))
        };
        if live(other) && !live(text) { other } else { text }
    }

    /// The store holds the tree, and of the rest only what may be left: orphans that nobody pruned.
    fn check_equal(&mut self, tree: &Tree, left: &BTreeSet<String>) {
        let wanted: BTreeMap<String, String> = tree
            .iter()
            .enumerate()
            .filter_map(|(at, text)| text.map(|text| (id(at, text).to_string(), body(at, text))))
            .collect();
        let mut found = BTreeMap::new();
        for (id, document) in self.store.snapshot() {
            match Head::from_document(&document).status {
                Status::Active if left.contains(&id) && !wanted.contains_key(&id) => {}
                Status::Active => {
                    found.insert(id, document.get_str("body").unwrap_or_default().to_owned());
                }
                Status::Archived => {}
                other => self.wrong.push(format!("{id} is {} after the clean run", other.as_str())),
            }
        }
        if wanted != found {
            self.wrong.push(format!("the store holds {found:?} after a clean run of {wanted:?}"));
        }
    }
}

fn run_id(planned: &Planned) -> String {
    format!("run-{:03}-{}", planned.name.min(9_999), planned.revision.unwrap_or(-1))
}

fn is(document: &bson::Document, field: &str, text: &str) -> bool {
    document.get_str(field).is_ok_and(|found| found == text)
}

fn exit(plan: &idempost::plan::Plan, applied: &Applied, late: Option<&idempost::plan::Late>) -> Exit {
    let ended = idempost::app::summary::Ended { plan, applied, late, interrupted: None };
    let writer = Writer { run_id: String::new(), operation_id: String::new() };
    idempost::app::summary::report(&ended, &writer).exit
}

fn policy(store: &dyn Store, revision: Option<i64>, prune: bool) -> Policy {
    Policy {
        origin: Origin { name: Some(SOURCE.to_owned()), root: "content".to_owned(), commit: None },
        target: store.target(),
        limits: store.limits(),
        pipeline: Pipeline::fixed(1, 1),
        revision,
        settings: IdentitySettings::default(),
        prune,
        force: false,
        only: None,
    }
}

fn slug(at: usize) -> Slug {
    Slug::parse(&format!("post-{at}")).unwrap()
}

fn date(text: Text) -> PublishedAt {
    PublishedAt::from_unix_millis(if text.other_date { 2 * DAY } else { DAY }).unwrap()
}

fn id(at: usize, text: Text) -> PostId {
    PostId::derive(&slug(at), &Lang::parse("en").unwrap(), date(text))
}

fn body(at: usize, text: Text) -> String {
    format!("post {at}, text {}{}", text.edition, if text.asset { " with a picture" } else { "" })
}

fn catalog(tree: &Tree) -> (Catalog, Vec<Arc<PostLinks>>) {
    let mut catalog = Catalog::default();
    let mut links = Vec::new();
    for (at, text) in tree.iter().enumerate() {
        let Some(text) = text else { continue };
        let body = body(at, *text);
        catalog.posts.push(Post {
            file: format!("post-{at}.md"),
            id: id(at, *text),
            slug: slug(at),
            lang: Lang::parse("en").unwrap(),
            published_at: date(*text),
            from: From::default(),
            source_hash: SourceHash::of_normalised(&body),
            meta: Meta::default(),
            front_matter: None,
            source_bytes: body.len(),
            body: Body::Text(body),
            body_start: 0,
            body_line: 1,
            mdx: false,
            translation_path: format!("post-{at}"),
        });
        let mut of_post = PostLinks::default();
        if text.asset {
            let sha256 = format!("{at}-{}", text.edition);
            of_post.assets_hash = Some(AssetsHash::of_assets(&[(format!("post-{at}.png"), sha256.clone())]));
            of_post.assets.push(Asset {
                path: format!("post-{at}.png"),
                sha256,
                bytes: 1,
                mime: "image/png".to_owned(),
                url: Some(format!("/assets/{at}.png")),
            });
        }
        links.push(Arc::new(of_post));
    }
    catalog.files = catalog.posts.len();
    (catalog, links)
}
