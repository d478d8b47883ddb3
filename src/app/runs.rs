//! `runs` and `runs show`: what was done, by whom, and what is not finished.

use std::io::Write;

use serde_json::{Value, json};

use super::host::Host;

use super::open;
use super::operation;
use crate::apply::run::{Row, Rows};
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
    let rows = Rows {
        store: store.as_ref(),
        clock: host.clock.as_ref(),
        source: settings.source.value.clone().unwrap_or_default(),
    };
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
        writeln!(out, "{}  {started}  {}{unfinished}{exit}{revision}", row.run_id, row.state.as_str())?;
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
