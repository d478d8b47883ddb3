//! Documents as canonical Extended JSON and back: every type survives.

use bson::{Bson, Document};
use serde_json::Value;

/// The stored text of a document.
pub(super) fn encode(document: &Document) -> String {
    Bson::Document(document.clone()).into_canonical_extjson().to_string()
}

/// Reads a stored document. Plain JSON numbers, as another program may have put in, become integers or
/// doubles.
///
/// # Errors
/// The reason, for text that is no document.
pub(super) fn decode(text: &str) -> Result<Document, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    match Bson::try_from(value).map_err(|error| error.to_string())? {
        Bson::Document(document) => Ok(document),
        other => Err(format!("{} is no document", other.into_relaxed_extjson())),
    }
}

/// Reads a projected document field by field: a field that is no Extended JSON is left out.
pub(super) fn decode_lenient(text: &str) -> Document {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else {
        return Document::new();
    };
    fields
        .into_iter()
        .filter_map(|(key, value)| Some((key, Bson::try_from(value).ok()?)))
        .filter(|(_, value)| !matches!(value, Bson::Null))
        .collect()
}

/// A JSON array of texts, for `json_each`.
pub(super) fn texts(texts: &[String]) -> String {
    Value::from(texts.to_vec()).to_string()
}

/// A JSON array of arrays of two texts, for `json_each`.
pub(super) fn pairs(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(left, right)| Value::from(vec![left.as_str(), right.as_str()]));
    Value::Array(pairs.collect()).to_string()
}
