//! `doctor`: connection, engine, indexes, reader queries, rights, and the asset store. Writes nothing but, to
//! the asset store, one small object that it takes away again.

use std::io::Write;

use serde_json::{Value, json};

use super::assets;
use super::host::Host;
use super::open;
use super::operation;
use crate::cli::Format;
use crate::config::Settings;
use crate::config::store::StoreKind;
use crate::error::{Exit, Failure};
use crate::store::Store;
use crate::store::mongo::MongoStore;
use crate::store::mongo::doctor::Rights;
use crate::store::objects::{Objects, Tried};

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// Works, but something is lost.
    Warning,
    /// Does not work.
    Bad,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Verdict::Good => "ok",
            Verdict::Warning => "warning",
            Verdict::Bad => "bad",
        }
    }
}

/// One line of the examination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub what: &'static str,
    /// How it stands.
    pub verdict: Verdict,
    /// What was found.
    pub says: String,
}

/// The examination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// In the order in which things depend on each other.
    pub findings: Vec<Finding>,
    /// 0, or what a run would fail with.
    pub exit: Exit,
}

impl Report {
    fn say(&mut self, what: &'static str, verdict: Verdict, says: impl Into<String>) {
        self.findings.push(Finding { what, verdict, says: says.into() });
        if verdict == Verdict::Bad && self.exit == Exit::Done {
            self.exit = Exit::Failed;
        }
    }
}

/// Examines the store.
pub async fn run(settings: &Settings, host: &Host) -> Result<Report, Failure> {
    let mut report = Report { findings: Vec::new(), exit: Exit::Done };
    match settings.store()?.kind() {
        StoreKind::Sqlite => {
            let store = open::open(settings)?;
            if connect(&mut report, settings, host, store.as_ref()).await {
                content(&mut report, store.as_ref()).await;
            }
        }
        StoreKind::Mongo => {
            let store = open::open_mongo(settings)?;
            if connect(&mut report, settings, host, &store).await {
                engine(&mut report, &store);
                indexes(&mut report, &store).await;
                content(&mut report, &store).await;
                queries(&mut report, &store).await;
                rights(&mut report, &store).await;
            }
        }
    }
    assets(&mut report, settings, host).await;
    Ok(report)
}

/// Whether the asset store can be reached and written, and refuses a second upload of one name.
async fn assets(report: &mut Report, settings: &Settings, host: &Host) {
    let objects = match assets::open(settings) {
        Ok(Some(objects)) => objects,
        Ok(None) => return,
        Err(failure) => {
            report.say("assets", Verdict::Bad, format!("{}; {}", failure.message, failure.help));
            return;
        }
    };
    let name = format!("idempost-doctor-{}", super::summary::new_run_id(host.clock.now(), host.seed));
    let place = objects.place();
    match objects.try_out(&name).await {
        Ok(Tried { put_if_absent: true, deleted: true }) => {
            report.say("assets", Verdict::Good, format!("{place} is reached and written, and has put-if-absent"));
        }
        Ok(Tried { put_if_absent: false, .. }) => report.say(
            "assets",
            Verdict::Warning,
            format!(
                "{place} is reached and written, and has no put-if-absent: an asset is stored once by its row alone"
            ),
        ),
        Ok(Tried { deleted: false, .. }) => report.say(
            "assets",
            Verdict::Warning,
            format!("{place} is reached and written, and does not delete: {name} is left, and `assets gc` will fail"),
        ),
        Err(fault) => {
            let help = if fault.help.is_empty() { String::new() } else { format!("; {}", fault.help) };
            report.say("assets", Verdict::Bad, format!("{}{help}", fault.message));
        }
    }
}

async fn connect(report: &mut Report, settings: &Settings, host: &Host, store: &dyn Store) -> bool {
    let target = store.target();
    report.say(
        "target",
        Verdict::Good,
        format!("{} database {} collection {}", target.store, target.database, target.collection),
    );
    let executor = operation::executor(settings, host, store, &|_| {}, None);
    match executor.persist(|| store.connect()).await {
        Ok(()) => {
            report.say("connection", Verdict::Good, "reached");
            true
        }
        Err(fault) => {
            let help = if fault.help.is_empty() { String::new() } else { format!("; {}", fault.help) };
            report.say("connection", Verdict::Bad, format!("{}{help}", fault.message));
            report.exit = open::exit_of(fault.class);
            false
        }
    }
}

