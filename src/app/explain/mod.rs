//! `explain`: where an id, a hash, a decision comes from, judged against the whole tree; what the store
//! holds of it, and what the next run would do.
//!
//! Begin at [`run`]. The store is asked by the planner of `ingest` ([`store`]), so that the two cannot
//! disagree.

mod print;
mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::check;
use super::files::Unsaved;
use super::gather::{self, Gathered};
use super::host::Host;
use super::subject;
use crate::catalog::links::PostLinks;
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::identity::PostId;
use crate::plan::pipeline::Pipeline;
use crate::plan::subject::{Candidate, Meant, meant};
use crate::post::render::render;
use crate::post::{Facts, Outcome, Parsed, Post, Skip, decode};
use crate::report::json::{self, PostReport, StoreReport};
use crate::source::{self, SourceFile};
pub use print::print;

/// One file, explained: the `post` object of `DESIGN` 11.
pub struct Explained {
    /// The object.
    pub object: Value,
    /// Its problems, for people.
    pub diagnostics: Vec<Diagnostic>,
    /// 0, or 4 where the file has errors; the store's own where it could not be looked at.
    pub exit: Exit,
}

/// What is explained.
#[derive(Debug, Clone)]
pub enum Subject {
    /// A file below the content root, or a post's id.
    Named(String),
    /// A file as an editor holds it.
    Unsaved(Unsaved),
}

/// Explains one file or one id.
pub async fn run(
    settings: &Settings,
    host: &Host,
    subject: &Subject,
    cwd: &Path,
    with_store: bool,
) -> Result<Explained, Failure> {
    let (tree, found) = match subject {
        Subject::Named(name) => {
            let tree = Tree::read(settings, host, None)?;
            let found = tree.find(settings, name, cwd);
            (tree, found)
        }
        Subject::Unsaved(unsaved) => {
            let tree = Tree::read(settings, host, Some(unsaved.clone()))?;
            (tree, Ok(Found::File(unsaved.path.clone())))
        }
    };
    let seen = if with_store { Some(store::look(settings, host, &tree.gathered).await) } else { None };
    let (file, id) = match found? {
        Found::File(file) => {
            let id = tree.id_of(&file);
            (Some(file), id)
        }
        Found::Id(id) => (None, Some(id)),
    };
    let report = seen.as_ref().map(|seen| seen.report(id.as_deref(), file.as_deref()));
    let mut explained = match (&file, id) {
        (Some(file), _) => tree.explain(settings, file, true, report.as_ref()),
        (None, Some(id)) => {
            let stored = report.as_ref().and_then(|report| report.stored);
            if let (None, Some(Ok(_)) | None) = (stored, seen.as_ref().map(|seen| &seen.looked)) {
                return Err(unknown(settings, &id, with_store));
            }
            tree.stored_alone(&id, report.as_ref())
        }
        (None, None) => return Err(Failure::new(Exit::Failed, "nothing to explain")),
    };
    if let Some(Err(failure)) = seen.map(|seen| seen.looked) {
        // No store that was named is no failure of the question about a file.
        if failure.exit != Exit::Usage || file.is_none() {
            explained.exit = explained.exit.and(failure.exit);
        }
    }
    Ok(explained)
}

fn unknown(settings: &Settings, id: &str, with_store: bool) -> Failure {
    let store = if with_store { ", and the store holds none" } else { "" };
    Failure::new(Exit::Failed, format!("no file under {} makes the post {id}{store}", settings.content.shown))
        .help("its slug, language or date may have been changed; `idempost id inspect` tells its date")
}

/// What a person means.
enum Found {
    /// A path below the root.
    File(String),
    /// A post that no file makes.
    Id(String),
}

/// Explains every file that was walked, without its HTML.
pub fn all(settings: &Settings, host: &Host) -> Result<Vec<Value>, Failure> {
    let tree = Tree::read(settings, host, None)?;
    let files = tree.files.keys().cloned().chain(tree.skipped_files());
    let mut files: Vec<String> = files.collect();
    files.sort();
    files.dedup();
    Ok(files.iter().map(|file| tree.explain(settings, file, false, None).object).collect())
}

