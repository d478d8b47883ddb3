//! Documents are made here, batch by batch, just before they are sent.

use std::sync::Arc;

use rayon::prelude::*;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::batch::{Pending, failed_post};
use super::statement::{self, left, prepare};
use super::{Executor, Settled, lock};
use crate::diagnostic::Diagnostic;
use crate::plan::compose::{CHANGED, Composer, Written, changed};
use crate::plan::{Action, Operation};
use crate::store::Class;
use crate::store::document::Content;
use crate::store::size;

/// What composing one operation gave.
pub(super) type Composed = Result<Option<Content>, Box<Diagnostic>>;

impl Executor<'_> {
    /// The documents of these operations, in their order. Those that are made from files are made on all
    /// cores, beside what is being sent.
    pub(super) async fn compose(&self, operations: &[Arc<Operation>]) -> Vec<Composed> {
        let from_file = |operation: &Arc<Operation>| matches!(operation.content, Some(Written::FromFile(_)));
        // A runtime of one thread has nobody who could go on meanwhile.
        let beside = Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread;
        if !beside || !operations.iter().any(from_file) {
            return operations.iter().map(|operation| self.composer.compose(operation)).collect();
        }
        let (composer, wanted) = (self.composer.clone(), operations.to_vec());
        match tokio::task::spawn_blocking(move || all(&composer, &wanted)).await {
            Ok(composed) => composed,
            Err(lost) => operations.iter().map(|one| Err(composing_lost(one, &lost))).collect(),
        }
    }

    /// Composes and prepares one operation, or says how it ended.
    pub(super) async fn ready(&self, operation: &Arc<Operation>) -> Result<Option<Pending>, Settled> {
        let composed = self.compose(std::slice::from_ref(operation)).await.into_iter().next();
        self.prepared(operation, composed.unwrap_or(Ok(None)))
    }

    /// The statement of a composed operation, or why there is none; `Ok(None)` where it writes nothing.
    pub(super) fn prepared(
        &self,
        operation: &Arc<Operation>,
        composed: Composed,
    ) -> Result<Option<Pending>, Settled> {
        if let Some(ended) = refused(operation) {
            return Err(ended);
        }
        let content = self.fitting(operation, composed)?;
        self.keep_digest(operation, content.as_ref());
        let prepared = prepare(operation, content, &self.writer);
        Ok(prepared.map(|prepared| Pending::new(Arc::clone(operation), prepared)))
    }

    /// The content, where it could be composed and the store takes it.
    pub(super) fn fitting(
        &self,
        operation: &Operation,
        composed: Composed,
    ) -> Result<Option<Content>, Settled> {
        let content = composed.map_err(|problem| failed(operation, &problem))?;
        if let Some(content) = content.as_ref().filter(|_| is_from_file(operation))
            && let Err((code, message, help)) = size::check_limits(&content.fields, &self.store.limits())
        {
            return Err(failed(operation, &Diagnostic::error(code, message).help(help)));
        }
        Ok(content)
    }

    /// Remembers the digest of what is about to be made live, where a newer run may make this one take it
    /// back.
    pub(super) fn keep_digest(&self, operation: &Operation, content: Option<&Content>) {
        if self.revision.is_none() || !matches!(operation.action, Action::Create | Action::Restore) {
            return;
        }
        if let Some(digest) = content.map(|content| content.content_hash.clone())
            && left(operation, Some(&digest), &self.writer).is_some()
        {
            lock(&self.state.digests).insert(operation.id.clone(), digest);
        }
    }
}

/// How a post ends whose transition the lifecycle does not draw.
pub(super) fn refused(operation: &Operation) -> Option<Settled> {
    let message = statement::refused(operation)?;
    let message = format!("{message}; this is a defect of idempost, please report it");
    let class = Class::Permanent;
    Some(Settled::Failed(failed_post(operation, class.as_str(), message, 0), class))
}

fn is_from_file(operation: &Operation) -> bool {
    matches!(operation.content, Some(Written::FromFile(_)))
}

fn all(composer: &Composer, operations: &[Arc<Operation>]) -> Vec<Composed> {
    operations.par_iter().map(|operation| composer.compose(operation)).collect()
}

fn composing_lost(operation: &Operation, lost: &tokio::task::JoinError) -> Box<Diagnostic> {
    let file = operation.file.as_deref().unwrap_or_default();
    changed(file, &format!("making its document was broken off ({lost})"))
}

/// How a post ends whose document cannot be made.
fn failed(operation: &Operation, problem: &Diagnostic) -> Settled {
    let class = if problem.code == CHANGED { CHANGED } else { Class::Permanent.as_str() };
    let message = if problem.help.is_empty() {
        problem.message.clone()
    } else {
        format!("{}; {}", problem.message, problem.help)
    };
    Settled::Failed(failed_post(operation, class, message, 0), Class::Permanent)
}
