//! What to say about an error of the YAML parser, and which lines of the block it spoils.
//!
//! The parser names the rule of its grammar that failed; an author wants the line to change and what to
//! write there. Each [`Fault`] is one such answer.

use std::ops::Range;

use granit_parser::{ErrorKind, Parser, ScanError};

use super::super::check;
use super::super::meant::{is_near_fence, key_of, shown};
use super::super::split::{Line, lines, trim_blanks_end};
use super::{compose, entry_at};
use crate::diagnostic::{Diagnostic, floor_char_boundary};

/// A value that begins with one of these must be quoted where it is text.
const SPECIAL_FIRST: &str = "*&!%@`[{}]>|?-,#'\"";
/// Longest value that is spelled out in a suggestion, in characters.
const SUGGESTED_CHARS_MAX: usize = 60;

/// An error of the parser, understood: places are bytes of the block.
#[derive(Debug)]
pub(super) struct Fault {
    /// What is pointed at.
    at: Range<usize>,
    /// Lines to blank before the block is read again; `None` where reading on would only make noise.
    pub(super) lines: Option<Range<usize>>,
    code: &'static str,
    message: String,
    help: String,
}

impl Fault {
    /// The diagnostic for a block that begins at byte `offset` of the file.
    pub(super) fn diagnostic(&self, offset: usize) -> Diagnostic {
        let at = offset + self.at.start..offset + self.at.end;
        if self.code == "nesting-too-deep" {
            return check::too_deep(at);
        }
        Diagnostic::error(self.code, self.message.as_str()).at(at).help(self.help.as_str())
    }
}

/// Understands the error that stopped reading `text`.
pub(super) fn explain(text: &str, error: &ScanError) -> Fault {
    let earlier = unclosed_before(text, error);
    let error = earlier.as_ref().unwrap_or(error);
    let at = place(text, error);
    let line = line_at(text, at);
    let found = Found { text, at, line: &line, kind: error.kind() };
    found.fault()
}

/// The bracket or quote of an earlier entry that was never closed, where the error lies on a line that
/// looks like the next entry: the parser tells only where it could not go on.
fn unclosed_before(text: &str, error: &ScanError) -> Option<ScanError> {
    let line = line_at(text, place(text, error));
    if line.text.starts_with([' ', '\t']) || key_of(line.text).is_none() {
        return None;
    }
    let before = text.get(..line.span.start)?;
    let first = Parser::new_from_str_with_options(before, compose::options()).find_map(Result::err)?;
    let unclosed =
        matches!(first.kind(), ErrorKind::UnclosedFlowCollection { .. } | ErrorKind::UnclosedQuotedScalar);
    unclosed.then_some(first)
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

struct Found<'a> {
    text: &'a str,
    at: usize,
    line: &'a Line<'a>,
    kind: &'a ErrorKind,
}

