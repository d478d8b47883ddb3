//! SQLite's errors as faults of the port: what each leaves behind and what a person does about it.

use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use super::super::{Class, Fault};

/// Faults of the disk while the shared-memory file grows: a full disk in other words.
const DISK_FULL_EXTENDED: [i32; 1] = [ffi::SQLITE_IOERR_SHMSIZE];

/// A fault that will never work.
pub(super) fn permanent(message: impl Into<String>, help: &str) -> Fault {
    Fault::new(Class::Permanent, message).help(help)
}

/// The class of an error, with the file named.
pub(super) fn of(error: &Error, path: &Path) -> Fault {
    let file = path.display();
    let Some(code) = error.sqlite_error().copied() else {
        return Fault::new(Class::Permanent, format!("{file}: {error}"));
    };
    let fault = if DISK_FULL_EXTENDED.contains(&code.extended_code) {
        full(path)
    } else {
        match code.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                Fault::new(Class::NotApplied, format!("{file} is locked by another writer"))
                    .help("another process writes for long; it is tried again")
            }
            ErrorCode::SchemaChanged | ErrorCode::OutOfMemory | ErrorCode::OperationInterrupted => {
                Fault::new(Class::NotApplied, format!("{file}: {error}"))
            }
            // A folder can be opened to read, and is found to be one by the first read.
            ErrorCode::SystemIoFailure if path.is_dir() => cannot_open(path),
            ErrorCode::ReadOnly => read_only(path),
            ErrorCode::DiskFull => full(path),
            ErrorCode::DatabaseCorrupt => {
                permanent(format!("{file} is damaged: {error}"), "restore it, or remove it and ingest again")
            }
            ErrorCode::NotADatabase => {
                permanent(format!("{file} is no SQLite database"), "name another file with `--store`")
            }
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => cannot_open(path),
            ErrorCode::ConstraintViolation => Fault::new(Class::Conflict, format!("{file}: {error}")),
            // The disk failed while something was on its way: nobody knows what is on it.
            ErrorCode::SystemIoFailure => Fault::new(Class::Unknown, format!("{file}: {error}"))
                .help("the disk or the file system reports errors"),
            _ => permanent(format!("{file}: {error}"), ""),
        }
    };
    fault.code(code.extended_code)
}

/// The file may not be written.
pub(super) fn read_only(path: &Path) -> Fault {
    permanent(
        format!("{} is read-only", path.display()),
        "give the file and its folder write permission, or name another file with `--store`",
    )
}

fn full(path: &Path) -> Fault {
    permanent(
        format!("disk full: {} cannot grow", path.display()),
        "make room and run again; what was reported as done is in",
    )
}

/// Why a file cannot be opened, as far as the file system tells.
fn cannot_open(path: &Path) -> Fault {
    let file = path.display();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if path.is_dir() {
        permanent(format!("{file} is a folder"), "name a file in it, for example `sqlite:posts.db`")
    } else if !folder.exists() {
        permanent(format!("the folder {} does not exist", folder.display()), "make it, or name another file")
    } else if !folder.is_dir() {
        permanent(format!("{} is no folder", folder.display()), "name another file with `--store`")
    } else {
        permanent(
            format!("{file} cannot be opened"),
            "look at the permissions of the file and its folder; SQLite writes `-wal` and `-shm` beside it",
        )
    }
}
