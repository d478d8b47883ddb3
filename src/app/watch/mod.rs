//! `watch`: an editor's save is in the store a moment later.
//!
//! Every save is a run like any other: files, row, look, heads, plan, writes. What is different is who
//! asks: nobody reads a plan before it is applied. So a broken file never stops the others and leaves its
//! last good version, nothing is pruned, a run carries no revision, and a post that somebody else changed
//! since it was last seen here is refused until its file is edited again ([`memory`]). Whenever something
//! was missed (a lost store, a root that was away, an overflow), the whole tree is compared again, so that
//! no event has to be trusted.
//!
//! Begin at [`run`]. [`eyes`] tells that something changed, [`memory`] what the store held.

mod eyes;
mod memory;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

use super::assets;
use super::gather::{self, Gathered};
use super::host::Host;
use super::ingest;
use super::observe::{self, Policies};
use super::open;
use super::operation::{self, Asked, Outcome};
use crate::apply::Executor;
use crate::apply::planner::{self, Planner, TreePlanner};
use crate::apply::run::Rows;
use crate::config::{Revision, Settings};
use crate::error::{Exit, Failure};
use crate::plan::{Action, IdentitySettings, Observed, Operation, Others, Plan};
use crate::report::event::{End, Event};
use crate::store::{Fault, Store};
use eyes::Eyes;
use memory::Memory;

/// Nothing may have changed for so long before the tree is read.
const QUIET: Duration = Duration::from_millis(60);
/// A burst that does not end is read after so long all the same.
const BURST_MAX: Duration = Duration::from_millis(400);
/// How often the content root is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Pauses between attempts to reach a lost store.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// After a signal, a run that does not come to its end is left where it is; the next one finishes it.
const ENDING_MAX: Duration = Duration::from_secs(10);

/// How one run is told.
pub trait Voice: Send + Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
    /// The run ended.
    fn finish(&self, end: &End<'_>) -> Result<(), Failure>;
}

/// Makes the voice of each run.
pub type Voices<'a> = dyn Fn() -> Result<Arc<dyn Voice>, Failure> + Sync + 'a;

/// Watches until a signal comes.
pub async fn run(settings: &Settings, host: &Host, voices: &Voices<'_>) -> Result<Exit, Failure> {
    let mut settings = settings.clone();
    settings.revision = Revision::Without;
    settings.policy.keep_going = true;
    settings.policy.allow_empty = true;
    let root = settings.content.root.value.clone();
    // Eyes first: what is saved while the first run is at work is seen.
    let (tell, told) = unbounded_channel();
    let identity = eyes::identity(&root);
    let eyes = Eyes::open(&root, tell.clone())?;
    let mut session = Session {
        settings: &settings,
        host,
        voices,
        store: open::open(&settings)?,
        memory: Memory::default(),
        read: None,
        runs: 0,
    };
    let interrupted = || host.interrupted().unwrap_or(Exit::Interrupted);
    match session.attempt().await {
        None => return Ok(interrupted()),
        Some(first) => first?,
    }
    let mut watching = Watching { root: identity, eyes: Some(eyes), tell, told, pause: None };
    loop {
        let Some(why) = watching.wait(&root, host).await else { return Ok(interrupted()) };
        match why {
            Why::Changed | Why::Again => {}
            Why::Gone => {
                session.note(&format!("{} is gone; waiting for it", settings.content.here))?;
                continue;
            }
            Why::Back => session.note(&format!("{} is there again", settings.content.here))?,
        }
        match session.attempt().await {
            None => return Ok(interrupted()),
            Some(Ok(())) => watching.pause = None,
            Some(Err(failure)) => watching.failed(&session, &failure)?,
        }
    }
}

/// What ended a wait.
enum Why {
    /// Something was saved.
    Changed,
    /// The store is tried again.
    Again,
    /// The content root went away.
    Gone,
    /// The content root is there again, or another one is.
    Back,
}

struct Watching {
    root: Option<eyes::Identity>,
    eyes: Option<Eyes>,
    tell: UnboundedSender<()>,
    told: UnboundedReceiver<()>,
    /// Until when the store is left alone, and the pause that led there.
    pause: Option<(Instant, Duration)>,
}

impl Watching {
    /// Waits for something to do; `None`: a signal came.
    async fn wait(&mut self, root: &Path, host: &Host) -> Option<Why> {
        loop {
            if let Some(why) = self.look(root) {
                return Some(why);
            }
            let due = self.pause.map(|(due, _)| due);
            tokio::select! {
                () = host.cancel.cancelled() => return None,
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = async { tokio::time::sleep_until(due.unwrap_or_else(Instant::now)).await }, if due.is_some() => {
                    return Some(Why::Again);
                }
                // While the store is away, what is saved is read when it is back.
                Some(()) = self.told.recv(), if due.is_none() => {
                    self.settle().await;
                    // A root that went away is told by `look`.
                    if self.root.is_some() && eyes::identity(root) == self.root {
                        return Some(Why::Changed);
                    }
                }
            }
        }
    }

