//! Reading heads and documents; the guarded writes of a batch.

use std::path::PathBuf;

use bson::Document;
use rusqlite::{Connection, Error, ErrorCode, OptionalExtension, Params, TransactionBehavior};

use super::super::document::Head;
use super::super::fields;
use super::super::{Class, Effect, Fault, Statement};
use super::schema::Tables;
use super::{BATCH_BYTES_MAX, DOCUMENT_BYTES_MAX, NESTING_LEVELS_MAX, STATEMENTS_MAX, json, refusal};

pub(super) fn heads(connection: &mut Connection, tables: &Tables) -> Result<Vec<Head>, Fault> {
    let sql = format!(r#"SELECT head FROM "{}" ORDER BY _id"#, tables.posts());
    read_heads(connection, &sql, [])
}

/// `ids` is a JSON array of texts.
pub(super) fn heads_of(connection: &mut Connection, tables: &Tables, ids: &str) -> Result<Vec<Head>, Fault> {
    let sql = format!(
        r#"SELECT head FROM "{}" WHERE _id IN (SELECT value FROM json_each(?1)) ORDER BY _id"#,
        tables.posts()
    );
    read_heads(connection, &sql, [ids])
}

/// `keys` is a JSON array of arrays of slug and lang.
pub(super) fn heads_live(
    connection: &mut Connection,
    tables: &Tables,
    keys: &str,
) -> Result<Vec<Head>, Fault> {
    read_heads(connection, &heads_live_sql(tables.posts()), [keys])
}

/// CROSS JOIN fixes the order of the loops: for each key one look into the index of live posts.
pub(super) fn heads_live_sql(table: &str) -> String {
    format!(
        r#"WITH wanted AS (SELECT DISTINCT json_extract(value, '$[0]') AS slug, json_extract(value, '$[1]') AS lang
             FROM json_each(?1))
           SELECT posts.head FROM wanted CROSS JOIN "{table}" AS posts
             ON posts.slug = wanted.slug AND posts.lang = wanted.lang
           WHERE posts.live = 1 ORDER BY posts._id"#
    )
}

fn read_heads(connection: &Connection, sql: &str, params: impl Params) -> Result<Vec<Head>, Fault> {
    let texts = read_texts(connection, sql, params).map_err(|error| at(connection, &error))?;
    Ok(texts.iter().map(|text| Head::from_document(&json::decode_lenient(text))).collect())
}

/// `ids` is a JSON array of texts.
pub(super) fn documents(
    connection: &mut Connection,
    tables: &Tables,
    ids: &str,
) -> Result<Vec<Document>, Fault> {
    let sql = format!(
        r#"SELECT doc FROM "{}" WHERE _id IN (SELECT value FROM json_each(?1)) ORDER BY _id"#,
        tables.posts()
    );
    let texts = read_texts(connection, &sql, [ids]).map_err(|error| at(connection, &error))?;
    texts.iter().map(|text| decode(text)).collect()
}

