//! From what was applied to how the run ended: report, exit, and the row's state.

use serde_json::{Value, json};

use super::open::exit_of;
use crate::apply::run::{Row, State};
use crate::apply::statement::Writer;
use crate::apply::{Applied, Settled};
use crate::error::Exit;
use crate::plan::{Action, Late, Plan};
use crate::report::event::RunReport;

/// Everything that decides how a run ended.
pub struct Ended<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// What was applied of it.
    pub applied: &'a Applied,
    /// A newer run.
    pub late: Option<&'a Late>,
    /// The exit that a signal asked for.
    pub interrupted: Option<Exit>,
}

const WRITING: [Action; 5] =
    [Action::Create, Action::Update, Action::Restamp, Action::Restore, Action::Archive];

/// Puts the report together.
pub fn report(ended: &Ended<'_>, writer: &Writer) -> RunReport {
    let settled = &ended.applied.settled;
    let applied = WRITING
        .iter()
        .map(|action| {
            (*action, settled.iter().filter(|(_, ended)| *ended == Settled::Applied(*action)).count())
        })
        .collect();
    let failed = settled
        .iter()
        .filter_map(|(_, ended)| match ended {
            Settled::Conflict(failed) | Settled::Failed(failed, _) => Some(failed.clone()),
            _ => None,
        })
        .collect();
    let count = |wanted: &Settled| settled.iter().filter(|(_, ended)| ended == wanted).count();
    RunReport {
        run_id: writer.run_id.clone(),
        operation_id: writer.operation_id.clone(),
        replayed: false,
        applied,
        settled_by_others: count(&Settled::ByOther),
        failed,
        not_tried: count(&Settled::NotTried) + count(&Settled::Stale),
        retries: ended.applied.retries,
        stopped: stopped(ended),
        exit: exit(ended),
    }
}

fn stopped(ended: &Ended<'_>) -> Option<String> {
    if ended.interrupted.is_some() {
        return Some("interrupted; what was in flight was finished".to_owned());
    }
    if let Some(late) = ended.late {
        return Some(if late.failed {
            format!(
                "revision {} is newer (run {}), but it failed: run the newer one again; this run wrote nothing that stays",
                late.revision, late.run_id
            )
        } else {
            format!(
                "revision {} is newer (run {}): this run is stale and leaves its posts alone",
                late.revision, late.run_id
            )
        });
    }
    ended.applied.out_of_time.then(|| "no progress within the deadline".to_owned())
}

fn exit(ended: &Ended<'_>) -> Exit {
    let mut exit = ended.interrupted.unwrap_or(Exit::Done);
    if ended.applied.out_of_time {
        exit = exit.and(Exit::Unreachable);
    }
    if ended.late.is_some_and(|late| late.failed) {
        exit = exit.and(Exit::Conflict);
    }
    if ended.plan.summary.invalid > 0 || ended.plan.summary.conflict > 0 {
        exit = exit.and(Exit::Partly);
    }
    let settled = &ended.applied.settled;
    let some_in = settled.iter().any(|(_, ended)| matches!(ended, Settled::Applied(_) | Settled::ByOther));
    for (_, one) in settled {
        exit = exit.and(match one {
            Settled::Applied(_) | Settled::ByOther | Settled::NotTried | Settled::Stale => Exit::Done,
            Settled::Conflict(_) => Exit::Conflict,
            Settled::Failed(_, class) => match exit_of(*class) {
                Exit::Unreachable => Exit::Unreachable,
                _ if some_in => Exit::Partly,
                _ => Exit::Failed,
            },
        });
    }
    exit
}

/// The row's state: `done` only where everything is as planned.
pub fn state(report: &RunReport, applied: &Applied) -> State {
    let any = applied.settled.iter().any(|(_, ended)| matches!(ended, Settled::Applied(_)));
    match report.exit {
        Exit::Done if report.failed.is_empty() => State::Done,
        Exit::Partly | Exit::Conflict if any || report.exit == Exit::Partly => State::Partial,
        _ => State::Failed,
    }
}

/// The report of a run that stopped before it had a row.
pub fn refused(exit: Exit) -> RunReport {
    RunReport {
        run_id: String::new(),
        operation_id: String::new(),
        replayed: false,
        applied: Vec::new(),
        settled_by_others: 0,
        failed: Vec::new(),
        not_tried: 0,
        retries: 0,
        stopped: Some("nothing was written".to_owned()),
        exit,
    }
}

/// The report of a run whose plan was refused.
pub fn refused_by(plan: &Plan, exit: Exit, writer: &Writer) -> RunReport {
    RunReport {
        run_id: writer.run_id.clone(),
        operation_id: writer.operation_id.clone(),
        not_tried: plan.operations.iter().filter(|operation| operation.action.writes()).count(),
        ..refused(exit)
    }
}

/// A report as its row keeps it.
pub fn stored(plan: &Plan, report: &RunReport) -> String {
    let applied: serde_json::Map<String, Value> =
        report.applied.iter().map(|(action, count)| (action.as_str().to_owned(), json!(count))).collect();
    json!({
        "runId": report.run_id,
        "applied": applied,
        "unchanged": plan.summary.unchanged,
        "settledByOthers": report.settled_by_others,
        "failed": report.failed.iter().map(|failed| json!({
            "id": failed.id, "file": failed.file, "class": failed.class, "message": failed.message,
            "attempts": failed.attempts,
        })).collect::<Vec<_>>(),
        "notTried": report.not_tried,
        "retries": report.retries,
        "exit": report.exit.code(),
    })
    .to_string()
}

/// How many posts the stored result of an operation found unchanged.
pub fn replayed_unchanged(row: &Row) -> usize {
    let result = row.report();
    let unchanged = result.get("unchanged").and_then(Value::as_u64).unwrap_or(0);
    usize::try_from(unchanged).unwrap_or(0)
}

/// The stored result of an operation that ended before.
pub fn replay(row: &Row) -> RunReport {
    let result = row.report();
    let number = |value: Option<&Value>| {
        value.and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    };
    let text =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let applied = WRITING
        .iter()
        .map(|action| {
            (*action, number(result.get("applied").and_then(|applied| applied.get(action.as_str()))))
        })
        .collect();
    let failed = result
        .get("failed")
        .and_then(Value::as_array)
        .map(|failed| {
            failed
                .iter()
                .map(|one| crate::report::event::FailedPost {
                    id: text(one, "id"),
                    file: one.get("file").and_then(Value::as_str).map(str::to_owned),
                    class: text(one, "class"),
                    message: text(one, "message"),
                    attempts: u32::try_from(number(one.get("attempts"))).unwrap_or(0),
                })
                .collect()
        })
        .unwrap_or_default();
    RunReport {
        run_id: row.run_id.clone(),
        operation_id: row.operation_id.clone(),
        replayed: true,
        applied,
        settled_by_others: number(result.get("settledByOthers")),
        failed,
        not_tried: number(result.get("notTried")),
        retries: u32::try_from(number(result.get("retries"))).unwrap_or(0),
        stopped: None,
        exit: Exit::from_code(row.exit.unwrap_or(0)),
    }
}

/// A new run's id: a ULID of this instant.
pub fn new_run_id(now: i64, seed: u64) -> String {
    use rand::{Rng, SeedableRng};
    let mut rng = rand::rngs::SmallRng::seed_from_u64(seed);
    let random = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
    ulid::Ulid::from_parts(u64::try_from(now).unwrap_or(0), random).to_string()
}
