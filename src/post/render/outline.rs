//! What is read off the events while they go to the writer: headings and their ids, words, the excerpt.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::TocEntry;
use super::headings::HeadingIds;
use crate::post::text::{self, Counts};

/// What the walk finds.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) toc: Vec<TocEntry>,
    pub(super) excerpt: String,
    pub(super) counts: Counts,
}

/// What a piece of collected text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Heading(u8),
    Paragraph,
    /// The text of a tight list item.
    Item,
    Other,
}

/// Is shown every event of a page once, in order.
#[derive(Debug, Default)]
pub(super) struct Reader {
    outline: Outline,
    ids: HeadingIds,
    skip_mdx: bool,
    /// Text of the block that is being read.
    text: String,
    /// Text instead of images in it.
    alt: String,
    image_levels: usize,
    footnote_levels: usize,
    /// Quotes, lists and tables around the block.
    container_levels: usize,
    first_paragraph: Option<String>,
    first_nested: Option<String>,
}

impl Reader {
    /// A reader of a page on which `taken` are the ids of what is no heading. With `skip_mdx`, paragraphs
    /// that are code of MDX are no prose.
    pub(super) fn new(taken: HeadingIds, skip_mdx: bool) -> Self {
        Reader { ids: taken, skip_mdx, ..Reader::default() }
    }

    /// The next event of the page.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Text(text) | Event::Code(text) => {
                if self.image_levels == 0 {
                    self.text.push_str(text);
                } else {
                    self.alt.push_str(text);
                }
            }
            Event::SoftBreak | Event::HardBreak => self.text.push('\n'),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            _ => {}
        }
    }

    /// The id of the heading that ended last.
    pub(super) fn last_heading_id(&self) -> Option<&str> {
        self.outline.toc.last().map(|entry| entry.id.as_str())
    }

    /// What was found on the whole page.
    pub(super) fn finish(mut self) -> Outline {
        self.flush(Block::Other);
        let excerpt = self.first_paragraph.or(self.first_nested).unwrap_or_default();
        Outline { excerpt, ..self.outline }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } => return,
            Tag::Image { .. } => {
                self.image_levels += 1;
                return;
            }
            Tag::BlockQuote(_) | Tag::List(_) | Tag::Table(_) => {
                // The text of a tight item ends where a list inside it begins.
                self.flush(Block::Item);
                self.container_levels += 1;
            }
            Tag::FootnoteDefinition(_) => self.footnote_levels += 1,
            _ => {}
        }
        self.flush(Block::Other);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link => {}
            TagEnd::Image => self.image_levels = self.image_levels.saturating_sub(1),
            TagEnd::Heading(level) => self.flush(Block::Heading(level as u8)),
            TagEnd::Paragraph => self.flush(Block::Paragraph),
            TagEnd::Item => self.flush(Block::Item),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Table => {
                self.flush(Block::Other);
                self.container_levels = self.container_levels.saturating_sub(1);
            }
            TagEnd::FootnoteDefinition => {
                self.flush(Block::Other);
                self.footnote_levels = self.footnote_levels.saturating_sub(1);
            }
            _ => self.flush(Block::Other),
        }
    }

    /// The text of a block is complete.
    fn flush(&mut self, block: Block) {
        if let Block::Heading(level) = block {
            let text = if self.text.trim().is_empty() { &self.alt } else { &self.text };
            let text = text::one_line(text);
            self.outline.toc.push(TocEntry { level, id: self.ids.assign(&text), text });
        }
        if !self.text.is_empty() {
            let is_prose = !(self.skip_mdx && block == Block::Paragraph && is_mdx(&self.text));
            if is_prose {
                self.outline.counts.add(&self.text);
                self.offer_excerpt(block);
            }
            self.text.clear();
        }
        self.alt.clear();
    }

    fn offer_excerpt(&mut self, block: Block) {
        let is_nested = self.container_levels > 0;
        let is_offered = match block {
            Block::Paragraph => self.footnote_levels == 0,
            Block::Item => self.footnote_levels == 0 && is_nested,
            Block::Heading(_) | Block::Other => false,
        };
        let place = if is_nested { &mut self.first_nested } else { &mut self.first_paragraph };
        if is_offered && place.is_none() && !is_markup(&self.text) {
            let excerpt = text::excerpt(&self.text);
            if !excerpt.is_empty() {
                *place = Some(excerpt);
            }
        }
    }
}

/// A paragraph that is nothing but a template tag, a directive or an attribute list of some site
/// generator.
fn is_markup(text: &str) -> bool {
    let text = text.trim();
    text.lines().all(|line| {
        let line = line.trim();
        (line.starts_with("{{") && line.ends_with("}}"))
            || (line.starts_with("{%") && line.ends_with("%}"))
            || (line.starts_with("{:") && line.ends_with('}'))
    }) || text.starts_with(":::")
}

/// A paragraph that MDX would run instead of showing.
fn is_mdx(text: &str) -> bool {
    let text = text.trim();
    let quoted = |text: &str| text.contains(['\'', '"']);
    if let Some(import) = text.strip_prefix("import ") {
        return import.starts_with(['\'', '"', '{', '*']) || (import.contains(" from ") && quoted(import));
    }
    if let Some(export) = text.strip_prefix("export ") {
        let first = export.split_whitespace().next().unwrap_or_default();
        return matches!(first, "default" | "const" | "let" | "var" | "function" | "async" | "class" | "*")
            || first.starts_with('{');
    }
    text.starts_with('{') && text.ends_with('}')
}
