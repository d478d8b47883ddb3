//! Which verb tells its results in which formats.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::report::format::Format;

/// The formats that make sense for a verb, the default one first.
pub(super) fn of(verb: &str) -> &'static [Format] {
    match verb {
        "ingest" | "diff" | "show" => {
            &[Format::Human, Format::Json, Format::Ndjson, Format::Github, Format::Markdown, Format::Html]
        }
        "check" => &[
            Format::Human,
            Format::Json,
            Format::Ndjson,
            Format::Github,
            Format::Markdown,
            Format::Html,
            Format::Sarif,
        ],
        "verify" | "archive" | "restore" | "undo" => {
            &[Format::Human, Format::Json, Format::Ndjson, Format::Github, Format::Markdown]
        }
        "explain" => &[Format::Human, Format::Json, Format::Ndjson],
        "watch" => &[Format::Human, Format::Ndjson],
        "id" | "doctor" | "export" | "assets" | "runs" | "config" => &[Format::Human, Format::Json],
        _ => &[Format::Human],
    }
}

/// Gives each verb a `--format` of its own, which offers what [`of`] says; a verb that is told to people
/// alone shows none.
pub(super) fn offer(command: clap::Command) -> clap::Command {
    let Some(general) = command.get_arguments().find(|arg| arg.get_id() == "format").cloned() else {
        return command;
    };
    command.mut_subcommands(|verb| {
        let formats = of(verb.get_name());
        let names = formats.iter().filter_map(ValueEnum::to_possible_value);
        let read =
            PossibleValuesParser::new(names).map(|name| Format::from_str(&name, false).unwrap_or_default());
        verb.arg(general.clone().value_parser(read).hide(formats.len() == 1))
    })
}
