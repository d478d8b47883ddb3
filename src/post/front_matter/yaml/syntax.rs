//! What to say about an error of the YAML parser, and which entry of the block it spoils.

use std::ops::Range;

use granit_parser::{ErrorKind, ScanError};

use super::super::check;
use super::super::split::{Line, lines};
use super::entry_at;
use crate::diagnostic::{Diagnostic, floor_char_boundary};

/// The entry to blank before the block is read again; `None` where reading on would only make noise.
pub(super) fn faulty_entry(text: &str, error: &ScanError) -> Option<Range<usize>> {
    let entry = entry_at(text, place(text, error))?;
    // Without its anchor, every alias of it would be told as unknown.
    let anchors = text.get(entry.clone()).is_some_and(|lines| lines.contains('&'));
    (!anchors).then_some(entry)
}

/// Byte of `text` that the error is about.
fn place(text: &str, error: &ScanError) -> usize {
    let marker = error.marker();
    let at = marker.byte_offset().unwrap_or_else(|| {
        let line: usize =
            text.split_inclusive('\n').take(marker.line().saturating_sub(1)).map(str::len).sum();
        line + marker.col()
    });
    floor_char_boundary(text, at)
}

fn line_at(text: &str, at: usize) -> Line<'_> {
    let end = Line { span: text.len()..text.len(), text: "" };
    lines(text, 0).find(|line| at <= line.span.end).unwrap_or(end)
}

/// The error as a diagnostic; `offset` is where the block begins in the file.
pub(super) fn explain(text: &str, offset: usize, error: &ScanError) -> Diagnostic {
    let at = place(text, error);
    let line = line_at(text, at);
    let end = text.get(at..).and_then(|rest| rest.chars().next()).map_or(at, |c| at + c.len_utf8());
    let place = offset + at..offset + end;
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return check::too_deep(place);
    }
    let (message, help) = reason(&line, error.kind(), at);
    Diagnostic::error("yaml-syntax", message).at(place).help(help)
}

fn reason(line: &Line<'_>, kind: &ErrorKind, at: usize) -> (String, String) {
    let _ = (line, at);
    (format!("this is no YAML: {kind}"), "quote the value".to_owned())
}
