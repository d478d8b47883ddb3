//! Hands the events to pulldown-cmark's writer: heading ids set, destinations replaced, addresses
//! that may not stand in HTML taken out.

use std::collections::{BTreeMap, VecDeque};

use pulldown_cmark::{CowStr, Event, LinkType, Tag, TagEnd};

use super::RawHtml;
use super::outline::Reader;
use super::raw::replace_addresses;
use super::url::{UrlUse, is_allowed, is_harmless};

/// Writes the events of `body`, showing each to `reader`, who gives the headings their ids.
pub(super) fn write<'a>(
    body: &'a str,
    events: impl Iterator<Item = Event<'a>>,
    raw_html: RawHtml,
    reader: &mut Reader,
    replace: &'a BTreeMap<String, String>,
) -> String {
    let mut html = String::with_capacity(body.len() + body.len() / 2);
    let page = Page { events, ahead: VecDeque::new(), reader, raw_html, replace, image_levels: 0 };
    pulldown_cmark::html::push_html(&mut html, page);
    html
}

/// Appends `text` as the writer spells it inside a quoted attribute.
pub(super) fn escape_attribute(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

/// The events as they reach the writer.
struct Page<'a, 'r, I> {
    events: I,
    /// Events that the reader has seen and the writer has not.
    ahead: VecDeque<Event<'a>>,
    reader: &'r mut Reader,
    raw_html: RawHtml,
    replace: &'a BTreeMap<String, String>,
    /// Inside an image the writer makes an `alt` of the events and counts starts against ends, so
    /// tags must reach it as they are.
    image_levels: usize,
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for Page<'a, '_, I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let event = self.take()?;
        Some(match event {
            Event::Html(html) | Event::InlineHtml(html) if self.raw_html == RawHtml::Escape => {
                Event::Text(html)
            }
            Event::InlineHtml(html) if !self.replace.is_empty() => Event::InlineHtml(self.replaced(html)),
            Event::Start(Tag::HtmlBlock) if !self.replace.is_empty() && self.raw_html != RawHtml::Escape => {
                self.html_block()
            }
            Event::Start(Tag::Image { .. }) if self.image_levels > 0 => {
                self.image_levels += 1;
                event
            }
            Event::End(TagEnd::Image) => {
                self.image_levels = self.image_levels.saturating_sub(1);
                event
            }
            _ if self.image_levels > 0 => event,
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let id = self.heading_id();
                Event::Start(Tag::Heading { level, id, classes, attrs })
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = self.destination(dest_url);
                if link_type == LinkType::Email || self.may_stand(&dest_url, UrlUse::Link) {
                    Event::Start(Tag::Link { link_type, dest_url, title, id })
                } else {
                    Event::InlineHtml(without_address("<a", "", &title, ">").into())
                }
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = self.destination(dest_url);
                if self.may_stand(&dest_url, UrlUse::Image) {
                    self.image_levels = 1;
                    Event::Start(Tag::Image { link_type, dest_url, title, id })
                } else {
                    let alt = format!(" alt=\"{}\"", self.alt());
                    Event::InlineHtml(without_address("<img", &alt, &title, " />").into())
                }
            }
            event => event,
        })
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Page<'a, '_, I> {
    /// The next event as it was parsed.
    fn take(&mut self) -> Option<Event<'a>> {
        match self.ahead.pop_front() {
            Some(event) => Some(event),
            None => self.read(),
        }
    }

    fn read(&mut self) -> Option<Event<'a>> {
        let event = self.events.next()?;
        self.reader.event(&event);
        Some(event)
    }

    /// The id of the heading that has just begun: its text must be read first.
    fn heading_id(&mut self) -> Option<CowStr<'a>> {
        while let Some(event) = self.read() {
            let is_end = matches!(event, Event::End(TagEnd::Heading(_)));
            self.ahead.push_back(event);
            if is_end {
                break;
            }
        }
        self.reader.last_heading_id().map(|id| CowStr::from(id.to_owned()))
    }

    fn may_stand(&self, address: &str, used: UrlUse) -> bool {
        match self.raw_html {
            RawHtml::Allow => is_harmless(address, used),
            RawHtml::Sanitize | RawHtml::Escape => is_allowed(address, used),
        }
    }

    fn destination(&self, written: CowStr<'a>) -> CowStr<'a> {
        if self.replace.is_empty() {
            return written;
        }
        match self.replace.get(&*written) {
            Some(address) => CowStr::Borrowed(address),
            None => written,
        }
    }

    fn replaced(&self, html: CowStr<'a>) -> CowStr<'a> {
        match replace_addresses(&html, self.replace) {
            std::borrow::Cow::Borrowed(_) => html,
            std::borrow::Cow::Owned(replaced) => replaced.into(),
        }
    }

    /// A whole HTML block as one event: its events are lines, and a tag may go over several.
    fn html_block(&mut self) -> Event<'a> {
        let mut block = String::new();
        while let Some(event) = self.take() {
            if let Event::Html(line) = event {
                block.push_str(&line);
            } else {
                self.ahead.push_front(event);
                break;
            }
        }
        Event::Html(self.replaced(block.into()))
    }

    /// Takes the events of an image that loses its address, with its end; returns its `alt`, escaped.
    fn alt(&mut self) -> String {
        let mut alt = String::new();
        let mut levels = 0_usize;
        while let Some(event) = self.take() {
            match event {
                Event::Start(_) => levels += 1,
                Event::End(_) if levels == 0 => break,
                Event::End(_) => levels -= 1,
                Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => {
                    escape_attribute(&text, &mut alt);
                }
                Event::SoftBreak | Event::HardBreak => alt.push(' '),
                _ => {}
            }
        }
        alt
    }
}

/// A tag that keeps everything but its address.
fn without_address(open: &str, attributes: &str, title: &str, close: &str) -> String {
    let mut tag = format!("{open}{attributes}");
    if !title.is_empty() {
        tag.push_str(" title=\"");
        escape_attribute(title, &mut tag);
        tag.push('"');
    }
    tag.push_str(close);
    tag
}
