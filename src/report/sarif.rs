//! SARIF 2.1.0 (OASIS), for code scanning: the problems that `check` found.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::event::{End, Event};
use super::human::failure_text;
use super::json::write_pretty;
use super::paint::Paint;
use super::{Output, Renderer, Stream, with_root};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Failure;

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
            // The verb offers no SARIF; what the files are is told all the same.
            End::Verified(verified) => log(&verified.plan.diagnostics, &self.root),
            End::Failed(failure) => {
                self.err.write_all(failure_text(failure, self.paint_err).as_bytes())?;
                whole(&[], &self.root, Some(failure))
            }
        };
        write_pretty(&mut self.out, &log)?;
        self.out.flush()
    }
}

/// A whole log: one run with its rules and results.
pub fn log(diagnostics: &[Diagnostic], root: &str) -> Value {
    whole(diagnostics, root, None)
}

fn whole(diagnostics: &[Diagnostic], root: &str, failure: Option<&Failure>) -> Value {
    let codes: BTreeSet<&str> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    let index: BTreeMap<&str, usize> = codes.iter().enumerate().map(|(at, code)| (*code, at)).collect();
    let rules: Vec<Value> = codes.iter().map(|code| rule(code)).collect();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    let results: Vec<Value> =
        diagnostics.iter().map(|diagnostic| result(diagnostic, &index, root, &mut alike)).collect();
    // A run that could not look is no run without problems.
    let mut invocation = json!({ "executionSuccessful": failure.is_none() });
    if let (Some(failure), Value::Object(invocation)) = (failure, &mut invocation) {
        let told = json!([{ "level": "error", "message": { "text": failure.message } }]);
        invocation.insert("toolExecutionNotifications".to_owned(), told);
    }
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
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: &str) -> Value {
    json!({
        "id": code,
        "shortDescription": { "text": code.replace('-', " ") },
        "helpUri": concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/diagnostics.md"),
    })
}

fn result(
    diagnostic: &Diagnostic,
    rules: &BTreeMap<&str, usize>,
    root: &str,
    alike: &mut BTreeMap<String, usize>,
) -> Value {
    let text = if diagnostic.help.is_empty() {
        diagnostic.message.clone()
    } else {
        format!("{}. {}", diagnostic.message, diagnostic.help)
    };
    let mut place = json!({ "artifactLocation": { "uri": uri(&with_root(root, &diagnostic.file)) } });
    if let (Some(line), Value::Object(place)) = (diagnostic.line, &mut place) {
        let mut region = json!({ "startLine": line });
        if let (Some(column), Value::Object(region)) = (diagnostic.column, &mut region) {
            let width = diagnostic.source_line.as_ref().map_or(1, |line| line.width.max(1));
            region.insert("startColumn".to_owned(), json!(column));
            region.insert("endColumn".to_owned(), json!(u64::from(column) + width as u64));
        }
        place.insert("region".to_owned(), region);
    }
    let locations =
        if diagnostic.file.is_empty() { json!([]) } else { json!([{ "physicalLocation": place }]) };
    json!({
        "ruleId": diagnostic.code,
        "ruleIndex": rules.get(diagnostic.code),
        "level": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "message": { "text": text },
        "locations": locations,
        "partialFingerprints": { "idempost/v1": fingerprint(diagnostic, alike) },
    })
}

/// What stays the same when lines are added above: the code, the file and what its line says; and a number,
/// where several are alike.
fn fingerprint(diagnostic: &Diagnostic, alike: &mut BTreeMap<String, usize>) -> String {
    let line = diagnostic.source_line.as_ref().map_or(diagnostic.message.as_str(), |line| line.text.trim());
    let mut hasher = Sha256::new();
    for part in [diagnostic.code, &diagnostic.file, line] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let digest: String = hex::encode(hasher.finalize()).chars().take(32).collect();
    let number = alike.entry(digest.clone()).or_insert(0);
    *number += 1;
    format!("{digest}:{number}")
}

/// A path as a relative URI reference (RFC 3986).
fn uri(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    let encoded = utf8_percent_encode(path, KEPT).to_string();
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(lines_above: usize) -> Diagnostic {
        let source = format!("{}date: 2024-13-01\n", "#\n".repeat(lines_above));
        let at = source.find("2024").unwrap();
        let mut diagnostic = Diagnostic::error("bad-date", "no month 13").at(at..at + 10).in_file("가 b.md");
        diagnostic.locate(&source);
        diagnostic
    }

    #[test]
    fn a_fingerprint_stays_when_lines_are_added_above() {
        let of = |diagnostics: &[Diagnostic]| -> Vec<String> {
            let log = log(diagnostics, "content");
            let results = log["runs"][0]["results"].as_array().unwrap();
            let print =
                |result: &Value| result["partialFingerprints"]["idempost/v1"].as_str().unwrap().to_owned();
            results.iter().map(print).collect()
        };
        assert_eq!(of(&[problem(0)]), of(&[problem(7)]));
        let two = of(&[problem(0), problem(1)]);
        assert_ne!(two[0], two[1], "two of one kind are two");
    }

    #[test]
    fn a_path_is_a_reference_and_a_region_is_never_empty() {
        let log = log(&[problem(0)], "content");
        let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "content/%EA%B0%80%20b.md");
        let region = &place["region"];
        assert_eq!((region["startLine"].as_u64(), region["startColumn"].as_u64()), (Some(1), Some(7)));
        assert_eq!(region["endColumn"].as_u64(), Some(17));
    }

    #[test]
    fn a_run_that_failed_says_so() {
        let log = whole(&[], "", Some(&Failure::usage("there is no folder")));
        assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
    }
}
