//! What becomes of one post that is in the tree.

use std::sync::Arc;

use rayon::prelude::*;

use super::by_hand::{self, BY_HAND};
use super::compose::{self, Composer, Written};
use super::guard::{self, Stored, Tree};
use super::lifecycle::By;
use super::{Action, Late, Observed, Operation, Plan, Policy, Reason, Seen, Stamp};
use crate::catalog::Catalog;
use crate::catalog::links::PostLinks;
use crate::diagnostic::Diagnostic;
use crate::post::Post;
use crate::post::links::Asset;
use crate::store::document::{Content, Head, Ingest, Status};
use crate::store::size;

/// What every decision is made from beside its post.
pub(super) struct Given<'a> {
    pub(super) store: &'a Stored<'a>,
    pub(super) tree: &'a Tree<'a>,
    pub(super) observed: &'a Observed,
    pub(super) policy: &'a Policy,
    pub(super) composer: &'a Composer,
}

/// Adds one operation for each selected post. Each post is by itself, so the work is spread over the
/// cores; the result does not depend on how.
pub(super) fn posts(plan: &mut Plan, catalog: &Catalog, links: &[Arc<PostLinks>], given: &Given<'_>) {
    let nothing = Arc::new(PostLinks::default());
    let only = given.policy.only.as_ref();
    let decided: Vec<Result<Operation, Box<Diagnostic>>> = catalog
        .posts
        .par_iter()
        .enumerate()
        .filter(|(_, post)| only.is_none_or(|only| only.contains(&post.file)))
        .map(|(at, post)| decide(post, links.get(at).unwrap_or(&nothing), given))
        .collect();
    for result in decided {
        match result {
            Ok(operation) => plan.operations.push(Arc::new(operation)),
            Err(diagnostic) => {
                plan.summary.posts -= 1;
                plan.summary.invalid += 1;
                plan.diagnostics.push(*diagnostic);
            }
        }
    }
    plan.diagnostics
        .sort_by(|a, b| (&a.file, a.line, a.column, a.code).cmp(&(&b.file, b.line, b.column, b.code)));
}

/// Decides one post. `Err`: the document is more than the store takes, or the file is another now.
fn decide(post: &Post, links: &Arc<PostLinks>, given: &Given<'_>) -> Result<Operation, Box<Diagnostic>> {
    if let Some(refusal) = guard::check(post, given.store, given.tree) {
        let seen = refusal.protects.map(seen);
        let lines = post.from.lines;
        let line = match refusal.reason.code {
            "frozen-date" => lines.published_at,
            "frozen-lang" => lines.lang,
            _ => lines.slug,
        };
        let mut operation = operation(post, Action::Conflict, refusal.reason);
        operation.line = line;
        operation.seen = seen;
        return Ok(operation);
    }
    let id = post.id.to_string();
    let Some(head) = given.store.by_id(&id) else {
        return write(post, links, None, Action::Create, Reason::of("new"), given);
    };
    let Some(ingest) = &head.ingest else {
        // The guard refuses a stored document without bookkeeping.
        return Ok(operation(post, Action::Conflict, Reason::of("id-taken")));
    };
    match head.status {
        Status::Archived if ingest.archived_by.is_some() => {
            let left = operation(post, Action::Unchanged, Reason::of(BY_HAND));
            Ok(by_hand::stays(left, head, ingest, given))
        }
        Status::Archived => write(post, links, Some(head), Action::Restore, Reason::of("back"), given),
        Status::Publishing => write(post, links, Some(head), Action::Update, Reason::of("publishing"), given),
        _ => decide_active(post, links, head, ingest, given),
    }
}

