//! Files to catalog: everything that the verbs do before they look at a store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::files::{Files, Unsaved};
use crate::catalog::links::{self, AssetFacts, LinkPolicy, PostLinks};
use crate::catalog::{self, Catalog, Skipped};
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::plan::compose::{Composer, Sources};
use crate::post::{Meta, Outcome, Parsed, Rules};
use crate::source::git::Checkout;
use crate::source::{self, SourceFile, Walked};

/// The whole content root, read, checked and linked.
pub struct Gathered {
    /// All posts and problems.
    pub catalog: Catalog,
    /// One entry a post of the catalog.
    pub links: Vec<Arc<PostLinks>>,
    /// How files were read.
    pub rules: Rules,
    /// How links were resolved.
    pub link_policy: LinkPolicy,
    /// What is planned of it; `None`: all. The rest is checked all the same.
    pub only: Option<BTreeSet<String>>,
    /// Things a person should know about what is left out.
    pub notes: Vec<String>,
    /// Reads posts again: the catalog holds no bodies.
    pub sources: Arc<Files>,
}

impl Gathered {
    /// Makes the documents of these posts.
    pub fn composer(&self) -> Composer {
        Composer::new(Arc::clone(&self.sources) as Arc<dyn Sources>, self.rules.render.clone())
    }

    /// Whether a file is among what was asked for.
    pub fn wants(&self, file: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(file))
    }
}

/// Reads the content root. Problems of files are in the catalog; `Err` is about the root itself.
pub fn gather(settings: &Settings, now: i64) -> Result<Gathered, Failure> {
    gather_with(settings, now, None)
}

/// Reads the content root with one file as an editor holds it.
pub fn gather_with(settings: &Settings, now: i64, unsaved: Option<Unsaved>) -> Result<Gathered, Failure> {
    let rules = settings.rules(now);
    let link_policy = settings.link_policy();
    let root = &settings.content.root.value;
    let Walked { mut files, skipped, problems } = source::walk(root, &settings.walk_options())?;
    if let Some(unsaved) = &unsaved {
        place(&mut files, &skipped, unsaved, root);
    }
    let sources = Arc::new(Files::new(root, &rules, &files, unsaved));
    let mut parsed: Vec<Parsed> = files.par_iter().map(|file| without_body(sources.parse(file))).collect();
    drop(files);
    parsed.extend(problems.into_iter().map(Parsed::unreadable));
    let mut catalog = catalog::fold(parsed, skipped, &rules);
    let facts = facts(&catalog, root);
    let links = links::resolve(&mut catalog, &facts, &rules, &link_policy);
    links::locate(&mut catalog, |file| sources.text(file));
    let mut notes = Vec::new();
    let changed = match &settings.changed_since {
        Some(reference) => Some(changed_since(settings, &catalog, reference, &mut notes)?),
        None => None,
    };
    let only = only(settings, &catalog, changed);
    Ok(Gathered { catalog, links, rules, link_policy, only, notes, sources })
}

/// The files that git says differ from a commit, and those of the posts that refer to one of them.
fn changed_since(
    settings: &Settings,
    catalog: &Catalog,
    reference: &str,
    notes: &mut Vec<String>,
) -> Result<BTreeSet<String>, Failure> {
    if settings.policy.prune {
        return Err(Failure::usage(
            "--prune cannot go with --changed-since: what did not change would look as if it were gone",
        )
        .help("prune in a run over the whole content root"));
    }
    let checkout = Checkout::open(&settings.content.root.value, &settings.content.shown)?;
    let changed = checkout.changed_since(reference)?;
    if let Some(file) = &settings.file_path
        && checkout.differs(reference, file)?
    {
        notes.push(format!(
            "{} differs from {reference} too: posts that did not change are left as they are until a run over the \
             whole content root",
            settings.file.as_deref().unwrap_or("idempost.toml")
        ));
    }
    let touched = links::touched(catalog, &|path| changed.holds(path), &changed.files);
    let files = files_of(catalog).filter(|file| changed.holds(file)).cloned();
    Ok(touched.iter().cloned().chain(files).collect())
}

/// What PATHs and git leave of the tree; `None`: all of it.
fn only(
    settings: &Settings,
    catalog: &Catalog,
    changed: Option<BTreeSet<String>>,
) -> Option<BTreeSet<String>> {
    let wanted = |file: &String| settings.content.wants(file);
    match changed {
        Some(changed) => Some(changed.into_iter().filter(wanted).collect()),
        None if settings.content.narrow.is_empty() => None,
        None => Some(files_of(catalog).filter(|file| wanted(file)).cloned().collect()),
    }
}

/// Every file that was walked.
fn files_of(catalog: &Catalog) -> impl Iterator<Item = &String> {
    let posts = catalog.posts.iter().map(|post| &post.file);
    posts.chain(catalog.skipped.iter().map(|skipped| &skipped.file)).chain(&catalog.invalid)
}

/// A parsed file as the catalog needs it: bodies and what only `explain` shows are let go at once, so
/// that a tree of any size is checked in little memory.
fn without_body(mut parsed: Parsed) -> Parsed {
    if let Outcome::Post(post) | Outcome::Skipped(_, Some(post)) = &mut parsed.outcome {
        post.put_body_aside();
    }
    parsed.facts.meta = Meta::default();
    parsed.facts.translation_path = None;
    parsed
}

/// A file that is not on disk yet takes its place among the others, if its name is that of a post.
pub(super) fn place(files: &mut Vec<SourceFile>, skipped: &[Skipped], unsaved: &Unsaved, root: &Path) {
    let known = skipped.iter().any(|skipped| skipped.file == unsaved.path);
    if known || source::skipped_by_name(&unsaved.path).is_some() {
        return;
    }
    if let Err(at) = files.binary_search_by(|file| file.path.as_str().cmp(&unsaved.path)) {
        files.insert(at, SourceFile::unsaved(root, &unsaved.path));
    }
}

fn facts(catalog: &Catalog, root: &Path) -> AssetFacts {
    links::assets_wanted(catalog)
        .into_par_iter()
        .map(|path| (path.clone(), source::asset(root, &path)))
        .collect()
}

/// A tree without posts is an error unless it was allowed: it is more often a wrong path.
pub fn check_not_empty(catalog: &Catalog, settings: &Settings) -> Result<(), Failure> {
    let some = !catalog.posts.is_empty() || !catalog.held.is_empty() || !catalog.invalid.is_empty();
    if some || settings.policy.allow_empty {
        return Ok(());
    }
    let root = &settings.content.shown;
    let message = match catalog.files {
        0 => format!("no file under {root} has a post's extension (.md, .markdown, .mdx)"),
        files => format!("none of the {files} files under {root} is a post; all were skipped"),
    };
    Err(Failure::new(Exit::Limit, message)
        .help("is it the right folder? `idempost check` tells why each file was skipped; --allow-empty lets it pass"))
}
