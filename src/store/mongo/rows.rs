//! The collections beside the posts: rows with a string `_id` and an integer `version`.

use bson::{Bson, Document, doc};

use super::super::{Class, Fault, Inserted, fields};
use super::command::Shape;
use super::connection::{Call, Connection};
use super::head::whole;
use super::read::Reads;
use super::reply::{Reader, Totals};

/// Ids in one `delete`.
const IDS_MAX: usize = 1_000;

/// Writes and reads of one side collection.
pub struct Rows<'a> {
    /// The way to the engine.
    pub connection: &'a Connection,
    /// The side collection.
    pub collection: &'a str,
}

/// Whether a filter's value bounds a field: `{"$gt": n}`, `{"$lt": n}`, or both.
fn is_range(value: &Document) -> bool {
    !value.is_empty() && value.keys().all(|operator| operator == "$gt" || operator == "$lt")
}

impl Rows<'_> {
    /// Rows whose top-level fields equal those of `filter`, in order of `_id`.
    pub async fn find(&self, filter: &Document) -> Result<Vec<Document>, Fault> {
        let mut equal = Document::new();
        for (key, value) in filter {
            if key.is_empty() || key.starts_with('$') || key.contains(['.', '\0']) {
                return Err(refused(format!("`{key}` is no name of a field")));
            }
            // A document as a filter's value could be taken for operators; only the port's bounds are.
            let value = match value {
                Bson::Document(range) if is_range(range) => value.clone(),
                Bson::Document(_) | Bson::RegularExpression(_) => Bson::from(doc! { "$eq": value.clone() }),
                other => other.clone(),
            };
            equal.insert(key, value);
        }
        let reads = Reads { connection: self.connection, collection: self.collection };
        reads.find(equal, None, Some(doc! { "_id": 1 }), whole).await
    }

    /// Inserts a row.
    pub async fn insert(&self, row: &Document) -> Result<Inserted, Fault> {
        let mut command =
            doc! { "insert": self.collection, "documents": [self.checked(row)?], "ordered": true };
        let n = match self.send(&mut command, 1).await {
            Ok(n) => n,
            Err(fault) if fault.class == Class::Conflict => return Ok(Inserted::Existed),
            Err(fault) => return Err(fault),
        };
        match n {
            1 => Ok(Inserted::New),
            n => Err(Fault::new(Class::Unknown, format!("a row was sent and the engine counts {n}"))),
        }
    }

    /// Inserts what is not there. The engine goes on after a row that is.
    pub async fn insert_all(&self, rows: &[Document]) -> Result<(), Fault> {
        let facts = self.connection.ready().await?.detected.profile.facts();
        for chunk in rows.chunks(facts.command_statements_max.max(1)) {
            let documents = chunk
                .iter()
                .map(|row| self.checked(row).map(|row| Bson::from(row.clone())))
                .collect::<Result<Vec<Bson>, Fault>>()?;
            let mut command = doc! { "insert": self.collection, "documents": documents, "ordered": false };
            let totals = self.told(&mut command, chunk.len(), chunk.len()).await?;
            let mut there = 0;
            for (_, fault) in totals.errors {
                if fault.class != Class::Conflict {
                    return Err(fault);
                }
                there += 1;
            }
            if let Some(fault) = totals.not_durable {
                return Err(fault);
            }
            if totals.nonsense || totals.n != Some(chunk.len().saturating_sub(there) as u64) {
                return Err(Fault::new(Class::Unknown, "the reply to an insert of rows makes no sense"));
            }
        }
        Ok(())
    }

    /// Replaces the row `_id` of `row` if its version is `expected`.
    pub async fn replace(&self, expected: i64, row: &Document) -> Result<bool, Fault> {
        let row = self.checked(row)?.clone();
        let id = row.get("_id").cloned().unwrap_or(Bson::Null);
        let update =
            doc! { "q": { "_id": id, "version": expected }, "u": row, "upsert": false, "multi": false };
        let mut command = doc! { "update": self.collection, "updates": [update], "ordered": true };
        Ok(self.send(&mut command, 1).await? == 1)
    }

    /// Deletes rows by `_id`; missing ones are no error.
    pub async fn delete(&self, ids: &[String]) -> Result<(), Fault> {
        for chunk in ids.chunks(IDS_MAX) {
            let chunk: Vec<Bson> = chunk.iter().map(|id| Bson::from(id.as_str())).collect();
            let delete = doc! { "q": { "_id": { "$in": chunk } }, "limit": 0 };
            let mut command = doc! { "delete": self.collection, "deletes": [delete], "ordered": true };
            // `n` counts rows, not statements.
            self.send(&mut command, u32::MAX as usize).await?;
        }
        Ok(())
    }

    /// Sends a command of one statement and returns `n`.
    pub async fn send(&self, command: &mut Document, counted_max: usize) -> Result<u64, Fault> {
        let totals = self.told(command, 1, counted_max).await?;
        if let Some((_, fault)) = totals.errors.into_iter().next() {
            return Err(fault);
        }
        if let Some(fault) = totals.not_durable {
            return Err(fault);
        }
        match totals.n {
            Some(n) if !totals.nonsense => Ok(n),
            _ => Err(Fault::new(Class::Unknown, "the reply to a write makes no sense")),
        }
    }

    /// Sends a command of so many statements and reads its reply.
    async fn told(
        &self,
        command: &mut Document,
        statements: usize,
        counted_max: usize,
    ) -> Result<Totals, Fault> {
        let known = self.connection.ready().await?;
        let profile = known.detected.profile;
        let shape = Shape {
            collection: self.collection,
            facts: profile.facts(),
            majority_timeout: self.connection.majority_timeout(),
        };
        shape.add_write_concern(command);
        let command = std::mem::take(command);
        let reply = self.connection.run(command, Call::write(statements)).await?;
        let reader = Reader { profile, redactor: self.connection.redactor() };
        Ok(reader.totals(&reply, counted_max))
    }

    fn checked<'r>(&self, row: &'r Document) -> Result<&'r Document, Fault> {
        if !row.get_str("_id").is_ok_and(|id| !id.is_empty())
            || super::super::document::integer(row.get("version")).is_none()
        {
            return Err(refused("a row has a string `_id` and an integer `version`"));
        }
        let levels_max = self.connection.profile().facts().nesting_levels_max;
        fields::refuse_shape(row, levels_max).map_err(refused)?;
        Ok(row)
    }
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}
