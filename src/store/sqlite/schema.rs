//! The tables, in a version of their own; specified here and nowhere else.
//!
//! `posts`: `_id`, and `doc` with the whole document. The columns between are computed from `doc`, and
//! stand before it, so that SQLite reads a head without following the pages of a body. `live` is 1 or
//! NULL; `published_at` is in Unix milliseconds. What a website asks is in `docs/reading.md`.
//!
//! `posts_runs`, `posts_assets`, `posts_groups`, `posts_history`: `_id` and `doc`, with what is looked
//! up or unique computed from it. Only functions that SQLite 3.31 has are used: older readers must be
//! able to open the file.

use std::path::Path;

use rusqlite::{Connection, Error, TransactionBehavior};

use super::super::{Fault, Readiness, Side};
use super::{file, refusal};

/// Marks a file as ours (`IDMP`).
const APPLICATION_ID: i32 = 0x4944_4d50;
/// The version of these tables.
const SCHEMA_VERSION: i32 = 1;
/// The longest name of a collection, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// The names of the tables.
#[derive(Debug, Clone)]
pub(super) struct Tables {
    posts: String,
}

impl Tables {
    /// The tables of a collection.
    ///
    /// # Errors
    /// Permanent for a name that cannot be one: empty, too long, reserved, or not of letters, digits,
    /// `_`, `-` and `.`.
    pub(super) fn named(collection: &str) -> Result<Self, Fault> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let lower = collection.to_ascii_lowercase();
        if collection.is_empty()
            || collection.len() > NAME_BYTES_MAX
            || lower.starts_with("sqlite_")
            || !collection.chars().all(plain)
        {
            return Err(refusal::permanent(
                format!("`{collection}` cannot be the name of a collection"),
                "letters, digits, `_`, `-` and `.`",
            ));
        }
        Ok(Tables { posts: collection.to_owned() })
    }

    /// The table of the posts; its name needs no escaping inside double quotes.
    pub(super) fn posts(&self) -> &str {
        &self.posts
    }

    /// A side table.
    pub(super) fn side(&self, side: Side) -> String {
        format!("{}{}", self.posts, side.suffix())
    }
}

/// Whether the tables have been made.
pub(super) fn is_there(connection: &Connection, tables: &Tables) -> Result<bool, Error> {
    let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1";
    let count: i64 = connection.prepare_cached(sql)?.query_row([tables.posts()], |row| row.get(0))?;
    Ok(count > 0)
}

/// Refuses a file of another program and one of a newer version.
pub(super) fn refuse_foreign(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let look = |sql: &str| -> Result<i32, Fault> {
        connection.query_row(sql, [], |row| row.get(0)).map_err(|error| refusal::of(&error, path))
    };
    // Another process may be making the file just now: all three are read from one snapshot.
    let snapshot = connection.unchecked_transaction().map_err(|error| refusal::of(&error, path))?;
    let tables = look("SELECT count(*) FROM sqlite_master")?;
    let application = look("PRAGMA application_id")?;
    let version = look("PRAGMA user_version")?;
    drop(snapshot);
    let file = path.display();
    if application == APPLICATION_ID {
        if version > SCHEMA_VERSION {
            return Err(refusal::permanent(
                format!("{file} has tables of version {version}; this idempost knows {SCHEMA_VERSION}"),
                "use the idempost that wrote it, or a newer one",
            ));
        }
        return Ok(());
    }
    if application == 0 && version == 0 && tables == 0 {
        return Ok(());
    }
    Err(refusal::permanent(
        format!("{file} is the database of another program"),
        "give idempost a file of its own with `--store`",
    ))
}

/// Makes what is missing and reads it back. Writes nothing where all is there.
pub(super) fn ensure(connection: &mut Connection, tables: &Tables, path: &Path) -> Result<Readiness, Fault> {
    let fault = |error: Error| refusal::of(&error, path);
    let mode = file::waiting(|| write_ahead(connection)).map_err(fault)?;
    if !is_complete(connection, tables).map_err(fault)? {
        make(connection, tables).map_err(fault)?;
    }
    let mut readiness =
        Readiness { indexes: read_back(connection, tables).map_err(fault)?, warnings: vec![] };
    if mode != "wal" {
        readiness.warnings.push(format!("no write-ahead log on this file system (journal mode `{mode}`)"));
    }
    Ok(readiness)
}

/// Turns the write-ahead log on, which stays with the file; the mode as SQLite tells it.
fn write_ahead(connection: &Connection) -> Result<String, Error> {
    let mode: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if mode == "wal" {
        return Ok(mode);
    }
    connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
}