    /// Whether the content root is the one that is watched.
    fn look(&mut self, root: &Path) -> Option<Why> {
        let now = eyes::identity(root);
        if now == self.root {
            return None;
        }
        self.eyes = None;
        if now.is_none() {
            self.root = None;
            return Some(Why::Gone);
        }
        // A root that cannot be watched yet is looked for again.
        self.eyes = Eyes::open(root, self.tell.clone()).ok();
        self.eyes.as_ref()?;
        self.root = now;
        Some(Why::Back)
    }

    /// Waits until a burst of saves has ended.
    async fn settle(&mut self) {
        let end = Instant::now() + BURST_MAX;
        while Instant::now() < end {
            match tokio::time::timeout(QUIET, self.told.recv()).await {
                Ok(Some(())) => {}
                Ok(None) | Err(_) => break,
            }
        }
        while self.told.try_recv().is_ok() {}
    }

    /// A run that failed: a store that is away is tried again, everything else waits for the next save.
    fn failed(&mut self, session: &Session<'_>, failure: &Failure) -> Result<(), Failure> {
        session.tell(|voice| voice.finish(&End::Failed(failure)))?;
        let before = self.pause.take();
        if failure.exit == Exit::Unreachable {
            let pause = before.map_or(PAUSE_MIN, |(_, pause)| (pause * 2).min(PAUSE_MAX));
            self.pause = Some((Instant::now() + pause, pause));
            session.note(&format!(
                "trying again in {} s; what is saved meanwhile is not lost",
                pause.as_secs()
            ))?;
        }
        Ok(())
    }
}

/// Everything that one run hands to the next.
struct Session<'a> {
    settings: &'a Settings,
    host: &'a Host,
    voices: &'a Voices<'a>,
    store: Arc<dyn Store>,
    memory: Memory,
    /// What was read for the last run, if it ended with nothing left to do.
    read: Option<String>,
    runs: u64,
}

impl Session<'_> {
    fn tell(&self, say: impl Fn(&dyn Voice) -> Result<(), Failure>) -> Result<(), Failure> {
        let voice = (self.voices)()?;
        say(voice.as_ref())
    }

    fn note(&self, text: &str) -> Result<(), Failure> {
        self.tell(|voice| {
            voice.event(&Event::Note(text));
            Ok(())
        })
    }

    /// One run to its end; `None`: a signal came.
    async fn attempt(&mut self) -> Option<Result<(), Failure>> {
        let cancel = self.host.cancel.clone();
        let result = {
            let run = self.once();
            tokio::pin!(run);
            tokio::select! {
                result = &mut run => result,
                () = cancel.cancelled() => match tokio::time::timeout(ENDING_MAX, &mut run).await {
                    Ok(result) => result,
                    Err(_) => return None,
                },
            }
        };
        (!cancel.is_cancelled()).then_some(result)
    }

    /// Reads the tree, and runs if it says something else than the last time.
    async fn once(&mut self) -> Result<(), Failure> {
        let gathered = gather::gather(self.settings, self.host.clock.now())?;
        let read = digest(&gathered);
        if self.read.as_ref() == Some(&read) {
            return Ok(());
        }
        self.read = None;
        self.runs += 1;
        let mut host = self.host.clone();
        host.seed = host.seed.wrapping_add(self.runs);
        let voice = (self.voices)()?;
        let outcome = match self.ingest(&host, &gathered, voice.as_ref()).await {
            Ok(outcome) => outcome,
            Err(failure) => {
                // A new connection: what is left of the old one may be what is broken.
                self.store = open::open(self.settings)?;
                return Err(failure);
            }
        };
        let (plan, composer, run) = (&outcome.plan, &outcome.composer, &outcome.report);
        voice.finish(&End::Run { plan, changes: &[], composer, run })?;
        if outcome.report.failed.is_empty() && outcome.plan.summary.conflict == 0 {
            self.read = Some(read);
        }
        match outcome.report.exit {
            Exit::Unreachable => Err(Failure::new(Exit::Unreachable, "the store did not answer in time")),
            _ => Ok(()),
        }
    }

    async fn ingest(
        &mut self,
        host: &Host,
        gathered: &Gathered,
        voice: &dyn Voice,
    ) -> Result<Outcome, Failure> {
        let (settings, store) = (self.settings, self.store.clone());
        let events = |event: &Event<'_>| voice.event(event);
        events(&Event::Target(&store.target()));
        for diagnostic in &gathered.catalog.diagnostics {
            events(&Event::Problem(diagnostic));
        }
        let objects = assets::open(settings)?;
        let rows;
        let mut executor = operation::executor(settings, host, store.as_ref(), &events, None);
        let composer = gathered.composer();
        executor.composer = composer.clone();
        if let Some(objects) = &objects {
            rows = assets::rows(settings, host, store.as_ref(), objects, &gathered.sources, &executor.writer);
            executor.promoter = Some(&rows);
        }
        operation::connect(&executor).await?;
        let policy = Policies { settings, revision: None }.policy(gathered, store.as_ref());
        self.memory.begins(&executor.writer.run_id);
        let planner = WatchPlanner {
            tree: TreePlanner {
                catalog: &gathered.catalog,
                links: &gathered.links,
                policy: &policy,
                composer: &composer,
                repair: false,
            },
            sources: sources(gathered),
            memory: Mutex::new(&mut self.memory),
        };
        let review = |plan: &mut Plan, observed: &Observed| {
            observe::note_defaults(plan, observed, settings, &gathered.catalog);
            observe::note_settings(plan);
            ingest::refusal(plan, settings, gathered, &events)
        };
        // Every save is an intent of its own: its operation id is its run's.
        let asked = Asked { verb: "watch", about: Vec::new(), planner: &planner, review: &review };
        operation::carry_out(settings, host, &executor, asked).await
    }
}

