//! Files to catalog: everything that the verbs do before they look at a store.

use std::path::Path;

use rayon::prelude::*;

use crate::catalog::links::{self, AssetFacts, LinkPolicy, PostLinks};
use crate::catalog::{self, Catalog};
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::post::{self, Facts, Outcome, Parsed, Rules};
use crate::source::{self, SourceFile, Walked};

/// The whole content root, read, checked and linked.
pub struct Gathered {
    /// All posts and problems.
    pub catalog: Catalog,
    /// One entry a post of the catalog.
    pub links: Vec<PostLinks>,
    /// How files were read.
    pub rules: Rules,
    /// How links were resolved.
    pub link_policy: LinkPolicy,
}

/// Reads the content root. Problems of files are in the catalog; `Err` is about the root itself.
pub fn gather(settings: &Settings, now: i64) -> Result<Gathered, Failure> {
    let rules = settings.rules(now);
    let link_policy = settings.link_policy();
    let root = &settings.content.root.value;
    let Walked { files, skipped, problems } = source::walk(root, &settings.walk_options())?;
    let mut parsed: Vec<Parsed> = files.par_iter().map(|file| read(file, &rules)).collect();
    parsed.extend(problems.into_iter().map(unreadable));
    let mut catalog = catalog::fold(parsed, skipped, &rules);
    let facts = facts(&catalog, root);
    let links = links::resolve(&mut catalog, &facts, &rules, &link_policy);
    Ok(Gathered { catalog, links, rules, link_policy })
}

/// Reads and parses one file.
pub fn read(file: &SourceFile, rules: &Rules) -> Parsed {
    match source::read(file, rules.file_bytes_max) {
        Ok(bytes) => post::parse(&file.path, file.in_drafts, &bytes, rules),
        Err(diagnostic) => unreadable(*diagnostic),
    }
}

fn unreadable(diagnostic: Diagnostic) -> Parsed {
    Parsed {
        file: diagnostic.file.clone(),
        outcome: Outcome::Invalid,
        diagnostics: vec![diagnostic],
        facts: Facts::default(),
    }
}

fn facts(catalog: &Catalog, root: &Path) -> AssetFacts {
    links::assets_wanted(catalog)
        .into_par_iter()
        .filter_map(|path| source::asset(root, &path).map(|fact| (path, fact)))
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
