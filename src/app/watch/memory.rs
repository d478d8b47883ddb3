//! What the store held when it was last seen here, so that nobody's edit is overwritten unread.
//!
//! A post that another process wrote, or whose fields somebody changed by hand, is refused once and shown.
//! An edit of its file after that is an answer: it is put over what was shown. Pure.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::plan::{Action, Observed, Operation, Plan, Reason};
use crate::store::document::Head;

/// One state of a stored post.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    version: i64,
    source_hash: Option<String>,
    drifted: bool,
}

/// A post that was refused: what was stored, and what its file said then.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Refused {
    stored: State,
    file: Option<String>,
}

/// What is remembered between the runs of one watch.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Our own runs: what they wrote is known.
    runs: BTreeSet<String>,
    known: HashMap<String, State>,
    refused: HashMap<String, Refused>,
    /// Whether a plan was made before: the first one sees everything for the first time.
    planned: bool,
    /// Posts that would be written and whose stored content is not what its digest says.
    pub(super) drifted: BTreeSet<String>,
}

impl Memory {
    /// A run of ours begins.
    pub(super) fn begins(&mut self, run_id: &str) {
        self.runs.insert(run_id.to_owned());
    }

    /// Whether nothing is known yet.
    pub(super) fn is_new(&self) -> bool {
        !self.planned
    }

    /// Refuses what would go over a change that was not seen here, and remembers what is seen now.
    /// `sources` is what each file says.
    pub(super) fn review(&mut self, plan: &mut Plan, observed: &Observed, sources: &HashMap<String, String>) {
        let heads: HashMap<&str, &Head> =
            observed.heads.iter().map(|head| (head.id.as_str(), head)).collect();
        let mut refused = HashMap::new();
        for operation in plan.operations.iter_mut().filter(|operation| operation.action.writes()) {
            let Some(head) = heads.get(operation.id.as_str()) else { continue };
            let stored = self.state(head);
            if !self.planned || !self.is_foreign(head, &stored) {
                continue;
            }
            let file = operation.file.as_ref().and_then(|file| sources.get(file)).cloned();
            let answered = self
                .refused
                .get(&operation.id)
                .is_some_and(|before| before.stored == stored && before.file != file);
            if answered {
                continue;
            }
            let taken = plan.summary.count(operation.action);
            *taken = taken.saturating_sub(1);
            plan.summary.conflict += 1;
            refuse(Arc::make_mut(operation), head, &stored);
            refused.insert(operation.id.clone(), Refused { stored, file });
        }
        for head in &observed.heads {
            if !refused.contains_key(&head.id) {
                self.known.insert(head.id.clone(), self.state(head));
            }
        }
        // What was refused before and asks for no write now is settled.
        self.refused = refused
            .into_iter()
            .map(|(id, now)| match self.refused.remove(&id) {
                Some(before) if before.stored == now.stored => (id, before),
                _ => (id, now),
            })
            .collect();
        self.planned = true;
    }

    fn state(&self, head: &Head) -> State {
        State {
            version: head.version(),
            source_hash: head.source_hash.clone(),
            drifted: self.drifted.contains(&head.id),
        }
    }

    /// Whether somebody else left this, and it was not seen here.
    fn is_foreign(&self, head: &Head, stored: &State) -> bool {
        let ours = head.ingest.as_ref().is_some_and(|ingest| self.runs.contains(&ingest.run_id));
        stored.drifted || (!ours && self.known.get(&head.id) != Some(stored))
    }
}

/// Turns a write into a refusal that says who was there.
fn refuse(operation: &mut Operation, head: &Head, stored: &State) {
    let run = head.ingest.as_ref().map(|ingest| ingest.run_id.as_str()).unwrap_or_default();
    let detail = if stored.drifted {
        format!("fields of the stored post were changed since run {run} wrote version {}", stored.version)
    } else {
        format!("run {run} wrote version {} of it meanwhile", stored.version)
    };
    operation.action = Action::Conflict;
    operation.reason = Reason {
        code: "changed-meanwhile",
        detail,
        help: "`idempost diff -v` shows both; edit and save the file to put it over what is stored"
            .to_owned(),
    };
    operation.expected_version = None;
    operation.content = None;
    operation.stamp = None;
}