impl Found<'_> {
    fn fault(&self) -> Fault {
        match self.kind {
            ErrorKind::RecursionLimitExceeded => {
                let mut fault = self.here(String::new(), "");
                fault.code = "nesting-too-deep";
                fault
            }
            ErrorKind::DirectiveDisallowed => {
                let mut fault = self.here("YAML directives are not read in front matter", "remove the line");
                fault.lines = Some(self.line.span.clone());
                fault
            }
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::TabInPlainScalar => self.here("a tab where YAML wants blanks", "indent with blanks"),
            ErrorKind::ExpectedDocumentStart => self.indented_start(),
            ErrorKind::SimpleKeyExpected => self.no_key(),
            ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => self.colon(),
            ErrorKind::UnclosedFlowCollection { open } => {
                self.here(format!("{open} is not closed"), "add the closing bracket, or quote the value")
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                self.here(format!("{open} is closed by {close}"), "close the brackets in order")
            }
            ErrorKind::MisplacedFlowCollectionEnd => {
                self.here("a closing bracket that closes nothing", "remove it, or quote the value")
            }
            _ => self.quotes().unwrap_or_else(|| self.special_first()),
        }
    }

    fn quotes(&self) -> Option<Fault> {
        Some(match self.kind {
            ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => {
                self.here("a quote is not closed", "close the quote at the end of the value")
            }
            ErrorKind::InvalidTrailingSingleQuotedScalar => self.here(
                "text after the closing quote",
                "quote the whole value; write a single quote inside single quotes twice, as in 'it''s'",
            ),
            ErrorKind::InvalidTrailingDoubleQuotedScalar => self
                .here("text after the closing quote", "quote the whole value; write a quote inside as \\\""),
            ErrorKind::UnknownQuotedScalarEscape | ErrorKind::InvalidQuotedScalarHexEscape => self.here(
                "an unknown escape: a backslash in double quotes begins one",
                "use single quotes, or write the backslash twice",
            ),
            ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate
            | ErrorKind::InvalidUnicodeEscape => {
                self.here("an escape that is no character", "write the character itself")
            }
            _ => return None,
        })
    }

    /// A key that stands further left than the first one.
    fn indented_start(&self) -> Fault {
        let first = lines(self.text, 0).find(|line| {
            let text = line.text.trim_start();
            !text.is_empty() && !text.starts_with('#')
        });
        let mut fault = match first {
            Some(first) if first.text.starts_with('\t') => Fault {
                at: first.span.start..first.span.start + 1,
                ..self.here("a tab where YAML wants blanks", "indent with blanks")
            },
            Some(first) if first.text.starts_with(' ') => Fault {
                at: first.span.clone(),
                ..self.here(
                    "the first key is indented and later ones are not",
                    "begin all keys in the first column",
                )
            },
            _ => self.special_first(),
        };
        fault.lines = None;
        fault
    }

    /// A line of the first column without `key:`.
    fn no_key(&self) -> Fault {
        let line = self.line;
        if is_near_fence(line.text) {
            let message = format!("{} does not close the front matter", shown(line.text));
            return Fault {
                at: line.span.clone(),
                lines: None,
                ..self.here(message, "write the closing line `---` in its place")
            };
        }
        let before = self.text.get(..line.span.start.saturating_sub(1)).unwrap_or("");
        let after_blank = before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
        let help = if line.text.contains(':') {
            "write one blank after the colon and none before it"
        } else if after_blank {
            "is the closing line `---` missing above it?"
        } else if line.text.contains('=') {
            "write `key: value`; keys with `=` are TOML, whose fence is `+++`"
        } else {
            "indent the line if it goes on with the value above, or write `key: value`"
        };
        Fault {
            at: line.span.clone(),
            lines: (!after_blank).then(|| line.span.clone()),
            ..self.here("a line that is no `key: value`", help)
        }
    }

    /// A colon where no key may be.
    fn colon(&self) -> Fault {
        let line = self.line;
        let indented = line.text.starts_with([' ', '\t']);
        let own =
            self.text.get(line.span.start..self.at).is_some_and(|head| !head.contains([':', '{', '[', ',']));
        if own && !indented {
            // The line is fine: the lines above it were taken for the beginning of its key.
            return self.no_key_above().unwrap_or_else(|| self.unquoted());
        }
        if own && entry_at(self.text, self.at).is_some_and(|entry| entry.start < line.span.start) {
            return self.here(
                "a key that is indented under a value",
                "begin the key in the column of the others, or quote the value above as a whole",
            );
        }
        self.unquoted()
    }

    fn no_key_above(&self) -> Option<Fault> {
        let above = lines(self.text, 0)
            .take_while(|line| line.span.start < self.line.span.start)
            .filter(|line| !line.text.trim().is_empty())
            .last()?;
        let line = Found { line: &above, at: above.span.start, ..*self };
        Some(line.no_key())
    }

    /// `title: Docker: a primer`
    fn unquoted(&self) -> Fault {
        self.here("a colon in a value without quotes", self.quoted_value())
    }

    /// What is left: most often a value that begins with a character which YAML keeps for itself.
    fn special_first(&self) -> Fault {
        let entry = entry_at(self.text, self.at).unwrap_or(self.line.span.clone());
        let first = line_at(self.text, entry.start);
        let value = key_of(first.text)
            .and_then(|_| first.text.split_once(':'))
            .map_or("", |(_, value)| value.trim_start());
        match value.chars().next().filter(|c| SPECIAL_FIRST.contains(*c)) {
            Some(special @ ('>' | '|')) => self.here(
                format!("text on the line of {special}, which begins a text on the lines below"),
                format!("begin the text on the next line, indented, or {}", self.quoted_value()),
            ),
            Some(special) => self.here(
                format!("a value that begins with {special} means something else in YAML"),
                self.quoted_value(),
            ),
            None => self.here(format!("this is no YAML: {}", self.kind), "quote the value if it is text"),
        }
    }

    fn quoted_value(&self) -> String {
        let (key, value) = self.line.text.split_once(':').unwrap_or(("", ""));
        let value = trim_blanks_end(value).trim_start();
        let fits = !value.is_empty() && value.chars().count() <= SUGGESTED_CHARS_MAX;
        if !fits || value.starts_with(['"', '\'', '#']) || value.contains('\\') {
            return "quote the value".to_owned();
        }
        let quote = if value.contains('"') { '\'' } else { '"' };
        if value.contains(quote) {
            return "quote the value".to_owned();
        }
        format!("quote the value: {}: {quote}{value}{quote}", key.trim())
    }

    fn here(&self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        let end = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        Fault {
            at: self.at..self.at + end.map_or(0, char::len_utf8),
            lines: self.entry(),
            code: "yaml-syntax",
            message: message.into(),
            help: help.into(),
        }
    }

    /// The entry at the first column that the error lies in.
    fn entry(&self) -> Option<Range<usize>> {
        let entry = entry_at(self.text, self.at)?;
        // Without its anchor, every alias of it would be told as unknown.
        let anchors = self.text.get(entry.clone()).is_some_and(|lines| lines.contains('&'));
        (!anchors).then_some(entry)
    }
}
