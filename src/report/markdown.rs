//! A summary for a pull request: what a push would do, in GitHub's markdown.
//!
//! Everything that comes from files stands in code spans, so that nothing of a stranger's tree is read as
//! markup, mention or link. What does not fit the place where it is shown is counted, what matters most
//! comes first, and where the rest is found is said.

use std::io::{self, Write};

use super::event::{End, Event, FailedPost, RunReport};
use super::human::{failure_text, summary_text};
use super::paint::Paint;
use super::snippet::{place, plain};
use super::{Output, Renderer, Stream, count, with_root};
use crate::diagnostic::{Diagnostic, Severity};
use crate::plan::change::FieldChange;
use crate::plan::{Action, Operation, Plan};

/// Characters of a comment: GitHub takes 65,536 of them, GitLab a million.
pub const COMMENT_CHARS_MAX: usize = 65_000;
/// Bytes of a step's summary: GitHub takes 1 MiB.
pub const SUMMARY_BYTES_MAX: usize = 1_000_000;
/// Rows of a table, and items of a list, in a comment.
pub const COMMENT_ROWS_MAX: usize = 200;
/// The same in a step's summary.
const SUMMARY_ROWS_MAX: usize = 2_000;
/// Characters that are shown of one value.
const VALUE_CHARS_MAX: usize = 300;
/// Room that is kept for what is said of what was left out.
const REST_CHARS: usize = 600;

/// Where the text is shown, and what fits there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A comment on a pull request.
    Comment,
    /// The summary of a step.
    Summary,
}

impl Place {
    fn room(self) -> usize {
        match self {
            Place::Comment => COMMENT_CHARS_MAX,
            Place::Summary => SUMMARY_BYTES_MAX,
        }
    }

    fn rows(self) -> usize {
        match self {
            Place::Comment => COMMENT_ROWS_MAX,
            Place::Summary => SUMMARY_ROWS_MAX,
        }
    }

    /// The size of a text as the place counts it; of characters outside of the basic plane as two.
    fn size(self, text: &str) -> usize {
        match self {
            Place::Comment => text.encode_utf16().count(),
            Place::Summary => text.len(),
        }
    }
}

/// The renderer of `--format markdown`.
pub struct Markdown {
    out: Stream,
    err: Stream,
    paint_err: Paint,
    root: String,
}

impl Markdown {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        Markdown { out: output.out, err: output.err, paint_err: output.paint_err, root: output.root }
    }
}

impl Renderer for Markdown {
    fn event(&mut self, _event: &Event<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        if let End::Failed(failure) = end {
            self.err.write_all(failure_text(failure, self.paint_err).as_bytes())?;
        }
        self.out.write_all(text(end, &self.root, Place::Comment).as_bytes())?;
        self.out.flush()
    }
}

/// How a verb ended, as text that fits its place.
pub fn text(end: &End<'_>, root: &str, place: Place) -> String {
    let written = Written { root };
    match end {
        End::Check(checked) => {
            let head = match problems_count(checked.diagnostics) {
                Some(count) => format!("### idempost: {count}\n\n"),
                None => "### idempost: no problems\n\n".to_owned(),
            };
            page(&head, &[written.problems(checked.diagnostics)], &tail(end), place)
        }
        End::Plan { plan, changes, .. } => written.plan(plan, changes, None, &tail(end), place),
        End::Run { plan, changes, run, .. } => written.plan(plan, changes, Some(run), &tail(end), place),
        End::Verified(verified) => super::verify::markdown(verified, root, &tail(end), place),
        End::Failed(failure) => {
            let help: Vec<String> = failure.help.lines().map(|line| format!("\n{}\n", code(line))).collect();
            format!("### idempost: failed\n\n{}\n{}", code(&failure.message), help.concat())
        }
    }
}

fn tail(end: &End<'_>) -> String {
    let summary = summary_text(end);
    let lines: Vec<&str> = summary.lines().collect();
    format!("\n{}\n", lines.join("  \n"))
}

