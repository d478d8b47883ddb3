//! What holds in every format: no key twice, no NUL, no deep nesting.

use std::collections::HashMap;
use std::ops::Range;

use super::problems::Problems;
use super::split::line_number;
use super::{Entry, NESTING_LEVELS_MAX, Node, Value, fold_key};
use crate::diagnostic::Diagnostic;

/// Checks a tree that was read, and drops repeated keys from it.
pub(super) fn check(source: &str, entries: &mut Vec<Entry>, problems: &mut Problems) {
    Checker { source, problems }.map(entries, 0);
}

struct Checker<'a> {
    source: &'a str,
    problems: &'a mut Problems,
}

impl Checker<'_> {
    /// `levels` counts the lists and maps around this one; the block itself is none.
    fn map(&mut self, entries: &mut Vec<Entry>, levels: usize) {
        let mut seen: HashMap<String, (String, usize)> = HashMap::with_capacity(entries.len());
        entries.retain(|entry| {
            // Only the block's own keys are matched loosely; those of values are what they are.
            let matched = if levels == 0 { fold_key(&entry.key) } else { entry.key.clone() };
            if let Some((first, at)) = seen.get(&matched) {
                let source = self.source;
                self.problems
                    .tell(|| duplicate(source, &entry.key, first, Some(*at), entry.key_span.clone()));
                return false;
            }
            seen.insert(matched, (entry.key.clone(), entry.key_span.start));
            true
        });
        for entry in entries {
            self.text(&entry.key, &entry.key_span);
            self.node(&mut entry.node, levels + 1);
        }
    }

    fn node(&mut self, node: &mut Node, levels: usize) {
        if levels > NESTING_LEVELS_MAX && !matches!(node.value, Value::Scalar(_)) {
            self.problems.tell(|| too_deep(node.span.clone()));
            return;
        }
        match &mut node.value {
            Value::Scalar(scalar) => self.text(&scalar.text, &node.span),
            Value::List(items) => items.iter_mut().for_each(|item| self.node(item, levels + 1)),
            Value::Map(entries) => self.map(entries, levels),
        }
    }

    fn text(&mut self, text: &str, at: &Range<usize>) {
        if text.contains('\0') {
            self.problems.tell(|| {
                Diagnostic::error("nul", "a NUL character, written as an escape")
                    .at(at.clone())
                    .help("remove the escape; no engine stores it in a key, and readers cut text there")
            });
        }
    }
}

/// A key that is given twice; `first` is the byte where `first_key` stands.
pub(super) fn duplicate(
    source: &str,
    key: &str,
    first_key: &str,
    first: Option<usize>,
    at: Range<usize>,
) -> Diagnostic {
    let place = first.map_or(String::new(), |at| format!(" (first on line {})", line_number(source, at)));
    let message = if key == first_key {
        format!("{key} given twice{place}")
    } else {
        format!("{key} given twice: it is the same key as {first_key}{place}")
    };
    Diagnostic::error("duplicate-key", message).at(at).help("keep one of the two")
}

/// A list or map inside too many others.
pub(super) fn too_deep(at: Range<usize>) -> Diagnostic {
    Diagnostic::error("nesting-too-deep", format!("values nested more than {NESTING_LEVELS_MAX} levels deep"))
        .at(at)
        .help("make the value flatter")
}

/// A block that is not made of keys.
pub(super) fn not_a_map(at: Range<usize>, found: &str) -> Diagnostic {
    Diagnostic::error(
        "front-matter-not-a-map",
        format!("front matter must be keys with values, found {found}"),
    )
    .at(at)
    .help("write one `key: value` a line")
}
