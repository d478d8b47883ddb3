//! One page that holds a whole plan: no network, no script but its own, readable on a phone and in the dark.
//!
//! What comes from files or from the store is never markup here. It is embedded as JSON, which the page's
//! script puts into the document as text; rendered bodies are sanitised once more and stand in a sandboxed
//! frame without script. What a person must see first (refusals, notes, problems) is written as escaped
//! text, so that it is there without a script too.
//!
//! The page opens at once however many changes there are: the list comes before the details, is drawn in
//! pieces, and a detail is parsed when it is opened.

mod detail;
mod policy;
mod rendered;
mod text;

use std::io::{self, Write};

use serde_json::{Value, json};

use super::event::{End, Event, RunReport};
use super::human::{failure_text, summary_text};
use super::paint::Paint;
use super::snippet::{place, plain};
use super::{Output, Renderer, Stream, count, with_root};
use crate::diagnostic::Diagnostic;
use crate::plan::change::FieldChange;
use crate::plan::compose::Composer;
use crate::plan::{Action, Operation, Plan};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const FRAME_STYLE: &str = include_str!("frame.css");

/// Warnings, and problems, that are written out; the rest is counted.
const LISTED_MAX: usize = 500;

/// The renderer of `--format html`.
pub struct Html {
    out: Stream,
    err: Stream,
    paint_err: Paint,
    root: String,
}

impl Html {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        Html { out: output.out, err: output.err, paint_err: output.paint_err, root: output.root }
    }

    fn page(&mut self, title: &str, body: &str, entries: &[detail::Entry]) -> io::Result<()> {
        let policy = policy::page(&[STYLE, FRAME_STYLE], &[SCRIPT]);
        let heads: Vec<&Value> = entries.iter().map(|entry| &entry.head).collect();
        let heads = json!({ "changes": heads, "frame": frame() });
        write!(
            self.out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\
             <script type=\"application/json\" id=\"heads\">{}</script>\n<script>{SCRIPT}</script>\n",
            escape(&policy),
            escape(&plain(title)),
            embedded(&heads)
        )?;
        for (at, entry) in entries.iter().enumerate() {
            writeln!(
                self.out,
                "<script type=\"application/json\" id=\"d{at}\">{}</script>",
                embedded(&entry.detail)
            )?;
        }
        self.out.write_all(b"</body>\n</html>\n")?;
        self.out.flush()
    }

    fn plan(
        &mut self,
        plan: &Plan,
        changes: &[Vec<FieldChange>],
        composer: &Composer,
        end: &End<'_>,
    ) -> io::Result<()> {
        let told: Vec<(usize, &Operation)> = plan
            .operations
            .iter()
            .map(AsRef::as_ref)
            .enumerate()
            .filter(|(_, operation)| operation.action != Action::Unchanged)
            .collect();
        let mut spent = 0;
        let mut entries = Vec::with_capacity(told.len());
        for (at, operation) in &told {
            let fields = changes.get(*at).map_or(&[][..], Vec::as_slice);
            // A file that was changed meanwhile has nothing to show; the run tells of it.
            let content = composer.compose(operation).ok().flatten().map(|content| content.fields);
            let entry = detail::entry(operation, content.as_ref(), fields, &self.root, spent);
            spent += entry.detail.to_string().len();
            entries.push(entry);
        }
        let writes = plan.operations.iter().filter(|operation| operation.action.writes()).count();
        let title = match (writes, end) {
            (_, End::Run { .. }) => "what was written".to_owned(),
            (0, _) => "nothing to write".to_owned(),
            (number, _) => format!("{} to write", count(number, "post")),
        };
        let target = &plan.target;
        let to = format!("{} / {} / {}", target.store, target.database, target.collection);
        let mut body = head(&title, Some(&to), &summary_text(end));
        let run = if let End::Run { run, .. } = end { Some(*run) } else { None };
        body.push_str(&self.warnings(plan, run));
        body.push_str(&self.problems(&plan.diagnostics));
        body.push_str(include_str!("list.html"));
        body.push_str(&orphans(plan));
        self.page(&format!("idempost: {title}"), &body, &entries)
    }

    /// Refusals, notes and failures: what a person must see before anything else.
    fn warnings(&self, plan: &Plan, run: Option<&RunReport>) -> String {
        let mut items: Vec<String> = plan.notes.iter().map(|note| item("note", "", note, "")).collect();
        if let Some(run) = run {
            items.extend(run.stopped.iter().map(|why| item("error", "", why, "")));
            items.extend(run.failed.iter().map(|failed| {
                let file = failed
                    .file
                    .as_deref()
                    .map_or_else(|| failed.id.clone(), |file| with_root(&self.root, file));
                item("error", &format!("{} {file}", failed.class), &failed.message, "")
            }));
        }
        for operation in plan.operations.iter().filter(|operation| operation.action == Action::Conflict) {
            // Where settings moved all ids, one note says so in place of a line for each.
            if plan.settings_change.is_some() && operation.reason.is_frozen() {
                continue;
            }
            let reason = &operation.reason;
            let file = operation
                .file
                .as_deref()
                .map_or_else(|| operation.id.clone(), |file| with_root(&self.root, file));
            let line = operation.line.map(|line| format!(":{line}")).unwrap_or_default();
            let label = format!("{} {file}{line}", reason.code);
            items.push(item("error", &label, &reason.detail, &reason.help));
        }
        section("warnings", "Look at these first", &items, "warning")
    }

    fn problems(&self, diagnostics: &[Diagnostic]) -> String {
        let items: Vec<String> = diagnostics
            .iter()
            .map(|diagnostic| {
                let label = format!("{} {}", diagnostic.code, place(diagnostic, &self.root));
                item(diagnostic.severity.as_str(), &label, &diagnostic.message, &diagnostic.help)
            })
            .collect();
        section("problems", "Problems of files", &items, "problem")
    }
}

