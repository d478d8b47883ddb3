//! `check`: the files alone, no store.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::files::Unsaved;
use super::gather::{self, Gathered};
use super::host::Host;
use crate::catalog::Skipped;
use crate::catalog::links::PostLinks;
use crate::config::Settings;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::plan::Summary;
use crate::plan::compose::{self, Sources};
use crate::post::Post;
use crate::store::Limits;
use crate::store::size;

/// What checking found.
pub struct Outcome {
    /// Counts of files; those of a store are zero.
    pub summary: Summary,
    /// Problems of the files that were asked for.
    pub diagnostics: Vec<Diagnostic>,
    /// Skipped files among those that were asked for.
    pub skipped: Vec<Skipped>,
    /// 0, or 4 where a file has errors.
    pub exit: Exit,
}

/// What every engine takes: the bounds of `check`, which knows none.
pub fn common_limits() -> Limits {
    Limits {
        statements_max: 1000,
        batch_bytes_max: 16 * 1024 * 1024,
        document_bytes_max: 16 * 1024 * 1024,
        nesting_levels_max: 100,
        unique_live: true,
    }
}

/// Checks the whole tree and reports on what was asked for: of a file that an editor holds, on it alone.
pub fn run(
    settings: &Settings,
    host: &Host,
    no_render: bool,
    unsaved: Option<Unsaved>,
) -> Result<Outcome, Failure> {
    let only = unsaved.as_ref().map(|unsaved| BTreeSet::from([unsaved.path.clone()]));
    let mut gathered = gather::gather_with(settings, host.clock.now(), unsaved)?;
    if only.is_some() {
        gathered.only = only;
    }
    gather::check_not_empty(&gathered.catalog, settings)?;
    let too_big = if no_render { Vec::new() } else { too_big(&gathered) };
    let catalog = &gathered.catalog;
    let summary = Summary {
        files: catalog.files,
        posts: catalog.posts.len() - too_big.len(),
        skipped: catalog.skipped.len(),
        invalid: catalog.invalid.len() + too_big.len(),
        ..Summary::default()
    };
    let wanted = |file: &str| gathered.wants(file);
    let mut diagnostics: Vec<Diagnostic> =
        catalog.diagnostics.iter().chain(&too_big).filter(|one| wanted(&one.file)).cloned().collect();
    diagnostics.sort_by(|a, b| (&a.file, a.line, a.column, a.code).cmp(&(&b.file, b.line, b.column, b.code)));
    let skipped = catalog.skipped.iter().filter(|one| wanted(&one.file)).cloned().collect();
    let exit = if diagnostics.iter().any(Diagnostic::is_error) { Exit::Invalid } else { Exit::Done };
    Ok(Outcome { summary, diagnostics, skipped, exit })
}

/// Posts whose documents are more than an engine takes once they are rendered.
pub fn too_big(gathered: &Gathered) -> Vec<Diagnostic> {
    let posts = gathered.catalog.posts.par_iter().zip(&gathered.links);
    posts.filter_map(|(post, links)| too_big_one(gathered, post, links)).collect()
}

/// What is told of one post whose document is more than an engine takes.
pub fn too_big_one(gathered: &Gathered, post: &Post, links: &PostLinks) -> Option<Diagnostic> {
    let read = match gathered.sources.post(&post.file) {
        Ok(read) => read,
        Err(problem) => return Some(*problem),
    };
    let content = compose::content(&read, links, &gathered.rules.render)?;
    let (code, message, help) = size::check_limits(&content.fields, &common_limits()).err()?;
    Some(Diagnostic::error(code, message).in_file(&post.file).help(help))
}
