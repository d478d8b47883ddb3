//! SARIF 2.1.0 (OASIS), for code scanning: the problems that `check` found.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::event::{End, Event};
use super::human::failure_text;
use super::json::write_pretty;
use super::paint::Paint;
use super::{Output, Renderer, Stream, with_root};
use crate::diagnostic::{Diagnostic, Severity};

/// The renderer of `--format sarif`.
pub struct Sarif {
    out: Stream,
    err: Stream,
    paint_err: Paint,
    root: String,
}

impl Sarif {
    /// Makes it.
    pub fn new(output: Output) -> Self {
        Sarif { out: output.out, err: output.err, paint_err: output.paint_err, root: output.root }
    }
}

impl Renderer for Sarif {
    fn event(&mut self, _event: &Event<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, end: &End<'_>) -> io::Result<()> {
        let log = match end {
            End::Check(checked) => log(checked.diagnostics, &self.root),
            End::Plan { plan, .. } | End::Run { plan, .. } => log(&plan.diagnostics, &self.root),
            End::Failed(failure) => {
                self.err.write_all(failure_text(failure, self.paint_err).as_bytes())?;
                log(&[], &self.root)
            }
        };
        write_pretty(&mut self.out, &log)?;
        self.out.flush()
    }
}

/// A whole log: one run with its rules and results.
pub fn log(diagnostics: &[Diagnostic], root: &str) -> Value {
    let mut rules: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<Value> = diagnostics.iter().map(|diagnostic| result(diagnostic, &rules, root)).collect();
    let rules: Vec<Value> = rules.iter().map(|code| json!({ "id": code })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "idempost",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(diagnostic: &Diagnostic, rules: &[&str], root: &str) -> Value {
    let text = if diagnostic.help.is_empty() {
        diagnostic.message.clone()
    } else {
        format!("{}. {}", diagnostic.message, diagnostic.help)
    };
    let mut place = json!({ "artifactLocation": { "uri": uri(&with_root(root, &diagnostic.file)) } });
    if let (Some(line), Value::Object(place)) = (diagnostic.line, &mut place) {
        let mut region = json!({ "startLine": line });
        if let (Some(column), Value::Object(region)) = (diagnostic.column, &mut region) {
            let width = diagnostic.source_line.as_ref().map_or(1, |line| line.width);
            region.insert("startColumn".to_owned(), json!(column));
            region.insert("endColumn".to_owned(), json!(u64::from(column) + width as u64));
        }
        place.insert("region".to_owned(), region);
    }
    let locations =
        if diagnostic.file.is_empty() { json!([]) } else { json!([{ "physicalLocation": place }]) };
    json!({
        "ruleId": diagnostic.code,
        "ruleIndex": rules.iter().position(|code| *code == diagnostic.code),
        "level": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": { "text": text },
        "locations": locations,
    })
}

/// A path as a relative URI reference (RFC 3986).
fn uri(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let encoded = utf8_percent_encode(path, KEPT).to_string();
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded }
}