fn decide_active(
    post: &Post,
    links: &Arc<PostLinks>,
    head: &Head,
    ingest: &Ingest,
    given: &Given<'_>,
) -> Result<Operation, Box<Diagnostic>> {
    let (observed, policy) = (given.observed, given.policy);
    let drifted = observed.drifted.contains(&head.id);
    let differs = difference(post, links, head, ingest, policy).or(drifted.then_some("drift"));
    if let Some(code) = differs.filter(|code| *code != "pipeline") {
        return write(post, links, Some(head), Action::Update, Reason::of(code), given);
    }
    if differs.is_some() {
        // Only the document tells whether another pipeline makes another one.
        let content = compose(post, links, given)?;
        let reason = Reason::of("pipeline");
        if content.content_hash.as_str() != ingest.content_hash {
            return Ok(stamped(post, links, Some(head), Action::Update, reason, policy));
        }
        return Ok(restamp(post, head, ingest, reason, policy));
    }
    if ingest.path != post.file || ingest.source != policy.origin.name {
        let detail = if ingest.path == post.file {
            format!("source {:?}", policy.origin.name.as_deref().unwrap_or(""))
        } else {
            format!("moved from {}", ingest.path)
        };
        return Ok(restamp(post, head, ingest, Reason { code: "path", detail, help: String::new() }, policy));
    }
    if must_not_be_left(ingest, observed) {
        return Ok(restamp(post, head, ingest, Reason::of("fence"), policy));
    }
    let mut operation = operation(post, Action::Unchanged, Reason::of("equal"));
    operation.expected_version = Some(ingest.version);
    operation.seen = Some(seen(head));
    Ok(operation)
}

/// Why an active post is written, if it is: the first of source, assets, links, force, pipeline.
fn difference(
    post: &Post,
    links: &PostLinks,
    head: &Head,
    ingest: &Ingest,
    policy: &Policy,
) -> Option<&'static str> {
    let assets = links.assets_hash.as_ref().map(crate::identity::AssetsHash::as_str);
    let urls = links.links_hash.as_ref().map(crate::identity::LinksHash::as_str);
    if head.source_hash.as_deref() != Some(post.source_hash.as_str()) {
        Some("source")
    } else if ingest.assets_hash.as_deref() != assets {
        Some("assets")
    } else if ingest.links_hash.as_deref() != urls {
        Some("links")
    } else if policy.force {
        Some("force")
    } else if ingest.pipeline != policy.pipeline.to_string()
        && !policy.pipeline.is_older_than(&ingest.pipeline)
    {
        Some("pipeline")
    } else {
        None
    }
}

/// Whether an older run may still send something to this post, so that its version has to move on.
pub(super) fn must_not_be_left(ingest: &Ingest, observed: &Observed) -> bool {
    observed.others.fence || observed.others.unfinished.contains(&ingest.run_id)
}

/// Turns every write of a late run into a report.
pub(super) fn all_stale(plan: &mut Plan, late: &Late) {
    for operation in &mut plan.operations {
        if operation.action.writes() {
            let operation = Arc::make_mut(operation);
            operation.action = Action::Stale;
            operation.reason = Reason {
                code: "late",
                detail: format!("revision {} is newer and has a run ({})", late.revision, late.run_id),
                help: String::new(),
            };
            operation.content = None;
            operation.stamp = None;
        }
    }
}

/// Composes the document now, within what the store takes.
fn compose(post: &Post, links: &Arc<PostLinks>, given: &Given<'_>) -> Result<Content, Box<Diagnostic>> {
    let Written::FromFile(from) = Written::of(post, links) else {
        return Err(compose::changed(&post.file, "it makes no document"));
    };
    let content = given.composer.of_file(&post.file, &from)?;
    size::check_limits(&content.fields, &given.policy.limits).map_err(|(code, message, help)| {
        Box::new(Diagnostic::error(code, message).in_file(&post.file).help(help))
    })?;
    Ok(content)
}

/// Whether the document might be more than the store takes: then it is composed to see, so that nothing
/// is written before it is told.
fn is_in_doubt(post: &Post, policy: &Policy) -> bool {
    let bytes_max = policy.limits.document_bytes_max.min(policy.limits.batch_bytes_max);
    let levels = size::levels(&post.meta.extra).saturating_add(1);
    post.source_bytes.saturating_mul(compose::GROWTH_MAX).saturating_add(size::ENVELOPE_BYTES_MAX) > bytes_max
        || levels > policy.limits.nesting_levels_max
}

