//! Markdown to HTML: CommonMark and GitHub's extensions, sanitised, deterministic.
//!
//! Begin at [`render`]. The markdown is parsed once into events. On their way to pulldown-cmark's own
//! writer (`html`) ids are set and addresses checked, and headings, words and the excerpt are read off
//! them (`outline`). A body without raw HTML is done then; one with raw HTML is looked over first
//! (`survey`) and then goes through the sanitiser (`sanitise`), whose output is spelled as the
//! writer's, so that one `<b>` more does not change the rest of the page.
//!
//! What it never does: expand template tags, add `rel` or `target`, look at another file, read a
//! clock. Bare addresses in text (GitHub's autolink literals) stay text, as the pinned parser has it.

mod headings;
mod html;
mod options;
mod outline;
pub(crate) mod raw;
mod sanitise;
mod survey;
mod url;

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Parser};

pub(crate) use options::markdown_options;
pub use options::{RawHtml, RenderOptions, fingerprint};
use outline::Reader;
use survey::Survey;

/// One entry of the table of contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TocEntry {
    /// 1 to 6.
    pub level: u8,
    /// The heading's id in `html`.
    pub id: String,
    /// The heading's text.
    pub text: String,
}

/// What rendering makes of a body.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// HTML; absent for `.mdx` and when rendering is off.
    pub html: Option<String>,
    /// `sanitized` or `raw`; absent without `html`.
    pub html_trust: Option<&'static str>,
    /// Headings in order.
    pub toc: Vec<TocEntry>,
    /// The first paragraph's text, cut at a word or character boundary.
    pub excerpt: String,
    /// Unicode words; in scripts without blanks, characters count as `text` says.
    pub word_count: u32,
    /// At least 1 where there is text.
    pub reading_minutes: u32,
}

/// Renders a body. `replace` maps destinations exactly as written (entities and backslash escapes
/// resolved, query and fragment included) to what stands in `html`. Never panics; the result depends
/// on the arguments alone.
///
/// With `html` off there is no HTML, but the rest is made all the same; paragraphs that are MDX and
/// not prose (`import`, `export`, `{expressions}`) are then left out of excerpt and count.
pub fn render(body: &str, options: &RenderOptions, replace: &BTreeMap<String, String>) -> Rendered {
    let events = Parser::new_ext(body, markdown_options());
    if Survey::is_needed(body) {
        let events: Vec<Event<'_>> = events.collect();
        let survey = Survey::of(&events);
        page(body, events.into_iter(), survey, options, replace)
    } else {
        page(body, events, Survey::nothing(), options, replace)
    }
}

fn page<'a>(
    body: &'a str,
    events: impl Iterator<Item = Event<'a>>,
    survey: Survey,
    options: &RenderOptions,
    replace: &'a BTreeMap<String, String>,
) -> Rendered {
    let mut rendered = Rendered::default();
    let mut reader = Reader::new(survey.taken, !options.html);
    if options.html {
        let raw_html = options.raw_html.for_page(survey.raw_is_bounded);
        let html = html::write(body, events, raw_html, &mut reader, replace);
        let must_clean = raw_html == RawHtml::Sanitize && survey.has_raw_html;
        rendered.html = Some(if must_clean { sanitise::clean(&html) } else { html });
        rendered.html_trust = Some(match raw_html {
            RawHtml::Allow => "raw",
            RawHtml::Sanitize | RawHtml::Escape => "sanitized",
        });
    } else {
        events.for_each(|event| reader.event(&event));
    }
    let outline = reader.finish();
    Rendered {
        toc: outline.toc,
        excerpt: outline.excerpt,
        word_count: outline.counts.total(),
        reading_minutes: outline.counts.reading_minutes(),
        ..rendered
    }
}
