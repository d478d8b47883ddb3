//! What differs between two documents, for people.

use bson::{Bson, Document};

/// One field that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldChange {
    /// Dotted path.
    pub path: String,
    /// Stored now; `None`: not there.
    pub before: Option<Bson>,
    /// Stored afterwards; `None`: removed.
    pub after: Option<Bson>,
}

/// The fields that differ.
pub fn fields(before: &Document, after: &Document) -> Vec<FieldChange> {
    let _ = (before, after);
    unimplemented!()
}
