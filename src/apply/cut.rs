//! How work is cut into commands: by count and by bytes.

use std::sync::Arc;

use crate::plan::Operation;
use crate::plan::compose::Written;
use crate::store::Limits;

/// The bytes that one batch is cut to, where the store takes more: several batches are in flight, and the
/// documents of each are in memory until it is settled.
pub(super) const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Cuts the operations into batches, sorted by id (engines that lock rows meet them in one order), by
/// count and by the bytes that their documents are expected to have: they are composed only when their
/// turn comes, and measured then.
pub(super) fn batches(
    mut operations: Vec<Arc<Operation>>,
    statements_max: usize,
    limits: &Limits,
) -> Vec<Vec<Arc<Operation>>> {
    operations.sort_by(|a, b| a.id.cmp(&b.id));
    let statements_max = statements_max.min(limits.statements_max).max(1);
    let bytes = |operation: &Arc<Operation>| {
        operation.content.as_ref().map_or(0, Written::bytes_expected).saturating_add(STAMP_BYTES)
    };
    cut(operations, bytes, statements_max, BATCH_BYTES.min(limits.batch_bytes_max))
}

/// What a statement has beside its document.
const STAMP_BYTES: usize = 1024;

/// Cuts a list, in its order, so that no part has more than so many items or, but for a single item, bytes.
pub(super) fn cut<T>(
    items: Vec<T>,
    bytes_of: impl Fn(&T) -> usize,
    count_max: usize,
    bytes_max: usize,
) -> Vec<Vec<T>> {
    let mut out: Vec<Vec<T>> = Vec::new();
    let mut bytes = 0_usize;
    for item in items {
        let size = bytes_of(&item);
        let full =
            out.last().is_none_or(|part| part.len() >= count_max || bytes.saturating_add(size) > bytes_max);
        if full {
            out.push(Vec::new());
            bytes = 0;
        }
        bytes = bytes.saturating_add(size);
        if let Some(part) = out.last_mut() {
            part.push(item);
        }
    }
    out
}
