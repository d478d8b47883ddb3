//! One batch from its first send until every post of it is settled.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::cut::cut;
use super::history::Write;
use super::retry::PLAN_AGAIN_MAX;
use super::settle::{Judge, Verdict};
use super::statement::{Prepared, Writer, left, prepare};
use super::{Executor, Settled, Supervisor};
use crate::identity::ContentHash;
use crate::plan::check::statement_bytes;
use crate::plan::compose::Written;
use crate::plan::lifecycle::By;
use crate::plan::{Action, Operation, Reason, Seen, Stamp};
use crate::report::event::{Event, FailedPost};
use crate::store::document::{Head, Ingest, Status};
use crate::store::{Class, Effect, Fault, Statement};

/// A post on its way.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) operation: Arc<Operation>,
    prepared: Prepared,
    sends: u32,
    plans: u32,
    /// A send of it may still land.
    in_doubt: bool,
}

impl Pending {
    pub(super) fn new(operation: Arc<Operation>, prepared: Prepared) -> Self {
        Pending { operation, prepared, sends: 0, plans: 0, in_doubt: false }
    }

    /// The write, for its before-image.
    pub(super) fn write(&self) -> Write<'_> {
        Write { operation: &self.operation, content_hash: &self.prepared.left.ingest.content_hash }
    }

    /// How it ends where nothing of it was sent.
    pub(super) fn unsent(self, fault: &Fault) -> (Arc<Operation>, Settled) {
        let ended = failed(&self.operation, fault, 0);
        (self.operation, ended)
    }

    fn bytes(&self) -> usize {
        statement_bytes(&self.prepared.statement)
    }

    /// The statement, to be sent once more.
    fn lend(&mut self) -> Statement {
        self.sends += 1;
        let nothing = Statement::Create { document: bson::Document::new() };
        std::mem::replace(&mut self.prepared.statement, nothing)
    }
}

/// The compare-and-set that archives what an applied operation made live.
pub(super) fn undo(
    operation: &Operation,
    content_hash: Option<&ContentHash>,
    writer: &Writer,
) -> Option<Pending> {
    let left = left(operation, content_hash, writer)?.ingest;
    let undo = Operation {
        action: Action::Archive,
        by: By::Ingest,
        reason: Reason::of("late"),
        expected_version: Some(left.version),
        content: None,
        seen: Some(Seen {
            version: left.version,
            status: Status::Active,
            source_hash: operation.content.as_ref().and_then(Written::source_hash).map(str::to_owned),
            revision: left.revision,
            claim: None,
        }),
        stamp: Some(Stamp {
            status: Status::Archived,
            ingest: Ingest { version: left.version.saturating_add(1), live_by: None, ..left },
            assets: Vec::new(),
        }),
        ..operation.clone()
    };
    let prepared = prepare(&undo, None, writer)?;
    Some(Pending::new(Arc::new(undo), prepared))
}

/// What is to be done with a post after a send.
enum Next {
    Done,
    Failed(Fault),
    ReadBack(Option<Fault>),
    SendAgain(Fault),
}