pub(super) fn read_texts(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<String>, Error> {
    connection.prepare_cached(sql)?.query_map(params, |row| row.get(0))?.collect()
}

pub(super) fn decode(text: &str) -> Result<Document, Fault> {
    json::decode(text).map_err(|reason| {
        let start: String = text.chars().take(60).collect();
        refusal::permanent(
            format!("a stored document is no Extended JSON ({reason}): {start}…"),
            "another program wrote it; mend or remove it",
        )
    })
}

/// One batch in one transaction. A statement that is refused leaves nothing and undoes nothing.
pub(super) fn write(
    connection: &mut Connection,
    tables: &Tables,
    batch: &[Statement],
) -> Result<Vec<Effect>, Fault> {
    refuse_batch(batch)?;
    let path = path_of(connection);
    let fault = |error: Error| refusal::of(&error, &path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
    let posts = Posts { connection: &transaction, table: tables.posts() };
    let mut effects = Vec::with_capacity(batch.len());
    let mut wrote = false;
    for statement in batch {
        match posts.carry_out(statement) {
            Ok(Done { effect, changed }) => {
                wrote |= changed;
                effects.push(effect);
            }
            Err(Stop::Statement(fault)) => effects.push(Effect::Failed(fault)),
            // What is left of the batch rolls back with the transaction.
            Err(Stop::Batch(error)) => return Err(fault(error)),
        }
    }
    if wrote {
        transaction.commit().map_err(fault)?;
    }
    Ok(effects)
}

fn refuse_batch(batch: &[Statement]) -> Result<(), Fault> {
    if batch.len() > STATEMENTS_MAX {
        return Err(refusal::permanent(
            format!("a batch of {} statements; at most {STATEMENTS_MAX}", batch.len()),
            "",
        ));
    }
    let bytes = batch.iter().map(|statement| match statement {
        Statement::Create { document } => fields::bytes_of(document),
        Statement::Update { set, .. } => fields::bytes_of(set),
    });
    let bytes = bytes.fold(0, usize::saturating_add);
    // One document may fill a batch and a little more: it has no other way in.
    if batch.len() > 1 && bytes > BATCH_BYTES_MAX {
        return Err(refusal::permanent(format!("a batch of {bytes} bytes; at most {BATCH_BYTES_MAX}"), ""));
    }
    Ok(())
}

/// What one statement did.
struct Done {
    effect: Effect,
    changed: bool,
}

impl Done {
    fn wrote() -> Self {
        Done { effect: Effect::Applied, changed: true }
    }

    fn nothing(effect: Effect) -> Self {
        Done { effect, changed: false }
    }
}

/// Why a statement did not do what it says.
enum Stop {
    /// It alone was refused.
    Statement(Fault),
    /// The database failed: the whole batch is off.
    Batch(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Batch(error)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Stop::Statement(fault)
    }
}

struct Posts<'a> {
    connection: &'a Connection,
    table: &'a str,
}

impl Posts<'_> {
    fn carry_out(&self, statement: &Statement) -> Result<Done, Stop> {
        match statement {
            Statement::Create { document } => self.create(document),
            Statement::Update { id, slug, lang, expected_version, set, unset } => {
                let Some(before) = self.stored(id)? else {
                    return Ok(Done::nothing(Effect::Unmatched));
                };
                let before = decode(&before)?;
                let head = Head::from_document(&before);
                let version = head.ingest.as_ref().map(|ingest| ingest.version);
                if head.slug != *slug || head.lang != *lang || version != Some(*expected_version) {
                    return Ok(Done::nothing(Effect::Unmatched));
                }
                self.update(id, &before, set, unset)
            }
        }
    }

    fn create(&self, document: &Document) -> Result<Done, Stop> {
        let text = |key: &str| document.get_str(key).unwrap_or_default();
        let (id, slug, lang) = (text("_id"), text("slug"), text("lang"));
        if id.is_empty() || slug.is_empty() || lang.is_empty() {
            return Err(permanent("`_id`, `slug` and `lang` are texts that are not empty").into());
        }
        if let Some(stored) = self.head(id)? {
            if stored.slug == slug && stored.lang == lang {
                return Ok(Done::nothing(Effect::Existed));
            }
            return Err(conflict(format!("`_id` {id} is stored with another slug or lang")).into());
        }
        fields::refuse_shape(document, NESTING_LEVELS_MAX).map_err(permanent)?;
        refuse_size(document)?;
        let sql = format!(r#"INSERT INTO "{}" (_id, doc) VALUES (?1, ?2)"#, self.table);
        self.put(&sql, id, document)
    }

    fn update(&self, id: &str, before: &Document, set: &Document, unset: &[String]) -> Result<Done, Stop> {
        fields::refuse_values(set, NESTING_LEVELS_MAX).map_err(permanent)?;
        let after = fields::changed(before, set, unset).map_err(permanent)?;
        if fields::same_bytes(before, &after) {
            return Ok(Done::nothing(Effect::Applied));
        }
        if after.get("_id") != before.get("_id") {
            return Err(permanent("`_id` cannot be changed").into());
        }
        refuse_size(&after)?;
        let sql = format!(r#"UPDATE "{}" SET doc = ?2 WHERE _id = ?1"#, self.table);
        self.put(&sql, id, &after)
    }

    /// SQLite undoes a statement that violates a constraint by itself and goes on.
    fn put(&self, sql: &str, id: &str, document: &Document) -> Result<Done, Stop> {
        match self.connection.prepare_cached(sql)?.execute([id, json::encode(document).as_str()]) {
            Ok(_) => Ok(Done::wrote()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                let (slug, lang) = (document.get_str("slug"), document.get_str("lang"));
                Err(conflict(format!(
                    "slug `{}`, lang `{}` is live under another id ({error})",
                    slug.unwrap_or_default(),
                    lang.unwrap_or_default()
                ))
                .into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn stored(&self, id: &str) -> Result<Option<String>, Error> {
        let sql = format!(r#"SELECT doc FROM "{}" WHERE _id = ?1"#, self.table);
        self.connection.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()
    }

    fn head(&self, id: &str) -> Result<Option<Head>, Error> {
        let sql = format!(r#"SELECT head FROM "{}" WHERE _id = ?1"#, self.table);
        let text: Option<String> =
            self.connection.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()?;
        Ok(text.map(|text| Head::from_document(&json::decode_lenient(&text))))
    }
}

fn refuse_size(document: &Document) -> Result<(), Fault> {
    let bytes = fields::bytes_of(document);
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(permanent(format!("a document of {bytes} bytes; at most {DOCUMENT_BYTES_MAX}")));
    }
    Ok(())
}

fn permanent(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}

fn conflict(message: String) -> Fault {
    Fault::new(Class::Conflict, message)
}

/// The file of a connection, for messages.
pub(super) fn path_of(connection: &Connection) -> PathBuf {
    connection.path().map(PathBuf::from).unwrap_or_default()
}

pub(super) fn at(connection: &Connection, error: &Error) -> Fault {
    refusal::of(error, &path_of(connection))
}
