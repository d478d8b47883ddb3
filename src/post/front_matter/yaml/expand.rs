//! The arena to the tree: aliases become what they refer to, `<<` is merged, scalars get their kind.
//!
//! The arena was counted, so the tree is bounded; only its depth is checked here, since an alias adds
//! the levels of what it refers to.

use std::ops::Range;

use super::super::problems::Problems;
use super::super::{Entry, Kind, NESTING_LEVELS_MAX, Node, Scalar, Value, check, fold_key};
use super::compose::{Arena, Id, Raw, RawValue};
use super::schema;
use crate::diagnostic::Diagnostic;

/// The merge key (<https://yaml.org/type/merge.html>): YAML 1.1, and in wide use.
const MERGE: &str = "<<";

/// Makes the tree of a block.
pub(super) fn expand(arena: &Arena<'_>, source: &str, problems: &mut Problems) -> Vec<Entry> {
    let Some(root) = arena.root.and_then(|root| arena.get(root)) else {
        return Vec::new();
    };
    let found = match &root.value {
        RawValue::Map(entries) => return Expander { arena, source, problems }.map(entries, 0),
        RawValue::Scalar { text, plain: true, tag: None } if schema::resolve(text) == Kind::Null => {
            return Vec::new();
        }
        RawValue::Broken => return Vec::new(),
        RawValue::Scalar { text, .. } if text.lines().next().is_some_and(is_toml) => {
            "TOML; its fence is `+++`"
        }
        RawValue::Scalar { .. } | RawValue::Alias(_) => "text",
        RawValue::List(_) => "a list",
    };
    // After a syntax error the root is what was left, and tells nothing.
    if problems.has("yaml-syntax") {
        return Vec::new();
    }
    problems.tell(|| check::not_a_map(root.span.clone(), found));
    Vec::new()
}

fn is_toml(line: &str) -> bool {
    super::key_of(line).is_some_and(|(_, separator)| separator == '=')
}

struct Expander<'a, 't> {
    arena: &'a Arena<'t>,
    source: &'a str,
    problems: &'a mut Problems,
}