impl Executor<'_> {
    /// Composes and sends a batch until each of its posts is settled.
    pub(super) async fn settle_batch(
        &self,
        batch: Vec<Arc<Operation>>,
        supervisor: &dyn Supervisor,
        all: usize,
    ) -> Vec<(Arc<Operation>, Settled)> {
        if self.is_stopped() {
            return batch.into_iter().map(|operation| (operation, Settled::NotTried)).collect();
        }
        if self.guards.look_before_each_batch && super::lock(&self.state.late).is_some() {
            return batch.into_iter().map(|operation| (operation, Settled::Stale)).collect();
        }
        let mut settled = Vec::with_capacity(batch.len());
        let mut pending: Vec<Pending> = Vec::with_capacity(batch.len());
        let composed = self.compose(&batch).await;
        for (operation, composed) in batch.into_iter().zip(composed) {
            match self.prepared(&operation, composed) {
                Ok(Some(ready)) => pending.push(ready),
                Ok(None) => {}
                Err(ended) => {
                    self.tell(&operation, &ended, all);
                    settled.push((operation, ended));
                }
            }
        }
        let limits = self.store.limits();
        for part in cut(pending, Pending::bytes, limits.statements_max.max(1), limits.batch_bytes_max) {
            settled.extend(self.settle_part(part, supervisor, all).await);
        }
        settled
    }

    fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.state.out_of_time.load(Ordering::Relaxed)
    }

    /// Sends what fits into one command until each of its posts is settled.
    async fn settle_part(
        &self,
        mut pending: Vec<Pending>,
        supervisor: &dyn Supervisor,
        all: usize,
    ) -> Vec<(Arc<Operation>, Settled)> {
        let as_one = |pending: Vec<Pending>, ended: Settled| {
            pending.into_iter().map(|one| (one.operation, ended.clone())).collect()
        };
        let told = |(operation, ended): (Arc<Operation>, Settled)| {
            self.tell(&operation, &ended, all);
            (operation, ended)
        };
        if self.is_stopped() {
            return as_one(pending, Settled::NotTried);
        }
        supervisor.alive().await;
        if self.guards.look_before_each_batch && self.is_late(supervisor).await {
            return as_one(pending, Settled::Stale);
        }
        if let Err(fault) = self.remember(&pending, supervisor, false).await {
            return pending.into_iter().map(|one| told(one.unsent(&fault))).collect();
        }
        let mut settled = Vec::with_capacity(pending.len());
        while !pending.is_empty() {
            let (done, again) = self.round(pending, Some(supervisor)).await;
            settled.extend(done.into_iter().map(told));
            pending = again;
        }
        settled
    }

    /// Settles one statement without planning again.
    pub(super) async fn settle_one(&self, pending: Pending) -> Settled {
        let mut pending = vec![pending];
        loop {
            let (done, again) = self.round(pending, None).await;
            if let Some((_, ended)) = done.into_iter().next() {
                return ended;
            }
            if again.is_empty() {
                return Settled::NotTried;
            }
            pending = again;
        }
    }

    pub(super) fn tell(&self, operation: &Operation, ended: &Settled, all: usize) {
        match ended {
            Settled::Applied(action) => self.applied(operation, *action, all),
            Settled::ByOther => self.applied(operation, Action::Unchanged, all),
            Settled::Conflict(failed) | Settled::Failed(failed, _) => (self.events)(&Event::Failed(failed)),
            Settled::NotTried | Settled::Stale => {}
        }
    }

    /// One send, one read-back of what is in doubt, one pause where something is to be sent again.
    pub(super) async fn round(
        &self,
        mut pending: Vec<Pending>,
        supervisor: Option<&dyn Supervisor>,
    ) -> (Vec<(Arc<Operation>, Settled)>, Vec<Pending>) {
        // The statements are lent to the store and put back: a document is in memory once.
        let statements: Vec<Statement> = pending.iter_mut().map(Pending::lend).collect();
        let nexts = self.sent(&statements, self.store.write(&statements).await);
        for (one, statement) in pending.iter_mut().zip(statements) {
            one.prepared.statement = statement;
        }
        let mut done = Vec::new();
        let mut again = Vec::new();
        let mut doubtful = Vec::new();
        let mut worst: Option<Fault> = None;
        for (mut one, next) in pending.into_iter().zip(nexts) {
            match next {
                Next::Done => done.push(applied(one)),
                Next::Failed(fault) => done.push(self.give_up(one, fault)),
                Next::SendAgain(fault) => {
                    if self.may_send_again(fault.class, one.sends) {
                        again.push(one);
                        worst = Some(longer(worst, fault));
                    } else {
                        done.push(self.give_up(one, fault));
                    }
                }
                Next::ReadBack(fault) => {
                    one.in_doubt |= fault.as_ref().is_none_or(|fault| fault.class != Class::Conflict);
                    doubtful.push((one, fault));
                }
            }
        }
        if !doubtful.is_empty() {
            self.read_back(doubtful, supervisor, &mut done, &mut again, &mut worst).await;
        }
        if !again.is_empty() {
            let sends = again.iter().map(|one| one.sends).max().unwrap_or(1).max(1);
            if again.iter().any(|one| one.sends > 0) {
                self.pause(sends, worst.as_ref()).await;
            }
        }
        (done, again)
    }

    /// What each statement's part of a reply asks for.
    fn sent(&self, statements: &[Statement], reply: Result<Vec<Effect>, Fault>) -> Vec<Next> {
        match reply {
            Ok(effects) if effects.len() == statements.len() => {
                effects.into_iter().map(|effect| self.effect(effect)).collect()
            }
            Ok(_) => statements.iter().map(|_| Next::ReadBack(None)).collect(),
            Err(fault) => statements.iter().map(|_| self.fault(fault.clone())).collect(),
        }
    }

    fn effect(&self, effect: Effect) -> Next {
        match effect {
            Effect::Applied => Next::Done,
            Effect::Existed if !self.guards.matched_create_is_no_success => Next::Done,
            Effect::Existed | Effect::Unmatched | Effect::Untold if !self.guards.read_back => Next::Done,
            Effect::Existed | Effect::Unmatched | Effect::Untold => Next::ReadBack(None),
            Effect::Failed(fault) => self.fault(fault),
        }
    }

    fn fault(&self, fault: Fault) -> Next {
        match fault.class {
            Class::NotSent | Class::NotApplied => Next::SendAgain(fault),
            Class::Permanent | Class::Auth => Next::Failed(fault),
            Class::Unknown | Class::AppliedNotDurable if !self.guards.read_back => Next::SendAgain(fault),
            Class::Unknown | Class::AppliedNotDurable | Class::Conflict => Next::ReadBack(Some(fault)),
        }
    }

    /// Reads the doubtful posts back and judges each.
    async fn read_back(
        &self,
        doubtful: Vec<(Pending, Option<Fault>)>,
        supervisor: Option<&dyn Supervisor>,
        done: &mut Vec<(Arc<Operation>, Settled)>,
        again: &mut Vec<Pending>,
        worst: &mut Option<Fault>,
    ) {
        let operations: Vec<&Operation> = doubtful.iter().map(|(one, _)| one.operation.as_ref()).collect();
        let (heads, live) = match self.fresh(&operations).await {
            Ok(found) => found,
            Err(fault) => {
                self.state.unsettled.store(true, Ordering::Relaxed);
                done.extend(doubtful.into_iter().map(|(one, _)| self.give_up(one, fault.clone())));
                return;
            }
        };
        for (one, fault) in doubtful {
            let head = heads.get(&one.operation.id);
            let rival = rival(&one, &live);
            let judge = Judge {
                run_id: &self.writer.run_id,
                revision: self.revision,
                now: self.clock.now(),
                by_version: self.guards.own_write_by_version,
            };
            let verdict = judge.judge(&one.operation, &one.prepared.left, head, rival);
            match verdict {
                Verdict::Done => done.push(applied(one)),
                Verdict::DoneByOther => done.push((one.operation, Settled::ByOther)),
                Verdict::SendAgain => {
                    let fault =
                        fault.unwrap_or_else(|| Fault::new(Class::Unknown, "the outcome is not known"));
                    // A refusal by the index with nothing in the way any more: the rival left meanwhile.
                    let class = if fault.class == Class::Conflict { Class::Unknown } else { fault.class };
                    if self.may_send_again(class, one.sends) {
                        *worst = Some(longer(worst.take(), fault));
                        again.push(one);
                    } else {
                        done.push(self.give_up(one, fault));
                    }
                }
                Verdict::Wait(until) => {
                    let left = u64::try_from(until.saturating_sub(self.clock.now())).unwrap_or(0);
                    tokio::time::sleep(std::time::Duration::from_millis(left.clamp(10, 1_000))).await;
                    let mut one = one;
                    one.sends = 0;
                    if self.may_send_again(Class::NotApplied, 1) {
                        again.push(one);
                    } else {
                        done.push(
                            self.give_up(one, Fault::new(Class::NotApplied, "another run holds the claim")),
                        );
                    }
                }
                Verdict::PlanAgain => {
                    let fresh: Vec<Head> = head.into_iter().chain(rival).cloned().collect();
                    match self.plan_again(one, fresh, supervisor).await {
                        Ok(next) => again.push(next),
                        Err(ended) => done.push(*ended),
                    }
                }
                Verdict::Lost => {
                    self.doubt_of_absent(&one, head);
                    let ended = lost(&one, head.or(rival));
                    done.push((one.operation, ended));
                }
            }
        }
    }

    /// Plans a post again, at most three times, after looking at the other runs again.
    async fn plan_again(
        &self,
        one: Pending,
        fresh: Vec<Head>,
        supervisor: Option<&dyn Supervisor>,
    ) -> Result<Pending, Box<(Arc<Operation>, Settled)>> {
        let stored = fresh.iter().find(|head| head.id == one.operation.id);
        let Some(supervisor) = supervisor.filter(|_| one.plans < PLAN_AGAIN_MAX) else {
            let ended = lost(&one, stored);
            return Err(Box::new((one.operation, ended)));
        };
        let others = match self.persist(|| supervisor.look()).await {
            Ok(others) => others,
            Err(fault) => {
                let ended = self.give_up(one, fault);
                return Err(Box::new(ended));
            }
        };
        if let Some(late) = &others.late {
            *super::lock(&self.state.late) = Some(late.clone());
            self.doubt_of_absent(&one, stored);
            return Err(Box::new((one.operation, Settled::Stale)));
        }
        self.doubt_of_absent(&one, stored);
        let Some(next) = supervisor.plan_again(&one.operation, &fresh, &others) else {
            return Err(Box::new((one.operation, Settled::ByOther)));
        };
        match next.action {
            Action::Conflict => {
                let message = next.reason.detail.clone();
                let ended = Settled::Conflict(failed_post(&next, next.reason.code, message, one.sends));
                return Err(Box::new((next, ended)));
            }
            Action::Stale => return Err(Box::new((next, Settled::Stale))),
            _ => {}
        }
        match self.ready(&next).await {
            Ok(Some(ready)) => {
                if let Err(fault) = self.remember(std::slice::from_ref(&ready), supervisor, true).await {
                    self.state.unsettled.fetch_or(one.in_doubt, Ordering::Relaxed);
                    return Err(Box::new(ready.unsent(&fault)));
                }
                Ok(Pending { plans: one.plans + 1, in_doubt: one.in_doubt, ..ready })
            }
            Ok(None) => Err(Box::new((next, Settled::ByOther))),
            Err(ended) => {
                if one.in_doubt {
                    self.state.unsettled.store(true, Ordering::Relaxed);
                }
                Err(Box::new((next, ended)))
            }
        }
    }

    /// A send that may still land on a post that is not there is not settled by reading nothing.
    fn doubt_of_absent(&self, one: &Pending, head: Option<&Head>) {
        if one.in_doubt && head.is_none() {
            self.state.unsettled.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn give_up(&self, one: Pending, fault: Fault) -> (Arc<Operation>, Settled) {
        if one.in_doubt || matches!(fault.class, Class::Unknown | Class::AppliedNotDurable) {
            self.state.unsettled.store(true, Ordering::Relaxed);
        }
        let fault = super::exhausted(fault, one.sends, self.idle());
        let ended = failed(&one.operation, &fault, one.sends);
        (one.operation, ended)
    }

    /// Fresh heads by id, and the live heads by slug and language, of these posts.
    pub(super) async fn fresh(
        &self,
        operations: &[&Operation],
    ) -> Result<(HashMap<String, Head>, Vec<Head>), Fault> {
        let ids: Vec<String> = operations.iter().map(|operation| operation.id.clone()).collect();
        let keys: Vec<(String, String)> = operations
            .iter()
            .filter(|operation| matches!(operation.action, Action::Create | Action::Restore))
            .map(|operation| (operation.slug.clone(), operation.lang.clone()))
            .collect();
        let heads = self.persist(|| self.store.heads_of(&ids)).await?;
        let live =
            if keys.is_empty() { Vec::new() } else { self.persist(|| self.store.heads_live(&keys)).await? };
        Ok((heads.into_iter().map(|head| (head.id.clone(), head)).collect(), live))
    }
}

fn applied(one: Pending) -> (Arc<Operation>, Settled) {
    let action = one.operation.action;
    (one.operation, Settled::Applied(action))
}

fn rival<'h>(one: &Pending, live: &'h [Head]) -> Option<&'h Head> {
    if !one.prepared.left.status.is_live() {
        return None;
    }
    live.iter().find(|head| {
        head.id != one.operation.id && head.slug == one.operation.slug && head.lang == one.operation.lang
    })
}

