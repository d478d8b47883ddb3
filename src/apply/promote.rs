//! Assets are stored before the post that shows them: insert first as the lock, promote, activate.
//!
//! Between the claim and the activation stands nothing but copies under a content address, which may
//! be repeated. Begin at [`Executor::publish`].

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bson::doc;

use super::batch::{Pending, failed_post};
use super::compose;
use super::settle::outranks;
use super::statement::{Left, Prepared, prepare, prepare_claim};
use super::{Executor, Settled, Supervisor};
use crate::plan::compose::Written;
use crate::plan::lifecycle::{self, By};
use crate::plan::{Action, Operation, Reason, Seen, Stamp};
use crate::post::links::Asset;
use crate::store::document::{Claim, Content, Ingest, Status};
use crate::store::{Class, Fault, Statement};

impl Executor<'_> {
    /// The digests that have to be stored before some operation may show its post.
    pub(super) async fn absent_assets(&self, writing: &[&Arc<Operation>]) -> HashSet<String> {
        let Some(promoter) = self.promoter else { return HashSet::new() };
        let assets: Vec<&Asset> = writing.iter().flat_map(|operation| assets_of(operation)).collect();
        promoter.absent(&assets).await
    }
}

/// The assets that an operation's content shows.
pub(super) fn assets_of(operation: &Operation) -> &[Asset] {
    match &operation.stamp {
        Some(stamp) if operation.content.is_some() => &stamp.assets,
        _ => &[],
    }
}

/// A claim that this run holds on a post.
struct Held {
    operation: Arc<Operation>,
    /// What the activation writes.
    content: Option<Content>,
    left: Left,
}

