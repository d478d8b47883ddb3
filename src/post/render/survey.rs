//! A look over a page with raw HTML or footnotes before it is written: which ids they take, and whether the
//! sanitiser is needed and can be afforded.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::headings::HeadingIds;
use super::raw::{self, RawBound};

/// What is known of a page beforehand.
#[derive(Debug)]
pub(super) struct Survey {
    /// Ids of raw HTML and footnotes: a heading's must be none of them, wherever they stand.
    pub(super) taken: HeadingIds,
    /// Raw HTML that the sanitiser must see: any but plain comments.
    pub(super) has_raw_html: bool,
    /// Whether the sanitiser can read this page within its bounds.
    pub(super) raw_is_bounded: bool,
}

impl Survey {
    /// Of a page with neither raw HTML nor footnotes.
    pub(super) fn nothing() -> Self {
        Survey { taken: HeadingIds::default(), has_raw_html: false, raw_is_bounded: true }
    }

    /// Whether a body may hold either.
    pub(super) fn is_needed(body: &str) -> bool {
        body.contains('<') || body.contains("[^")
    }

    /// Of the page with these events.
    pub(super) fn of(events: &[Event<'_>]) -> Self {
        let mut survey = Survey::nothing();
        let mut bound = RawBound::default();
        let mut block = String::new();
        let mut image_levels = 0_usize;
        for event in events {
            match event {
                Event::Start(Tag::HtmlBlock) => block.clear(),
                Event::Html(html) => block.push_str(html),
                Event::End(TagEnd::HtmlBlock) => survey.raw_html(&block, &mut bound),
                // Inside an image, raw HTML becomes the text of `alt`.
                Event::Start(Tag::Image { .. }) => image_levels += 1,
                Event::End(TagEnd::Image) => image_levels = image_levels.saturating_sub(1),
                Event::InlineHtml(html) if image_levels == 0 => survey.raw_html(html, &mut bound),
                Event::Start(tag) => {
                    if let Tag::FootnoteDefinition(name) = tag {
                        survey.taken.reserve(name);
                    }
                    bound.block();
                }
                _ => {}
            }
        }
        survey.raw_is_bounded = bound.is_kept();
        survey
    }

    fn raw_html(&mut self, html: &str, bound: &mut RawBound) {
        if raw::is_plain_comment(html) {
            return;
        }
        self.has_raw_html = true;
        raw::tags(html, |tag| {
            bound.tag(&tag);
            for attribute in &tag.attributes {
                if attribute.name.eq_ignore_ascii_case("id") || attribute.name.eq_ignore_ascii_case("name") {
                    self.taken.reserve(&attribute.decoded());
                }
            }
        });
    }
}
