//! What can be chosen about rendering, and the name under which the choice enters the pipeline.

use pulldown_cmark::Options;

/// What happens to raw HTML in markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawHtml {
    /// Kept where it is harmless (the default).
    #[default]
    Sanitize,
    /// Kept as it is; the stored document says `htmlTrust: raw`.
    Allow,
    /// Shown as text.
    Escape,
}

impl RawHtml {
    /// What holds for one page: HTML that would cost the sanitiser out of proportion is shown as text.
    pub(super) fn for_page(self, raw_is_bounded: bool) -> Self {
        match self {
            RawHtml::Sanitize if !raw_is_bounded => RawHtml::Escape,
            chosen => chosen,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            RawHtml::Sanitize => "sanitize",
            RawHtml::Allow => "allow",
            RawHtml::Escape => "escape",
        }
    }
}

/// Rendering options; all of them enter the pipeline's digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether `html` is made. Table of contents, excerpt and counts are made in any case.
    pub html: bool,
    /// Raw HTML.
    pub raw_html: RawHtml,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions { html: true, raw_html: RawHtml::Sanitize }
    }
}

/// Version of pulldown-cmark whose output is stored; a test compares it with the lockfile.
const PARSER_VERSION: &str = "0.13.6";
/// Version of ammonia; a test compares it with the lockfile.
const SANITISER_VERSION: &str = "4.2.5";
/// Raised whenever this module alone changes what is rendered, counted or cut.
const RENDERER_REVISION: u32 = 1;

/// The extensions beside CommonMark: GitHub's tables, footnotes, strikethrough, task lists and alerts.
pub(crate) fn markdown_options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM
}

/// Names the renderer, the sanitiser and the options that matter; part of the pipeline.
pub fn fingerprint(options: &RenderOptions) -> String {
    let extensions: Vec<String> = markdown_options()
        .iter_names()
        .map(|(name, _)| name.trim_start_matches("ENABLE_").to_lowercase())
        .collect();
    format!(
        "pulldown-cmark {PARSER_VERSION} {}; ammonia {SANITISER_VERSION}; render {RENDERER_REVISION}; html {}; raw_html {}",
        extensions.join("+"),
        options.html,
        options.raw_html.as_str(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(name: &str) -> String {
        let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).unwrap();
        let entry = format!("name = \"{name}\"\nversion = \"");
        let at = lock.find(&entry).unwrap() + entry.len();
        lock.get(at..).unwrap().split('"').next().unwrap().to_owned()
    }

    #[test]
    fn fingerprint_names_the_versions_that_are_locked() {
        assert_eq!(PARSER_VERSION, locked("pulldown-cmark"));
        assert_eq!(SANITISER_VERSION, locked("ammonia"));
    }

    #[test]
    fn fingerprint_tells_every_option_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for html in [true, false] {
            for raw_html in [RawHtml::Sanitize, RawHtml::Allow, RawHtml::Escape] {
                seen.insert(fingerprint(&RenderOptions { html, raw_html }));
            }
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.iter().all(|name| name.contains("tables+footnotes+strikethrough+tasklists+gfm")));
    }
}