impl Executor<'_> {
    /// Claims one post, stores its assets, and shows it.
    pub(super) async fn publish(
        &self,
        operation: Arc<Operation>,
        supervisor: &dyn Supervisor,
        all: usize,
    ) -> (Arc<Operation>, Settled) {
        let (operation, ended) = self.publish_one(operation, supervisor).await;
        self.tell(&operation, &ended, all);
        (operation, ended)
    }

    async fn publish_one(
        &self,
        operation: Arc<Operation>,
        supervisor: &dyn Supervisor,
    ) -> (Arc<Operation>, Settled) {
        if self.cancel.is_cancelled() {
            return (operation, Settled::NotTried);
        }
        if let Some(ended) = compose::refused(&operation) {
            return (operation, ended);
        }
        supervisor.alive().await;
        if self.is_late(supervisor).await {
            return (operation, Settled::Stale);
        }
        if !self.guards.claim {
            return self.promote_unclaimed(operation).await;
        }
        let mut held = match self.take_claim(operation, supervisor).await {
            Ok(held) => held,
            Err(ended) => return *ended,
        };
        if let Err(fault) = self.promote(&mut held).await {
            return self.release(held, &fault).await;
        }
        if self.is_late(supervisor).await {
            let undone = self.archive_claimed(&held).await;
            return (held.operation, undone);
        }
        let Some(last) = self.activation(&mut held) else {
            return (held.operation, Settled::NotTried);
        };
        let ended = self.settle_one(last).await;
        let ended = match ended {
            Settled::Applied(_) => Settled::Applied(held.operation.action),
            other => other,
        };
        (held.operation, ended)
    }

    /// Takes the claim, waiting for another run's to end. A run of a higher revision does not wait.
    async fn take_claim(
        &self,
        mut operation: Arc<Operation>,
        supervisor: &dyn Supervisor,
    ) -> Result<Held, Box<(Arc<Operation>, Settled)>> {
        loop {
            self.wait_for_claim(&operation).await;
            // Composed before anything is claimed: a file that was changed meanwhile leaves no claim.
            let content = match self.composed(&operation).await {
                Ok(content) => content,
                Err(ended) => return Err(Box::new((operation, ended))),
            };
            let until = self.clock.now().saturating_add(millis(self.claim));
            let Some(prepared) = prepare_claim(&operation, content.clone(), &self.writer, until) else {
                return Err(Box::new((operation, Settled::NotTried)));
            };
            let left = prepared.left.clone();
            let pending = Pending::new(Arc::clone(&operation), prepared);
            if let Err(fault) = self.remember(std::slice::from_ref(&pending), supervisor, true).await {
                return Err(Box::new(pending.unsent(&fault)));
            }
            match self.settle_one(pending).await {
                Settled::Applied(_) => return Ok(Held { operation, content, left }),
                Settled::Conflict(failed) => {
                    let digest = left.ingest.content_hash.as_str();
                    let again = self.plan_claim_again(&operation, digest, supervisor).await;
                    match again {
                        Ok(Some(next)) if next.action == Action::Conflict => {
                            let message = next.reason.detail.clone();
                            let ended = failed_post(&next, next.reason.code, message, failed.attempts);
                            return Err(Box::new((next, Settled::Conflict(ended))));
                        }
                        Ok(Some(next)) if next.content.is_none() => {
                            return Err(Box::new((next, Settled::ByOther)));
                        }
                        Ok(Some(next)) => operation = next,
                        Ok(None) => return Err(Box::new((operation, Settled::Conflict(failed)))),
                        Err(fault) => {
                            let ended = fault_of(&operation, &fault);
                            return Err(Box::new((operation, ended)));
                        }
                    }
                }
                other => return Err(Box::new((operation, other))),
            }
        }
    }

    /// Plans again where the rules of a lost race allow it: the post is in publication by another run
    /// of the same content, or was only re-stamped. `None`: the race is lost.
    async fn plan_claim_again(
        &self,
        operation: &Operation,
        content_hash: &str,
        supervisor: &dyn Supervisor,
    ) -> Result<Option<Arc<Operation>>, Fault> {
        let (heads, live) = self.fresh(&[operation]).await?;
        let head = heads.get(&operation.id);
        let same_content = head
            .and_then(|head| head.ingest.as_ref())
            .is_some_and(|ingest| ingest.content_hash == content_hash);
        let seen_source = operation.seen.as_ref().and_then(|seen| seen.source_hash.clone());
        let only_restamped =
            operation.seen.is_some() && head.is_some_and(|head| head.source_hash == seen_source);
        let theirs = head.and_then(|head| head.ingest.as_ref()?.revision);
        if !(same_content || only_restamped || outranks(self.revision, theirs)) {
            return Ok(None);
        }
        let others = self.persist(|| supervisor.look()).await?;
        let fresh: Vec<_> = head.cloned().into_iter().chain(live).collect();
        Ok(supervisor.plan_again(operation, &fresh, &others))
    }

    /// Waits while another run holds a claim that is not over.
    async fn wait_for_claim(&self, operation: &Operation) {
        let Some(claim) = operation.seen.as_ref().and_then(|seen| seen.claim.as_ref()) else { return };
        let theirs = operation.seen.as_ref().and_then(|seen| seen.revision);
        if outranks(self.revision, theirs) || claim.run_id == self.writer.run_id {
            return;
        }
        while claim.until > self.clock.now() && !self.cancel.is_cancelled() {
            let left = u64::try_from(claim.until.saturating_sub(self.clock.now())).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(left.clamp(10, 500))).await;
            // Released or activated before its time is up: no reason to wait on.
            let Ok((heads, _)) = self.fresh(&[operation]).await else { return };
            let stored = heads.get(&operation.id).and_then(|head| head.ingest.as_ref()?.claim.clone());
            if stored.as_ref().is_none_or(|stored| stored.until != claim.until) {
                return;
            }
        }
    }

    /// Stores what is missing, renewing the claim while at work.
    async fn promote(&self, held: &mut Held) -> Result<(), Fault> {
        let Some(promoter) = self.promoter else { return Ok(()) };
        let assets: Vec<Asset> =
            held.operation.stamp.as_ref().map(|stamp| stamp.assets.clone()).unwrap_or_default();
        for asset in &assets {
            if self.persist(|| promoter.stored(asset)).await? {
                continue;
            }
            let storing = self.persist(|| promoter.store(asset));
            tokio::pin!(storing);
            loop {
                tokio::select! {
                    stored = &mut storing => break stored?,
                    () = tokio::time::sleep(self.claim / 3) => self.renew(held).await?,
                }
            }
        }
        Ok(())
    }

    /// Moves the end of the claim on, by compare-and-set.
    async fn renew(&self, held: &mut Held) -> Result<(), Fault> {
        let until = self.clock.now().saturating_add(millis(self.claim));
        let next = next_step(&held.left, Some(Claim { run_id: self.writer.run_id.clone(), until }));
        let step = step(held, &next, doc! {}, Vec::new());
        match self.settle_one(step).await {
            Settled::Applied(_) => {
                held.left = next;
                Ok(())
            }
            _ => Err(Fault::new(Class::Conflict, "the claim on the post was taken over by another run")),
        }
    }

    /// Gives the claim back after a failed promotion, so that another run need not wait for its end.
    async fn release(&self, held: Held, fault: &Fault) -> (Arc<Operation>, Settled) {
        let next = next_step(&held.left, None);
        let step = step(&held, &next, doc! {}, vec!["ingest.claim".to_owned()]);
        self.settle_one(step).await;
        let ended = fault_of(&held.operation, fault);
        (held.operation, ended)
    }

    /// Takes a claimed post back, if this run made it live.
    async fn archive_claimed(&self, held: &Held) -> Settled {
        if held.left.status != Status::Publishing {
            let next = next_step(&held.left, None);
            self.settle_one(step(held, &next, doc! {}, vec!["ingest.claim".to_owned()])).await;
            return Settled::Stale;
        }
        let next = Left { status: Status::Archived, ..next_step(&held.left, None) };
        if !lifecycle::allowed(Some(&held.left.status), &next.status, By::Ingest) {
            return Settled::Stale;
        }
        let set = doc! { "status": Status::Archived.as_str() };
        self.settle_one(step(held, &next, set, vec!["live".to_owned(), "ingest.claim".to_owned()])).await;
        Settled::Stale
    }

    /// The write that shows the post, on top of the claim.
    fn activation(&self, held: &mut Held) -> Option<Pending> {
        let content = held.content.take();
        let stamp = held.operation.stamp.as_ref()?;
        let before = &held.left;
        let action =
            if held.operation.action == Action::Create { Action::Update } else { held.operation.action };
        let operation = Operation {
            action,
            expected_version: Some(before.ingest.version),
            seen: Some(seen_after(held)),
            stamp: Some(Stamp {
                ingest: Ingest { version: before.ingest.version.saturating_add(1), ..stamp.ingest.clone() },
                ..stamp.clone()
            }),
            ..held.operation.as_ref().clone()
        };
        let prepared = prepare(&operation, content, &self.writer)?;
        Some(Pending::new(Arc::new(operation), prepared))
    }

    /// The content of an operation, composed; how it ended where that cannot be.
    async fn composed(&self, operation: &Arc<Operation>) -> Result<Option<Content>, Settled> {
        let composed = self.compose(std::slice::from_ref(operation)).await.into_iter().next();
        let content = self.fitting(operation, composed.unwrap_or(Ok(None)))?;
        self.keep_digest(operation, content.as_ref());
        Ok(content)
    }

    /// The wrong way, for the test that shows why the claim is needed.
    async fn promote_unclaimed(&self, operation: Arc<Operation>) -> (Arc<Operation>, Settled) {
        let content = match self.composed(&operation).await {
            Ok(content) => content,
            Err(ended) => return (operation, ended),
        };
        let Some(prepared) = prepare(&operation, content, &self.writer) else {
            return (operation, Settled::NotTried);
        };
        let mut held = Held { operation, content: None, left: prepared.left.clone() };
        if let Err(fault) = self.promote_all(&mut held).await {
            let ended = fault_of(&held.operation, &fault);
            return (held.operation, ended);
        }
        let ended = self.settle_one(Pending::new(Arc::clone(&held.operation), prepared)).await;
        (held.operation, ended)
    }

    async fn promote_all(&self, held: &mut Held) -> Result<(), Fault> {
        let Some(promoter) = self.promoter else { return Ok(()) };
        for asset in held.operation.stamp.iter().flat_map(|stamp| &stamp.assets) {
            self.persist(|| promoter.store(asset)).await?;
        }
        Ok(())
    }
}