struct Tree {
    gathered: Gathered,
    files: BTreeMap<String, SourceFile>,
    pipeline: String,
}

impl Tree {
    fn read(settings: &Settings, host: &Host, unsaved: Option<Unsaved>) -> Result<Self, Failure> {
        let root = &settings.content.root.value;
        let mut walked = source::walk(root, &settings.walk_options())?;
        if let Some(unsaved) = &unsaved {
            gather::place(&mut walked.files, &walked.skipped, unsaved, root);
        }
        let files = walked.files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let gathered = gather::gather_with(settings, host.clock.now(), unsaved)?;
        let pipeline = Pipeline::of(&gathered.rules, &gathered.link_policy).to_string();
        Ok(Tree { gathered, files, pipeline })
    }

    fn skipped_files(&self) -> impl Iterator<Item = String> + '_ {
        self.gathered.catalog.skipped.iter().map(|skipped| skipped.file.clone())
    }

    /// The path below the root that a person means: a path from where they stand, a path below the
    /// root, or the id of a post.
    fn find(&self, settings: &Settings, subject: &str, cwd: &Path) -> Result<Found, Failure> {
        let root = &settings.content.root.value;
        for path in subject::paths(settings, subject, cwd) {
            let known = self.files.contains_key(&path)
                || self.skipped_files().any(|skipped| skipped == path)
                || self.gathered.catalog.invalid.contains(&path)
                || std::fs::symlink_metadata(root.join(&path)).is_ok_and(|found| !found.is_dir());
            if known {
                return Ok(Found::File(path));
            }
        }
        if PostId::parse(subject).is_some() {
            let posts = self
                .gathered
                .catalog
                .posts
                .iter()
                .chain(self.gathered.catalog.held.iter().map(|(_, post)| post));
            let id = subject.to_uppercase();
            return Ok(match posts.into_iter().find(|post| post.id.to_string() == id) {
                Some(post) => Found::File(post.file.clone()),
                None => Found::Id(id),
            });
        }
        self.named(settings, subject).map(Found::File)
    }

    /// The file of a post that goes by a slug, or `slug:lang`.
    fn named(&self, settings: &Settings, subject: &str) -> Result<String, Failure> {
        let catalog = &self.gathered.catalog;
        let posts = catalog.posts.iter().chain(catalog.held.iter().map(|(_, post)| post));
        let known: Vec<Candidate> = posts
            .map(|post| Candidate {
                id: post.id.to_string(),
                slug: post.slug.as_str().to_owned(),
                lang: post.lang.as_str().to_owned(),
                path: post.file.clone(),
                ..Candidate::default()
            })
            .collect();
        match meant(subject, &[], &known) {
            Meant::Nothing(near) => {
                let what =
                    format!("no such file under {}, and no id or slug: {subject}", settings.content.shown);
                let help = "name a file below the content root, an id, a slug, or slug:lang".to_owned();
                let near = if near.is_empty() { help } else { format!("is it {}?", near.join(", ")) };
                Err(Failure::usage(what).help(near))
            }
            _ => subject::one(subject, &[], &known).map(|one| one.path.clone()),
        }
    }

    /// The id of the post that a file makes, also where it is held back.
    fn id_of(&self, file: &str) -> Option<String> {
        let catalog = &self.gathered.catalog;
        let posts = catalog.posts.iter().chain(catalog.held.iter().map(|(_, post)| post));
        posts.into_iter().find(|post| post.file == file).map(|post| post.id.to_string())
    }

    /// A stored post that no file makes.
    fn stored_alone(&self, id: &str, store: Option<&StoreReport<'_>>) -> Explained {
        let nothing = Parsed {
            file: String::new(),
            outcome: Outcome::Invalid,
            diagnostics: Vec::new(),
            facts: Facts::default(),
        };
        let mut object = json::post(&PostReport {
            parsed: &nothing,
            diagnostics: &[],
            skipped: None,
            pipeline: &self.pipeline,
            assets: &[],
            html: None,
            hashed: None,
            store,
        });
        if let Some(object) = object.as_object_mut() {
            object.insert("file".to_owned(), Value::Null);
            object.insert("id".to_owned(), Value::from(id));
        }
        Explained { object, diagnostics: Vec::new(), exit: Exit::Done }
    }

    fn explain(
        &self,
        settings: &Settings,
        file: &str,
        with_html: bool,
        store: Option<&StoreReport<'_>>,
    ) -> Explained {
        let catalog = &self.gathered.catalog;
        let too_big = self.too_big(file);
        let diagnostics: Vec<Diagnostic> =
            catalog.diagnostics.iter().chain(&too_big).filter(|one| one.file == file).cloned().collect();
        let sources = &self.gathered.sources;
        let mut hashed = None;
        let walked = self.files.get(file).map(|file| {
            let read = sources.read(file);
            hashed = read.as_deref().ok().and_then(decode::hashed);
            sources.parse_read(file, read)
        });
        let skipped =
            catalog.skipped.iter().find(|skipped| skipped.file == file).map(|skipped| skipped.reason);
        let unknown = walked.is_none() && skipped.is_none() && diagnostics.is_empty();
        let skipped = skipped.or_else(|| unknown.then(|| unwalked(settings, file)));
        let mut parsed = walked.unwrap_or_else(|| Parsed {
            file: file.to_owned(),
            outcome: Outcome::Invalid,
            diagnostics: Vec::new(),
            facts: Facts::default(),
        });
        if parsed.facts.meta.title.is_none() {
            parsed.facts.meta.title = parsed.facts.slug.as_ref().map(|slug| slug.as_str().to_owned());
        }
        let links = self.links(file);
        let html = post_of(&parsed).filter(|_| with_html).and_then(|post| self.html(post, links));
        let object = json::post(&PostReport {
            parsed: &parsed,
            diagnostics: &diagnostics,
            skipped,
            pipeline: &self.pipeline,
            assets: links.map_or(&[], |links| links.assets.as_slice()),
            html: html.as_deref(),
            hashed,
            store,
        });
        let errors = diagnostics.iter().any(Diagnostic::is_error);
        Explained { object, diagnostics, exit: if errors { Exit::Invalid } else { Exit::Done } }
    }

    fn too_big(&self, file: &str) -> Option<Diagnostic> {
        let at = self.gathered.catalog.posts.iter().position(|post| post.file == file)?;
        let (post, links) = (self.gathered.catalog.posts.get(at)?, self.gathered.links.get(at)?);
        check::too_big_one(&self.gathered, post, links)
    }

    fn links(&self, file: &str) -> Option<&PostLinks> {
        let at = self.gathered.catalog.posts.iter().position(|post| post.file == file)?;
        self.gathered.links.get(at).map(Arc::as_ref)
    }

    fn html(&self, post: &Post, links: Option<&PostLinks>) -> Option<String> {
        let mut options = self.gathered.rules.render.clone();
        options.html = options.html && !post.mdx;
        let nothing = PostLinks::default();
        render(post.body.text()?, &options, &links.unwrap_or(&nothing).replace).html
    }
}

fn post_of(parsed: &Parsed) -> Option<&Post> {
    match &parsed.outcome {
        Outcome::Post(post) | Outcome::Skipped(_, Some(post)) => Some(post),
        Outcome::Skipped(_, None) | Outcome::Invalid => None,
    }
}

/// Why a file that is there was not even walked.
fn unwalked(settings: &Settings, file: &str) -> Skip {
    let is_link = std::fs::symlink_metadata(settings.content.root.value.join(file))
        .is_ok_and(|found| found.file_type().is_symlink());
    if is_link {
        return Skip::Link;
    }
    source::skipped_by_name(file).unwrap_or(Skip::NotAPost)
}
