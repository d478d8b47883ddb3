//! `config`: each setting with where it comes from. Passwords are redacted.
//!
//! The text is itself a configuration file: keys that nothing was said of stand with their defaults, the
//! origin is a comment.

use std::io::Write;

use serde_json::{Value, json};

use super::output::written;
use crate::cli::Format;
use crate::config::Settings;
use crate::error::{Exit, Failure};
use crate::report::json::{FORMAT_VERSION, write_pretty};

/// Runs `config`.
pub fn run(settings: &Settings, format: Format, out: &mut dyn Write) -> Result<Exit, Failure> {
    let entries = settings.entries();
    if format == Format::Json {
        let entries: Vec<Value> = entries
            .iter()
            .map(
                |entry| json!({ "key": entry.key, "value": entry.value, "origin": entry.origin.to_string() }),
            )
            .collect();
        return written(write_pretty(
            out,
            &json!({
                "formatVersion": FORMAT_VERSION,
                "file": settings.file,
                "settings": entries,
                "warnings": settings.warnings,
            }),
        ));
    }
    let mut text = match &settings.file {
        Some(file) => format!("# configuration file: {file}\n"),
        None => "# no configuration file\n".to_owned(),
    };
    let lines: Vec<(String, String)> = entries
        .iter()
        .map(|entry| match &entry.value {
            Value::Null => (format!("# {} is not set", entry.key), String::new()),
            // Text, numbers, booleans and lists of texts are written alike in JSON and TOML.
            value => (format!("{} = {value}", entry.key), format!("# {}", entry.origin)),
        })
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0).min(ORIGIN_COLUMN_MAX);
    for (line, origin) in lines {
        text.push_str(format!("{line:<width$}  {origin}").trim_end());
        text.push('\n');
    }
    for warning in &settings.warnings {
        text.extend(["# warning: ", warning, "\n"]);
    }
    written(out.write_all(text.as_bytes()))
}

/// Rightmost column at which origins are lined up.
const ORIGIN_COLUMN_MAX: usize = 60;
