//! The entries of a block sorted by what they are: candidates of known fields, and the rest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::Given;
use super::table::{self, Field, Names, Place, Shape};
use super::values;
use crate::diagnostic::Diagnostic;
use crate::post::front_matter::{Entry, Node, Value, fold_key as folded};

/// A value that one of a field's names has.
pub struct Candidate<'a> {
    /// Field and precedence.
    pub place: Place,
    /// The key as written, with its parent's.
    pub written: String,
    /// Bytes of the key.
    pub key_span: Range<usize>,
    /// The value.
    pub node: &'a Node,
    /// The whole entry, where it stands at the top.
    pub top: Option<&'a Entry>,
}

impl Candidate<'_> {
    /// A value read from this candidate.
    pub fn given<T>(&self, value: T) -> Given<T> {
        Given { value, name: self.written.clone(), span: self.node.span.clone() }
    }
}

/// A block, sorted.
#[derive(Default)]
pub struct Gathered<'a> {
    /// Values of known fields.
    pub candidates: Vec<Candidate<'a>>,
    /// `published` where it is `true` or `false`.
    pub published_flags: Vec<Candidate<'a>>,
    /// What goes to `extra`: at the top first, then what is lifted.
    pub rest: Vec<Cow<'a, Entry>>,
    /// Keys at the top that are no known field.
    pub unknown: Vec<&'a Entry>,
}

/// Sorts the entries. A key given twice in two spellings is an error.
pub fn gather<'a>(
    entries: &'a [Entry],
    names: &Names,
    source: &str,
    problems: &mut Vec<Diagnostic>,
) -> Gathered<'a> {
    let mut sorter = Sorter { names, source, problems, seen: HashMap::new(), out: Gathered::default() };
    let mut lifted = Vec::new();
    for entry in entries {
        let parent = folded(&entry.key);
        if let Some(place) = names.top(&entry.key) {
            sorter.known(entry, place);
        } else if table::LIFTED.contains(&parent.as_str())
            && let Value::Map(children) = &entry.node.value
        {
            if sorter.first_of(&parent, &entry.key, &entry.key_span) {
                lifted.extend(sorter.children(&entry.key, children));
            }
        } else {
            sorter.unknown(entry);
        }
    }
    let mut out = sorter.out;
    out.rest.extend(lifted.into_iter().map(Cow::Borrowed));
    out
}

struct Sorter<'a, 'b> {
    names: &'b Names,
    source: &'b str,
    problems: &'b mut Vec<Diagnostic>,
    /// Folded name to the key that had it first.
    seen: HashMap<String, (String, Range<usize>)>,
    out: Gathered<'a>,
}

impl<'a> Sorter<'a, '_> {
    fn known(&mut self, entry: &'a Entry, place: Place) {
        if !self.first_of(&folded(&entry.key), &entry.key, &entry.key_span) {
            return;
        }
        self.candidate(entry, entry.key.clone(), place, Some(entry));
    }

    fn candidate(&mut self, entry: &'a Entry, written: String, place: Place, top: Option<&'a Entry>) {
        let candidate =
            Candidate { place, written, key_span: entry.key_span.clone(), node: &entry.node, top };
        match place.spec.field {
            // `published` is a date or a boolean; its type decides.
            Field::PublishedAt
                if folded(&entry.key) == "published" && values::bool_of(&entry.node).is_some() =>
            {
                self.out.published_flags.push(candidate);
                return;
            }
            // An address says more than the slug that is taken from it.
            Field::Address => self.out.rest.push(Cow::Borrowed(entry)),
            Field::Status if !status_is_ours(&entry.node) => self.out.rest.push(Cow::Borrowed(entry)),
            _ => {}
        }
        if place.spec.shape == Shape::Image
            && let Some(used) = values::image_key(&entry.node)
        {
            self.remainder(entry, |child| folded(&child.key) == used);
        }
        self.out.candidates.push(candidate);
    }

    /// Looks into a map or list for names with a dot or an index; what they do not take is kept.
    fn unknown(&mut self, entry: &'a Entry) {
        match &entry.node.value {
            Value::Map(children) => {
                let rest = self.children(&entry.key, children);
                if rest.len() == children.len() {
                    self.out.unknown.push(entry);
                    self.out.rest.push(Cow::Borrowed(entry));
                } else {
                    let names = self.names;
                    self.remainder(entry, |child| names.nested(&entry.key, &child.key).is_some());
                }
            }
            Value::List(items) => {
                let place = self.names.first_item(&entry.key);
                if let (Some(place), Some(first)) = (place, items.first()) {
                    self.out.candidates.push(Candidate {
                        place,
                        written: format!("{}[0]", entry.key),
                        key_span: entry.key_span.clone(),
                        node: first,
                        top: None,
                    });
                } else {
                    self.out.unknown.push(entry);
                }
                if place.is_none() || items.len() > 1 {
                    self.out.rest.push(Cow::Borrowed(entry));
                }
            }
            Value::Scalar(_) => {
                self.out.unknown.push(entry);
                self.out.rest.push(Cow::Borrowed(entry));
            }
        }
    }

    /// Takes the known ones among the children of a map, and gives back the others.
    fn children(&mut self, parent: &str, children: &'a [Entry]) -> Vec<&'a Entry> {
        let mut rest = Vec::new();
        for child in children {
            let Some(place) = self.names.nested(parent, &child.key) else {
                rest.push(child);
                continue;
            };
            let written = format!("{parent}.{}", child.key);
            if self.first_of(&format!("{}.{}", folded(parent), folded(&child.key)), &written, &child.key_span)
            {
                self.candidate(child, written, place, None);
            }
        }
        rest
    }

    /// Keeps the children of a map that were not used.
    fn remainder(&mut self, entry: &'a Entry, used: impl Fn(&Entry) -> bool) {
        let Value::Map(children) = &entry.node.value else { return };
        let rest: Vec<Entry> = children.iter().filter(|child| !used(child)).cloned().collect();
        if !rest.is_empty() {
            let node = Node { span: entry.node.span.clone(), value: Value::Map(rest) };
            self.out.rest.push(Cow::Owned(Entry { node, ..entry.clone() }));
        }
    }

    /// Whether a name is there for the first time; otherwise it is an error that names both lines.
    fn first_of(&mut self, name: &str, written: &str, span: &Range<usize>) -> bool {
        let Some((first, first_span)) = self.seen.get(name) else {
            self.seen.insert(name.to_owned(), (written.to_owned(), span.clone()));
            return true;
        };
        let before = self.source.get(..first_span.start).unwrap_or("");
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        self.problems.push(
            Diagnostic::error(
                "duplicate-key",
                format!("`{written}` and `{first}` on line {line} are one key, and it is given twice"),
            )
            .help("keep one of the two; case, `_` and `-` make no difference")
            .at(span.clone()),
        );
        false
    }
}

fn status_is_ours(node: &Node) -> bool {
    values::scalar_text(node)
        .is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "draft" | "unlisted"))
}
