//! Rendering as a reader meets it: CommonMark's and GitHub's syntax, and that nothing hostile gets
//! through.
#![allow(
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that fails says so by a panic"
)]

mod commonmark;
mod dom;
mod gfm;
mod page;
mod properties;
mod xss;

use std::collections::BTreeMap;

use idempost::post::render::{RawHtml, RenderOptions, Rendered, render};

/// Renders with default options.
fn rendered(body: &str) -> Rendered {
    render(body, &RenderOptions::default(), &BTreeMap::new())
}

/// The HTML of a body under default options.
fn html(body: &str) -> String {
    html_with(body, RawHtml::Sanitize)
}

/// The HTML of a body.
fn html_with(body: &str, raw_html: RawHtml) -> String {
    render(body, &RenderOptions { html: true, raw_html }, &BTreeMap::new()).html.unwrap()
}