impl Renderer for Html {
    fn event(&mut self, _event: &Event<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        match end {
            End::Plan { plan, changes, composer } | End::Run { plan, changes, composer, .. } => {
                self.plan(plan, changes, composer, end)
            }
            End::Check(checked) => {
                let title = if checked.diagnostics.is_empty() { "no problems" } else { "problems" };
                let body = head(title, None, &summary_text(end)) + &self.problems(checked.diagnostics);
                self.page(&format!("idempost: {title}"), &body, &[])
            }
            // The verb offers no HTML; its counts are told all the same.
            End::Verified(verified) => {
                let body =
                    head("verify", None, &summary_text(end)) + &self.problems(&verified.plan.diagnostics);
                self.page("idempost: verify", &body, &[])
            }
            End::Failed(failure) => {
                self.err.write_all(failure_text(failure, self.paint_err).as_bytes())?;
                let failed = item("error", "", &failure.message, &failure.help);
                let body =
                    head("failed", None, "") + &section("warnings", "What went wrong", &[failed], "error");
                self.page("idempost: failed", &body, &[])
            }
        }
    }
}

/// What stands before the rows in the frame.
fn frame() -> String {
    format!(
        "<!doctype html><html lang=\"und\"><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\
         <meta name=\"color-scheme\" content=\"light dark\"><style>{FRAME_STYLE}</style><body>",
        escape(&policy::frame(FRAME_STYLE))
    )
}

fn head(title: &str, target: Option<&str>, summary: &str) -> String {
    let target = target.map(|to| format!("<p class=\"target\">to <code>{}</code></p>\n", escape(&plain(to))));
    let summary = paragraphs("<p>", summary);
    format!(
        "<a class=\"skip\" href=\"#changes\">Skip to the changes</a>\n<header>\n<h1><span>idempost</span> {}</h1>\n{}\
         <div class=\"summary\">\n{summary}</div>\n</header>\n",
        escape(&plain(title)),
        target.unwrap_or_default()
    )
}

fn item(kind: &str, label: &str, message: &str, help: &str) -> String {
    let label = if label.is_empty() {
        String::new()
    } else {
        format!(" <code><bdi>{}</bdi></code>", escape(&plain(label)))
    };
    let help = paragraphs("<p class=\"help\">", help);
    format!(
        "<li class=\"{kind}\"><b>{kind}</b>{label}<p><bdi>{}</bdi></p>{help}</li>\n",
        escape(&plain(message))
    )
}

/// Each line as a paragraph.
fn paragraphs(tag: &str, text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| format!("{tag}{}</p>\n", escape(&plain(line)))).collect();
    lines.concat()
}

fn section(id: &str, title: &str, items: &[String], what: &str) -> String {
    if items.is_empty() {
        return String::new();
    }
    let more = match items.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        rest => format!("<p>… and {} more</p>\n", count(rest, what)),
    };
    let listed = items.get(..items.len().min(LISTED_MAX)).unwrap_or_default().concat();
    format!("<section id=\"{id}\">\n<h2>{title}</h2>\n<ul>\n{listed}</ul>\n{more}</section>\n")
}

/// Live posts that no file makes and that this plan leaves as they are.
fn orphans(plan: &Plan) -> String {
    let items: Vec<String> = super::human::remaining_orphans(plan)
        .map(|orphan| {
            format!(
                "<li><code><bdi>{}</bdi></code> {}</li>\n",
                escape(&plain(&orphan.path)),
                escape(&orphan.id)
            )
        })
        .collect();
    section("orphans", "Live posts that no file makes", &items, "post")
}

/// Text as text of a document or of an attribute in double quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// JSON that cannot end its element: these letters stand in strings alone, where they may be escaped.
fn embedded(value: &Value) -> String {
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests;
