//! What is wrong with a file, where, and what to do about it.
//!
//! A diagnostic is made with a byte range in the *normalised* source text (BOM removed, CRLF turned
//! into LF); [`Diagnostic::locate`] turns the range into line, column and the source line. It never
//! prints anything itself; `report` does.

use std::ops::Range;

/// How bad it is. An error keeps its file out of the store; a warning does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is not ingested.
    Error,
    /// The file is ingested; its author should look.
    Warning,
}

impl Severity {
    /// `error` or `warning`, the spelling of every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// The longest piece of a source line that is kept for display, in characters.
pub const SOURCE_LINE_CHARS_MAX: usize = 200;

/// One problem of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, kebab-case, listed in `docs/diagnostics.md`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// Path below the content root with `/`; empty until the file is known.
    pub file: String,
    /// Bytes of the normalised source text that are meant.
    pub span: Option<Range<usize>>,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The source line, cut to [`SOURCE_LINE_CHARS_MAX`] characters, and how many characters of it
    /// are meant.
    pub source_line: Option<SourceLine>,
    /// What is wrong, in one sentence without a full stop at the end.
    pub message: String,
    /// What to do, in one line; may be empty.
    pub help: String,
}

/// The line a diagnostic points into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Text of the line, without its line end.
    pub text: String,
    /// First marked character, from 0, counted in `text`.
    pub start: usize,
    /// Number of marked characters, at least 1.
    pub width: usize,
}

impl Diagnostic {
    /// An error with a stable code.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A warning with a stable code.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: &'static str, severity: Severity, message: String) -> Self {
        Diagnostic {
            code,
            severity,
            file: String::new(),
            span: None,
            line: None,
            column: None,
            source_line: None,
            message,
            help: String::new(),
        }
    }

    /// The bytes of the normalised source that are meant.
    #[must_use]
    pub fn at(mut self, span: Range<usize>) -> Self {
        self.span = Some(span);
        self
    }

    /// What to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// The file it belongs to.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }

    /// Whether it keeps its file out of the store.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Turns the byte range into line, column and source line of `source`, the normalised text.
    pub fn locate(&mut self, source: &str) {
        let Some(span) = self.span.clone() else {
            return;
        };
        let start = floor_char_boundary(source, span.start);
        let end = floor_char_boundary(source, span.end.max(start));
        let before = source.get(..start).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line_number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let rest = source.get(line_start..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        let column = source.get(line_start..start).unwrap_or("").chars().count();
        let line_end = line_start + line.len();
        let marked = source.get(start..end.min(line_end)).unwrap_or("").chars().count();
        self.line = Some(u32::try_from(line_number).unwrap_or(u32::MAX));
        self.column = Some(u32::try_from(column + 1).unwrap_or(u32::MAX));
        let skip = column.saturating_sub(SOURCE_LINE_CHARS_MAX / 2);
        let text: String = line.chars().skip(skip).take(SOURCE_LINE_CHARS_MAX).collect();
        let shown = text.chars().count();
        self.source_line = Some(SourceLine {
            start: (column - skip).min(shown),
            width: marked.clamp(1, (shown + 1).saturating_sub(column - skip).max(1)),
            text,
        });
    }
}

/// The greatest char boundary of `text` that is not after `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The entry of `known` nearest to `typed`, if it is near enough to be what was meant.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::osa_distance(&typed, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}
