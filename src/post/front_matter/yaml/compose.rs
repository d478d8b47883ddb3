//! Events of the parser to an arena of nodes, in which an alias is a reference and not a copy.
//!
//! What an alias stands for is counted when it is met, from the counts of what it refers to, so a bomb
//! of aliases costs no more than its own few lines.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span};

use super::super::NESTING_LEVELS_MAX;
use super::super::problems::Problems;
use super::schema::Tag;
use super::{ALIAS_NODES_MAX, ALIAS_TEXT_BYTES_MAX, ALIASES_MAX};
use crate::diagnostic::{Diagnostic, nearest};

/// Longest name of an anchor or tag that is shown or compared, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Index of a node in the arena.
pub(super) type Id = usize;

/// A node as it is written; places are bytes of the file.
#[derive(Debug)]
pub(super) struct Raw<'t> {
    pub(super) span: Range<usize>,
    pub(super) value: RawValue<'t>,
    /// The nodes and the bytes of text that it stands for when all aliases are written out.
    weight: Weight,
}

#[derive(Debug)]
pub(super) enum RawValue<'t> {
    Scalar {
        text: Cow<'t, str>,
        /// Without quotes: the core schema says what it is.
        plain: bool,
        tag: Option<Tag>,
    },
    List(Vec<Id>),
    Map(Vec<(Id, Id)>),
    Alias(Id),
    /// A node that has an error, which is told; it reads as null.
    Broken,
}

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    nodes: usize,
    text_bytes: usize,
}

impl Weight {
    fn add(self, other: Weight) -> Weight {
        Weight {
            nodes: self.nodes.saturating_add(other.nodes),
            text_bytes: self.text_bytes.saturating_add(other.text_bytes),
        }
    }
}

/// All nodes of a block, up to the error that stopped reading.
#[derive(Debug, Default)]
pub(super) struct Arena<'t> {
    pub(super) nodes: Vec<Raw<'t>>,
    pub(super) root: Option<Id>,
    pub(super) problems: Problems,
    pub(super) error: Option<ScanError>,
    /// The aliases stand for more than their budget: none is written out.
    pub(super) is_over_budget: bool,
}

impl<'t> Arena<'t> {
    /// The node, with aliases followed. An alias never refers to another one, since that is resolved when
    /// it is composed.
    pub(super) fn get(&self, id: Id) -> Option<&Raw<'t>> {
        self.nodes.get(id)
    }
}

/// Reads `text`, which lies at byte `offset` of the file.
pub(super) fn compose(text: &str, offset: usize) -> Arena<'_> {
    let mut composer = Composer {
        arena: Arena::default(),
        open: Vec::new(),
        anchors: HashMap::new(),
        anchor_names: Vec::new(),
        aliases: 0,
        alias_weight: Weight::default(),
        offset,
        end: offset + text.len(),
    };
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, options()) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                composer.arena.error = Some(error);
                break;
            }
        };
        if matches!(event, Event::DocumentStart(..)) {
            documents += 1;
            if documents > 1 {
                composer.second_document(&span);
                break;
            }
        }
        composer.event(event, &span);
    }
    composer.close_all();
    composer.arena
}

/// How the parser is told to read.
pub(super) fn options() -> Options {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.emit_unresolved_aliases = true;
    options.emit_anchor_events = true;
    options.set_emit_comments(false);
    // One more than is allowed under the block's own map, so that our own check names the place first.
    options.flow_nesting_limit = NESTING_LEVELS_MAX + 2;
    options.block_nesting_limit = NESTING_LEVELS_MAX + 2;
    options
}

struct Composer<'t> {
    arena: Arena<'t>,
    /// Lists and maps that are not closed yet, outermost first.
    open: Vec<Open>,
    /// The parser's number of an anchor → its node.
    anchors: HashMap<usize, Id>,
    anchor_names: Vec<String>,
    aliases: usize,
    alias_weight: Weight,
    offset: usize,
    end: usize,
}

