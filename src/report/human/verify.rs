//! What `verify` found, for a person: differences first, each with its values and what to do.

use super::super::event::Verified;
use super::super::paint::{ERROR, FAINT, HELP, NEW, Paint, STRONG};
use super::super::snippet::plain;
use super::super::{Output, count, with_root};
use super::lines::Lines;
use super::{files_line, run_line};
use crate::plan::verify::{Finding, Level};

/// The whole text.
pub(super) fn text(verified: &Verified<'_>, output: &Output) -> String {
    let lines = Lines {
        paint: output.paint_out,
        verbose: output.verbose,
        root: &output.root,
        detail: output.view.detail,
        columns: output.view.columns,
        with_changes: true,
    };
    let mut out = String::new();
    let shown = |finding: &&Finding| !output.quiet || finding.level == Level::Difference;
    for finding in verified.findings.iter().filter(shown) {
        lines.finding(finding, verified.repaired.is_some(), &mut out);
    }
    if !output.quiet {
        out.push_str(&files_line(verified.plan));
    }
    out.push_str(&summary(verified, output.paint_out));
    out
}

/// The counts at the end.
pub(super) fn summary(verified: &Verified<'_>, paint: Paint) -> String {
    let counts = &verified.counts;
    let mut told = format!("{} stored, {} compared", counts.stored, counts.checked);
    for (number, what) in [(counts.other_sources, "of other sources"), (counts.foreign, "foreign")] {
        if number > 0 {
            told.push_str(&format!(", {number} {what}"));
        }
    }
    let mut out = format!("{told}\n");
    if let Some((plan, run)) = verified.repaired {
        out.push_str(&run_line(&plan.summary, run, paint));
    }
    let differences: Vec<&Finding> =
        verified.findings.iter().filter(|finding| finding.level == Level::Difference).collect();
    if differences.is_empty() {
        out.push_str(&format!("{}\n", paint.style(STRONG, "no differences")));
        return out;
    }
    let mended = differences.iter().filter(|finding| finding.repair.is_some()).count();
    let head = paint.style(ERROR, count(differences.len(), "difference"));
    match (verified.repaired.is_some(), mended) {
        (true, _) => out.push_str(&format!("{head} left\n")),
        (false, 0) => out.push_str(&format!("{head}, none of which --repair mends\n")),
        (false, number) => out.push_str(&format!("{head}; --repair mends {number}\n")),
    }
    out
}

impl Lines<'_> {
    fn finding(&self, finding: &Finding, is_left: bool, out: &mut String) {
        let style = if finding.level == Level::Difference { ERROR } else { FAINT };
        let file = finding.file.as_deref().map(|file| with_root(self.root, file));
        let what = file.unwrap_or_else(|| match (finding.slug.as_str(), finding.lang.as_str()) {
            ("", _) => finding.id.clone(),
            (slug, "") => format!("{slug}, {}", finding.id),
            (slug, lang) => format!("{slug} in {lang}"),
        });
        self.line(style, finding.code, &what, &finding.id, out);
        let indent = self.indent();
        if !finding.detail.is_empty() {
            out.push_str(&format!("{indent}{}\n", plain(&finding.detail)));
        }
        self.changes(&finding.fields, out);
        for line in finding.help.lines() {
            out.push_str(&format!("{indent}{} {}\n", self.paint.style(HELP, "help:"), plain(line)));
        }
        if let Some(action) = finding.repair.filter(|_| !is_left) {
            let label = self.paint.style(NEW, "--repair:");
            out.push_str(&format!("{indent}{label} {}\n", action.as_str()));
        }
    }
}
