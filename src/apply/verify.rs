//! Reads the stored documents whole, some at a time, and holds each against its own digest and id; and
//! the planner of `verify --repair`.
//!
//! Begin at [`survey`]. What is read is let go again batch by batch; what is kept is what was found. A
//! document is judged by itself as it was read, so that a run at work beside this one makes no false find.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use bson::Document;
use futures_util::{StreamExt, TryStreamExt};
use rayon::prelude::*;

use super::Executor;
use super::planner::{DOCUMENTS_AT_A_TIME, Planner, TreePlanner, observe};
use super::run::Rows;
use crate::identity::{ContentHash, PostId};
use crate::plan::verify::{self, Looked};
use crate::plan::{self, IdentitySettings, Observed, Operation, Others, Plan, Policy};
use crate::store::Fault;
use crate::store::document::{Head, content_of};

/// Batches of documents that are read at a time.
const READS_AT_A_TIME: usize = 2;

/// Whether every post is rendered, or only where the digests leave a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Digests alone.
    Digests,
    /// Every post is made anew and compared.
    Rendered,
}

/// Reads heads, settings and every document of this source. The heads are those of the documents that
/// were read, newer than the list where a run is at work.
pub async fn survey(
    executor: &Executor<'_>,
    rows: &Rows<'_>,
    tree: &TreePlanner<'_>,
    depth: Depth,
    others: Others,
) -> Result<(Observed, Looked), Fault> {
    let mut observed = observe(executor, rows, others).await?;
    let mut looked = documents(executor, &mut observed.heads, tree.policy).await?;
    if depth == Depth::Rendered {
        looked.drifted.extend(made_otherwise(tree, &observed));
    }
    observed.drifted.clone_from(&looked.drifted);
    Ok((observed, looked))
}

/// What one document says of itself.
struct Read {
    head: Head,
    drifted: bool,
    wrong_id: Option<String>,
}

async fn documents(executor: &Executor<'_>, heads: &mut Vec<Head>, policy: &Policy) -> Result<Looked, Fault> {
    let ours = |head: &&Head| {
        let source = head.ingest.as_ref().map(|ingest| &ingest.source);
        source.is_some_and(|source| source.is_none() || *source == policy.origin.name)
    };
    let ids: Vec<String> = heads.iter().filter(ours).map(|head| head.id.clone()).collect();
    let some: Vec<Vec<String>> = ids.chunks(DOCUMENTS_AT_A_TIME).map(<[String]>::to_vec).collect();
    let mut batches = futures_util::stream::iter(some)
        .map(async |some| executor.persist(|| executor.store.documents(&some)).await)
        .buffered(READS_AT_A_TIME);
    let mut looked = Looked::default();
    let mut fresh: BTreeMap<String, Head> = BTreeMap::new();
    while let Some(batch) = batches.try_next().await? {
        let read: Vec<Read> = batch.par_iter().map(read).collect();
        for Read { head, drifted, wrong_id } in read {
            if drifted {
                looked.drifted.insert(head.id.clone());
            }
            looked.wrong_ids.extend(wrong_id.map(|right| (head.id.clone(), right)));
            fresh.insert(head.id.clone(), head);
        }
    }
    drop(batches);
    let asked: BTreeSet<String> = ids.into_iter().collect();
    heads.retain_mut(|head| {
        if let Some(newer) = fresh.remove(&head.id) {
            *head = newer;
        } else if asked.contains(&head.id) {
            // Gone since the list was read; or under an id that is no text, which nothing can be asked by.
            let is_there = PostId::parse(&head.id).is_none();
            if is_there {
                looked.wrong_ids.insert(head.id.clone(), "of another kind".to_owned());
            }
            return is_there;
        }
        true
    });
    Ok(looked)
}

fn read(document: &Document) -> Read {
    let head = Head::from_document(document);
    let says = head.ingest.as_ref().map(|ingest| ingest.content_hash.as_str());
    let drifted = says != Some(ContentHash::of_fields(&content_of(document)).as_str());
    let at = document.get_datetime("publishedAt").ok();
    let right = at.and_then(|at| verify::id_of(&head.slug, &head.lang, at.timestamp_millis()));
    let wrong_id = right.filter(|right| *right != head.id);
    Read { head, drifted, wrong_id }
}

/// The posts whose digests all agree and whose source makes another content all the same.
fn made_otherwise(tree: &TreePlanner<'_>, observed: &Observed) -> BTreeSet<String> {
    let policy = Policy { force: true, ..tree.policy.clone() };
    let forced = plan::plan(tree.catalog, tree.links, observed, &policy, tree.composer);
    let digests: BTreeMap<&str, &str> = observed
        .heads
        .iter()
        .filter_map(|head| Some((head.id.as_str(), head.ingest.as_ref()?.content_hash.as_str())))
        .collect();
    let otherwise = |operation: &&Arc<Operation>| {
        // A file that changes meanwhile is told by the plan that follows.
        let made = tree.composer.compose(operation).ok().flatten();
        made.is_some_and(|made| digests.get(operation.id.as_str()) != Some(&made.content_hash.as_str()))
    };
    let equal = forced.operations.par_iter().filter(|operation| operation.reason.code == "force");
    equal.filter(otherwise).map(|operation| operation.id.clone()).collect()
}

/// Plans what mends the posts of this source: what the tree asks for, and what contradicts itself.
pub struct RepairPlanner<'a> {
    /// Plans the tree.
    pub tree: TreePlanner<'a>,
    /// How closely the stored posts are looked at.
    pub depth: Depth,
    /// When this is, in Unix milliseconds: which claims have expired.
    pub now: i64,
}

#[async_trait]
impl Planner for RepairPlanner<'_> {
    async fn observe(
        &self,
        executor: &Executor<'_>,
        rows: &Rows<'_>,
        others: Others,
    ) -> Result<Observed, Fault> {
        survey(executor, rows, &self.tree, self.depth, others).await.map(|(observed, _)| observed)
    }

    fn plan(&self, observed: &Observed) -> Plan {
        let mut plan = self.tree.plan(observed);
        if observed.others.late.is_none() {
            verify::mend(&mut plan, &observed.heads, self.tree.policy, self.now);
        }
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
