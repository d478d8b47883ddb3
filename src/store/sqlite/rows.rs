//! The rows of a side table.

use bson::{Bson, Document};
use rusqlite::{Connection, Error, ErrorCode, TransactionBehavior, params_from_iter};

use super::super::fields;
use super::super::{Class, Fault, Inserted};
use super::posts::{at, decode, read_texts};
use super::{DOCUMENT_BYTES_MAX, NESTING_LEVELS_MAX, json};

/// Rows whose fields equal those of the filter. Texts are compared by SQLite, everything else here.
pub(super) fn find(
    connection: &mut Connection,
    table: String,
    filter: &Document,
) -> Result<Vec<Document>, Fault> {
    let texts: Vec<(&str, &str)> = filter
        .iter()
        .filter_map(|(key, value)| match value {
            Bson::String(text) if !key.contains('"') => Some((key.as_str(), text.as_str())),
            _ => None,
        })
        .collect();
    let mut sql = format!(r#"SELECT doc FROM "{table}" WHERE true"#);
    let mut params = Vec::new();
    for (key, text) in texts {
        if key == "_id" {
            sql.push_str(" AND _id = ?");
        } else {
            sql.push_str(" AND json_extract(doc, ?) = ?");
            params.push(format!("$.\"{key}\""));
        }
        params.push(text.to_owned());
    }
    for (operator, condition) in [("$gt", " AND _id > ?"), ("$lt", " AND _id < ?")] {
        let bound = filter.get_document("_id").ok().and_then(|range| range.get_str(operator).ok());
        if let Some(bound) = bound {
            sql.push_str(condition);
            params.push(bound.to_owned());
        }
    }
    sql.push_str(" ORDER BY _id");
    let found =
        read_texts(connection, &sql, params_from_iter(params)).map_err(|error| at(connection, &error))?;
    let rows: Vec<Document> = found.iter().map(|text| decode(text)).collect::<Result<_, _>>()?;
    Ok(rows.into_iter().filter(|row| fields::matches(row, filter)).collect())
}

pub(super) fn insert(connection: &mut Connection, table: String, row: &Document) -> Result<Inserted, Fault> {
    let id = checked(row)?;
    let sql = format!(r#"INSERT INTO "{table}" (_id, doc) VALUES (?1, ?2)"#);
    match execute(connection, &sql, [id, json::encode(row).as_str()]) {
        Ok(_) => Ok(Inserted::New),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Ok(Inserted::Existed)
        }
        Err(error) => Err(at(connection, &error)),
    }
}

/// Inserts what is not there, in one transaction.
pub(super) fn insert_all(connection: &mut Connection, table: String, rows: &[Document]) -> Result<(), Fault> {
    let sql = format!(r#"INSERT INTO "{table}" (_id, doc) VALUES (?1, ?2) ON CONFLICT DO NOTHING"#);
    let encoded = rows
        .iter()
        .map(|row| checked(row).map(|id| (id, json::encode(row))))
        .collect::<Result<Vec<_>, Fault>>()?;
    let all = |connection: &mut Connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (id, text) in &encoded {
            execute(&transaction, &sql, [*id, text.as_str()])?;
        }
        transaction.commit()
    };
    all(connection).map_err(|error| at(connection, &error))
}

pub(super) fn replace(
    connection: &mut Connection,
    table: String,
    expected: i64,
    row: &Document,
) -> Result<bool, Fault> {
    let id = checked(row)?;
    let sql = format!(r#"UPDATE "{table}" SET doc = ?2 WHERE _id = ?1 AND version = ?3"#);
    let replaced = execute(connection, &sql, (id, json::encode(row).as_str(), expected));
    replaced.map(|count| count > 0).map_err(|error| at(connection, &error))
}

/// `ids` is a JSON array of texts.
pub(super) fn delete(connection: &mut Connection, table: String, ids: &str) -> Result<(), Fault> {
    let sql = format!(r#"DELETE FROM "{table}" WHERE _id IN (SELECT value FROM json_each(?1))"#);
    execute(connection, &sql, [ids]).map(|_| ()).map_err(|error| at(connection, &error))
}

fn execute(connection: &Connection, sql: &str, params: impl rusqlite::Params) -> Result<usize, Error> {
    connection.prepare_cached(sql)?.execute(params)
}

fn checked(row: &Document) -> Result<&str, Fault> {
    let permanent = |message: String| Fault::new(Class::Permanent, message);
    let id = row.get_str("_id").unwrap_or_default();
    if id.is_empty() {
        return Err(permanent("a row has a text as its `_id`".to_owned()));
    }
    fields::refuse_shape(row, NESTING_LEVELS_MAX).map_err(permanent)?;
    let bytes = fields::bytes_of(row);
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(permanent(format!("a row of {bytes} bytes; at most {DOCUMENT_BYTES_MAX}")));
    }
    Ok(id)
}
