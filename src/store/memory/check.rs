//! What the strict store refuses before it looks at what is stored.

use std::collections::BTreeSet;

use bson::Document;

use super::super::document::integer;
use super::super::fields;
use super::super::{Class, Fault, Limits, Statement};

/// Refuses a batch as a whole: faults of its sender, which no engine answers alike.
pub(super) fn batch(batch: &[Statement], limits: &Limits) -> Result<(), Fault> {
    if batch.is_empty() {
        return Err(refused("a batch without statements"));
    }
    if batch.len() > limits.statements_max {
        return Err(refused(format!("{} statements; at most {} go in", batch.len(), limits.statements_max)));
    }
    let bytes: usize = batch.iter().map(bytes_of).fold(0, usize::saturating_add);
    if bytes > limits.batch_bytes_max {
        return Err(refused(format!("a batch of {bytes} bytes; at most {}", limits.batch_bytes_max)));
    }
    let mut ids = BTreeSet::new();
    match batch.iter().find(|statement| !ids.insert(statement.id())) {
        Some(twice) => Err(refused(format!("`{}` is twice in one batch", twice.id()))),
        None => Ok(()),
    }
}

fn bytes_of(statement: &Statement) -> usize {
    match statement {
        Statement::Create { document } => fields::bytes_of(document),
        Statement::Update { set, unset, .. } => {
            fields::bytes_of(set).saturating_add(unset.iter().map(|key| key.len() + 8).sum::<usize>())
        }
    }
}

/// Refuses one statement by itself.
pub(super) fn statement(statement: &Statement, limits: &Limits) -> Result<(), Fault> {
    match statement {
        Statement::Create { document } => create(document, limits),
        Statement::Update { id, slug, lang, expected_version, set, unset } => {
            identity(Some(id), Some(slug), Some(lang))?;
            if *expected_version < 1 {
                return Err(refused("an update of what idempost did not write (version below 1)"));
            }
            if set.is_empty() && unset.is_empty() {
                return Err(refused("an update that says nothing"));
            }
            for (key, stored) in [("_id", id), ("slug", slug), ("lang", lang)] {
                if unset.iter().any(|unset| unset == key) || set.get_str(key).is_ok_and(|new| new != stored) {
                    return Err(refused(format!("`{key}` is part of the identity and frozen")));
                }
            }
            fields::refuse_null(set).map_err(refused)?;
            fields::refuse_values(set, limits.nesting_levels_max).map_err(refused)
        }
    }
}

fn create(document: &Document, limits: &Limits) -> Result<(), Fault> {
    let text = |key| document.get_str(key).ok();
    identity(text("_id"), text("slug"), text("lang"))?;
    if !document.get_document("ingest").is_ok_and(|ingest| ingest.get_i64("version").is_ok()) {
        return Err(refused("a document without a 64-bit `ingest.version`"));
    }
    fields::refuse_null(document).map_err(refused)?;
    fields::refuse_shape(document, limits.nesting_levels_max).map_err(refused)?;
    result(document, limits)
}

/// Refuses what a statement would leave.
pub(super) fn result(document: &Document, limits: &Limits) -> Result<(), Fault> {
    fields::refuse_live(document).map_err(refused)?;
    size(document, limits)
}

fn size(document: &Document, limits: &Limits) -> Result<(), Fault> {
    let bytes = fields::bytes_of(document);
    if bytes > limits.document_bytes_max {
        return Err(refused(format!("a document of {bytes} bytes; at most {}", limits.document_bytes_max)));
    }
    Ok(())
}

/// Refuses a row of a side collection.
pub(super) fn row(row: &Document, limits: &Limits) -> Result<(), Fault> {
    if !row.get_str("_id").is_ok_and(|id| !id.is_empty()) || integer(row.get("version")).is_none() {
        return Err(refused("a row has a string `_id` and an integer `version`"));
    }
    fields::refuse_shape(row, limits.nesting_levels_max).map_err(refused)?;
    size(row, limits)
}

fn identity(id: Option<&str>, slug: Option<&str>, lang: Option<&str>) -> Result<(), Fault> {
    for (key, value) in [("_id", id), ("slug", slug), ("lang", lang)] {
        if value.unwrap_or_default().is_empty() {
            return Err(refused(format!("`{key}` is empty, missing or no text")));
        }
    }
    Ok(())
}

pub(super) fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}