impl<'a, 't> Expander<'a, 't> {
    /// `levels` counts the lists and maps around this one; the block itself is none.
    fn map(&mut self, raw: &[(Id, Id)], levels: usize) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(raw.len());
        let mut merge_keys = Vec::new();
        for (key, value) in raw {
            let Some(key) = self.raw(*key) else {
                continue;
            };
            let key_span = key.span.clone();
            match self.key(key) {
                Some(Key::Merge) => merge_keys.push((entries.len(), key_span, *value)),
                Some(Key::Text(key)) => {
                    let node = self.node(*value, levels + 1);
                    entries.push(Entry { key, key_span, node });
                }
                None => {}
            }
        }
        if let [_, second, ..] = merge_keys.as_slice() {
            let first = merge_keys.first().map(|(_, span, _)| span.start);
            let (source, at) = (self.source, second.1.clone());
            self.problems.tell(|| {
                check::duplicate(source, MERGE, MERGE, first, at)
                    .help("merge several maps as a list: `<<: [*one, *two]`")
            });
        }
        if let Some((place, span, value)) = merge_keys.into_iter().next() {
            let merged = self.merged(value, &span, &entries, levels);
            entries.splice(place..place, merged);
        }
        entries
    }

    fn key(&mut self, raw: &'a Raw<'t>) -> Option<Key> {
        let node = self.follow(raw);
        match &node.value {
            RawValue::Scalar { text, plain: true, tag: None } if *text == MERGE => Some(Key::Merge),
            RawValue::Scalar { text, .. } => Some(Key::Text(text.to_string())),
            RawValue::Broken | RawValue::Alias(_) => None,
            _ => {
                self.problems.tell(|| {
                    Diagnostic::error("complex-key", "a list or map as a key")
                        .at(raw.span.clone())
                        .help("a value that begins with { or [ must be quoted if it is text")
                });
                None
            }
        }
    }

    /// What `<<` adds to a map: of a list of maps the first wins, and `given` keys always win.
    fn merged(&mut self, value: Id, at: &Range<usize>, given: &[Entry], levels: usize) -> Vec<Entry> {
        let mut maps = Vec::new();
        match self.raw(value).map(|raw| &self.follow(raw).value) {
            Some(RawValue::Map(entries)) => maps.push(entries),
            Some(RawValue::List(items)) => {
                for item in items {
                    match self.raw(*item).map(|raw| &self.follow(raw).value) {
                        Some(RawValue::Map(entries)) => maps.push(entries),
                        Some(RawValue::Broken | RawValue::Alias(_)) => {}
                        _ => self.not_a_merge(at),
                    }
                }
            }
            Some(RawValue::Broken | RawValue::Alias(_)) => {}
            _ => self.not_a_merge(at),
        }
        let matched = |key: &str| if levels == 0 { fold_key(key) } else { key.to_owned() };
        let mut taken: std::collections::HashSet<String> =
            given.iter().map(|entry| matched(&entry.key)).collect();
        let mut merged = Vec::new();
        for map in maps {
            // A map's own repeated keys stay in, to be told; those of the maps before it are taken.
            let fresh: Vec<Entry> = self
                .map(map, levels)
                .into_iter()
                .filter(|entry| !taken.contains(&matched(&entry.key)))
                .collect();
            taken.extend(fresh.iter().map(|entry| matched(&entry.key)));
            merged.extend(fresh);
        }
        merged
    }

    fn node(&mut self, id: Id, levels: usize) -> Node {
        let Some(raw) = self.raw(id) else {
            return null(0..0);
        };
        let span = raw.span.clone();
        let followed = self.follow(raw);
        let value = match &followed.value {
            RawValue::Scalar { text, plain, tag } => self.scalar(text, *plain, *tag, &span),
            RawValue::List(_) | RawValue::Map(_) if levels > NESTING_LEVELS_MAX => {
                self.problems.tell(|| check::too_deep(span.clone()));
                return null(span);
            }
            RawValue::List(items) => {
                Value::List(items.iter().map(|item| self.node(*item, levels + 1)).collect())
            }
            RawValue::Map(entries) => Value::Map(self.map(entries, levels)),
            RawValue::Alias(_) | RawValue::Broken => return null(span),
        };
        Node { span, value }
    }

    fn scalar(&mut self, text: &str, plain: bool, tag: Option<schema::Tag>, at: &Range<usize>) -> Value {
        let kind = match tag {
            None if plain => schema::resolve(text),
            None => Kind::Text,
            Some(tag) => tag.kind_of(text).unwrap_or_else(|| {
                self.problems.tell(|| tag.mismatch(at.clone()));
                Kind::Text
            }),
        };
        Value::Scalar(Scalar { text: text.to_owned(), kind })
    }

    fn raw(&self, id: Id) -> Option<&'a Raw<'t>> {
        self.arena.get(id)
    }

    /// What an alias refers to; an anchor is never on an alias. Beyond the budget an alias stays one, and reads as
    /// null.
    fn follow(&self, raw: &'a Raw<'t>) -> &'a Raw<'t> {
        match raw.value {
            RawValue::Alias(target) if !self.arena.is_over_budget => self.arena.get(target).unwrap_or(raw),
            _ => raw,
        }
    }

    fn not_a_merge(&mut self, at: &Range<usize>) {
        self.problems.tell(|| {
            Diagnostic::error("merge-not-a-map", "<< merges a map or a list of maps, and this is neither")
                .at(at.clone())
                .help("refer to a map, as in `<<: *defaults`")
        });
    }
}

enum Key {
    Merge,
    Text(String),
}

fn null(span: Range<usize>) -> Node {
    Node { span, value: Value::Scalar(Scalar { text: String::new(), kind: Kind::Null }) }
}
