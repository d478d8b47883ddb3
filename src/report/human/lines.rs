//! One line a post, and below it what differs.

use anstyle::Style;
use bson::Bson;
use unicode_width::UnicodeWidthStr;

use super::super::paint::{CHANGED, ERROR, FAINT, GONE, HELP, NEW, Paint, STRONG};
use super::super::snippet::plain;
use super::super::{Detail, count, with_root};
use super::text::Texts;
use crate::catalog::Skipped;
use crate::plan::change::FieldChange;
use crate::plan::text::{self, TextChange};
use crate::plan::{Action, Operation, Orphan};

/// Columns of the action's name.
const ACTION_COLUMNS: usize = 9;
/// A screen with fewer columns is narrow.
const NARROW_COLUMNS: usize = 50;
/// Fields that follow from others: shown with more verbosity alone.
const DERIVED_FIELDS: [&str; 6] = ["html", "toc", "excerpt", "wordCount", "readingMinutes", "sourceHash"];
/// What is kept of the source for `export`: its fields are told one by one, so that it is shown as the derived
/// ones are.
const KEPT_FIELDS: [&str; 5] =
    ["sourceHash", "frontMatter", "frontMatter.text", "frontMatter.bom", "frontMatter.lineEnds"];

/// How lines are written.
pub(super) struct Lines<'a> {
    pub(super) paint: Paint,
    pub(super) verbose: u8,
    pub(super) root: &'a str,
    pub(super) detail: Detail,
    pub(super) columns: Option<usize>,
    /// What differs is told, not only that something does.
    pub(super) with_changes: bool,
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
        let why = if self.detail == Detail::Stat && self.with_changes && !changes.is_empty() {
            format!("{}: {}", operation.reason.code, Self::stat(changes))
        } else {
            operation.reason.code.to_owned()
        };
        self.line(style(operation.action), operation.action.as_str(), &what, &why, out);
        let indent = self.indent();
        if !operation.reason.detail.is_empty() && (operation.action != Action::Unchanged || self.verbose > 1)
        {
            out.push_str(&format!("{indent}{}\n", plain(&operation.reason.detail)));
        }
        for line in operation.reason.help.lines() {
            out.push_str(&format!("{indent}{} {}\n", self.paint.style(HELP, "help:"), plain(line)));
        }
        if self.with_changes {
            self.changes(changes, out);
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

    pub(super) fn line(&self, style: Style, action: &str, what: &str, reason: &str, out: &mut String) {
        let pad = " ".repeat(ACTION_COLUMNS.saturating_sub(action.width()));
        let reason = self.paint.style(FAINT, format!("({reason})"));
        out.push_str(&format!("{}{pad}  {} {reason}\n", self.paint.style(style, action), plain(what)));
    }

    /// What differs, under the line of its post.
    pub(super) fn changes(&self, changes: &[FieldChange], out: &mut String) {
        let kept = |change: &&FieldChange| KEPT_FIELDS.contains(&change.path.as_str());
        let derived = |change: &&FieldChange| DERIVED_FIELDS.contains(&change.path.as_str()) || kept(change);
        let named = |changes: &mut dyn Iterator<Item = &FieldChange>| {
            changes.map(|change| plain(&change.path)).collect::<Vec<String>>().join(", ")
        };
        let indent = self.indent();
        match self.detail {
            // The line of the post has it all.
            Detail::Stat => {}
            Detail::Names if changes.is_empty() => {}
            Detail::Names => out.push_str(&format!("{indent}{}\n", named(&mut changes.iter()))),
            Detail::Full | Detail::Fields => {
                let shown = |change: &&FieldChange| self.verbose > 1 || !derived(change);
                changes.iter().filter(shown).for_each(|change| self.change(change, &indent, out));
                let hidden = named(&mut changes.iter().filter(|change| !shown(change)));
                if !hidden.is_empty() && !changes.iter().any(|change| shown(&change)) {
                    let for_readers = changes.iter().any(|change| !kept(&change));
                    let what = if for_readers { "rendered anew" } else { "not for readers" };
                    let told = format!("{what}: {hidden}");
                    out.push_str(&format!("{indent}{}\n", self.paint.style(FAINT, told)));
                }
            }
        }
    }

    fn change(&self, change: &FieldChange, indent: &str, out: &mut String) {
        let name = plain(&change.path);
        let shown = self.paint.style(STRONG, &name);
        match (&change.before, &change.after) {
            (Some(Bson::String(before)), Some(Bson::String(after)))
                if before.contains('\n') || after.contains('\n') =>
            {
                let text = text::compare(before, after);
                out.push_str(&format!("{indent}{shown}: {}\n", lines_told(&text)));
                if self.detail == Detail::Full {
                    self.texts().hunks(&text, &format!("{indent}  "), out);
                }
            }
            (before, after) => {
                let used = indent.len() + name.width() + 5;
                let values = self.texts().values(before.as_ref(), after.as_ref(), used);
                out.push_str(&format!("{indent}{shown}: {values}\n"));
            }
        }
    }

    /// What a post's change amounts to, in one line.
    fn stat(changes: &[FieldChange]) -> String {
        let count_of = |number: usize| count(number, "field");
        let mut told = vec![count_of(changes.len())];
        for change in changes.iter().filter(|change| change.path == "body") {
            if let (Some(Bson::String(before)), Some(Bson::String(after))) = (&change.before, &change.after) {
                told.push(format!("body {}", lines_told(&text::compare(before, after))));
            }
        }
        told.join(", ")
    }

    fn texts(&self) -> Texts {
        Texts { paint: self.paint, verbose: self.verbose, columns: self.columns }
    }

    /// Detail stands below the file's name, on a narrow screen nearer to the edge.
    pub(super) fn indent(&self) -> String {
        let narrow = self.columns.is_some_and(|columns| columns < NARROW_COLUMNS);
        " ".repeat(if narrow { 2 } else { ACTION_COLUMNS + 2 })
    }
}

fn lines_told(text: &TextChange) -> String {
    format!("+{} −{} lines", text.added, text.removed)
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
