//! What differs between a stored document and the content that a plan writes, for people and for the
//! plan's JSON.
//!
//! Pure. It never decides anything: whether a post is written at all is told by digests, in `plan`.

use bson::{Bson, Document, doc};

use crate::identity::canonical;
use crate::store::document::{LIFECYCLE_FIELDS, OWNED_FIELDS};

/// One field that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Name; inside a document dotted (`extra.layout`).
    pub path: String,
    /// What is stored; `None` where the field is absent.
    pub before: Option<Bson>,
    /// What would be stored; `None` where the field goes.
    pub after: Option<Bson>,
}

/// The reader-facing fields that differ between a stored document and new content, in the order in
/// which they are stored. Fields that idempost does not own are left out, and so is bookkeeping. Two
/// numbers of different width and one value are equal, as in the content's digest.
pub fn fields(stored: &Document, content: &Document) -> Vec<FieldChange> {
    let mut out = Vec::new();
    for name in OWNED_FIELDS.iter().filter(|name| !LIFECYCLE_FIELDS.contains(name)) {
        compare(name, stored.get(name), content.get(name), &mut out);
    }
    out
}

/// The change of a post's status, as one more field.
pub fn status(before: &str, after: &str) -> Option<FieldChange> {
    (before != after).then(|| FieldChange {
        path: "status".to_owned(),
        before: Some(Bson::from(before)),
        after: Some(Bson::from(after)),
    })
}

fn compare(path: &str, before: Option<&Bson>, after: Option<&Bson>, out: &mut Vec<FieldChange>) {
    match (before, after) {
        (None, None) => {}
        (Some(Bson::Document(before)), Some(Bson::Document(after))) => {
            let mut names: Vec<&String> = before.keys().chain(after.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                compare(&format!("{path}.{name}"), before.get(name), after.get(name), out);
            }
        }
        (Some(before), Some(after)) if equal(before, after) => {}
        _ => out.push(FieldChange { path: path.to_owned(), before: before.cloned(), after: after.cloned() }),
    }
}

fn equal(before: &Bson, after: &Bson) -> bool {
    let encoded = |value: &Bson| {
        let mut bytes = Vec::new();
        canonical(&doc! { "": value.clone() }, &mut bytes);
        bytes
    };
    before == after || encoded(before) == encoded(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(changes: &[FieldChange]) -> Vec<&str> {
        changes.iter().map(|change| change.path.as_str()).collect()
    }

    #[test]
    fn only_owned_content_is_compared() {
        let stored = doc! {
            "_id": "A", "title": "Old", "summary": "gone", "views": 7, "status": "active", "wordCount": 3_i32,
            "extra": { "layout": "post", "deep": { "a": 1 } }, "ingest": { "version": 1 },
        };
        let content = doc! {
            "_id": "A", "title": "New", "wordCount": 3_i64, "tags": ["x"],
            "extra": { "layout": "post", "deep": { "a": 2, "b": true } },
        };
        let changes = fields(&stored, &content);
        assert_eq!(paths(&changes), ["title", "summary", "tags", "extra.deep.a", "extra.deep.b"]);
        assert_eq!(changes[0].before, Some(Bson::from("Old")));
        assert_eq!(changes[1].after, None);
        assert_eq!(changes[4].before, None);
        assert!(fields(&content, &content).is_empty());
    }

    #[test]
    fn a_field_that_turns_into_a_document_is_one_change() {
        let changes = fields(&doc! { "extra": "text" }, &doc! { "extra": { "a": 1 } });
        assert_eq!(paths(&changes), ["extra"]);
    }
}
