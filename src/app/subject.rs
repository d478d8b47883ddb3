//! Finds the stored posts that were typed (`plan::subject`), or says what else there is.

use std::path::Path;

use crate::config::Settings;
use crate::error::Failure;
use crate::plan::subject::{Candidate, Meant, meant};
use crate::store::document::Head;

/// Candidates that are listed.
const LISTED_MAX: usize = 20;

/// What a typed text can be below the content root: as it stands, and as seen from the working directory.
pub fn paths(settings: &Settings, typed: &str, cwd: &Path) -> Vec<String> {
    let below = settings.content.below_root(cwd, Path::new(typed));
    let plain = typed.trim_start_matches("./").to_owned();
    below.into_iter().chain([plain]).filter(|path| !path.is_empty()).collect()
}

/// The ids of the stored posts that were typed, each once, in their order. `fits`: what is asked for can be
/// done to it.
///
/// # Errors
/// Usage: nothing, or more than one post, goes by what was typed.
pub fn stored(
    settings: &Settings,
    cwd: &Path,
    typed: &[String],
    heads: &[Head],
    fits: impl Fn(&Head) -> bool,
) -> Result<Vec<String>, Failure> {
    let known: Vec<Candidate> = heads.iter().map(|head| candidate(head, fits(head))).collect();
    let mut ids: Vec<String> = Vec::new();
    for typed in typed {
        let one = one(typed, &paths(settings, typed, cwd), &known)?;
        if !ids.contains(&one.id) {
            ids.push(one.id.clone());
        }
    }
    Ok(ids)
}

fn candidate(head: &Head, fits: bool) -> Candidate {
    Candidate {
        id: head.id.clone(),
        slug: head.slug.clone(),
        lang: head.lang.clone(),
        path: head.ingest.as_ref().map(|ingest| ingest.path.clone()).unwrap_or_default(),
        told: head.status.as_str().to_owned(),
        fits,
    }
}

/// The one post that was meant.
///
/// # Errors
/// Usage: none, with those that are near; or several, with their ids.
pub fn one<'a>(typed: &str, paths: &[String], known: &'a [Candidate]) -> Result<&'a Candidate, Failure> {
    match meant(typed, paths, known) {
        Meant::One(one) => Ok(one),
        Meant::Several(some) => {
            let mut lines: Vec<String> = some.iter().take(LISTED_MAX).map(|one| line(one)).collect();
            if some.len() > LISTED_MAX {
                lines.push(format!("… and {} more", some.len() - LISTED_MAX));
            }
            Err(Failure::usage(format!("{typed:?} can be any of {} posts", some.len()))
                .help(format!("name one by its id, its file, or slug:lang\n{}", lines.join("\n"))))
        }
        Meant::Nothing(near) => {
            let help = if near.is_empty() {
                "name a post by its id, its file, its slug, or slug:lang".to_owned()
            } else {
                format!("is it {}?", near.join(", or "))
            };
            Err(Failure::usage(format!("no stored post goes by {typed:?}")).help(help))
        }
    }
}

fn line(one: &Candidate) -> String {
    let parts = [one.id.as_str(), &format!("{}:{}", one.slug, one.lang), &one.told, &one.path];
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("  ")
}
