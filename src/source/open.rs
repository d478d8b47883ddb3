//! The files that the walk found, and the assets beside them, are opened here.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use unicode_normalization::UnicodeNormalization;

use super::SourceFile;
use crate::catalog::links::{AssetFact, NoAsset};
use crate::diagnostic::Diagnostic;
use crate::post::media::Sniffer;

/// Bytes of an asset that are hashed at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Refuses a file of more than `bytes_max` bytes, by name.
pub fn check_size(path: &str, bytes: u64, bytes_max: u64) -> Result<(), Box<Diagnostic>> {
    if bytes <= bytes_max {
        return Ok(());
    }
    let message = format!("the file has {bytes} bytes, and {bytes_max} are the most (limits.file)");
    let help = "split it, move data out of it, or raise limits.file in idempost.toml";
    Err(Box::new(Diagnostic::error("file-too-large", message).in_file(path).help(help)))
}

/// Reads one file whole, refusing one over `bytes_max` by name without reading it into memory.
pub fn read(file: &SourceFile, bytes_max: u64) -> Result<Vec<u8>, Box<Diagnostic>> {
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
    check_size(&file.path, found.len(), bytes_max)?;
    let opened = File::open(&file.on_disk).map_err(unreadable)?;
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    opened.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    check_size(&file.path, bytes.len() as u64, bytes_max)?;
    Ok(bytes)
}

/// The most bytes of one asset: what an object store takes in parts of the usual size.
pub const ASSET_BYTES_MAX: u64 = 64 << 30;

/// Digests one asset inside the root and looks at what it is.
pub fn asset(root: &Path, path: &str) -> Result<AssetFact, NoAsset> {
    let mut opened = open_asset(root, path)?;
    let mut hasher = Sha256::new();
    let mut sniffer = Sniffer::default();
    let mut bytes = 0u64;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match opened.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => chunk.get(..read).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(NoAsset::Unreadable),
        };
        hasher.update(read);
        sniffer.push(read);
        bytes = bytes.saturating_add(read.len() as u64);
        if bytes > ASSET_BYTES_MAX {
            return Err(NoAsset::TooLarge);
        }
    }
    Ok(AssetFact { sha256: hex::encode(hasher.finalize()), bytes, media: sniffer.finish() })
}

/// Opens an asset if it is a regular file inside the root; a symbolic link that leaves it is refused. A
/// name is found in either normalisation form, as the same tree has one on macOS and the other elsewhere.
pub fn open_asset(root: &Path, path: &str) -> Result<File, NoAsset> {
    let names = [path.to_owned(), path.nfc().collect::<String>(), path.nfd().collect::<String>()];
    let mut why = NoAsset::Absent;
    for name in names {
        match inside(root, &name) {
            Ok(file) => return File::open(file).map_err(|_| NoAsset::Unreadable),
            Err(NoAsset::Absent) => {}
            Err(other) => why = other,
        }
    }
    Err(why)
}

/// Reads a file inside the root that somebody else names, as a stored post does: nothing that lies elsewhere, is
/// no regular file, or has more than `bytes_max` bytes.
pub fn read_inside(root: &Path, path: &str, bytes_max: u64) -> Option<Vec<u8>> {
    let opened = open_asset(root, path).ok()?;
    let mut bytes = Vec::new();
    opened.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= bytes_max).then_some(bytes)
}

/// Where a path below the root really lies, if it is a regular file inside the root.
fn inside(root: &Path, path: &str) -> Result<PathBuf, NoAsset> {
    let relative = Path::new(path);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || path.contains('\0') || !plain {
        return Err(NoAsset::Absent);
    }
    let told = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => NoAsset::Unreadable,
        _ => NoAsset::Absent,
    };
    let real = root.join(relative).canonicalize().map_err(told)?;
    if !real.starts_with(root.canonicalize().map_err(told)?) {
        return Err(NoAsset::Outside);
    }
    if real.is_file() { Ok(real) } else { Err(NoAsset::Absent) }
}
