//! One file put together: decode → front matter → fields → identity → outcome.
//!
//! Begin at [`parse`]. A file's problems are all told at once: an error in one field does not stop the
//! others from being read.

mod decide;
mod title;

use super::fields::{self, Fields, Read};
use super::file_name::{self, FileName};
use super::front_matter::{self, Entry, Reading};
use super::{Body, Facts, FrontMatter, Lines, Outcome, Parsed, Post, Rules, Skip, decode};
use crate::diagnostic::Diagnostic;
use crate::identity::{PostId, SourceHash};

use decide::Decision;

/// Most errors, and most warnings, of one file that are told.
pub const PROBLEMS_MAX: usize = 50;

/// Reads one file. `in_drafts` tells that it lies in a `_drafts` folder. Never panics, whatever the
/// bytes and the path are.
pub fn parse(file: &str, in_drafts: bool, bytes: &[u8], rules: &Rules) -> Parsed {
    let text = match decode::decode(bytes) {
        Ok(text) => text,
        Err(problem) => {
            let facts = Facts { source_hash: Some(SourceHash::of_file(bytes)), ..Facts::default() };
            return Parsed {
                file: file.to_owned(),
                outcome: Outcome::Invalid,
                diagnostics: vec![problem.in_file(file)],
                facts,
            };
        }
    };
    let mut source = Source { file, in_drafts, bytes, text: &text, rules, problems: Vec::new() };
    let mut facts =
        Facts { source_hash: Some(SourceHash::of_normalised(&text)), draft: in_drafts, ..Facts::default() };
    let outcome = match front_matter::read(&text) {
        Reading::None => source.page(
            Skip::NoFrontMatter,
            "the file has no front matter",
            "begin it with `---`, a `title:`, a `date:` and `---`",
        ),
        Reading::Empty => source.page(Skip::Empty, "the file is empty", "write it or take it away"),
        Reading::Broken(problems) => {
            source.problems.extend(problems);
            Outcome::Invalid
        }
        Reading::Block { entries, body_start, problems, .. } => {
            source.block(&entries, body_start, problems, &mut facts)
        }
    };
    source.finish(outcome, facts)
}

/// A file being read.
struct Source<'a> {
    file: &'a str,
    in_drafts: bool,
    bytes: &'a [u8],
    text: &'a str,
    rules: &'a Rules,
    problems: Vec<Diagnostic>,
}

