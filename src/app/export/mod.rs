//! `export`: the stored posts as markdown files, each of which ingests to the same document.
//!
//! Begin at [`run`]. `names` chooses the posts and their paths from the heads, `file` makes the bytes of one from
//! its document, `folder` puts them where nothing leads out. The store is only read; documents are read some at a
//! time.

pub mod assets;
pub mod file;
pub mod folder;
pub mod names;
pub mod told;

use std::collections::HashMap;
use std::path::Path;

use bson::Document;
use rayon::prelude::*;

use super::host::Host;
use super::{open, operation};
use crate::apply::planner::DOCUMENTS_AT_A_TIME;
use crate::cli;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::identity::PostId;
use crate::post::Rules;
use crate::store::Target;
use assets::Copied;
use file::{Made, Origin, Unmade};
use folder::{Existing, Folder, Found};
use names::{Choice, Chosen, Left, choose};

/// What became of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was not there, and is now; of a look: would be.
    Written,
    /// Another one was there.
    Replaced,
    /// It is there already, byte for byte.
    Unchanged,
    /// Another one is there, and stays.
    Refused,
    /// It could not be made or written.
    Failed,
    /// Its bytes cannot be had.
    Absent,
}

impl Fate {
    /// The spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Written => "written",
            Fate::Replaced => "replaced",
            Fate::Unchanged => "unchanged",
            Fate::Refused => "refused",
            Fate::Failed => "failed",
            Fate::Absent => "absent",
        }
    }

    /// Whether the folder has what was asked for.
    pub fn is_done(self) -> bool {
        matches!(self, Fate::Written | Fate::Replaced | Fate::Unchanged)
    }
}

/// One post and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The post and its name.
    pub chosen: Chosen,
    /// What became of the file.
    pub fate: Fate,
    /// Where its bytes come from; of one that could not be made, nothing.
    pub origin: Option<Origin>,
    /// Stored fields that the file does not say.
    pub lost: Vec<String>,
    /// The settings at hand make another post of it than is stored.
    pub reads_otherwise: bool,
    /// Why it was refused or failed.
    pub message: String,
}

/// What an export found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What was read.
    pub target: Target,
    /// The folder as typed.
    pub folder: String,
    /// Nothing was written.
    pub dry_run: bool,
    /// The posts, in order of their files.
    pub entries: Vec<Entry>,
    /// Documents that became no file.
    pub left: Vec<Left>,
    /// Files that posts refer to, in order of path; `None` where they were not asked for.
    pub assets: Option<Vec<Copied>>,
    /// How many files the posts refer to.
    pub assets_named: usize,
    /// How it ended.
    pub exit: Exit,
}

/// Reads the posts and writes their files.
pub async fn run(
    settings: &Settings,
    host: &Host,
    typed: &cli::Export,
    cwd: &Path,
) -> Result<Report, Failure> {
    let store = open::open(settings)?;
    let executor = operation::executor(settings, host, store.as_ref(), &|_| {}, None);
    let told = |fault| open::failure(&fault);
    executor.persist(|| store.connect()).await.map_err(told)?;
    let heads = executor.persist(|| store.heads()).await.map_err(told)?;
    let choice = Choice { source: settings.source.value.clone(), all: typed.all };
    let (mut chosen, left) = choose(&heads, &choice);
    drop(heads);
    chosen.sort_by_key(Chosen::file);
    let work = Work {
        folder: Folder::open(&cwd.join(&typed.folder), !typed.dry_run)?,
        rules: Rules { skip_after: None, ..settings.rules(host.clock.now()) },
        dry_run: typed.dry_run,
        existing: if typed.force { Existing::Replace } else { Existing::Keep },
    };
    let mut report = Report {
        target: store.target(),
        folder: typed.folder.to_string_lossy().into_owned(),
        dry_run: typed.dry_run,
        entries: Vec::new(),
        left,
        assets: None,
        assets_named: 0,
        exit: Exit::Done,
    };
    let mut named = assets::Named::default();
    for some in chosen.chunks(DOCUMENTS_AT_A_TIME) {
        if host.cancel.is_cancelled() {
            break;
        }
        let ids: Vec<String> = some.iter().map(|one| one.id.clone()).collect();
        let read = executor.persist(|| store.documents(&ids)).await.map_err(told)?;
        work.some(some, read, &mut named, &mut report).await;
    }
    report.assets_named = named.len();
    if typed.assets {
        let copied = assets::copy(settings, host, &executor, &work, &named).await?;
        report.assets = Some(copied);
    }
    report.exit = exit(&report, host);
    Ok(report)
}

