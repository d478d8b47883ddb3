//! One line a post, and below it what differs.

use anstyle::Style;
use bson::Bson;
use unicode_width::UnicodeWidthStr;

use super::super::paint::{CHANGED, ERROR, FAINT, GONE, HELP, NEW, Paint, STRONG};
use super::super::snippet::plain;
use super::super::with_root;
use crate::catalog::Skipped;
use crate::plan::change::{self, FieldChange};
use crate::plan::{Action, Operation, Orphan};

/// Columns of the action's name.
const ACTION_COLUMNS: usize = 9;
/// Longest value that is shown whole, in characters.
const VALUE_CHARS_MAX: usize = 60;
/// Most lines of one text's difference that are shown.
const DIFF_LINES_MAX: usize = 60;
/// Fields that follow from others: shown with more verbosity alone.
const DERIVED_FIELDS: [&str; 6] = ["html", "toc", "excerpt", "wordCount", "readingMinutes", "sourceHash"];

/// How lines are written.
pub(super) struct Lines<'a> {
    pub(super) paint: Paint,
    pub(super) verbose: u8,
    pub(super) root: &'a str,
}

impl Lines<'_> {
    /// The line of a post's operation.
    pub(super) fn operation(&self, operation: &Operation, changes: &[FieldChange], out: &mut String) {
        let file = operation.file.as_deref().map(|file| with_root(self.root, file));
        let what = match (file, operation.line) {
            (Some(file), Some(line)) if operation.action == Action::Conflict => format!("{file}:{line}"),
            (Some(file), _) => file,
            (None, _) => format!("{} in {}", operation.slug, operation.lang),
        };
        self.line(style(operation.action), operation.action.as_str(), &what, operation.reason.code, out);
        let indent = " ".repeat(ACTION_COLUMNS + 2);
        if !operation.reason.detail.is_empty() && (operation.action != Action::Unchanged || self.verbose > 1)
        {
            out.push_str(&format!("{indent}{}\n", plain(&operation.reason.detail)));
        }
        for line in operation.reason.help.lines() {
            out.push_str(&format!("{indent}{} {}\n", self.paint.style(HELP, "help:"), plain(line)));
        }
        if self.verbose > 0 {
            for change in changes {
                self.change(change, &indent, out);
            }
        }
    }

    /// The line of a live post that no file makes.
    pub(super) fn orphan(&self, orphan: &Orphan, out: &mut String) {
        let what = format!("{} in {}, once {}", orphan.slug, orphan.lang, with_root(self.root, &orphan.path));
        self.line(FAINT, "orphan", &what, "no file makes it", out);
    }

    /// The line of a skipped file.
    pub(super) fn skipped(&self, skipped: &Skipped, out: &mut String) {
        let what = with_root(self.root, &skipped.file);
        self.line(FAINT, "skipped", &what, skipped.reason.as_str(), out);
    }

    fn line(&self, style: Style, action: &str, what: &str, reason: &str, out: &mut String) {
        let pad = " ".repeat(ACTION_COLUMNS.saturating_sub(action.width()));
        let reason = self.paint.style(FAINT, format!("({reason})"));
        out.push_str(&format!("{}{pad}  {} {reason}\n", self.paint.style(style, action), plain(what)));
    }

    fn change(&self, change: &FieldChange, indent: &str, out: &mut String) {
        if self.verbose < 2 && DERIVED_FIELDS.contains(&change.path.as_str()) {
            return;
        }
        let name = self.paint.style(STRONG, plain(&change.path));
        match (&change.before, &change.after) {
            (Some(Bson::String(before)), Some(Bson::String(after)))
                if before.contains('\n') || after.contains('\n') =>
            {
                self.text(&name, before, after, indent, out);
            }
            (before, after) => {
                let told = |value: &Option<Bson>, style| match value {
                    Some(value) => self.paint.style(style, short(value)),
                    None => self.paint.style(FAINT, "absent"),
                };
                out.push_str(&format!("{indent}{name}: {} → {}\n", told(before, GONE), told(after, NEW)));
            }
        }
    }

    fn text(&self, name: &str, before: &str, after: &str, indent: &str, out: &mut String) {
        let text = change::text(before, after);
        out.push_str(&format!("{indent}{name}: +{} −{} lines\n", text.added, text.removed));
        for line in text.lines.iter().take(DIFF_LINES_MAX) {
            let style = match line.as_bytes().first() {
                Some(b'+') => NEW,
                Some(b'-') => GONE,
                Some(b'@') => HELP,
                _ => Style::new(),
            };
            out.push_str(&format!("{indent}  {}\n", self.paint.style(style, plain(line))));
        }
        if let Some(more) = text.lines.len().checked_sub(DIFF_LINES_MAX).filter(|more| *more > 0) {
            out.push_str(&format!("{indent}  … {more} more lines\n"));
        }
    }
}

fn style(action: Action) -> Style {
    match action {
        Action::Create | Action::Restore => NEW,
        Action::Update => CHANGED,
        Action::Restamp | Action::Unchanged | Action::Stale => FAINT,
        Action::Archive => GONE,
        Action::Conflict => ERROR,
    }
}

/// A value on one line, cut.
fn short(value: &Bson) -> String {
    let text = match value {
        Bson::DateTime(date) => date.try_to_rfc3339_string().unwrap_or_else(|_| date.to_string()),
        other => other.clone().into_relaxed_extjson().to_string(),
    };
    let text = plain(&text);
    if text.chars().count() <= VALUE_CHARS_MAX {
        return text;
    }
    let mut cut: String = text.chars().take(VALUE_CHARS_MAX).collect();
    cut.push('…');
    cut
}
