//! `runs` and `runs show`: what was done, by whom, and what is not finished.

use super::host::Host;
use super::ingest;
use super::open;
use crate::apply::run::{Row, Rows};
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::report::event::Event;

/// The rows of the source, the newest first; with `id`, those of one run or operation.
pub async fn run(
    settings: &Settings,
    host: &Host,
    id: Option<&str>,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Vec<Row>, Failure> {
    let store = open::open(settings).await?;
    let executor = ingest::executor(settings, host, store.as_ref(), events, None);
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
