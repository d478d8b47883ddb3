//! The embedded store: one SQLite file with the same documents, the same unique index and the same
//! guards as a MongoDB collection.
//!
//! A row holds the whole document as canonical Extended JSON, so that types survive; the other columns
//! are computed from it by SQLite, so that nobody can make them disagree. The tables are in
//! [`schema`]. A batch is one transaction in which every statement stands by itself. Several processes
//! may use one file: a writer waits for its turn up to [`BUSY_WAIT`].
//!
//! The file is made by `ensure_ready` alone; reading a missing one finds nothing and makes nothing.
//! Every commit is flushed to the disk (`synchronous = FULL`): what was reported as done survives the
//! end of the process and of the power. It never repeats a statement. Begin at [`SqliteStore::open`].

mod file;
mod foreign;
mod json;
mod posts;
mod refusal;
mod rows;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bson::Document;
use rusqlite::Connection;

use super::document::Head;
use super::foreign::Foreign;
use super::{Class, Effect, Fault, Inserted, Limits, Readiness, Side, Statement, Store, Target};

/// How long a command waits while another process writes.
pub const BUSY_WAIT: Duration = Duration::from_secs(10);
/// Statements in one batch.
pub const STATEMENTS_MAX: usize = 1_000;
/// Bytes of one batch.
pub const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of one document in BSON: what MongoDB takes, so that a tree fits both or neither.
pub const DOCUMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Levels of nesting of one document, as MongoDB takes them.
pub const NESTING_LEVELS_MAX: usize = 100;

/// The table of the posts where no other is asked for.
const COLLECTION: &str = "posts";

/// The store. Cloning shares its connection.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    tables: schema::Tables,
    connection: Mutex<Option<Connection>>,
}

/// What a command needs of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// A missing file or table is an empty store.
    Read,
    /// The tables are there.
    Write,
}

impl SqliteStore {
    /// The store in the file `path` (what follows `sqlite:`), with its posts in the table `posts`. Opens
    /// nothing yet.
    ///
    /// # Errors
    /// Permanent for an empty path and for `:memory:`, which would be gone at the end of the run.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Fault> {
        Self::open_collection(path, COLLECTION)
    }

    /// As [`SqliteStore::open`], with the posts in the table `collection`.
    ///
    /// # Errors
    /// As [`SqliteStore::open`]; and for a name that cannot be a table's.
    pub fn open_collection(path: impl AsRef<Path>, collection: &str) -> Result<Self, Fault> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() {
            return Err(refusal::permanent("`sqlite:` names no file", "write `sqlite:idempost.db`"));
        }
        if path.as_os_str() == ":memory:" {
            return Err(refusal::permanent(
                "a store in memory would be gone at the end of the run",
                "name a file, for example `sqlite:idempost.db`; `--dry-run` writes nothing",
            ));
        }
        let tables = schema::Tables::named(collection)?;
        let shared = Shared { path: path.to_owned(), tables, connection: Mutex::new(None) };
        Ok(SqliteStore { shared: Arc::new(shared) })
    }

    /// Runs `command` on the thread pool for blocking work; `None` where there is nothing to read.
    async fn blocking<T, F>(&self, access: Access, command: F) -> Result<Option<T>, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection, &schema::Tables) -> Result<T, Fault> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.run(access, command))
            .await
            .unwrap_or_else(|lost| Err(Fault::new(Class::Unknown, format!("the command was lost: {lost}"))))
    }

    async fn reading<T, F>(&self, command: F) -> Result<T, Fault>
    where
        T: Default + Send + 'static,
        F: FnOnce(&mut Connection, &schema::Tables) -> Result<T, Fault> + Send + 'static,
    {
        Ok(self.blocking(Access::Read, command).await?.unwrap_or_default())
    }

    async fn writing<T, F>(&self, command: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection, &schema::Tables) -> Result<T, Fault> + Send + 'static,
    {
        self.blocking(Access::Write, command).await?.ok_or_else(|| {
            refusal::permanent(
                format!("{} has no tables of ours yet", self.shared.path.display()),
                "`ensure_ready` makes them; nothing was written",
            )
        })
    }
}

