//! What a read-back says about a statement whose outcome is not known (`DESIGN` 5, lost replies).
//! Pure.

use super::statement::Left;
use crate::plan::Operation;
use crate::store::document::{Head, Status};

/// The verdict on one statement after its post was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Stored is exactly what this statement leaves.
    Done,
    /// Another run left the same content: nothing is to do.
    DoneByOther,
    /// Stored is what the plan saw: send again.
    SendAgain,
    /// Another run holds the claim on this post until then (Unix milliseconds): wait, read again.
    Wait(i64),
    /// The race is lost, but what is stored was only re-stamped or is of a lower revision: this post
    /// may be planned again.
    PlanAgain,
    /// The race is lost to other content. Never overwritten.
    Lost,
}

/// What a run knows about itself when it judges.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// Our run.
    pub run_id: &'a str,
    /// Our revision.
    pub revision: Option<i64>,
    /// Now, Unix milliseconds.
    pub now: i64,
    /// Always true but in the test that shows why.
    pub by_version: bool,
}

impl Judge<'_> {
    /// Judges by the post's own head and, for a post that is to be live, by another live post of the
    /// same slug and language.
    pub fn judge(
        &self,
        operation: &Operation,
        left: &Left,
        head: Option<&Head>,
        rival: Option<&Head>,
    ) -> Verdict {
        let Some(head) = head else {
            return match (operation.expected_version, rival) {
                (None, None) => Verdict::SendAgain,
                (None, Some(rival)) => self.after_loss(operation, rival),
                // Somebody deleted the document; that is not ours to undo.
                (Some(_), _) => Verdict::Lost,
            };
        };
        let Some(ingest) = &head.ingest else {
            return Verdict::Lost;
        };
        // Knowing one's own write by the run alone would take an earlier step of ours for this one.
        let same_run = ingest.run_id == self.run_id;
        let same_content = ingest.content_hash == left.ingest.content_hash;
        if same_run && !self.by_version {
            return Verdict::Done;
        }
        let same_step =
            ingest.version == left.ingest.version && head.status == left.status && claim_fits(left, head);
        if same_run && same_step && (same_content || left.ingest.claim.is_some()) {
            return Verdict::Done;
        }
        if operation.expected_version == Some(head.version())
            && operation
                .seen
                .as_ref()
                .is_some_and(|seen| seen.status == head.status && seen.source_hash == head.source_hash)
        {
            return match rival {
                Some(rival) => self.after_loss(operation, rival),
                None => Verdict::SendAgain,
            };
        }
        let outranks = outranks(self.revision, ingest.revision);
        if let Some(claim) = &ingest.claim {
            if claim.run_id != self.run_id && claim.until > self.now && !outranks {
                return Verdict::Wait(claim.until);
            }
            if head.status == Status::Publishing && !same_run {
                return Verdict::PlanAgain;
            }
        }
        if same_content && head.status == wanted(left) && ingest.claim.is_none() && !outranks {
            return Verdict::DoneByOther;
        }
        if operation.content.is_none()
            && left.status == Status::Archived
            && head.status == Status::Archived
            && !outranks
        {
            return Verdict::DoneByOther;
        }
        self.after_loss(operation, head)
    }

    /// Whether a lost post may be planned again: it was only re-stamped since the plan, or what is
    /// stored is of a lower revision. A run without a revision never plans again over changed content.
    fn after_loss(&self, operation: &Operation, stored: &Head) -> Verdict {
        let Some(ingest) = &stored.ingest else {
            return Verdict::Lost;
        };
        let only_restamped = operation
            .seen
            .as_ref()
            .is_some_and(|seen| seen.source_hash == stored.source_hash && seen.status == stored.status);
        let released = stored.status == Status::Publishing && ingest.claim.is_none();
        let outranks = outranks(self.revision, ingest.revision);
        if only_restamped || outranks || released { Verdict::PlanAgain } else { Verdict::Lost }
    }
}

/// Whether a run of revision `ours` goes before what a run of revision `theirs` left. Without a revision on
/// either side there is no order.
pub(super) fn outranks(ours: Option<i64>, theirs: Option<i64>) -> bool {
    matches!((ours, theirs), (Some(ours), Some(theirs)) if theirs < ours)
}

/// The status that the operation ends in; a claim is only a step on the way to `active`.
fn wanted(left: &Left) -> Status {
    if left.status == Status::Publishing { Status::Active } else { left.status.clone() }
}

fn claim_fits(left: &Left, head: &Head) -> bool {
    let stored = head.ingest.as_ref().and_then(|ingest| ingest.claim.as_ref());
    stored == left.ingest.claim.as_ref()
}