fn write(
    post: &Post,
    links: &Arc<PostLinks>,
    head: Option<&Head>,
    action: Action,
    reason: Reason,
    given: &Given<'_>,
) -> Result<Operation, Box<Diagnostic>> {
    if is_in_doubt(post, given.policy) {
        compose(post, links, given)?;
    }
    Ok(stamped(post, links, head, action, reason, given.policy))
}

/// The operation that writes a post's content. The digest of the content is left out: it is known when
/// the content is composed.
fn stamped(
    post: &Post,
    links: &Arc<PostLinks>,
    head: Option<&Head>,
    action: Action,
    reason: Reason,
    policy: &Policy,
) -> Operation {
    let before = head.and_then(|head| head.ingest.as_ref());
    let ingest = Ingest {
        source: policy.origin.name.clone(),
        path: post.file.clone(),
        pipeline: policy.pipeline.to_string(),
        assets_hash: links.assets_hash.as_ref().map(ToString::to_string),
        links_hash: links.links_hash.as_ref().map(ToString::to_string),
        version: before.map_or(1, |ingest| ingest.version.saturating_add(1)),
        revision: policy.revision.max(before.and_then(|ingest| ingest.revision)),
        ..Ingest::default()
    };
    let mut operation = operation(post, action, reason);
    operation.expected_version = before.map(|ingest| ingest.version);
    operation.seen = head.map(seen);
    operation.content = Some(Written::of(post, links));
    operation.stamp = Some(Stamp { status: Status::Active, ingest, assets: publishable(links) });
    operation
}

/// Assets that an asset store has to hold before readers see the post.
fn publishable(links: &PostLinks) -> Vec<Asset> {
    links.assets.iter().filter(|asset| asset.url.is_some()).cloned().collect()
}

fn restamp(post: &Post, head: &Head, ingest: &Ingest, reason: Reason, policy: &Policy) -> Operation {
    let newer = policy.pipeline.is_older_than(&ingest.pipeline);
    let ingest = Ingest {
        source: policy.origin.name.clone(),
        path: post.file.clone(),
        pipeline: if newer { ingest.pipeline.clone() } else { policy.pipeline.to_string() },
        ..again(ingest, policy)
    };
    let mut operation = operation(post, Action::Restamp, reason);
    operation.expected_version = Some(head.version());
    operation.seen = Some(seen(head));
    operation.stamp = Some(Stamp { status: head.status.clone(), ingest, assets: Vec::new() });
    operation
}

/// The bookkeeping of a post that keeps its content: the next version, our revision.
pub(super) fn again(ingest: &Ingest, policy: &Policy) -> Ingest {
    Ingest {
        version: ingest.version.saturating_add(1),
        revision: policy.revision.max(ingest.revision),
        run_id: String::new(),
        operation_id: String::new(),
        claim: None,
        live_by: None,
        ..ingest.clone()
    }
}

fn operation(post: &Post, action: Action, reason: Reason) -> Operation {
    Operation {
        id: post.id.to_string(),
        slug: post.slug.as_str().to_owned(),
        lang: post.lang.as_str().to_owned(),
        file: Some(post.file.clone()),
        line: None,
        action,
        by: By::Ingest,
        reason,
        expected_version: None,
        content: None,
        seen: None,
        stamp: None,
    }
}

/// What planning saw of a head.
pub(super) fn seen(head: &Head) -> Seen {
    Seen {
        version: head.version(),
        status: head.status.clone(),
        source_hash: head.source_hash.clone(),
        revision: head.ingest.as_ref().and_then(|ingest| ingest.revision),
        claim: head.ingest.as_ref().and_then(|ingest| ingest.claim.clone()),
    }
}