impl Source<'_> {
    /// A file that is no post: skipped, or an error in a tree that holds posts alone.
    fn page(&mut self, reason: Skip, message: &str, help: &str) -> Outcome {
        if self.in_drafts {
            return Outcome::Skipped(Skip::Draft, None);
        }
        if !self.rules.require_date {
            return Outcome::Skipped(reason, None);
        }
        self.problems.push(Diagnostic::error(reason.as_str(), message).help(help).at(0..0));
        Outcome::Invalid
    }

    fn block(
        &mut self,
        entries: &[Entry],
        body_start: usize,
        block_problems: Vec<Diagnostic>,
        facts: &mut Facts,
    ) -> Outcome {
        // After an error that may have hidden keys, nothing is taken from the file's name instead.
        let whole =
            block_problems.iter().all(|problem| !problem.is_error() || problem.code == "duplicate-key");
        let block_errors = block_problems.iter().any(Diagnostic::is_error);
        self.problems.extend(block_problems);
        let (fields, mut field_problems) = fields::read(entries, self.text, self.rules);
        let name = file_name::read(self.file, self.rules);
        let decision = decide::decide(&fields, &name, whole, self.rules, &mut field_problems);
        let draft = self.in_drafts || fields.draft.is_some();
        self.tell(&fields, &name, &decision, draft, body_start, facts);

        if facts.published_at.is_none()
            && whole
            && !block_errors
            && !decision.date_broken
            && let Some(outcome) = self.undated(&fields, draft, &mut field_problems)
        {
            return outcome;
        }
        self.problems.append(&mut field_problems);
        if self.problems.iter().any(Diagnostic::is_error) {
            return Outcome::Invalid;
        }
        match self.post(&name, facts, body_start) {
            None if draft => Outcome::Skipped(Skip::Draft, None),
            // Unreachable while every missing part has its error; and no post without its parts.
            None => Outcome::Invalid,
            Some(post) if draft => Outcome::Skipped(Skip::Draft, Some(Box::new(post))),
            Some(post) if self.rules.skip_after.is_some_and(|now| post.published_at.unix_millis() > now) => {
                Outcome::Skipped(Skip::Future, Some(Box::new(post)))
            }
            Some(post) => Outcome::Post(Box::new(post)),
        }
    }

    /// What becomes of a file with no date from any source; `None`: go on, it is a draft or an error.
    fn undated(
        &mut self,
        fields: &Fields,
        draft: bool,
        field_problems: &mut Vec<Diagnostic>,
    ) -> Option<Outcome> {
        if draft {
            return None;
        }
        if let Some(empty) = &fields.published_at_empty {
            // Null is the same as absent, but nobody writes the key of a date for a page.
            field_problems.push(
                Diagnostic::error(
                    "date-empty",
                    format!("`{}` is empty, and nothing else gives the date", empty.name),
                )
                .help(format!("write `{}: 2024-05-22`, or take the line out if this is a page", empty.name))
                .at(empty.span.clone()),
            );
            return None;
        }
        if self.rules.require_date {
            field_problems.push(
                Diagnostic::error("undated", "the post has no date")
                    .help("write `date: 2024-05-22`, or begin the file's name with the day")
                    .at(0..0),
            );
            return None;
        }
        // A page's fields are its own business; only a misspelt key may have cost it its date.
        self.problems.extend(field_problems.drain(..).filter(|problem| problem.code == "unknown-key"));
        Some(Outcome::Skipped(Skip::Undated, None))
    }

    /// Fills in what could be read, errors or not.
    fn tell(
        &self,
        fields: &Fields,
        name: &FileName,
        decision: &Decision,
        draft: bool,
        body_start: usize,
        facts: &mut Facts,
    ) {
        facts.slug.clone_from(&decision.slug);
        facts.slug_place = decision.slug_span.as_ref().map(|span| self.place(span.start));
        facts.lang.clone_from(&decision.lang);
        facts.published_at = decision.published_at;
        facts.from = decision.from.clone();
        let line = |span: &Option<std::ops::Range<usize>>| span.as_ref().map(|span| self.place(span.start).0);
        facts.from.lines = Lines {
            slug: line(&decision.slug_span),
            lang: line(&decision.lang_span),
            published_at: line(&decision.date_span),
        };
        facts.draft = draft;
        facts.meta = fields.meta.clone();
        facts.translation_path = Some(name.translation_path.clone());
        if facts.meta.title.is_none() && fields.title == Read::Absent {
            let body = self.text.get(body_start..).unwrap_or("");
            facts.meta.title =
                title::first_heading(body).or_else(|| decision.slug.as_ref().map(ToString::to_string));
        }
    }

    /// Line and column of a byte, from 1.
    fn place(&self, at: usize) -> (u32, u32) {
        let before = self.text.get(..at).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// The post, if all parts of its identity are there.
    fn post(&self, name: &FileName, facts: &Facts, body_start: usize) -> Option<Post> {
        let slug = facts.slug.clone()?;
        let lang = facts.lang.clone()?;
        let published_at = facts.published_at?;
        let head = self.text.get(..body_start).unwrap_or(self.text);
        let lines = head.bytes().filter(|byte| *byte == b'\n').count();
        Some(Post {
            file: self.file.to_owned(),
            id: PostId::derive(&slug, &lang, published_at),
            slug,
            lang,
            published_at,
            from: facts.from.clone(),
            source_hash: facts.source_hash.clone()?,
            meta: facts.meta.clone(),
            front_matter: Some(FrontMatter { text: head.to_owned(), form: decode::form(self.bytes) }),
            body: Body::Text(self.text.get(body_start..).unwrap_or("").to_owned()),
            source_bytes: self.text.len(),
            body_start,
            body_line: u32::try_from(lines + 1).unwrap_or(u32::MAX),
            mdx: self
                .file
                .rsplit_once('.')
                .is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("mdx")),
            translation_path: name.translation_path.clone(),
        })
    }

    /// Puts the problems in order of place and locates them.
    fn finish(self, outcome: Outcome, facts: Facts) -> Parsed {
        let mut problems = self.problems;
        problems.sort_by(|a, b| {
            let place = |d: &Diagnostic| (d.span.as_ref().map(|span| span.start), d.severity);
            place(a).cmp(&place(b)).then_with(|| a.message.cmp(&b.message))
        });
        problems.dedup();
        // To locate one takes the whole text, so that what is not shown is left out before.
        let mut diagnostics: Vec<Diagnostic> =
            bounded(problems).into_iter().map(|problem| problem.in_file(self.file)).collect();
        for diagnostic in &mut diagnostics {
            diagnostic.locate(self.text);
        }
        Parsed { file: self.file.to_owned(), outcome, diagnostics, facts }
    }
}

/// Keeps the first [`PROBLEMS_MAX`] of each severity, and says how many there are beside them.
fn bounded(problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let (mut errors, mut warnings) = (0_usize, 0_usize);
    let mut kept: Vec<Diagnostic> = Vec::new();
    for problem in problems {
        let count = if problem.is_error() { &mut errors } else { &mut warnings };
        *count += 1;
        if *count <= PROBLEMS_MAX {
            kept.push(problem);
        }
    }
    let more = |count: usize| format!("{} more problems of this file are not shown", count - PROBLEMS_MAX);
    if errors > PROBLEMS_MAX {
        kept.push(Diagnostic::error("too-many-problems", more(errors)).help(CORRECT_FIRST));
    }
    if warnings > PROBLEMS_MAX {
        kept.push(Diagnostic::warning("too-many-problems", more(warnings)).help(CORRECT_FIRST));
    }
    kept
}

const CORRECT_FIRST: &str = "correct the ones above first";

#[cfg(test)]
mod tests;