/// What the tree says, as far as a run depends on it.
fn digest(gathered: &Gathered) -> String {
    let catalog = &gathered.catalog;
    let posts = catalog.posts.iter().zip(&gathered.links).map(|(post, links)| {
        (&post.file, post.source_hash.as_str(), links.assets_hash.as_ref().map(ToString::to_string))
    });
    let held = catalog.held.iter().map(|(skip, post)| (skip.as_str(), &post.file));
    let problems = catalog.diagnostics.iter().map(|one| (&one.file, one.line, one.column, &one.message));
    format!(
        "{:?}",
        (posts.collect::<Vec<_>>(), held.collect::<Vec<_>>(), &catalog.invalid, problems.collect::<Vec<_>>())
    )
}

/// File to the digest of what it says now.
fn sources(gathered: &Gathered) -> HashMap<String, String> {
    let held = gathered.catalog.held.iter().map(|(_, post)| post);
    gathered
        .catalog
        .posts
        .iter()
        .chain(held)
        .map(|post| (post.file.clone(), post.source_hash.as_str().to_owned()))
        .collect()
}

/// Plans the tree, and refuses what would go over something that nobody here has seen.
struct WatchPlanner<'a> {
    tree: TreePlanner<'a>,
    sources: HashMap<String, String>,
    memory: Mutex<&'a mut Memory>,
}

impl WatchPlanner<'_> {
    fn memory<T>(&self, work: impl FnOnce(&mut Memory) -> T) -> T {
        work(&mut self.memory.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

#[async_trait]
impl Planner for WatchPlanner<'_> {
    /// The stored documents of what would be written are read whole: somebody may have changed a field
    /// and left the bookkeeping as it was.
    async fn observe(
        &self,
        executor: &Executor<'_>,
        rows: &Rows<'_>,
        others: Others,
    ) -> Result<Observed, Fault> {
        let observed = self.tree.observe(executor, rows, others).await?;
        if self.memory(|memory| memory.is_new()) {
            return Ok(observed);
        }
        let plan = self.tree.plan(&observed);
        let written: Vec<_> = observed
            .heads
            .iter()
            .filter(|head| {
                plan.operations.iter().any(|one| one.id == head.id && one.action == Action::Update)
            })
            .cloned()
            .collect();
        let drifted = planner::drifted(executor, executor.store, &written).await?;
        self.memory(|memory| memory.drifted = drifted);
        Ok(observed)
    }

    fn plan(&self, observed: &Observed) -> Plan {
        let mut plan = self.tree.plan(observed);
        self.memory(|memory| memory.review(&mut plan, observed, &self.sources));
        plan
    }

    fn plan_again(&self, operation: &Operation, observed: &Observed) -> Option<Arc<Operation>> {
        self.tree.plan_again(operation, observed)
    }

    fn nothing(&self) -> Plan {
        self.tree.nothing()
    }

    fn fences(&self) -> bool {
        self.tree.fences()
    }

    fn settings(&self) -> Option<&IdentitySettings> {
        self.tree.settings()
    }
}
