//! A plan for a person: what is wrong with identities first, then the posts, by language where there are
//! several, then what no file makes. What is unchanged is counted, not listed.

use std::collections::BTreeMap;

use super::super::paint::{STRONG, WARNING};
use super::super::snippet::plain;
use super::super::{Output, Purpose, count};
use super::lines::Lines;
use super::remaining_orphans;
use crate::plan::change::FieldChange;
use crate::plan::{Action, Operation, Plan};

/// The whole text.
pub(super) fn text(plan: &Plan, changes: &[Vec<FieldChange>], output: &Output) -> String {
    let lines = Lines {
        paint: output.paint_out,
        verbose: output.verbose,
        root: &output.root,
        detail: output.view.detail,
        columns: output.view.columns,
        with_changes: output.purpose == Purpose::Look || output.verbose > 0,
    };
    let shown: Vec<(usize, &Operation)> = plan
        .operations
        .iter()
        .map(AsRef::as_ref)
        .enumerate()
        .filter(|(_, one)| wanted(one, plan, output))
        .collect();
    let mut out = String::new();
    let tell = |operations: &[(usize, &Operation)], out: &mut String| {
        for (at, operation) in operations {
            lines.operation(operation, changes.get(*at).map_or(&[], Vec::as_slice), out);
        }
    };
    if output.purpose == Purpose::Look {
        settings(plan, output, &mut out);
        let (refused, rest): (Vec<_>, Vec<_>) =
            shown.into_iter().partition(|(_, operation)| operation.action == Action::Conflict);
        tell(&refused, &mut out);
        let mut by_lang: BTreeMap<&str, Vec<(usize, &Operation)>> = BTreeMap::new();
        for one in rest {
            by_lang.entry(&one.1.lang).or_default().push(one);
        }
        let several = by_lang.len() > 1;
        for (lang, operations) in &by_lang {
            if several {
                heading(lang, operations.len(), output, &mut out);
            }
            tell(operations, &mut out);
        }
    } else {
        tell(&shown, &mut out);
    }
    if !output.quiet || output.purpose == Purpose::Look {
        remaining_orphans(plan).for_each(|orphan| lines.orphan(orphan, &mut out));
    }
    if output.verbose > 0 {
        plan.skipped.iter().for_each(|skipped| lines.skipped(skipped, &mut out));
    }
    out
}

fn wanted(operation: &Operation, plan: &Plan, output: &Output) -> bool {
    match operation.action {
        // Where settings moved all ids, one note says so in place of a line for each.
        Action::Conflict => plan.settings_change.is_none() || !operation.reason.is_frozen(),
        Action::Unchanged => output.verbose > 0,
        _ => !output.quiet || output.purpose == Purpose::Look,
    }
}

/// Settings that are part of every id.
fn settings(plan: &Plan, output: &Output, out: &mut String) {
    let Some(change) = &plan.settings_change else { return };
    for (name, before, now) in &change.changed {
        let label = output.paint_out.style(WARNING, "settings");
        let told = format!("{name} was {before:?} and is {now:?}");
        out.push_str(&format!("{label}   {}\n", plain(&told)));
    }
    out.push_str(&format!(
        "           {} would get another id and are refused\n",
        count(change.posts, "live post")
    ));
}

fn heading(lang: &str, number: usize, output: &Output, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    let told = output.paint_out.style(STRONG, format!("{}: {}", plain(lang), count(number, "post")));
    out.push_str(&format!("{told}\n"));
}
