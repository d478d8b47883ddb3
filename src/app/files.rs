//! The posts of a tree, read again one by one: what a catalog without bodies is composed from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::apply::assets::AssetFiles;
use crate::catalog::links::NoAsset;
use crate::diagnostic::Diagnostic;
use crate::plan::compose::{self, Sources};
use crate::post::{self, Outcome, Parsed, Post, Rules};
use crate::source::{self, SourceFile};

/// The text of one file as an editor holds it: it stands in the place of what is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsaved {
    /// Path below the content root with `/`.
    pub path: String,
    /// What the file would hold.
    pub bytes: Vec<u8>,
}

/// The files of a tree, read again one by one.
pub struct Files {
    root: PathBuf,
    rules: Rules,
    /// Where a file lies, if its path below the root does not say it.
    elsewhere: HashMap<String, PathBuf>,
    unsaved: Option<Unsaved>,
}

impl Files {
    /// The files of a walk.
    pub fn new(root: &Path, rules: &Rules, files: &[SourceFile], unsaved: Option<Unsaved>) -> Self {
        let elsewhere = files
            .iter()
            .filter(|file| root.join(&file.path) != file.on_disk)
            .map(|file| (file.path.clone(), file.on_disk.clone()))
            .collect();
        Files { root: root.to_owned(), rules: rules.clone(), elsewhere, unsaved }
    }

    /// The bytes of one file: what an editor holds, else what is on disk.
    pub fn read(&self, file: &SourceFile) -> Result<Vec<u8>, Box<Diagnostic>> {
        match &self.unsaved {
            Some(unsaved) if unsaved.path == file.path => {
                source::check_size(&file.path, unsaved.bytes.len() as u64, self.rules.file_bytes_max)?;
                Ok(unsaved.bytes.clone())
            }
            _ => source::read(file, self.rules.file_bytes_max),
        }
    }

    /// Reads and parses one file.
    pub fn parse(&self, file: &SourceFile) -> Parsed {
        self.parse_read(file, self.read(file))
    }

    /// Parses what was read of a file.
    pub fn parse_read(&self, file: &SourceFile, read: Result<Vec<u8>, Box<Diagnostic>>) -> Parsed {
        match read {
            Ok(bytes) => post::parse(&file.path, file.in_drafts, &bytes, &self.rules),
            Err(diagnostic) => Parsed::unreadable(*diagnostic),
        }
    }

    fn file(&self, path: &str) -> SourceFile {
        let on_disk = self.elsewhere.get(path).cloned().unwrap_or_else(|| self.root.join(path));
        // A file in a folder of drafts makes no post.
        SourceFile { path: path.to_owned(), on_disk, in_drafts: false }
    }

    /// The normalised text of a file, if it can be read.
    pub fn text(&self, path: &str) -> Option<String> {
        let bytes = self.read(&self.file(path)).ok()?;
        post::decode::decode(&bytes).ok().map(Cow::into_owned)
    }
}

impl Sources for Files {
    fn post(&self, file: &str) -> Result<Post, Box<Diagnostic>> {
        let bytes =
            self.read(&self.file(file)).map_err(|problem| compose::changed(file, &problem.message))?;
        match post::parse(file, false, &bytes, &self.rules).outcome {
            Outcome::Post(post) => Ok(*post),
            Outcome::Skipped(..) => Err(compose::changed(file, "it makes no post now")),
            Outcome::Invalid => Err(compose::changed(file, "it has errors now")),
        }
    }
}

impl AssetFiles for Files {
    fn open(&self, path: &str) -> Result<std::fs::File, String> {
        source::open_asset(&self.root, path).map_err(|why| {
            let why = match why {
                NoAsset::Absent => "is gone",
                NoAsset::Unreadable => "cannot be read",
                NoAsset::Outside => "leads out of the content root now",
                NoAsset::TooLarge => "is larger than an asset may be",
            };
            why.to_owned()
        })
    }
}
