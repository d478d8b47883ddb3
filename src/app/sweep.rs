//! `assets gc`: what no post shows any more, told, and with `--delete` deleted.

use std::io::Write;

use serde_json::{Value, json};

use super::assets;
use super::host::Host;
use super::open;
use super::operation;
use crate::apply::assets::sweep::{Fate, GRACE_MIN, Mode, Sweep, Swept, Unreachable};
use crate::cli::{AssetsGc, Format};
use crate::config::Settings;
use crate::config::value::{size_text, time, time_text};
use crate::error::{Exit, Failure};
use crate::store::objects::Objects;

/// What a sweep found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The asset store.
    pub place: String,
    /// What was found.
    pub swept: Swept,
    /// Whether objects were to be deleted.
    pub mode: Mode,
    /// 3 where an object could not be deleted.
    pub exit: Exit,
}

/// Looks, and deletes where that was typed.
pub async fn run(settings: &Settings, host: &Host, typed: &AssetsGc) -> Result<Report, Failure> {
    let grace = time(&typed.grace).map_err(|message| Failure::usage(format!("--grace: {message}")))?;
    if grace < GRACE_MIN {
        return Err(Failure::usage(format!("--grace {} is too short", typed.grace)).help(format!(
            "a run that is at work may rely on what it saw: {} is the least",
            time_text(GRACE_MIN)
        )));
    }
    let Some(objects) = assets::open(settings)? else {
        return Err(Failure::usage("no asset store is configured").help("set assets.store in idempost.toml"));
    };
    let store = open::open(settings)?;
    let executor = operation::executor(settings, host, store.as_ref(), &|_| {}, None);
    let mode = if typed.delete { Mode::Delete } else { Mode::Look };
    if mode == Mode::Delete {
        operation::connect(&executor).await?;
    } else {
        // A look makes no collection.
        executor.persist(|| store.connect()).await.map_err(|fault| open::failure(&fault))?;
    }
    let sweep = Sweep {
        store: store.as_ref(),
        objects: &objects,
        clock: host.clock.as_ref(),
        run_id: executor.writer.run_id.clone(),
        grace,
    };
    let swept = executor.persist(|| sweep.run(mode)).await.map_err(|fault| open::failure(&fault))?;
    let failed = swept.unreachable.iter().any(|one| matches!(one.fate, Fate::Failed(_)));
    let exit = if failed { Exit::Partly } else { Exit::Done };
    Ok(Report { place: objects.place().to_owned(), swept, mode, exit })
}

/// Prints what was found.
pub fn print(report: &Report, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    let swept = &report.swept;
    if format == Format::Json {
        let unreachable: Vec<Value> = swept.unreachable.iter().map(object).collect();
        let object = json!({
            "formatVersion": 1,
            "place": report.place,
            "reachable": swept.reachable,
            "young": swept.young,
            "elsewhere": swept.elsewhere,
            "unreachable": unreachable,
            "exit": report.exit.code(),
        });
        return crate::report::json::write_pretty(out, &object);
    }
    for one in &swept.unreachable {
        let why = if let Fate::Failed(why) = &one.fate { format!(": {why}") } else { String::new() };
        writeln!(out, "{:<13} {} {}{why}", one.fate.as_str(), one.row.name, size(one.row.bytes))?;
    }
    let counted = match report.mode {
        Mode::Look => (Fate::WouldGo, "would be deleted"),
        Mode::Delete => (Fate::Gone, "deleted"),
    };
    let gone: Vec<i64> =
        swept.unreachable.iter().filter(|one| one.fate == counted.0).map(|one| one.row.bytes).collect();
    writeln!(
        out,
        "{}: {} {} ({}), {} shown, {} asked for lately, {} in another asset store",
        report.place,
        gone.len(),
        counted.1,
        size(gone.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes))),
        swept.reachable,
        swept.young,
        swept.elsewhere
    )?;
    if report.mode == Mode::Look && !gone.is_empty() {
        writeln!(out, "nothing was deleted; --delete does it")?;
    }
    Ok(())
}

fn size(bytes: i64) -> String {
    size_text(u64::try_from(bytes).unwrap_or(0))
}

fn object(one: &Unreachable) -> Value {
    let mut object = json!({
        "sha256": one.row.sha256,
        "name": one.row.name,
        "bytes": one.row.bytes,
        "mime": one.row.mime,
        "fate": one.fate.as_str(),
    });
    if let (Fate::Failed(why), Some(fields)) = (&one.fate, object.as_object_mut()) {
        fields.insert("message".to_owned(), json!(why));
    }
    object
}
