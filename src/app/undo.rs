//! `undo`: puts back what one run changed, from its before-images.
//!
//! Begin at [`run`]. No tree is read for the plan; the files are looked at to tell what the next push will
//! make of it.

use std::collections::HashMap;

use super::host::Host;
use super::observe::Policies;
use super::operation::{self, Ended};
use super::{open, runs};
use crate::apply::Executor;
use crate::apply::run::{Row, State};
use crate::apply::undo::UndoPlanner;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::identity::SourceHash;
use crate::plan::{Action, Observed, Plan};
use crate::report::event::Event;
use crate::source;
use crate::store::Side;
use crate::store::history::{Before, Image};

/// What was asked for.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// A run's id, or an operation id that one run had.
    pub run: &'a str,
    /// Nothing is written.
    pub dry_run: bool,
    /// Posts that cannot be put back stop nothing.
    pub keep_going: bool,
}

/// Undoes a run. Like every word of a person it has no revision.
pub async fn run(
    settings: &Settings,
    host: &Host,
    asked: Asked<'_>,
    events: &(dyn Fn(&Event<'_>) + Sync),
) -> Result<Ended, Failure> {
    let store = open::open(settings)?;
    events(&Event::Target(&store.target()));
    let row = only(runs::run(settings, host, Some(asked.run), &|_| {}).await?)?;
    if row.state == State::Running && row.lease_until > host.clock.now() {
        return Err(Failure::new(Exit::Conflict, format!("run {} is at work", row.run_id))
            .help("wait until it has ended, or stop it, and undo it then"));
    }
    let executor = operation::executor(settings, host, store.as_ref(), events, None);
    executor.persist(|| store.connect()).await.map_err(|fault| open::failure(&fault))?;
    let images = images(&executor, &row).await?;
    let policy = Policies { settings, revision: None }.without_tree(store.as_ref(), host.clock.now());
    let planner = UndoPlanner { images: &images, policy: &policy };
    let review = |plan: &mut Plan, _: &Observed| {
        note_files(plan, &images, settings);
        (plan.summary.conflict > 0 && !asked.keep_going).then_some(Exit::Conflict)
    };
    let about = vec![row.run_id.clone(), asked.keep_going.to_string()];
    let wanted = operation::Asked { verb: "undo", about, planner: &planner, review: &review };
    operation::look_or_carry_out(settings, host, &executor, wanted, asked.dry_run).await
}

/// The one run that goes by what was typed.
fn only(rows: Vec<Row>) -> Result<Row, Failure> {
    let ids: Vec<String> = rows.iter().map(|row| row.run_id.clone()).collect();
    match <[Row; 1]>::try_from(rows) {
        Ok([row]) => Ok(row),
        Err(_) => Err(Failure::usage(format!("the operation had {} runs", ids.len()))
            .help(format!("undo each by its id, the newest first: {}", ids.join(", ")))),
    }
}

async fn images(executor: &Executor<'_>, row: &Row) -> Result<Vec<Image>, Failure> {
    let filter = Image::of_run(&row.run_id);
    let rows = executor
        .persist(|| executor.store.rows(Side::History, &filter))
        .await
        .map_err(|fault| open::failure(&fault))?;
    let images: Vec<Image> = rows.into_iter().filter_map(Image::from_document).collect();
    let report = row.report();
    let applied = |action: &str| {
        report.get("applied").and_then(|applied| applied.get(action)).and_then(serde_json::Value::as_u64)
    };
    let wrote =
        ["create", "update", "restore", "archive"].into_iter().any(|action| applied(action) > Some(0));
    if images.is_empty() && wrote {
        return Err(Failure::new(
            Exit::Failed,
            format!("run {} cannot be undone: what the posts were before it was not kept", row.run_id),
        )
        .help("`limits.history` was 0, or an older version ran it; correct the files and ingest them"));
    }
    Ok(images)
}

/// Files that still say what is undone would bring it back with the next push.
fn note_files(plan: &mut Plan, images: &[Image], settings: &Settings) {
    let images: HashMap<&str, &Image> = images.iter().map(|image| (image.post_id.as_str(), image)).collect();
    let root = &settings.content.root.value;
    let bytes_max = settings.limits.file_bytes.value;
    let mut say = Vec::new();
    for operation in plan.operations.iter().filter(|operation| operation.action.writes()) {
        let Some(file) = operation.file.as_deref() else { continue };
        let Some(bytes) = source::read_inside(root, file, bytes_max) else { continue };
        let was = images.get(operation.id.as_str()).and_then(|image| match &image.before {
            Before::Post(before) if operation.action != Action::Archive => before.get_str("sourceHash").ok(),
            _ => None,
        });
        if was != Some(SourceHash::of_file(&bytes).as_str()) {
            say.push(file);
        }
    }
    let Some((first, rest)) = say.split_first() else { return };
    let files = match rest.len() {
        0 => format!("{first} still says"),
        more => format!("{first} and {more} more files still say"),
    };
    plan.notes.push(format!(
        "{files} what is undone, and the next ingest brings it back: revert the tree too (`git revert`)"
    ));
}