fn longer(a: Option<Fault>, b: Fault) -> Fault {
    match a {
        Some(a) if a.retry_after >= b.retry_after => a,
        _ => b,
    }
}

fn failed(operation: &Operation, fault: &Fault, attempts: u32) -> Settled {
    let message = if fault.help.is_empty() {
        fault.message.clone()
    } else {
        format!("{}; {}", fault.message, fault.help)
    };
    Settled::Failed(failed_post(operation, fault.class.as_str(), message, attempts), fault.class)
}

pub(super) fn failed_post(operation: &Operation, class: &str, message: String, attempts: u32) -> FailedPost {
    FailedPost {
        id: operation.id.clone(),
        file: operation.file.clone(),
        class: class.to_owned(),
        message,
        attempts,
    }
}

/// The message of a lost race names both sides.
pub(super) fn lost(one: &Pending, stored: Option<&Head>) -> Settled {
    let message = match stored.and_then(|head| head.ingest.as_ref().map(|ingest| (head, ingest))) {
        Some((head, ingest)) => format!(
            "another run wrote this post meanwhile: stored is version {} by run {} (status {}, source {}); this run \
             planned on version {}. Nothing was overwritten; run again to plan on what is stored now",
            ingest.version,
            ingest.run_id,
            head.status.as_str(),
            head.source_hash.as_deref().unwrap_or("none"),
            one.operation.expected_version.map_or_else(|| "none".to_owned(), |version| version.to_string()),
        ),
        None => "the stored post was changed or removed by somebody else meanwhile; run again".to_owned(),
    };
    Settled::Conflict(failed_post(&one.operation, "conflict", message, one.sends))
}