/// A list of items of one kind, what matters most first.
pub(super) struct Section {
    pub(super) head: String,
    pub(super) items: Vec<String>,
    pub(super) what: &'static str,
}

/// Puts a page together: every section as far as it fits, and what was left out at the end.
pub(super) fn page(head: &str, sections: &[Section], tail: &str, place: Place) -> String {
    let mut out = head.to_owned();
    let mut room = place.room().saturating_sub(place.size(head) + place.size(tail) + REST_CHARS);
    let mut left_out: Vec<String> = Vec::new();
    for section in sections.iter().filter(|section| !section.items.is_empty()) {
        let mut shown = 0;
        let mut text = section.head.clone();
        room = room.saturating_sub(place.size(&section.head) + 1);
        for item in section.items.iter().take(place.rows()) {
            let size = place.size(item);
            if size > room {
                break;
            }
            room -= size;
            shown += 1;
            text.push_str(item);
        }
        if shown > 0 {
            out.push_str(&text);
            out.push('\n');
        }
        if let Some(rest) = section.items.len().checked_sub(shown).filter(|rest| *rest > 0) {
            left_out.push(count(rest, section.what));
        }
    }
    if !left_out.is_empty() {
        out.push_str(&format!(
            "… and {} more. `idempost diff --format html --out report.html` shows all.\n",
            left_out.join(", ")
        ));
    }
    out.push_str(tail);
    out
}

struct Written<'a> {
    root: &'a str,
}

impl Written<'_> {
    fn plan(
        &self,
        plan: &Plan,
        changes: &[Vec<FieldChange>],
        run: Option<&RunReport>,
        tail: &str,
        place: Place,
    ) -> String {
        let told: Vec<(usize, &Operation)> = plan
            .operations
            .iter()
            .map(AsRef::as_ref)
            .enumerate()
            .filter(|(_, operation)| operation.action != Action::Unchanged)
            .collect();
        let target = &plan.target;
        let to = format!("{} / {} / {}", target.store, target.database, target.collection);
        let head = format!("### idempost: {}\n\nto {}\n\n", title(&told, run), code(&to));
        let refused = told.iter().filter(|(_, operation)| operation.action == Action::Conflict);
        let failed = run.map(|run| run.failed.as_slice()).unwrap_or_default();
        let rows = told
            .iter()
            .map(|(at, operation)| self.row(operation, changes.get(*at).map_or(&[], Vec::as_slice)));
        let sections = [
            Section {
                head: "**Refused**\n\n".to_owned(),
                items: refused.map(|(_, operation)| self.refused(operation)).collect(),
                what: "refused post",
            },
            Section {
                head: "**Failed**\n\n".to_owned(),
                items: failed.iter().map(|failed| self.failed(failed)).collect(),
                what: "failed post",
            },
            Section {
                head: "**Notes**\n\n".to_owned(),
                items: plan.notes.iter().map(|note| format!("- {}\n", code(note))).collect(),
                what: "note",
            },
            self.problems(&plan.diagnostics),
            Section {
                head: "| action | post | why | fields |\n|---|---|---|---|\n".to_owned(),
                items: rows.collect(),
                what: "post",
            },
        ];
        page(&head, &sections, tail, place)
    }

    fn row(&self, operation: &Operation, fields: &[FieldChange]) -> String {
        let what = match &operation.file {
            Some(file) => with_root(self.root, file),
            None => format!("{} in {}", operation.slug, operation.lang),
        };
        let fields: Vec<String> = fields.iter().map(|field| cell(&field.path)).collect();
        format!(
            "| {} | {} | {} | {} |\n",
            operation.action.as_str(),
            cell(&what),
            operation.reason.code,
            fields.join(", ")
        )
    }

    fn refused(&self, operation: &Operation) -> String {
        let reason = &operation.reason;
        let file =
            operation.file.as_deref().map_or_else(|| operation.id.clone(), |file| with_root(self.root, file));
        let line = operation.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!(
            "- {} **{}**: {}{}\n",
            code(&format!("{file}{line}")),
            reason.code,
            code(&reason.detail),
            help(&reason.help)
        )
    }

    fn failed(&self, failed: &FailedPost) -> String {
        let file =
            failed.file.as_deref().map_or_else(|| failed.id.clone(), |file| with_root(self.root, file));
        format!("- {} **{}**: {}\n", code(&file), failed.class, code(&failed.message))
    }

    /// Errors before warnings, each in order of place.
    fn problems(&self, diagnostics: &[Diagnostic]) -> Section {
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|diagnostic| diagnostic.severity);
        let items = sorted
            .iter()
            .map(|diagnostic| {
                format!(
                    "- {} **{}** {}: {}{}\n",
                    code(&place(diagnostic, self.root)),
                    diagnostic.severity.as_str(),
                    diagnostic.code,
                    code(&diagnostic.message),
                    help(&diagnostic.help)
                )
            })
            .collect();
        Section { head: "**Problems**\n\n".to_owned(), items, what: "problem" }
    }
}