fn is_complete(connection: &Connection, tables: &Tables) -> Result<bool, Error> {
    let version: i32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let mut lookup = connection.prepare("SELECT count(*) FROM sqlite_master WHERE name = ?1")?;
    let sides = Side::ALL.map(|side| tables.side(side));
    for name in index_names(tables).into_iter().chain(sides) {
        let count: i64 = lookup.query_row([name], |row| row.get(0))?;
        if count == 0 {
            return Ok(false);
        }
    }
    Ok(version == SCHEMA_VERSION)
}

fn make(connection: &mut Connection, tables: &Tables) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(&posts_sql(tables))?;
    for side in Side::ALL {
        transaction.execute_batch(&side_sql(tables, side))?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

fn index_names(tables: &Tables) -> [String; 3] {
    let posts = tables.posts();
    [format!("{posts}_live"), format!("{posts}_lists"), format!("{posts}_runs_operation")]
}

fn posts_sql(tables: &Tables) -> String {
    let posts = tables.posts();
    let [live, lists, _] = index_names(tables);
    format!(
        r#"
CREATE TABLE IF NOT EXISTS "{posts}" (
  _id          TEXT NOT NULL PRIMARY KEY,
  slug         TEXT AS (json_extract(doc, '$.slug')) STORED,
  lang         TEXT AS (json_extract(doc, '$.lang')) STORED,
  status       TEXT AS (json_extract(doc, '$.status')) STORED,
  live         INTEGER AS (CASE json_type(doc, '$.live') WHEN 'true' THEN 1 END) STORED,
  published_at INTEGER AS (CAST(json_extract(doc, '$.publishedAt."$date"."$numberLong"') AS INTEGER)) STORED,
  head         TEXT AS (json_object(
                 '_id', json_extract(doc, '$._id'),
                 'slug', json_extract(doc, '$.slug'),
                 'lang', json_extract(doc, '$.lang'),
                 'status', json_extract(doc, '$.status'),
                 'live', json(CASE json_type(doc, '$.live') WHEN 'true' THEN 'true' ELSE 'null' END),
                 'translationKey', json_extract(doc, '$.translationKey'),
                 'sourceHash', json_extract(doc, '$.sourceHash'),
                 'supersededBy', json_extract(doc, '$.supersededBy'),
                 'ingest', json_extract(doc, '$.ingest'))) STORED,
  doc          TEXT NOT NULL,
  CHECK (json_valid(doc)),
  CHECK (json_extract(doc, '$._id') = _id)
);
CREATE UNIQUE INDEX IF NOT EXISTS "{live}" ON "{posts}" (slug, lang) WHERE live = 1;
CREATE INDEX IF NOT EXISTS "{lists}" ON "{posts}" (lang, status, published_at DESC);
"#
    )
}

fn side_sql(tables: &Tables, side: Side) -> String {
    let table = tables.side(side);
    let integer = |field: &str| {
        format!(
            "CAST(coalesce(json_extract(doc, '$.{field}.\"$numberLong\"'), \
             json_extract(doc, '$.{field}.\"$numberInt\"'), json_extract(doc, '$.{field}')) AS INTEGER)"
        )
    };
    let version = integer("version");
    if side != Side::Runs {
        return format!(
            r#"
CREATE TABLE IF NOT EXISTS "{table}" (
  _id     TEXT NOT NULL PRIMARY KEY,
  version INTEGER AS ({version}) STORED,
  doc     TEXT NOT NULL
);
"#
        );
    }
    let [_, _, operation] = index_names(tables);
    let attempt = integer("attempt");
    format!(
        r#"
CREATE TABLE IF NOT EXISTS "{table}" (
  _id          TEXT NOT NULL PRIMARY KEY,
  version      INTEGER AS ({version}) STORED,
  source       TEXT AS (json_extract(doc, '$.source')) STORED,
  operation_id TEXT AS (json_extract(doc, '$.operationId')) STORED,
  attempt      INTEGER AS ({attempt}) STORED,
  doc          TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS "{operation}"
  ON "{table}" (ifnull(source, ''), ifnull(operation_id, ''), ifnull(attempt, 0));
"#
    )
}

/// The indexes as SQLite has them, with what each is for.
fn read_back(connection: &Connection, tables: &Tables) -> Result<Vec<String>, Error> {
    let [live, lists, operation] = index_names(tables);
    let purposes = [
        (live, "unique (slug, lang) where live"),
        (lists, "lists: lang, status, newest first"),
        (operation, "unique (source, operation, attempt) of runs"),
    ];
    let mut found = Vec::new();
    let mut named =
        connection.prepare("SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = ?1")?;
    for (name, purpose) in purposes {
        let count: i64 = named.query_row([&name], |row| row.get(0))?;
        if count > 0 {
            found.push(format!("{name}: {purpose}"));
        }
    }
    Ok(found)
}
