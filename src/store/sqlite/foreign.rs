//! Documents of other makers in a SQLite file: put in by hand, since no other program has its posts there.

use async_trait::async_trait;
use bson::{Bson, Document, RawDocument, RawDocumentBuf};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use serde_json::Value;

use super::super::foreign::{Foreign, Mention, Mentions};
use super::super::{Class, Fault, Inserted, fields};
use super::posts::{at, decode, read_texts};
use super::schema::Tables;
use super::{SqliteStore, json};

#[async_trait]
impl Foreign for SqliteStore {
    async fn foreign_ids(&self) -> Result<Vec<Bson>, Fault> {
        self.reading(|connection, tables| {
            let sql = format!(
                r#"SELECT doc FROM "{}" WHERE json_type(doc, '$.ingest') IS NOT 'object' ORDER BY _id"#,
                tables.posts()
            );
            let found = documents(connection, &sql, [])?;
            Ok(found.into_iter().filter_map(|mut document| document.remove("_id")).collect())
        })
        .await
    }

    async fn wholes(&self, ids: &[Bson]) -> Result<Vec<RawDocumentBuf>, Fault> {
        let ids = Value::from(ids.iter().map(key).collect::<Vec<String>>()).to_string();
        self.reading(move |connection, tables| {
            let sql = format!(
                r#"SELECT doc FROM "{}" WHERE _id IN (SELECT value FROM json_each(?1))"#,
                tables.posts()
            );
            documents(connection, &sql, [ids.as_str()])?.iter().map(raw).collect()
        })
        .await
    }

    async fn remove(&self, whole: &RawDocument) -> Result<bool, Fault> {
        let document = read(whole)?;
        self.writing(move |connection, tables| remove(connection, tables, &document)).await
    }

    async fn put_back(&self, whole: &RawDocument) -> Result<Inserted, Fault> {
        let document = read(whole)?;
        self.writing(move |connection, tables| {
            let sql = format!(r#"INSERT INTO "{}" (_id, doc) VALUES (?1, ?2)"#, tables.posts());
            let id = document.get("_id").map(key).unwrap_or_default();
            match connection.execute(&sql, [id.as_str(), json::encode(&document).as_str()]) {
                Ok(_) => Ok(Inserted::New),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Ok(Inserted::Existed)
                }
                Err(error) => Err(at(connection, &error)),
            }
        })
        .await
    }

    async fn mentions(&self, ids: &[Bson]) -> Result<Vec<Mention>, Fault> {
        let mut mentions = Mentions::of(ids);
        self.reading(move |connection, tables| {
            // The file is ours alone: what else lies in it is idempost's own.
            let sql = format!(r#"SELECT doc FROM "{}""#, tables.posts());
            for document in documents(connection, &sql, [])? {
                mentions.look(tables.posts(), true, &raw(&document)?);
            }
            Ok(mentions.told())
        })
        .await
    }
}

fn remove(connection: &mut Connection, tables: &Tables, whole: &Document) -> Result<bool, Fault> {
    let id = whole.get("_id").map(key).unwrap_or_default();
    let posts = tables.posts();
    let fault = |connection: &Connection, error: &rusqlite::Error| at(connection, error);
    let transaction = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => transaction,
        Err(error) => return Err(super::refusal::of(&error, std::path::Path::new(""))),
    };
    let stored = read_texts(&transaction, &format!(r#"SELECT doc FROM "{posts}" WHERE _id = ?1"#), [&id])
        .map_err(|error| fault(&transaction, &error))?;
    let Some(text) = stored.first() else { return Ok(false) };
    if !fields::same_bytes(&decode(text)?, whole) {
        return Ok(false);
    }
    let sql = format!(r#"DELETE FROM "{posts}" WHERE _id = ?1"#);
    transaction.execute(&sql, [&id]).map_err(|error| fault(&transaction, &error))?;
    transaction.commit().map_err(|error| super::refusal::of(&error, std::path::Path::new("")))?;
    Ok(true)
}

fn documents(
    connection: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
) -> Result<Vec<Document>, Fault> {
    let texts = read_texts(connection, sql, params).map_err(|error| at(connection, &error))?;
    texts.iter().map(|text| decode(text)).collect()
}

/// An id as the column has it: text as it is, else its Extended JSON.
fn key(id: &Bson) -> String {
    match id {
        Bson::String(text) => text.clone(),
        other => other.clone().into_canonical_extjson().to_string(),
    }
}

fn raw(document: &Document) -> Result<RawDocumentBuf, Fault> {
    RawDocumentBuf::try_from(document).map_err(|error| Fault::new(Class::Permanent, error.to_string()))
}

fn read(whole: &RawDocument) -> Result<Document, Fault> {
    Document::try_from(whole).map_err(|error| Fault::new(Class::Permanent, error.to_string()))
}