fn title(told: &[(usize, &Operation)], run: Option<&RunReport>) -> String {
    if let Some(run) = run {
        let written: usize = run.applied.iter().map(|(_, number)| number).sum();
        let exit = match run.exit.code() {
            0 => String::new(),
            exit => format!(", exit {exit}"),
        };
        return format!("{} written{exit}", count(written, "post"));
    }
    match told.iter().filter(|(_, operation)| operation.action.writes()).count() {
        0 => "nothing to write".to_owned(),
        number => format!("{} to write", count(number, "post")),
    }
}

fn problems_count(diagnostics: &[Diagnostic]) -> Option<String> {
    let number = |severity| diagnostics.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    (errors + warnings > 0).then(|| format!("{}, {}", count(errors, "error"), count(warnings, "warning")))
}

pub(super) fn help(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" — {}", code(text)) }
}

/// Text as a code span: its marks are longer than any run of marks inside.
pub(super) fn code(text: &str) -> String {
    let cut = match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((at, _)) => format!("{} …", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    };
    let text = plain(&cut.replace('\n', " "));
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

/// A code span in a cell of a table, where a bar would end the cell in a code span too.
pub(super) fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_ends_its_span() {
        assert_eq!(code("a.md"), "`a.md`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`x`"), "`` `x` ``");
        assert_eq!(code("@team\n# head"), "`@team # head`");
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert_eq!(code("a\u{202e}b\u{1b}[0m"), "`a\\u{202e}b\\u{1b}[0m`");
    }

    fn posts(number: usize) -> Section {
        let items = (0..number).map(|at| format!("| create | `content/글-{at}.md` | new |  |\n")).collect();
        Section { head: "| a |\n|---|\n".to_owned(), items, what: "post" }
    }

    #[test]
    fn a_page_fits_its_place_and_says_what_it_lacks() {
        let long = "길".repeat(200);
        let problems = Section {
            head: String::new(),
            items: (0..5_000).map(|at| format!("- {at} {long}\n")).collect(),
            what: "problem",
        };
        let text = page("### head\n\n", &[problems, posts(9_000)], "\ntail\n", Place::Comment);
        assert!(text.encode_utf16().count() <= COMMENT_CHARS_MAX, "{}", text.len());
        assert!(text.contains("… and 4800 problems, ") && text.ends_with("\ntail\n"), "{}", text.len());
        let text = page("", &[posts(9_000)], "", Place::Summary);
        assert!(text.len() <= SUMMARY_BYTES_MAX && text.contains("and 7000 posts more"), "{}", text.len());
        assert!(!page("", &[posts(3)], "", Place::Comment).contains('…'));
    }

    #[test]
    fn ten_megabytes_of_text_are_a_line() {
        let text = code(&"`글 ".repeat(3 << 20));
        assert!(text.chars().count() < 400, "{}", text.len());
    }
}
