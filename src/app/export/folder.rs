//! The folder that an export writes into. It is opened once, and every name is resolved below it: no `..` and no
//! symbolic link leads out. A file is written beside its name and put in place whole.

use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};

use crate::error::Failure;

/// Names that are tried for a file that is being written.
const PARTS_MAX: u32 = 1_000;

/// The folder, opened; of a look, perhaps not there yet.
pub struct Folder(Option<Dir>);

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file of these bytes.
    Equal,
    /// A file of other bytes.
    Other,
    /// Something that is no file, or leads out of the folder.
    NoFile(String),
}

/// Whether a file that is there may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays.
    Keep,
    /// It goes.
    Replace,
}

impl Folder {
    /// Opens the folder, and makes it where it is missing and something is to be written.
    pub fn open(path: &Path, writes: bool) -> Result<Self, Failure> {
        let told = |error: std::io::Error| {
            Failure::usage(format!("the folder {} cannot be opened: {error}", path.display()))
                .help("name a folder that may be written")
        };
        if writes {
            std::fs::create_dir_all(path).map_err(told)?;
        }
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => Ok(Folder(Some(dir))),
            Err(error) if error.kind() == ErrorKind::NotFound && !writes => Ok(Folder(None)),
            Err(error) => Err(told(error)),
        }
    }

    /// Compares what is there with these bytes.
    pub fn look(&self, name: &str, bytes: &[u8]) -> Found {
        self.compare(name, bytes.len() as u64, |file| {
            let mut there = Vec::with_capacity(bytes.len());
            file.take(bytes.len() as u64 + 1).read_to_end(&mut there)?;
            Ok(there == bytes)
        })
    }

    /// As [`Folder::look`], where the bytes are told by their number and by `equal`.
    pub fn compare(
        &self,
        name: &str,
        bytes: u64,
        equal: impl Fn(&mut File) -> std::io::Result<bool>,
    ) -> Found {
        let Some(dir) = &self.0 else { return Found::Nothing };
        // A pipe is never opened: it would wait for its writer.
        let found = match dir.metadata(name) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return match dir.symlink_metadata(name) {
                    Ok(_) => Found::NoFile("a symbolic link that leads nowhere is there".to_owned()),
                    Err(_) => Found::Nothing,
                };
            }
            Err(error) => return Found::NoFile(error.to_string()),
        };
        if !found.is_file() {
            return Found::NoFile("something that is no file is there".to_owned());
        }
        if found.len() != bytes {
            return Found::Other;
        }
        match dir.open(name).and_then(|mut file| equal(&mut file)) {
            Ok(true) => Found::Equal,
            Ok(false) => Found::Other,
            Err(error) => Found::NoFile(error.to_string()),
        }
    }

    /// Puts a file in place, whole or not at all. `fill` writes it. `Ok(false)`: one came in between, and it
    /// stays.
    pub async fn put(
        &self,
        name: &str,
        existing: Existing,
        fill: impl AsyncFnOnce(&mut File) -> Result<(), String>,
    ) -> Result<bool, String> {
        let dir = self.0.as_ref().ok_or_else(|| "the folder is not open".to_owned())?;
        let told = |error: std::io::Error| error.to_string();
        let above = name.rsplit_once('/').map_or("", |(above, _)| above);
        if !above.is_empty() {
            dir.create_dir_all(above).map_err(told)?;
        }
        let (part, mut file) = begin(dir, above).map_err(told)?;
        let filled = match fill(&mut file).await {
            Ok(()) => file.flush().map_err(told),
            Err(why) => Err(why),
        };
        drop(file);
        let placed = match filled {
            Ok(()) => place(dir, &part, name, existing).map_err(told),
            Err(why) => Err(why),
        };
        if !matches!(placed, Ok(true)) {
            // What cannot be taken away is hidden, and the walk passes it by.
            let _ = dir.remove_file(&part);
        }
        placed
    }
}

/// A new file beside the one that it becomes.
fn begin(dir: &Dir, above: &str) -> std::io::Result<(String, File)> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let name = format!(".idempost-{process}-{number}.part");
        let part = if above.is_empty() { name } else { format!("{above}/{name}") };
        match dir.open_with(&part, OpenOptions::new().write(true).create_new(true)) {
            Ok(file) => return Ok((part, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < PARTS_MAX => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn place(dir: &Dir, part: &str, name: &str, existing: Existing) -> std::io::Result<bool> {
    if existing == Existing::Keep {
        // A link is never put over a file that came in between; a rename is.
        match dir.hard_link(part, dir, name) {
            Ok(()) => {
                let _ = dir.remove_file(part);
                return Ok(true);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            // A file system without links.
            Err(_) if dir.symlink_metadata(name).is_ok() => return Ok(false),
            Err(_) => {}
        }
    }
    dir.rename(part, dir, name).map(|()| true)
}
