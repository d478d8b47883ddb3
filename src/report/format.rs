//! The names of the formats, and when there are colours, as they are typed.

use clap::ValueEnum;

/// How results are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, ValueEnum)]
pub enum Format {
    /// For a person.
    #[default]
    Human,
    /// One JSON object.
    Json,
    /// Events, one JSON object a line, as they happen.
    Ndjson,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// A summary for a pull request.
    Markdown,
    /// One page with everything in it, to open in a browser.
    Html,
}

impl Format {
    /// The spelling on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Human => "human",
            Format::Json => "json",
            Format::Ndjson => "ndjson",
            Format::Github => "github",
            Format::Sarif => "sarif",
            Format::Markdown => "markdown",
            Format::Html => "html",
        }
    }

    /// How the name of a file of this format ends.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Human => &["txt"],
            Format::Json => &["json"],
            Format::Ndjson => &["ndjson", "jsonl"],
            Format::Github => &[],
            Format::Sarif => &["sarif"],
            Format::Markdown => &["md", "markdown"],
            Format::Html => &["html", "htm"],
        }
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum LogFormat {
    /// For a person.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
