//! What is told about references that lead nowhere.

use std::ops::Range;

use super::NoAsset;
use crate::diagnostic::Diagnostic;
use crate::post::Post;

/// Problems of one post that are told with their place; the rest is a number. To find a place, the
/// body is read from its start.
const PROBLEMS_PER_POST_MAX: usize = 100;

/// The problems of one post.
#[derive(Debug, Clone)]
pub(super) struct Problems {
    strict: bool,
    told: Vec<Diagnostic>,
    untold: usize,
    has_errors: bool,
}

impl Problems {
    pub(super) fn new(strict: bool) -> Self {
        Problems { strict, told: Vec::new(), untold: 0, has_errors: false }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.has_errors
    }

    /// A link to nothing; `why` says what the target is if it is no post.
    pub(super) fn broken_link(
        &mut self,
        post: &Post,
        place: Option<Range<usize>>,
        written: &str,
        why: Option<&str>,
        nearest: Option<String>,
    ) {
        let message = match why {
            Some(why) => format!("link to `{written}`, which {why}"),
            None => format!("link to `{written}`, which is no file of this tree"),
        };
        let help = match (nearest, why) {
            (Some(nearest), _) => format!("did you mean `{nearest}`?"),
            (None, Some(_)) => "link to something that is published, or publish it first".to_owned(),
            (None, None) => {
                "write the path of the file from this file's folder; begin with `/` what is elsewhere on the website".to_owned()
            }
        };
        self.tell(post, place, self.strict, "broken-link", message, help);
    }

    /// A path that climbs over the content root. The file behind it is never looked at.
    pub(super) fn outside_root(
        &mut self,
        post: &Post,
        place: Option<Range<usize>>,
        written: &str,
        is_error: bool,
    ) {
        let message = format!("`{written}` leads out of the content root");
        let help = "move the file into the content root, or write its address on the website".to_owned();
        self.tell(post, place, self.strict || is_error, "link-outside-root", message, help);
    }

    /// A path that exists on the author's machine alone.
    pub(super) fn machine_path(&mut self, post: &Post, place: Option<Range<usize>>, written: &str) {
        let message = format!("`{written}` is a path of one machine, which no reader has");
        let help = "put the file into the content root and write its path from this file's folder".to_owned();
        self.tell(post, place, true, "machine-path", message, help);
    }

    /// A file that should be there and readable.
    pub(super) fn missing_asset(
        &mut self,
        post: &Post,
        place: Option<Range<usize>>,
        written: &str,
        path: &str,
        why: NoAsset,
        is_error: bool,
    ) {
        let where_from = if place.is_some() { "" } else { "cover " };
        let (what, help) = match why {
            NoAsset::Absent => (
                format!("is missing: there is no file `{path}` in the content root"),
                "add the file, or correct the path; begin with `/` what is elsewhere on the website",
            ),
            NoAsset::Unreadable => {
                (format!("cannot be read: `{path}` is there"), "check the file's permissions")
            }
            NoAsset::Outside => (
                "leads out of the content root by a symbolic link, which is not followed".to_owned(),
                "put the file itself into the content root",
            ),
            NoAsset::TooLarge => (
                format!("is larger than an asset may be: `{path}`"),
                "store it elsewhere and write its address",
            ),
        };
        let message = format!("{where_from}`{written}` {what}");
        self.tell(post, place, is_error, "missing-asset", message, help.to_owned());
    }

    /// A picture that browsers are never given as one.
    pub(super) fn active_svg(&mut self, post: &Post, place: Option<Range<usize>>, written: &str) {
        let message = format!(
            "`{written}` is an SVG that holds what could run in a browser: it is stored as plain text, and shows nothing"
        );
        let help =
            "take scripts, handlers, foreign objects, entities and style sheets out of it, or show a PNG"
                .to_owned();
        self.tell(post, place, false, "active-svg", message, help);
    }

    fn tell(
        &mut self,
        post: &Post,
        place: Option<Range<usize>>,
        is_error: bool,
        code: &'static str,
        message: String,
        help: String,
    ) {
        self.has_errors |= is_error;
        if self.told.len() >= PROBLEMS_PER_POST_MAX {
            self.untold += 1;
            return;
        }
        let diagnostic =
            if is_error { Diagnostic::error(code, message) } else { Diagnostic::warning(code, message) };
        let mut diagnostic = diagnostic.help(help).in_file(&post.file);
        if let Some(place) = place {
            // The place is found in the body and told in the file.
            diagnostic = diagnostic.at(place.clone());
            if let Some(body) = post.body.text() {
                diagnostic.locate(body);
            }
            diagnostic.line =
                diagnostic.line.map(|line| line.saturating_add(post.body_line.saturating_sub(1)));
            diagnostic.span = Some(place.start + post.body_start..place.end + post.body_start);
        }
        self.told.push(diagnostic);
    }

    /// The problems; where there are too many, the last says how many more there are.
    pub(super) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.untold > 0
            && let Some(last) = self.told.last().cloned()
        {
            let message = format!("{} more links and files of this post lead nowhere", self.untold);
            let more = if self.has_errors {
                Diagnostic::error("broken-link", message)
            } else {
                Diagnostic::warning("broken-link", message)
            };
            self.told.push(Diagnostic {
                span: last.span,
                line: last.line,
                column: last.column,
                ..more.in_file(&last.file)
            });
        }
        self.told
    }
}
