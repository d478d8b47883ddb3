//! The content root, and what the PATHs on the command line narrow.

use std::path::{Component, Path, PathBuf};

use super::layers::{Layers, Origin, Sourced};
use crate::error::Failure;

/// The content root where nothing names one.
pub const DEFAULT_CONTENT: &str = "content";

/// The content root, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Where it lies, absolute, without `.` and `..`.
    pub root: Sourced<PathBuf>,
    /// As it was written, with `/`.
    pub shown: String,
    /// The path of the root from the working directory, with `/`; absolute where it lies elsewhere. What a
    /// person, an editor or a CI puts before a file's path.
    pub here: String,
    /// Paths below the root (with `/`) that are planned; empty: all.
    pub narrow: Vec<String>,
}

/// Finds the content root. Where neither flag, variable nor file names one, a single PATH does: a folder
/// is the root, a file lies in it.
pub(super) fn content(layers: &Layers<'_>, paths: &[PathBuf]) -> Result<Content, Failure> {
    if let (None, [path]) = (layers.find("content"), paths) {
        let on_disk = normal(&layers.cwd.join(path));
        let root = match on_disk.parent() {
            Some(folder) if on_disk.is_file() => folder.to_owned(),
            _ => on_disk.clone(),
        };
        let narrow = below(&root, &on_disk).into_iter().filter(|path| !path.is_empty()).collect();
        let shown = match path.parent() {
            Some(folder) if root != on_disk => slashes(folder),
            _ => slashes(path),
        };
        let shown = if shown.is_empty() { ".".to_owned() } else { shown };
        let here = here(layers.cwd, &root);
        return Ok(Content { root: Sourced { value: root, origin: Origin::Argument }, shown, here, narrow });
    }
    let root = layers.text("content", DEFAULT_CONTENT)?;
    let shown = slashes(Path::new(&root.value));
    let base = layers.base(&root.origin);
    let root = root.map(|text| normal(&base.join(text)));
    let here = here(layers.cwd, &root.value);
    let mut narrow = Vec::new();
    for path in paths {
        let on_disk = normal(&layers.cwd.join(path));
        if !on_disk.exists() {
            return Err(Failure::usage(format!("no such file or folder: {}", path.display())));
        }
        let inside = below(&root.value, &on_disk)
            .or_else(|| below(&real(&root.value), &real(&on_disk)))
            // A PATH around the root means all of it.
            .or_else(|| below(&on_disk, &root.value).map(|_| String::new()));
        match inside {
            Some(path) if path.is_empty() => return Ok(Content { root, shown, here, narrow: Vec::new() }),
            Some(path) => narrow.push(path),
            None => {
                return Err(Failure::usage(format!(
                    "{} lies outside of the content root {shown} ({})",
                    path.display(),
                    root.origin
                ))
                .help("a PATH narrows what is planned; --content FOLDER names another root"));
            }
        }
    }
    narrow.sort();
    narrow.dedup();
    Ok(Content { root, shown, here, narrow })
}

impl Content {
    /// Where a path from the working directory lies below the root, with `/`; the file need not be there.
    pub fn below_root(&self, cwd: &Path, path: &Path) -> Option<String> {
        let on_disk = normal(&cwd.join(path));
        let root = &self.root.value;
        let real_folder = || Some(real(on_disk.parent()?).join(on_disk.file_name()?));
        below(root, &on_disk).or_else(|| below(&real(root), &real_folder()?)).filter(|path| !path.is_empty())
    }

    /// Whether a file (its path below the root, with `/`) is among what was asked for.
    pub fn wants(&self, file: &str) -> bool {
        self.narrow.is_empty()
            || self.narrow.iter().any(|path| {
                file.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

fn here(cwd: &Path, root: &Path) -> String {
    match below(cwd, root) {
        Some(path) if path.is_empty() => ".".to_owned(),
        Some(path) => path,
        None => slashes(root),
    }
}

/// `path` below `root` with `/`; empty where they are one.
fn below(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok().map(slashes)
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn slashes(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::CurDir => None,
            Component::RootDir => Some(String::new()),
            other => Some(other.as_os_str().to_string_lossy().into_owned()),
        })
        .collect();
    parts.join("/")
}

/// Removes `.` and `..` by the text alone.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !out.pop() {
                    out.push("..");
                }
            }
            other => out.push(other),
        }
    }
    out
}
