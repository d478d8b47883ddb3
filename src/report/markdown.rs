//! A summary for a pull request: what a push would do, in GitHub's markdown.
//!
//! Everything that comes from files stands in code spans, so that nothing of a stranger's tree is read as
//! markup, mention or link.

use std::io::{self, Write};

use super::event::{End, Event};
use super::human::{failure_text, summary_text};
use super::paint::Paint;
use super::snippet::{place, plain};
use super::{Output, Renderer, Stream, count, with_root};
use crate::diagnostic::Diagnostic;
use crate::plan::change::FieldChange;
use crate::plan::{Action, Operation, Plan};

/// Most rows of a table, and most problems: a comment on GitHub holds 65,536 characters.
pub const ROWS_MAX: usize = 100;

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

    fn plan(&self, plan: &Plan, changes: &[Vec<FieldChange>]) -> String {
        let target = &plan.target;
        let told: Vec<(usize, &Operation)> = plan
            .operations
            .iter()
            .map(AsRef::as_ref)
            .enumerate()
            .filter(|(_, operation)| operation.action != Action::Unchanged)
            .collect();
        let head = match told.iter().filter(|(_, operation)| operation.action.writes()).count() {
            0 => "nothing to write".to_owned(),
            number => format!("{} to write", count(number, "post")),
        };
        let to = format!("{} / {} / {}", target.store, target.database, target.collection);
        let mut out = format!("### idempost: {head}\n\nto {}\n\n", code(&to));
        if !told.is_empty() {
            out.push_str("| action | post | why | fields |\n|---|---|---|---|\n");
            for (at, operation) in told.iter().take(ROWS_MAX) {
                out.push_str(&self.row(operation, changes.get(*at).map_or(&[], Vec::as_slice)));
            }
            out.push_str(&more(told.len(), "post"));
            out.push('\n');
        }
        for (_, operation) in told.iter().filter(|(_, operation)| operation.action == Action::Conflict) {
            let help = if operation.reason.help.is_empty() {
                String::new()
            } else {
                format!(" — {}", code(&operation.reason.help))
            };
            out.push_str(&format!(
                "- **{}**: {}{help}\n",
                operation.reason.code,
                code(&operation.reason.detail)
            ));
        }
        out + &self.problems(&plan.diagnostics)
    }

    fn row(&self, operation: &Operation, fields: &[FieldChange]) -> String {
        let what = match &operation.file {
            Some(file) => with_root(&self.root, file),
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

    fn problems(&self, diagnostics: &[Diagnostic]) -> String {
        let mut out = String::new();
        for diagnostic in diagnostics.iter().take(ROWS_MAX) {
            let help = if diagnostic.help.is_empty() {
                String::new()
            } else {
                format!(" — {}", code(&diagnostic.help))
            };
            out.push_str(&format!(
                "- {} **{}** {}: {}{help}\n",
                code(&place(diagnostic, &self.root)),
                diagnostic.severity.as_str(),
                diagnostic.code,
                code(&diagnostic.message)
            ));
        }
        out + &more(diagnostics.len(), "problem")
    }
}

impl Renderer for Markdown {
    fn event(&mut self, _event: &Event<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        let body = match end {
            End::Check(checked) => format!("### idempost\n\n{}", self.problems(checked.diagnostics)),
            End::Plan { plan, changes, .. } | End::Run { plan, changes, .. } => self.plan(plan, changes),
            End::Failed(failure) => {
                self.err.write_all(failure_text(failure, self.paint_err).as_bytes())?;
                format!("### idempost: failed\n\n{}\n", code(&failure.message))
            }
        };
        self.out.write_all(body.as_bytes())?;
        if !matches!(end, End::Failed(_)) {
            let summary = summary_text(end);
            let lines: Vec<&str> = summary.lines().collect();
            writeln!(self.out, "\n{}", lines.join("  \n"))?;
        }
        self.out.flush()
    }
}

fn more(number: usize, what: &str) -> String {
    match number.checked_sub(ROWS_MAX) {
        Some(rest) if rest > 0 => format!("\n… and {} more\n", count(rest, what)),
        _ => String::new(),
    }
}

/// Text as a code span: its marks are longer than any run of marks inside.
fn code(text: &str) -> String {
    let text = plain(&text.replace('\n', " "));
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

/// A code span in a cell of a table, where a bar would end the cell in a code span too.
fn cell(text: &str) -> String {
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
    }
}
