//! What the statements of the port mean for one document, for stores that hold whole documents:
//! `$set` and `$unset` with dotted paths, equality of filters, and what may be stored at all.
//!
//! Pure. Begin at [`changed`]; knows no store.

use bson::{Bson, Document};

use super::document::{Status, integer};

/// The only field below which a path may be dotted.
const DOTTED_ROOT: &str = "ingest";

/// Why a statement cannot be carried out; always permanent.
pub(crate) type Refusal = String;

/// The document after `$set` and `$unset`. Fields that neither names stay as they are and where they
/// are; new ones are added at the end.
pub(crate) fn changed(before: &Document, set: &Document, unset: &[String]) -> Result<Document, Refusal> {
    refuse_overlap(set, unset)?;
    let mut after = before.clone();
    for (path, value) in set {
        let (field, rest) = split(path)?;
        match rest {
            None => {
                after.insert(field, value.clone());
            }
            Some(rest) => set_below(&mut after, field, rest, value)?,
        }
    }
    for path in unset {
        let (field, rest) = split(path)?;
        match rest {
            None => {
                after.remove(field);
            }
            Some(rest) => unset_below(&mut after, field, rest),
        }
    }
    Ok(after)
}

/// Cuts a path at its first dot; dots are for the bookkeeping alone.
fn split(path: &str) -> Result<(&str, Option<&str>), Refusal> {
    match path.split_once('.') {
        None if path.is_empty() || path.starts_with('$') => Err(format!("`{path}` is no name of a field")),
        None => Ok((path, None)),
        Some((field, rest)) if field == DOTTED_ROOT => {
            if rest.split('.').any(|part| part.is_empty() || part.starts_with('$')) {
                return Err(format!("`{path}` is no path of a field"));
            }
            Ok((field, Some(rest)))
        }
        Some(_) => Err(format!("`{path}` is a dotted path outside `{DOTTED_ROOT}`")),
    }
}

/// Refuses paths that [`changed`] would refuse, for stores that leave the change to an engine.
pub(crate) fn refuse_paths(set: &Document, unset: &[String]) -> Result<(), Refusal> {
    refuse_overlap(set, unset)?;
    set.keys().chain(unset).try_for_each(|path| split(path).map(|_| ()))
}

fn set_below(parent: &mut Document, field: &str, rest: &str, value: &Bson) -> Result<(), Refusal> {
    if !parent.contains_key(field) {
        parent.insert(field, Document::new());
    }
    let Some(Bson::Document(child)) = parent.get_mut(field) else {
        return Err(format!("`{field}` is stored as something that is no document"));
    };
    match rest.split_once('.') {
        None => {
            child.insert(rest, value.clone());
            Ok(())
        }
        Some((field, rest)) => set_below(child, field, rest, value),
    }
}

fn unset_below(parent: &mut Document, field: &str, rest: &str) {
    let Some(Bson::Document(child)) = parent.get_mut(field) else {
        return;
    };
    match rest.split_once('.') {
        None => {
            child.remove(rest);
        }
        Some((field, rest)) => unset_below(child, field, rest),
    }
}

/// No path may be named twice, nor together with one above it: an engine refuses the command.
fn refuse_overlap(set: &Document, unset: &[String]) -> Result<(), Refusal> {
    let mut paths: Vec<&str> =
        set.keys().map(String::as_str).chain(unset.iter().map(String::as_str)).collect();
    paths.sort_unstable();
    for (at, path) in paths.iter().enumerate() {
        // What lies below `a` is not always next to it in order: `a`, `a-b`, `a.b`.
        let clash = paths
            .iter()
            .skip(at + 1)
            .take_while(|later| later.starts_with(path))
            .find(|later| later.len() == path.len() || later.as_bytes().get(path.len()) == Some(&b'.'));
        if let Some(clash) = clash {
            return Err(format!("`{path}` and `{clash}` are both named in one update"));
        }
    }
    Ok(())
}

/// Whether the top-level fields of `document` fit those of `filter`, as a MongoDB filter would find:
/// numbers by value, null like a missing field, `{"$gt": n}` and `{"$lt": n}` on integers, dates and texts.
pub(crate) fn matches(document: &Document, filter: &Document) -> bool {
    filter.iter().all(|(key, wanted)| match (document.get(key), wanted) {
        (Some(found), Bson::Document(range)) => in_range(found, range),
        (Some(found), _) => equal(found, wanted),
        (None, _) => matches!(wanted, Bson::Null),
    })
}

