//! What the store holds, and what the next run would do: the plan of `ingest` over the whole tree, of
//! which one post is shown. Writes nothing.

use std::time::Duration;

use crate::config::Settings;
use crate::error::Failure;
use crate::plan::{Observed, Operation, Plan};
use crate::report::json::StoreReport;
use crate::store::document::{Head, Status};

use super::super::gather::Gathered;
use super::super::host::Host;
use super::super::{diff, open, operation};

/// A person waits for the answer: a store that is away is told soon.
const DEADLINE_MAX: Duration = Duration::from_secs(10);

/// The store, looked at once.
pub(super) struct Seen {
    /// What was seen, or why nothing was.
    pub(super) looked: Result<Looked, Failure>,
    source: Option<String>,
}

/// What was seen.
pub(super) struct Looked {
    plan: Plan,
    observed: Observed,
}

/// Looks at the store and plans the tree against it.
pub(super) async fn look(settings: &Settings, host: &Host, gathered: &Gathered) -> Seen {
    Seen { looked: plan(settings, host, gathered).await, source: settings.source.value.clone() }
}

async fn plan(settings: &Settings, host: &Host, gathered: &Gathered) -> Result<Looked, Failure> {
    let store = open::open(settings)?;
    let (revision, _) = settings.source_revision();
    let mut executor = operation::executor(settings, host, store.as_ref(), &|_| {}, revision);
    executor.retry.deadline = executor.retry.deadline.min(DEADLINE_MAX);
    executor.composer = gathered.composer();
    let (plan, observed) = diff::planned(settings, host, &executor, gathered).await?;
    Ok(Looked { plan, observed })
}

impl Seen {
    /// What concerns one post.
    pub(super) fn report(&self, id: Option<&str>, file: Option<&str>) -> StoreReport<'_> {
        let looked = match &self.looked {
            Ok(looked) => looked,
            Err(failure) => {
                return StoreReport { error: Some(failure.message.clone()), ..StoreReport::default() };
            }
        };
        let of_this = |operation: &&Operation| match file {
            Some(file) => operation.file.as_deref() == Some(file),
            None => id == Some(operation.id.as_str()),
        };
        let operations = looked.plan.operations.iter().map(AsRef::as_ref);
        let next = operations.clone().find(of_this).or_else(|| {
            // A draft has no operation of its own file's: what is archived has its id.
            operations.clone().find(|operation| id == Some(operation.id.as_str()))
        });
        let stored = looked.observed.heads.iter().find(|head| id == Some(head.id.as_str()));
        StoreReport {
            target: Some(looked.plan.target.clone()),
            error: None,
            stored,
            next,
            left: self.left(looked, id, file, stored),
        }
    }

    #[allow(clippy::unnecessary_wraps, reason = "it fills an optional field")]
    /// Why nothing would be done, where the plan has no operation for it.
    fn left(
        &self,
        looked: &Looked,
        id: Option<&str>,
        file: Option<&str>,
        stored: Option<&Head>,
    ) -> Option<String> {
        if file
            .is_some_and(|file| looked.plan.diagnostics.iter().any(|one| one.is_error() && one.file == file))
        {
            let stops = "its errors stop the run before anything is written; with --keep-going the other posts are written";
            return Some(stops.to_owned());
        }
        let Some(head) = stored else {
            return Some("it makes no post".to_owned());
        };
        let Some(ingest) = &head.ingest else {
            return Some("it was not written by idempost, which leaves it alone".to_owned());
        };
        if ingest.source != self.source {
            let of = ingest.source.as_deref().unwrap_or("no name");
            return Some(format!("it belongs to source {of}, which this tree is not"));
        }
        if looked.plan.orphans.iter().any(|orphan| id == Some(orphan.id.as_str())) {
            return Some(
                "an orphan: no file makes it, and readers still see it; --prune archives it".to_owned(),
            );
        }
        match head.status {
            Status::Archived => Some("it is archived and no file makes it".to_owned()),
            Status::Superseded => Some("another post has replaced it".to_owned()),
            _ => Some("it stays as it is".to_owned()),
        }
    }
}