fn exit(report: &Report, host: &Host) -> Exit {
    let copied = report.assets.iter().flatten().map(|asset| asset.fate);
    let all_done = report.entries.iter().map(|entry| entry.fate).chain(copied).all(Fate::is_done);
    let exit = if all_done { Exit::Done } else { Exit::Partly };
    host.interrupted().map_or(exit, |interrupted| exit.and(interrupted))
}

/// What one export writes with.
struct Work {
    folder: Folder,
    rules: Rules,
    dry_run: bool,
    existing: Existing,
}

impl Work {
    /// The files of some posts.
    async fn some(
        &self,
        some: &[Chosen],
        read: Vec<Document>,
        named: &mut assets::Named,
        report: &mut Report,
    ) {
        let mut by_id: HashMap<String, Document> = HashMap::with_capacity(read.len());
        for document in read {
            if let Ok(id) = document.get_str("_id") {
                by_id.insert(id.to_owned(), document);
            }
        }
        let made: Vec<Option<Result<Made, Unmade>>> = some
            .par_iter()
            .map(|chosen| by_id.get(&chosen.id).map(|document| file::make(document, chosen, &self.rules)))
            .collect();
        for (chosen, made) in some.iter().zip(made) {
            let leave = |reason| Left {
                id: chosen.id.clone(),
                slug: chosen.slug.clone(),
                lang: chosen.lang.clone(),
                reason,
            };
            match made {
                // Gone since the list was read; or under an id that is no text, which nothing can be asked by.
                None if PostId::parse(&chosen.id).is_none() => report.left.push(leave("id-not-text")),
                None => report.left.push(leave("gone")),
                Some(Err(Unmade::Left(reason))) => report.left.push(leave(reason)),
                Some(Err(Unmade::Failed(message))) => report.entries.push(Entry {
                    chosen: chosen.clone(),
                    fate: Fate::Failed,
                    origin: None,
                    lost: Vec::new(),
                    reads_otherwise: false,
                    message,
                }),
                Some(Ok(made)) => {
                    if let Some(document) = by_id.get(&chosen.id) {
                        named.add(document, chosen);
                    }
                    let (fate, message) = self.put(&chosen.file(), &made.bytes).await;
                    report.entries.push(Entry {
                        chosen: chosen.clone(),
                        fate,
                        origin: Some(made.origin),
                        lost: made.lost,
                        reads_otherwise: made.reads_otherwise,
                        message,
                    });
                }
            }
        }
    }

    /// Puts a file in place, and says what became of it.
    async fn put(&self, name: &str, bytes: &[u8]) -> (Fate, String) {
        let found = self.folder.look(name, bytes);
        self.settle(name, found, async |file| {
            use std::io::Write;
            file.write_all(bytes).map_err(|error| error.to_string())
        })
        .await
    }

    /// Decides by what is there.
    async fn settle(
        &self,
        name: &str,
        found: Found,
        fill: impl AsyncFnOnce(&mut cap_std::fs::File) -> Result<(), String>,
    ) -> (Fate, String) {
        let fate = match (found, self.existing) {
            (Found::Equal, _) => return (Fate::Unchanged, String::new()),
            (Found::NoFile(why), _) => return (Fate::Refused, why),
            (Found::Other, Existing::Keep) => return (Fate::Refused, OTHER.to_owned()),
            (Found::Other, Existing::Replace) => Fate::Replaced,
            (Found::Nothing, _) => Fate::Written,
        };
        if self.dry_run {
            return (fate, String::new());
        }
        // What comes in between is nobody's to replace.
        let existing = if fate == Fate::Replaced { Existing::Replace } else { Existing::Keep };
        match self.folder.put(name, existing, fill).await {
            Ok(true) => (fate, String::new()),
            Ok(false) => (Fate::Refused, OTHER.to_owned()),
            Err(why) => (Fate::Failed, why),
        }
    }
}

const OTHER: &str = "another file is there; --force replaces it";