fn in_range(found: &Bson, range: &Document) -> bool {
    let within = |operator: &str, bound: &Bson| {
        let order = match (found, bound) {
            (Bson::String(found), Bson::String(bound)) => found.as_bytes().cmp(bound.as_bytes()),
            _ => match (integer(Some(found)), integer(Some(bound))) {
                (Some(found), Some(bound)) => found.cmp(&bound),
                _ => return false,
            },
        };
        match operator {
            "$gt" => order.is_gt(),
            "$lt" => order.is_lt(),
            _ => false,
        }
    };
    !range.is_empty() && range.iter().all(|(operator, bound)| within(operator, bound))
}

/// Equality of two values; integers of both widths by value.
pub(crate) fn equal(left: &Bson, right: &Bson) -> bool {
    match (left, right) {
        (
            Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_),
            Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_),
        ) => match (integer(Some(left)), integer(Some(right))) {
            (Some(left), Some(right)) => left == right,
            _ => left == right,
        },
        _ => left == right,
    }
}

/// Whether two documents are the same byte by byte: types and the order of fields count, as for an
/// engine that decides whether an update changes anything.
pub(crate) fn same_bytes(left: &Document, right: &Document) -> bool {
    matches!((left.to_vec(), right.to_vec()), (Ok(left), Ok(right)) if left == right)
}

/// Size of the stored form, in bytes; `usize::MAX` for what has none (a NUL in a key).
pub(crate) fn bytes_of(document: &Document) -> usize {
    document.to_vec().map_or(usize::MAX, |bytes| bytes.len())
}

/// Refuses what no engine can be trusted to hold: keys that are empty, hold a dot or a NUL or begin
/// with `$`, and values nested deeper than `levels_max`.
pub(crate) fn refuse_shape(document: &Document, levels_max: usize) -> Result<(), Refusal> {
    shape_of_document(document, 1, levels_max)
}

/// As [`refuse_shape`] for the values of a `$set`, whose own keys are paths.
pub(crate) fn refuse_values(set: &Document, levels_max: usize) -> Result<(), Refusal> {
    set.iter()
        .try_for_each(|(key, value)| shape_of_value(key, value, 1 + key.matches('.').count(), levels_max))
}

fn shape_of_document(document: &Document, level: usize, levels_max: usize) -> Result<(), Refusal> {
    if level > levels_max {
        return Err(format!("values are nested deeper than {levels_max} levels"));
    }
    for (key, value) in document {
        if key.is_empty() || key.starts_with('$') || key.contains(['.', '\0']) {
            return Err(format!("the key {key:?} cannot be stored by every engine"));
        }
        shape_of_value(key, value, level, levels_max)?;
    }
    Ok(())
}

fn shape_of_value(key: &str, value: &Bson, level: usize, levels_max: usize) -> Result<(), Refusal> {
    match value {
        Bson::Document(document) => shape_of_document(document, level + 1, levels_max),
        Bson::Array(_) if level + 1 > levels_max => {
            Err(format!("values are nested deeper than {levels_max} levels"))
        }
        Bson::Array(items) => {
            items.iter().try_for_each(|item| shape_of_value(key, item, level + 1, levels_max))
        }
        Bson::String(text) if text.contains('\0') => Err(format!("the text of `{key}` holds a NUL")),
        _ => Ok(()),
    }
}

/// Refuses null as the value of a field at any depth (absent stays absent); items of arrays may be.
pub(crate) fn refuse_null(document: &Document) -> Result<(), Refusal> {
    document.iter().try_for_each(|(key, value)| null_in_value(key, value))
}

