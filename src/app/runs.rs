//! `runs` and `runs show`: what was done, by whom, and what is not finished.

use std::io::Write;

use serde_json::{Value, json};

use super::host::Host;

use super::open;
use super::operation;
use crate::apply::run::{Row, State};
use crate::cli::Format;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::report::event::Event;
use crate::report::snippet::plain;

/// The rows of the source, the newest first; with `id`, those of one run or operation.
pub async fn run(
    settings: &Settings,
    host: &Host,
    id: Option<&str>,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Vec<Row>, Failure> {
    let store = open::open(settings)?;
    let executor = operation::executor(settings, host, store.as_ref(), events, None);
    executor.persist(|| store.connect()).await.map_err(|fault| open::failure(&fault))?;
    let rows = operation::rows(settings, host, store.as_ref());
    let mut found = executor.persist(|| rows.all()).await.map_err(|fault| open::failure(&fault))?;
    found.sort_by(|a, b| (b.started, &b.run_id).cmp(&(a.started, &a.run_id)));
    let Some(id) = id else { return Ok(found) };
    found.retain(|row| row.run_id == id || row.operation_id == id);
    if found.is_empty() {
        let source = if rows.source.is_empty() {
            "without a source".to_owned()
        } else {
            format!("of source {:?}", rows.source)
        };
        return Err(Failure::new(Exit::Failed, format!("no run or operation {id:?} {source} is kept here"))
            .help("`idempost runs` lists those that are; rows are kept for `runs_keep`"));
    }
    Ok(found)
}

/// What `runs reset-revision` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reset {
    /// The highest revision that a run of the source had; `None`: none had one.
    pub highest: Option<i64>,
    /// The number that the next run may have.
    pub next: i64,
    /// Rows that were changed.
    pub rows: usize,
}

/// Moves the revisions of the source below `next`, in their order: runs that never ended stay older than
/// those to come, and are fenced by them. Running it again changes nothing.
pub async fn reset_revision(settings: &Settings, host: &Host, next: i64) -> Result<Reset, Failure> {
    let store = open::open(settings)?;
    let executor = operation::executor(settings, host, store.as_ref(), &|_| {}, None);
    operation::connect(&executor).await?;
    let rows = operation::rows(settings, host, store.as_ref());
    let told = |fault| open::failure(&fault);
    let all = executor.persist(|| rows.all()).await.map_err(told)?;
    let now = host.clock.now();
    let at_work = |row: &&Row| row.revision.is_some() && row.state == State::Running && row.lease_until > now;
    if let Some(row) = all.iter().find(at_work) {
        return Err(Failure::new(Exit::Conflict, format!("run {} is at work", row.run_id))
            .help("reset once no run of the source is at work"));
    }
    let highest = all.iter().filter_map(|row| row.revision).max();
    let mut reset = Reset { highest, next, rows: 0 };
    let Some(down) = highest.map(|highest| highest.saturating_sub(next).saturating_add(1)) else {
        return Ok(reset);
    };
    if down <= 0 {
        return Ok(reset);
    }
    // The newest last: a reset that died is seen by the highest being still there.
    let mut counted: Vec<&Row> = all.iter().filter(|row| row.revision.is_some()).collect();
    counted.sort_by_key(|row| row.revision);
    for row in counted {
        let lower = row.revision.map(|revision| revision.saturating_sub(down));
        let change = |row: &mut Row| row.revision = lower;
        executor.persist(|| rows.change(&row.run_id, change)).await.map_err(told)?;
        reset.rows += 1;
    }
    Ok(reset)
}

/// Prints what was done.
pub fn print_reset(reset: &Reset, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    if format == Format::Json {
        let Reset { highest, next, rows } = reset;
        let object = json!({ "formatVersion": 1, "highest": highest, "next": next, "rows": rows });
        return crate::report::json::write_pretty(out, &object);
    }
    match (reset.highest, reset.rows) {
        (None, _) => writeln!(out, "no run of this source has a revision: any number may come next"),
        (Some(highest), 0) => {
            writeln!(out, "the highest revision is {highest}: {} may come next already", reset.next)
        }
        (Some(highest), rows) => writeln!(
            out,
            "the revisions of {rows} runs were moved down: the highest was {highest}, and {} may come next",
            reset.next
        ),
    }
}

/// Prints the list, or one run whole.
pub fn print(rows: &[Row], whole: bool, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    if format == Format::Json {
        let rows: Vec<Value> = rows.iter().map(object).collect();
        let object = json!({ "formatVersion": 1, "runs": rows });
        return crate::report::json::write_pretty(out, &object);
    }
    if rows.is_empty() {
        return writeln!(out, "no runs");
    }
    for row in rows {
        let started = jiff::Timestamp::from_millisecond(row.started)
            .map_or_else(|_| String::new(), |at| at.to_string());
        let revision = row.revision.map_or_else(String::new, |revision| format!(" revision {revision}"));
        let unfinished = match (row.open, row.fenced) {
            (false, _) => "",
            (true, false) => " (unfinished)",
            (true, true) => " (unfinished, fenced)",
        };
        let exit = row.exit.map_or_else(String::new, |exit| format!(" exit {exit}"));
        let verb = plain(&row.verb);
        writeln!(
            out,
            "{}  {started}  {verb}  {}{unfinished}{exit}{revision}",
            row.run_id,
            row.state.as_str()
        )?;
        if whole {
            writeln!(out, "  operation  {} (attempt {})", row.operation_id, row.attempt)?;
            writeln!(out, "  about      {}", row.fingerprint)?;
            let told = [
                ("counted by", &row.counter),
                ("commit    ", &row.commit),
                ("ref       ", &row.reference),
                ("CI run    ", &row.ci_run),
            ];
            for (what, value) in told {
                if let Some(value) = value {
                    writeln!(out, "  {what} {}", plain(value))?;
                }
            }
            let result = row.report();
            for (action, count) in result.get("applied").and_then(Value::as_object).into_iter().flatten() {
                writeln!(out, "  {action:<10} {count}")?;
            }
            for failed in result.get("failed").and_then(Value::as_array).into_iter().flatten() {
                let text = |key: &str| failed.get(key).and_then(Value::as_str).unwrap_or_default();
                writeln!(out, "  failed     {} {}: {}", text("id"), text("class"), text("message"))?;
            }
        }
    }
    Ok(())
}

fn object(row: &Row) -> Value {
    let result = row.report();
    json!({
        "runId": row.run_id,
        "operationId": row.operation_id,
        "attempt": row.attempt,
        "source": row.source,
        "verb": row.verb,
        "fingerprint": row.fingerprint,
        "revision": row.revision,
        "counter": row.counter,
        "commit": row.commit,
        "ref": row.reference,
        "ciRun": row.ci_run,
        "startedAtMs": row.started,
        "state": row.state.as_str(),
        "unfinished": row.open,
        "fenced": row.fenced,
        "exit": row.exit,
        "result": result,
    })
}
