//! The files that the walk found, and the assets beside them, are opened here.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use super::SourceFile;
use crate::catalog::links::AssetFact;
use crate::diagnostic::Diagnostic;

/// Bytes of an asset that are hashed at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Reads one file whole, refusing one over `bytes_max` by name without reading it into memory.
pub fn read(file: &SourceFile, bytes_max: u64) -> Result<Vec<u8>, Box<Diagnostic>> {
    let too_large = |bytes: u64| {
        let message = format!("the file has {bytes} bytes, and {bytes_max} are the most (limits.file)");
        let help = "split it, move data out of it, or raise limits.file in idempost.toml";
        Box::new(Diagnostic::error("file-too-large", message).in_file(&file.path).help(help))
    };
    let unreadable = |error: io::Error| {
        let message = format!("the file cannot be read: {error}");
        let help = "check its permissions, or exclude it in .idempostignore";
        Box::new(Diagnostic::error("file-unreadable", message).in_file(&file.path).help(help))
    };
    // Opening a pipe would wait for its writer, so that the kind is looked at first.
    let found = std::fs::metadata(&file.on_disk).map_err(unreadable)?;
    if !found.is_file() {
        return Err(unreadable(io::Error::other("it is no regular file")));
    }
    if found.len() > bytes_max {
        return Err(too_large(found.len()));
    }
    let opened = File::open(&file.on_disk).map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    opened.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    match u64::try_from(bytes.len()) {
        Ok(length) if length <= bytes_max => Ok(bytes),
        _ => Err(too_large(bytes_max.saturating_add(1))),
    }
}

/// Digests one asset inside the root; `None` where it is no readable regular file inside the root
/// (symbolic links that leave it among them). A name is found in either normalisation form, as the
/// same tree has one on macOS and the other elsewhere.
pub fn asset(root: &Path, path: &str) -> Option<AssetFact> {
    let file = inside(root, path)
        .or_else(|| inside(root, &path.nfc().collect::<String>()))
        .or_else(|| inside(root, &path.nfd().collect::<String>()))?;
    let mut opened = File::open(file).ok()?;
    let mut hasher = Sha256::new();
    let mut bytes = 0u64;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match opened.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        hasher.update(chunk.get(..read)?);
        bytes += u64::try_from(read).ok()?;
    }
    Some(AssetFact { sha256: hex::encode(hasher.finalize()), bytes })
}

/// Where a path below the root really lies, if it is a regular file inside the root.
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || path.contains('\0') || !plain {
        return None;
    }
    let real = root.join(relative).canonicalize().ok()?;
    (real.starts_with(root.canonicalize().ok()?) && real.is_file()).then_some(real)
}