impl Shared {
    fn run<T>(
        &self,
        access: Access,
        command: impl FnOnce(&mut Connection, &schema::Tables) -> Result<T, Fault>,
    ) -> Result<Option<T>, Fault> {
        // A panic of another command left its transaction rolled back: the connection is still good.
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = file::open_existing(&self.path, access == Access::Write)?;
        }
        let Some(connection) = slot.as_mut() else {
            return Ok(None);
        };
        if !schema::is_there(connection, &self.tables).map_err(|error| refusal::of(&error, &self.path))? {
            return Ok(None);
        }
        command(connection, &self.tables).map(Some)
    }

    fn ensure_ready(&self) -> Result<Readiness, Fault> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that was opened to read may be to a file that cannot be written: say it now.
        *slot = None;
        let mut connection = file::open_or_create(&self.path)?;
        let readiness = schema::ensure(&mut connection, &self.tables, &self.path)?;
        *slot = Some(connection);
        Ok(readiness)
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn target(&self) -> Target {
        let path = &self.shared.path;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        Target {
            store: format!("sqlite:{}", path.display()),
            database: stem.unwrap_or_default(),
            collection: self.shared.tables.posts().to_owned(),
            engine: "sqlite".to_owned(),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            statements_max: STATEMENTS_MAX,
            batch_bytes_max: BATCH_BYTES_MAX,
            document_bytes_max: DOCUMENT_BYTES_MAX,
            nesting_levels_max: NESTING_LEVELS_MAX,
            unique_live: true,
        }
    }

    async fn connect(&self) -> Result<(), Fault> {
        self.blocking(Access::Read, |_, _| Ok(())).await.map(|_| ())
    }

    async fn ensure_ready(&self) -> Result<Readiness, Fault> {
        let shared = Arc::clone(&self.shared);
        tokio::task::spawn_blocking(move || shared.ensure_ready())
            .await
            .unwrap_or_else(|lost| Err(Fault::new(Class::Unknown, format!("the command was lost: {lost}"))))
    }

    async fn heads(&self) -> Result<Vec<Head>, Fault> {
        self.reading(posts::heads).await
    }

    async fn heads_of(&self, ids: &[String]) -> Result<Vec<Head>, Fault> {
        let ids = json::texts(ids);
        self.reading(move |connection, tables| posts::heads_of(connection, tables, &ids)).await
    }

    async fn heads_live(&self, keys: &[(String, String)]) -> Result<Vec<Head>, Fault> {
        let keys = json::pairs(keys);
        self.reading(move |connection, tables| posts::heads_live(connection, tables, &keys)).await
    }

    async fn documents(&self, ids: &[String]) -> Result<Vec<Document>, Fault> {
        let ids = json::texts(ids);
        self.reading(move |connection, tables| posts::documents(connection, tables, &ids)).await
    }

    async fn write(&self, batch: &[Statement]) -> Result<Vec<Effect>, Fault> {
        let batch = batch.to_vec();
        self.writing(move |connection, tables| posts::write(connection, tables, &batch)).await
    }

    async fn rows(&self, side: Side, filter: &Document) -> Result<Vec<Document>, Fault> {
        let filter = filter.clone();
        self.reading(move |connection, tables| rows::find(connection, tables.side(side), &filter)).await
    }

    async fn row_insert(&self, side: Side, row: &Document) -> Result<Inserted, Fault> {
        let row = row.clone();
        self.writing(move |connection, tables| rows::insert(connection, tables.side(side), &row)).await
    }

    async fn rows_insert(&self, side: Side, rows: &[Document]) -> Result<(), Fault> {
        let rows = rows.to_vec();
        self.writing(move |connection, tables| rows::insert_all(connection, tables.side(side), &rows)).await
    }

    async fn row_replace(&self, side: Side, expected: i64, row: &Document) -> Result<bool, Fault> {
        let row = row.clone();
        self.writing(move |connection, tables| rows::replace(connection, tables.side(side), expected, &row))
            .await
    }

    async fn row_delete(&self, side: Side, ids: &[String]) -> Result<(), Fault> {
        let ids = json::texts(ids);
        self.writing(move |connection, tables| rows::delete(connection, tables.side(side), &ids)).await
    }

    fn foreign(&self) -> Option<&dyn Foreign> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
