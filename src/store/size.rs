//! What a document takes in a store, and whether a store takes it: bytes in BSON and levels of nesting.
//!
//! Pure.

use bson::{Bson, Document, doc};

use super::Limits;

/// Bytes that the lifecycle fields and the command around a document may add to its content.
pub const ENVELOPE_BYTES_MAX: usize = 4096;

/// Checks a post's content against what the store takes: (code, message, help) of what is too much.
pub fn check_limits(fields: &Document, limits: &Limits) -> Result<(), (&'static str, String, String)> {
    let bytes = bytes_of(fields);
    let with_envelope = bytes.saturating_add(ENVELOPE_BYTES_MAX);
    if with_envelope > limits.document_bytes_max.min(limits.batch_bytes_max) {
        return Err((
            "document-too-big",
            format!(
                "the document would be {with_envelope} bytes once rendered; the limit is {}",
                limits.document_bytes_max.min(limits.batch_bytes_max)
            ),
            "split the post, or set `[render] html = false` to store the source alone".to_owned(),
        ));
    }
    let levels = levels(fields);
    if levels > limits.nesting_levels_max {
        return Err((
            "nesting-too-deep",
            format!("the document nests {levels} levels; this engine takes {}", limits.nesting_levels_max),
            "flatten the nested front-matter values".to_owned(),
        ));
    }
    Ok(())
}

/// The bytes of a document in BSON, counted without writing it; `usize::MAX` where it holds what only the
/// writer can measure and cannot write.
pub fn bytes_of(document: &Document) -> usize {
    let fields = document.iter().map(|(key, value)| element_bytes(key.len(), value));
    fields.fold(5, usize::saturating_add)
}

/// One element: a type, a name with its NUL, a value (BSON 1.1).
fn element_bytes(key_bytes: usize, value: &Bson) -> usize {
    let value = match value {
        Bson::Document(document) => bytes_of(document),
        Bson::Array(items) => {
            let items = items.iter().enumerate().map(|(at, item)| element_bytes(digits(at), item));
            items.fold(5, usize::saturating_add)
        }
        Bson::String(text) => text.len().saturating_add(5),
        Bson::Int64(_) | Bson::Double(_) | Bson::DateTime(_) => 8,
        Bson::Int32(_) => 4,
        Bson::Boolean(_) => 1,
        Bson::Null => 0,
        // Seven bytes are the document around it: its own five, a type, the NUL of an empty name.
        other => bson::serialize_to_vec(&doc! { "": other.clone() })
            .map_or(usize::MAX, |bytes| bytes.len().saturating_sub(7)),
    };
    value.saturating_add(key_bytes).saturating_add(2)
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |tens| tens as usize + 1)
}

/// Levels of nesting: a flat document has one.
pub fn levels(document: &Document) -> usize {
    fn of(value: &Bson) -> usize {
        match value {
            Bson::Document(document) => levels(document),
            Bson::Array(items) => 1 + items.iter().map(of).max().unwrap_or(0),
            _ => 0,
        }
    }
    1 + document.values().map(of).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_as_they_are_written() {
        let many: Vec<Bson> = (0..1_234).map(Bson::Int32).collect();
        let oid = bson::oid::ObjectId::new();
        let document = doc! {
            "text": "봄 é", "empty": "", "i": 1_i32, "l": 1_i64, "f": 0.5, "t": true, "n": Bson::Null, "many": many,
            "deep": { "a": [{ "b": [] }, "x"], "": {} }, "when": bson::DateTime::from_millis(7), "oid": oid,
            "timestamp": Bson::Timestamp(bson::Timestamp { time: 1, increment: 2 }),
        };
        assert_eq!(bytes_of(&document), bson::serialize_to_vec(&document).unwrap().len());
        assert_eq!(bytes_of(&doc! {}), 5);
    }
}