fn null_in_value(key: &str, value: &Bson) -> Result<(), Refusal> {
    match value {
        Bson::Null | Bson::Undefined => Err(format!("`{key}` is null; what is absent is not stored")),
        Bson::Document(document) => refuse_null(document),
        Bson::Array(items) => items.iter().try_for_each(|item| match item {
            Bson::Document(document) => refuse_null(document),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

/// Refuses a `live` that disagrees with `status`: the unique index would count wrong.
pub(crate) fn refuse_live(document: &Document) -> Result<(), Refusal> {
    let status = Status::from_stored(document.get_str("status").unwrap_or_default());
    let live = match document.get("live") {
        None => false,
        Some(Bson::Boolean(true)) => true,
        Some(other) => return Err(format!("`live` is {other}; it is true or absent")),
    };
    if live == status.is_live() {
        return Ok(());
    }
    Err(format!("`live` is {live} with the status `{}`", status.as_str()))
}

/// The (slug, lang) under which the unique index counts a document; `None` for one that is not live.
/// Values of any type count, as they do for an engine.
pub(crate) fn live_key(document: &Document) -> Option<(String, String)> {
    if document.get("live") != Some(&Bson::Boolean(true)) {
        return None;
    }
    Some((key_text(document.get("slug")), key_text(document.get("lang"))))
}

/// A value as part of a key: text as it is, other types so that they cannot meet a text.
pub(crate) fn key_text(value: Option<&Bson>) -> String {
    match value {
        Some(Bson::String(text)) => text.clone(),
        Some(other) => format!("\0{other}"),
        None => "\0null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn a_dotted_path_changes_one_field_of_the_bookkeeping() {
        let before = doc! { "_id": "a", "views": 7, "ingest": { "version": 1_i64, "path": "a.md" } };
        let after = changed(&before, &doc! { "ingest.version": 2_i64 }, &["ingest.path".to_owned()]).unwrap();
        assert_eq!(after, doc! { "_id": "a", "views": 7, "ingest": { "version": 2_i64 } });
    }

    #[test]
    fn a_path_makes_the_documents_it_lacks() {
        let after = changed(&doc! {}, &doc! { "ingest.claim.until": 1_i64 }, &[]).unwrap();
        assert_eq!(after, doc! { "ingest": { "claim": { "until": 1_i64 } } });
    }

    #[test]
    fn a_path_through_a_text_is_refused() {
        assert!(changed(&doc! { "ingest": "x" }, &doc! { "ingest.version": 1_i64 }, &[]).is_err());
    }

    #[test]
    fn overlapping_paths_are_refused() {
        for (set, unset) in [
            (doc! { "title": "x" }, vec!["title".to_owned()]),
            (doc! { "ingest": {}, "ingest-x": 1, "ingest.version": 1_i64 }, vec![]),
            (doc! { "ingest.claim.until": 1_i64 }, vec!["ingest.claim".to_owned()]),
        ] {
            assert!(changed(&doc! {}, &set, &unset).is_err(), "{set} {unset:?}");
        }
        assert!(changed(&doc! {}, &doc! { "ingest": {}, "ingestx": 1 }, &[]).is_ok());
    }

    #[test]
    fn dots_outside_the_bookkeeping_are_refused() {
        assert!(changed(&doc! {}, &doc! { "extra.a": 1 }, &[]).is_err());
        assert!(changed(&doc! {}, &doc! {}, &["toc.0".to_owned()]).is_err());
    }

    #[test]
    fn levels_are_counted_from_the_document_itself() {
        let mut value = Bson::Int32(1);
        for _ in 0..3 {
            value = Bson::Document(doc! { "a": value });
        }
        let Bson::Document(three) = value else { unreachable!() };
        assert!(refuse_shape(&three, 3).is_ok());
        assert!(refuse_shape(&three, 2).is_err());
        assert!(refuse_shape(&doc! { "a": [1] }, 1).is_err());
        assert!(refuse_shape(&doc! { "a": [1] }, 2).is_ok());
    }

    #[test]
    fn null_is_refused_as_a_field_and_kept_as_an_item() {
        assert!(refuse_null(&doc! { "extra": { "list": [1, Bson::Null] } }).is_ok());
        assert!(refuse_null(&doc! { "extra": { "list": [{ "a": Bson::Null }] } }).is_err());
        assert!(refuse_null(&doc! { "summary": Bson::Null }).is_err());
    }

    #[test]
    fn filters_compare_numbers_by_value_and_types_by_kind() {
        assert!(matches(&doc! { "attempt": 1_i32 }, &doc! { "attempt": 1_i64 }));
        assert!(!matches(&doc! { "attempt": "1" }, &doc! { "attempt": 1_i64 }));
        assert!(matches(&doc! {}, &doc! { "source": Bson::Null }));
        assert!(!matches(&doc! {}, &doc! { "source": "" }));
    }

    #[test]
    fn types_and_order_make_a_document_another() {
        assert!(!same_bytes(&doc! { "a": 1_i32 }, &doc! { "a": 1_i64 }));
        assert!(!same_bytes(&doc! { "a": 1, "b": 2 }, &doc! { "b": 2, "a": 1 }));
        assert!(same_bytes(&doc! { "a": 1, "b": 2 }, &doc! { "a": 1, "b": 2 }));
    }
}
