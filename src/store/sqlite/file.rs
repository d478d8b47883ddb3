//! Opening the file: never made by accident, never somebody else's, never of a newer version.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, OpenFlags};

use super::super::Fault;
use super::{BUSY_WAIT, refusal, schema};

/// Pause between two looks at a lock for which SQLite does not wait by itself.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// What has a meaning in a `file:` URI.
const URI_RESERVED: AsciiSet = CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#');

/// Opens a file that is there; `None` where there is none.
pub(super) fn open_existing(path: &Path, to_write: bool) -> Result<Option<Connection>, Fault> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Ok(metadata) if to_write && metadata.permissions().readonly() => {
            return Err(refusal::read_only(path));
        }
        _ => {}
    }
    let opened = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    match opened {
        Err(error) if !to_write && cannot_open(&error) && !beside(path, "-wal").exists() => {
            // In a folder that cannot be written SQLite cannot make the files beside it that it needs
            // to read along with writers. There are none, then.
            open_immutable(path).map(Some)
        }
        opened => opened.map(Some),
    }
    .map_err(|error| refusal::of(&error, path))
    .and_then(|connection| match connection {
        Some(connection) => schema::refuse_foreign(&connection, path).map(|()| Some(connection)),
        None => Ok(None),
    })
}

/// Opens a file to write, making it where it is missing.
pub(super) fn open_or_create(path: &Path) -> Result<Connection, Fault> {
    if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().readonly()) {
        return Err(refusal::read_only(path));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = connect(path, flags).map_err(|error| refusal::of(&error, path))?;
    schema::refuse_foreign(&connection, path)?;
    // SQLite opens what it may not write to read it, and would say so at the first write.
    if connection.is_readonly(MAIN_DB).map_err(|error| refusal::of(&error, path))? {
        return Err(refusal::read_only(path));
    }
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // The first look at the file; while its last user is closing it, SQLite does not wait.
    waiting(|| connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())))?;
    Ok(connection)
}

fn open_immutable(path: &Path) -> Result<Connection, Error> {
    let text = path.to_string_lossy();
    let uri = format!("file:{}?immutable=1", utf8_percent_encode(&text, &URI_RESERVED));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Waits for a lock up to [`BUSY_WAIT`] where the busy handler is not asked: not a repeated write, the
/// step has done nothing yet.
pub(super) fn waiting<T>(mut step: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let started = Instant::now();
    loop {
        match step() {
            Err(error) if is_busy(&error) && started.elapsed() < BUSY_WAIT => std::thread::sleep(LOCK_POLL),
            done => return done,
        }
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn cannot_open(error: &Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    )
}

/// `path` with something appended to its name.
fn beside(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}