fn engine(report: &mut Report, store: &MongoStore) {
    if let Some((detected, version)) = store.detected() {
        let version = version.map_or_else(String::new, |version| format!(" {version}"));
        report.say(
            "engine",
            Verdict::Good,
            format!("{}{version} ({})", detected.profile.name(), detected.reason),
        );
    }
    let limits = store.limits();
    report.say(
        "limits",
        Verdict::Good,
        format!(
            "{} statements and {} bytes a batch, {} bytes and {} levels a document",
            limits.statements_max,
            limits.batch_bytes_max,
            limits.document_bytes_max,
            limits.nesting_levels_max
        ),
    );
}

async fn indexes(report: &mut Report, store: &MongoStore) {
    match store.missing_indexes().await {
        Ok(missing) if missing.is_empty() => report.say("indexes", Verdict::Good, "all there"),
        Ok(missing) => report.say(
            "indexes",
            Verdict::Warning,
            format!("not there yet, the next ingest makes them: {}", missing.join(", ")),
        ),
        Err(fault) => report.say("indexes", Verdict::Bad, fault.message),
    }
    if !store.limits().unique_live {
        report.say(
            "lock",
            Verdict::Warning,
            "this engine has no partial unique index: two runs that race with different dates for one slug are \
             told apart by looking alone",
        );
    }
}

async fn content(report: &mut Report, store: &dyn Store) {
    match store.heads().await {
        Ok(heads) => {
            let live = heads.iter().filter(|head| head.live).count();
            let foreign = heads.iter().filter(|head| head.ingest.is_none()).count();
            report.say("posts", Verdict::Good, format!("{} stored, {live} live", heads.len()));
            if foreign > 0 {
                report.say(
                    "foreign",
                    Verdict::Warning,
                    format!(
                        "{foreign} documents were not written by idempost; new posts are refused beside them"
                    ),
                );
            }
        }
        Err(fault) => report.say("posts", Verdict::Bad, fault.message),
    }
}

async fn queries(report: &mut Report, store: &MongoStore) {
    match store.explain().await {
        Ok(explained) => {
            for query in explained {
                let (verdict, how) = if query.scans {
                    (Verdict::Warning, "reads the whole collection".to_owned())
                } else if query.sorts {
                    (Verdict::Warning, format!("uses {} and sorts in memory", query.indexes.join(", ")))
                } else {
                    (Verdict::Good, format!("uses {}", query.indexes.join(", ")))
                };
                report.say("query", verdict, format!("{} {how}", query.purpose));
            }
        }
        Err(fault) => {
            report.say("query", Verdict::Warning, format!("the engine does not explain: {}", fault.message));
        }
    }
}

async fn rights(report: &mut Report, store: &MongoStore) {
    match store.rights().await {
        Ok(Rights::Open) => report.say("rights", Verdict::Good, "the engine asks nobody who they are"),
        Ok(Rights::Missing(missing)) if missing.is_empty() => {
            report.say("rights", Verdict::Good, "all there");
        }
        Ok(Rights::Missing(missing)) => {
            report.say("rights", Verdict::Bad, format!("missing: {}", missing.join(", ")));
        }
        Ok(Rights::Untold(why)) => {
            report.say("rights", Verdict::Warning, format!("the engine does not tell: {why}"));
        }
        Err(fault) => report.say("rights", Verdict::Warning, fault.message),
    }
}

/// Prints the examination.
pub fn print(report: &Report, format: Format, out: &mut dyn Write) -> std::io::Result<()> {
    if format == Format::Json {
        let findings: Vec<Value> = report
            .findings
            .iter()
            .map(|finding| json!({ "what": finding.what, "verdict": finding.verdict.as_str(), "says": finding.says }))
            .collect();
        let object = json!({ "formatVersion": 1, "findings": findings, "exit": report.exit.code() });
        return crate::report::json::write_pretty(out, &object);
    }
    for finding in &report.findings {
        writeln!(out, "{:<8} {:<11} {}", finding.verdict.as_str(), finding.what, finding.says)?;
    }
    Ok(())
}