/// What the planner would see of the post while we hold it.
fn seen_after(held: &Held) -> Seen {
    let new_source = held.operation.content.as_ref().and_then(Written::source_hash);
    let source_hash = match (&held.operation.action, &held.operation.seen) {
        (Action::Create, _) | (_, None) => new_source.map(str::to_owned),
        (_, Some(seen)) => seen.source_hash.clone(),
    };
    Seen {
        version: held.left.ingest.version,
        status: held.left.status.clone(),
        source_hash,
        revision: held.left.ingest.revision,
        claim: held.left.ingest.claim.clone(),
    }
}

/// The next version of a held post, with another claim or none.
fn next_step(left: &Left, claim: Option<Claim>) -> Left {
    Left {
        status: left.status.clone(),
        ingest: Ingest { version: left.ingest.version.saturating_add(1), claim, ..left.ingest.clone() },
    }
}

/// A compare-and-set on a held post that changes its bookkeeping, and `set` and `unset` beside.
fn step(held: &Held, next: &Left, mut set: bson::Document, unset: Vec<String>) -> Pending {
    set.insert("ingest.version", next.ingest.version);
    if let Some(claim) = &next.ingest.claim {
        let until = bson::DateTime::from_millis(claim.until);
        set.insert("ingest.claim", doc! { "runId": &claim.run_id, "until": until });
    }
    let statement = Statement::Update {
        id: held.operation.id.clone(),
        slug: held.operation.slug.clone(),
        lang: held.operation.lang.clone(),
        expected_version: held.left.ingest.version,
        set,
        unset,
    };
    let operation = Operation {
        action: Action::Restamp,
        reason: Reason::of("claim"),
        expected_version: Some(held.left.ingest.version),
        seen: Some(seen_after(held)),
        ..held.operation.as_ref().clone()
    };
    Pending::new(Arc::new(operation), Prepared { statement, left: next.clone() })
}

fn fault_of(operation: &Operation, fault: &Fault) -> Settled {
    Settled::Failed(failed_post(operation, fault.class.as_str(), fault.message.clone(), 1), fault.class)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
