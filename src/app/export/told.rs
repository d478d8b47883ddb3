//! An export as a person reads it, and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Entry, Fate, Origin, Report};
use crate::cli::Format;
use crate::report::count;
use crate::report::snippet::plain;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Voice {
    /// What was not done alone.
    pub quiet: bool,
    /// 1: what is unchanged too.
    pub verbose: u8,
}

/// Columns of what became of a file.
const FATE_COLUMNS: usize = 9;

/// Prints what was found and done.
pub fn print(report: &Report, voice: Voice, format: Format, out: &mut dyn Write) -> io::Result<()> {
    if format == Format::Json {
        return crate::report::json::write_pretty(out, &object(report));
    }
    for entry in &report.entries {
        if shown(entry.fate, voice) || (!voice.quiet && !entry.lost.is_empty()) {
            line(entry.fate, &entry.chosen.file(), &notes(entry), &entry.message, out)?;
        }
    }
    for asset in report.assets.iter().flatten().filter(|asset| shown(asset.fate, voice)) {
        line(asset.fate, &asset.path, &[], &asset.message, out)?;
    }
    if voice.verbose > 0 {
        for left in &report.left {
            writeln!(
                out,
                "left       {} in {}, {} ({})",
                plain(&left.slug),
                plain(&left.lang),
                plain(&left.id),
                left.reason
            )?;
        }
    }
    if voice.quiet { Ok(()) } else { summary(report, out) }
}

fn shown(fate: Fate, voice: Voice) -> bool {
    match fate {
        Fate::Refused | Fate::Failed | Fate::Absent => true,
        Fate::Written | Fate::Replaced => !voice.quiet,
        Fate::Unchanged => voice.verbose > 0,
    }
}

fn line(fate: Fate, file: &str, notes: &[String], message: &str, out: &mut dyn Write) -> io::Result<()> {
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    let message = if message.is_empty() { String::new() } else { format!(": {}", plain(message)) };
    writeln!(out, "{:<FATE_COLUMNS$}  {}{notes}{message}", fate.as_str(), plain(file))
}

fn notes(entry: &Entry) -> Vec<String> {
    let mut notes = Vec::new();
    match entry.origin {
        Some(Origin::Text) => notes.push("front matter as in the source, text as stored".to_owned()),
        Some(Origin::Fields) => notes.push("front matter written from what is stored".to_owned()),
        Some(Origin::Source) | None => {}
    }
    if let Some(path) = &entry.chosen.instead_of {
        notes.push(format!("stored as {}", plain(path)));
    }
    if !entry.lost.is_empty() {
        notes.push(format!("not told by the file: {}", plain(&entry.lost.join(", "))));
    }
    notes
}

fn summary(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let would = if report.dry_run { "would be " } else { "" };
    let counted = |fates: &mut dyn Iterator<Item = Fate>| {
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        fates.for_each(|fate| *counts.entry(fate.as_str()).or_default() += 1);
        let order =
            [Fate::Written, Fate::Replaced, Fate::Unchanged, Fate::Refused, Fate::Failed, Fate::Absent];
        let told = order.into_iter().filter_map(|fate| {
            let number = counts.get(fate.as_str())?;
            let would = if matches!(fate, Fate::Written | Fate::Replaced) { would } else { "" };
            Some(format!("{number} {would}{}", fate.as_str()))
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { "none".to_owned() } else { told.join(", ") }
    };
    let target = &report.target;
    let from = [&target.store, &target.database, &target.collection];
    let from: Vec<&str> = from.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    writeln!(
        out,
        "{} from {} to {}: {}",
        count(report.entries.len(), "post"),
        plain(&from.join(" ")),
        plain(&report.folder),
        counted(&mut report.entries.iter().map(|entry| entry.fate))
    )?;
    if !report.left.is_empty() {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        report.left.iter().for_each(|left| *reasons.entry(left.reason).or_default() += 1);
        let told: Vec<String> = reasons.iter().map(|(reason, number)| format!("{number} {reason}")).collect();
        writeln!(out, "left: {}", told.join(", "))?;
    }
    match &report.assets {
        Some(assets) => {
            let told = counted(&mut assets.iter().map(|asset| asset.fate));
            writeln!(out, "{}: {told}", count(assets.len(), "asset"))?;
        }
        None if report.assets_named > 0 => {
            let number = count(report.assets_named, "file");
            writeln!(out, "the posts refer to {number} that are not copied; --assets does it")?;
        }
        None => {}
    }
    let otherwise = report.entries.iter().filter(|entry| entry.reads_otherwise).count();
    if otherwise > 0 {
        writeln!(
            out,
            "warning: with the settings at hand {} would not be ingested as stored; use the configuration that \
             they were ingested with",
            count(otherwise, "file")
        )?;
    }
    Ok(())
}

fn object(report: &Report) -> Value {
    let number = |fate: Fate| report.entries.iter().filter(|entry| entry.fate == fate).count();
    let files: Vec<Value> = report
        .entries
        .iter()
        .map(|entry| {
            let chosen = &entry.chosen;
            json!({
                "id": chosen.id,
                "slug": chosen.slug,
                "lang": chosen.lang,
                "status": chosen.status,
                "file": chosen.file(),
                "storedPath": chosen.instead_of.as_ref().unwrap_or(&chosen.path),
                "fate": entry.fate.as_str(),
                "from": entry.origin.map(Origin::as_str),
                "lost": entry.lost,
                "readsOtherwise": entry.reads_otherwise,
                "message": entry.message,
            })
        })
        .collect();
    let left: Vec<Value> = report
        .left
        .iter()
        .map(|left| json!({ "id": left.id, "slug": left.slug, "lang": left.lang, "reason": left.reason }))
        .collect();
    let assets = report.assets.as_ref().map(|assets| {
        let one = assets.iter().map(|asset| {
            json!({
                "path": asset.path,
                "sha256": asset.sha256,
                "fate": asset.fate.as_str(),
                "message": asset.message,
            })
        });
        one.collect::<Vec<Value>>()
    });
    json!({
        "formatVersion": 1,
        "toolVersion": env!("CARGO_PKG_VERSION"),
        "target": crate::report::json::target(&report.target),
        "folder": report.folder,
        "dryRun": report.dry_run,
        "summary": {
            "posts": report.entries.len(),
            "written": number(Fate::Written),
            "replaced": number(Fate::Replaced),
            "unchanged": number(Fate::Unchanged),
            "refused": number(Fate::Refused),
            "failed": number(Fate::Failed),
            "left": report.left.len(),
            "assets": report.assets_named,
        },
        "files": files,
        "left": left,
        "assets": assets,
        "exit": report.exit.code(),
    })
}
