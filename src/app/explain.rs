//! `explain`: where an id, a hash, a decision comes from, judged against the whole tree.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::check;
use super::gather::{self, Gathered};
use super::host::Host;
use super::subject;
use crate::catalog::links::PostLinks;
use crate::cli::Format;
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::identity::PostId;
use crate::plan::pipeline::Pipeline;
use crate::plan::subject::{Candidate, Meant, meant};
use crate::post::date::PublishedAt;
use crate::post::render::render;
use crate::post::{Facts, Outcome, Parsed, Post, Skip};
use crate::report::json::{self, PostReport};
use crate::report::paint::Paint;
use crate::source::{self, SourceFile};

/// One file, explained: the `post` object of `DESIGN` 11.
pub struct Explained {
    /// The object.
    pub object: Value,
    /// Its problems, for people.
    pub diagnostics: Vec<Diagnostic>,
    /// 0, or 4 where the file has errors.
    pub exit: Exit,
}

/// Explains one file or one id.
pub fn run(settings: &Settings, host: &Host, subject: &str, cwd: &Path) -> Result<Explained, Failure> {
    let tree = Tree::read(settings, host)?;
    let file = tree.find(settings, subject, cwd)?;
    Ok(tree.explain(settings, &file, true))
}

/// Explains every file that was walked, without its HTML.
pub fn all(settings: &Settings, host: &Host) -> Result<Vec<Value>, Failure> {
    let tree = Tree::read(settings, host)?;
    let files = tree.files.keys().cloned().chain(tree.skipped_files());
    let mut files: Vec<String> = files.collect();
    files.sort();
    files.dedup();
    Ok(files.iter().map(|file| tree.explain(settings, file, false).object).collect())
}

struct Tree {
    gathered: Gathered,
    files: BTreeMap<String, SourceFile>,
    pipeline: String,
}

impl Tree {
    fn read(settings: &Settings, host: &Host) -> Result<Self, Failure> {
        let root = &settings.content.root.value;
        let walked = source::walk(root, &settings.walk_options())?;
        let files = walked.files.into_iter().map(|file| (file.path.clone(), file)).collect();
        let gathered = gather::gather(settings, host.clock.now())?;
        let pipeline = Pipeline::of(&gathered.rules, &gathered.link_policy).to_string();
        Ok(Tree { gathered, files, pipeline })
    }

    fn skipped_files(&self) -> impl Iterator<Item = String> + '_ {
        self.gathered.catalog.skipped.iter().map(|skipped| skipped.file.clone())
    }

    /// The path below the root that a person means: a path from where they stand, a path below the
    /// root, or the id of a post.
    fn find(&self, settings: &Settings, subject: &str, cwd: &Path) -> Result<String, Failure> {
        let root = &settings.content.root.value;
        for path in subject::paths(settings, subject, cwd) {
            let known = self.files.contains_key(&path)
                || self.skipped_files().any(|skipped| skipped == path)
                || self.gathered.catalog.invalid.contains(&path)
                || std::fs::symlink_metadata(root.join(&path)).is_ok_and(|found| !found.is_dir());
            if known {
                return Ok(path);
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
            if let Some(post) = posts.into_iter().find(|post| post.id.to_string() == id) {
                return Ok(post.file.clone());
            }
            return Err(Failure::new(
                Exit::Failed,
                format!("no file under {} makes the post {id}", settings.content.shown),
            )
            .help("its slug, language or date may have been changed; `idempost id inspect` tells its date"));
        }
        self.named(settings, subject)
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

    fn explain(&self, settings: &Settings, file: &str, with_html: bool) -> Explained {
        let catalog = &self.gathered.catalog;
        let too_big = self.too_big(file);
        let diagnostics: Vec<Diagnostic> =
            catalog.diagnostics.iter().chain(&too_big).filter(|one| one.file == file).cloned().collect();
        let walked = self.files.get(file).map(|file| gather::read(file, &self.gathered.rules));
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

/// Prints one file's explanation.
pub fn print(explained: &Explained, root: &str, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    if format == Format::Json {
        return json::write_pretty(out, &explained.object);
    }
    let object = &explained.object;
    let text = |key: &str| match object.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let from = |key: &str| {
        let rule = object.get("from").and_then(|from| from.get(key)).and_then(Value::as_str);
        rule.map_or_else(String::new, |rule| format!("   ({rule})"))
    };
    writeln!(out, "{}", text("file").unwrap_or_default())?;
    if let Some(reason) = text("skipped") {
        writeln!(out, "  skipped      {reason}")?;
    }
    for (name, key) in [
        ("id", "id"),
        ("slug", "slug"),
        ("lang", "lang"),
        ("publishedAt", "publishedAtMs"),
        ("title", "title"),
        ("sourceHash", "sourceHash"),
        ("pipeline", "pipeline"),
        ("translations", "translationKey"),
    ] {
        let value = match key {
            "publishedAtMs" => object.get(key).and_then(Value::as_i64).map(|millis| {
                let shown = PublishedAt::from_unix_millis(millis)
                    .map_or_else(|_| String::new(), PublishedAt::to_rfc3339);
                format!("{shown} = {millis} ms")
            }),
            "translationKey" => text("translationKey").or_else(|| text("translationPath")),
            _ => text(key),
        };
        if let Some(value) = value {
            writeln!(out, "  {name:<12} {value}{}", from(name))?;
        }
    }
    for asset in object.get("assets").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| asset.get(key).and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "  asset        {} {}", text("path"), text("sha256"))?;
    }
    for diagnostic in &explained.diagnostics {
        write!(out, "{}", crate::report::snippet::snippet(diagnostic, root, Paint::default()))?;
    }
    Ok(())
}