struct Open {
    id: Id,
    /// Of a map: the key whose value comes next.
    key: Option<Id>,
    /// Its tag is an error: what is in it means nothing.
    refused: bool,
}

impl<'t> Composer<'t> {
    fn event(&mut self, event: Event<'t>, span: &Span) {
        let at = self.range(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| self.tag(&tag.to_string(), tag_range(span, self.offset, &at)));
                let plain = style == ScalarStyle::Plain;
                // The parser writes a value that is left out as `~`; as written it is empty.
                let text = if plain && at.is_empty() { Cow::Borrowed("") } else { text };
                let weight = Weight { nodes: 1, text_bytes: text.len() };
                let value = match tag {
                    Some(None) => RawValue::Broken,
                    Some(Some(tag @ (Tag::Map | Tag::Seq))) => {
                        self.wrong_tag(tag, at.clone());
                        RawValue::Broken
                    }
                    Some(tag) => RawValue::Scalar { text, plain, tag },
                    None => RawValue::Scalar { text, plain, tag: None },
                };
                let id = self.push(Raw { span: at, value, weight });
                self.anchor(anchor, id);
                self.attach(id);
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.start(RawValue::List(Vec::new()), Tag::Seq, anchor, tag.as_deref(), span);
            }
            Event::MappingStart(_, anchor, tag) => {
                self.start(RawValue::Map(Vec::new()), Tag::Map, anchor, tag.as_deref(), span);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at.end),
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::UnresolvedAlias(name) => self.unknown_anchor(&name, at),
            // Only for a suggestion: a few short names are enough.
            Event::Anchor(_, name)
                if self.anchor_names.len() < ALIASES_MAX && name.len() <= NAME_BYTES_MAX =>
            {
                self.anchor_names.push(name.into_owned());
            }
            _ => {}
        }
    }

    fn start(
        &mut self,
        value: RawValue<'t>,
        own: Tag,
        anchor: usize,
        tag: Option<&granit_parser::Tag>,
        span: &Span,
    ) {
        let at = self.range(span);
        let mut refused = false;
        if let Some(tag) = tag {
            match self.tag(&tag.to_string(), tag_range(span, self.offset, &at)) {
                Some(tag) if tag == own => {}
                Some(tag) => {
                    self.wrong_tag(tag, at.clone());
                    refused = true;
                }
                None => refused = true,
            }
        }
        let id = self.push(Raw { span: at, value, weight: Weight { nodes: 1, text_bytes: 0 } });
        self.anchor(anchor, id);
        self.open.push(Open { id, key: None, refused });
    }

    fn close(&mut self, end: usize) {
        let Some(open) = self.open.pop() else {
            return;
        };
        if let Some(raw) = self.arena.nodes.get_mut(open.id) {
            raw.span.end = end.max(raw.span.start);
            if open.refused {
                raw.value = RawValue::Broken;
            }
        }
        self.attach(open.id);
    }

    /// After an error: what is open is kept as far as it was read, without a key that has no value.
    fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close(self.end);
        }
    }

    /// Makes a complete node the child of what is open, and counts it there.
    fn attach(&mut self, id: Id) {
        let weight = self.arena.nodes.get(id).map_or(Weight::default(), |raw| raw.weight);
        let Some(open) = self.open.last_mut() else {
            self.arena.root.get_or_insert(id);
            return;
        };
        let Some(parent) = self.arena.nodes.get_mut(open.id) else {
            return;
        };
        parent.weight = parent.weight.add(weight);
        match &mut parent.value {
            RawValue::List(items) => items.push(id),
            RawValue::Map(entries) => match open.key.take() {
                None => open.key = Some(id),
                Some(key) => entries.push((key, id)),
            },
            _ => {}
        }
    }

    fn alias(&mut self, anchor: usize, at: Range<usize>) {
        let Some(target) = self.anchors.get(&anchor).copied() else {
            self.unknown_anchor("", at);
            return;
        };
        if self.open.iter().any(|open| open.id == target) {
            self.arena.problems.tell(|| {
                Diagnostic::error("anchor-in-itself", "an alias inside the value that it refers to")
                    .at(at.clone())
                    .help("write the value out; a value cannot hold itself")
            });
            self.broken(at);
            return;
        }
        let weight = self.arena.nodes.get(target).map_or(Weight::default(), |raw| raw.weight);
        let was_within = self.is_within_budget();
        self.aliases += 1;
        self.alias_weight = self.alias_weight.add(weight);
        if self.is_within_budget() {
            let id = self.push(Raw { span: at, value: RawValue::Alias(target), weight });
            self.attach(id);
            return;
        }
        if was_within {
            let message = format!(
                "too many aliases: at most {ALIASES_MAX}, which stand for at most {ALIAS_NODES_MAX} values and \
                 {ALIAS_TEXT_BYTES_MAX} bytes of text"
            );
            self.arena.is_over_budget = true;
            self.arena.problems.tell(|| {
                Diagnostic::error("too-many-aliases", message).at(at.clone()).help("write the values out")
            });
        }
        self.broken(at);
    }

    fn unknown_anchor(&mut self, name: &str, at: Range<usize>) {
        let names = &self.anchor_names;
        self.arena.problems.tell(|| {
            let known = names.iter().map(String::as_str);
            let near = if name.len() <= NAME_BYTES_MAX { nearest(name, known) } else { None };
            let help = match near {
                Some(near) => format!("did you mean *{near}? Quote the value if it is text"),
                None => "quote the value if it is text, or define it before with &".to_owned(),
            };
            let shown: String = name.chars().take(NAME_BYTES_MAX).collect();
            Diagnostic::error("unknown-anchor", format!("unknown anchor {shown}")).at(at.clone()).help(help)
        });
        self.broken(at);
    }

    fn is_within_budget(&self) -> bool {
        self.aliases <= ALIASES_MAX
            && self.alias_weight.nodes <= ALIAS_NODES_MAX
            && self.alias_weight.text_bytes <= ALIAS_TEXT_BYTES_MAX
    }

    /// Puts a null where a value with an error would be.
    fn broken(&mut self, span: Range<usize>) {
        let weight = Weight { nodes: 1, text_bytes: 0 };
        let id = self.push(Raw { span, value: RawValue::Broken, weight });
        self.attach(id);
    }

    fn tag(&mut self, full: &str, at: Range<usize>) -> Option<Tag> {
        let tag = Tag::parse(full);
        if tag.is_none() {
            self.arena.problems.tell(|| {
                let shown: String =
                    full.replacen("tag:yaml.org,2002:", "!!", 1).chars().take(NAME_BYTES_MAX).collect();
                Diagnostic::error("unknown-tag", format!("the tag {shown} is not supported"))
                    .at(at)
                    .help("remove the tag, or quote the value if it is text")
            });
        }
        tag
    }

    fn wrong_tag(&mut self, tag: Tag, at: Range<usize>) {
        self.arena.problems.tell(|| tag.mismatch(at));
    }

    fn second_document(&mut self, span: &Span) {
        let at = self.range(span);
        let message = "a second YAML document begins here; front matter is one document";
        self.arena.problems.tell(|| {
            Diagnostic::error("yaml-syntax", message).at(at).help("write the closing `---` alone on its line")
        });
    }

    fn push(&mut self, raw: Raw<'t>) -> Id {
        self.arena.nodes.push(raw);
        self.arena.nodes.len() - 1
    }

    fn anchor(&mut self, anchor: usize, id: Id) {
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
    }

    fn range(&self, span: &Span) -> Range<usize> {
        range_in_file(span, self.offset)
    }
}

fn range_in_file(span: &Span, offset: usize) -> Range<usize> {
    let range = span.byte_range().unwrap_or(0..0);
    offset + range.start..offset + range.end.max(range.start)
}

fn tag_range(span: &Span, offset: usize, value: &Range<usize>) -> Range<usize> {
    span.tag_span().map_or_else(|| value.clone(), |span| range_in_file(&span, offset))
}
