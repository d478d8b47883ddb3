//! `schema`: the JSON Schemas that are shipped with the program.

use std::io::Write;

use super::output::written;
use crate::cli::SchemaName;
use crate::error::{Exit, Failure};

/// The text of a schema.
pub fn text(name: SchemaName) -> String {
    match name {
        SchemaName::Document => include_str!("../../schemas/document.json").to_owned(),
        SchemaName::Plan => include_str!("../../schemas/plan.json").to_owned(),
        SchemaName::Run => include_str!("../../schemas/run.json").to_owned(),
        SchemaName::Check => include_str!("../../schemas/check.json").to_owned(),
        SchemaName::Verify => include_str!("../../schemas/verify.json").to_owned(),
        SchemaName::Export => include_str!("../../schemas/export.json").to_owned(),
        SchemaName::Post => include_str!("../../schemas/post.json").to_owned(),
        SchemaName::Config => include_str!("../../schemas/config.json").to_owned(),
        // Made from the table that the parser reads by.
        SchemaName::FrontMatter => format!("{:#}\n", crate::post::fields::json_schema()),
    }
}

/// Prints a schema.
pub fn run(name: SchemaName, out: &mut dyn Write) -> Result<Exit, Failure> {
    written(out.write_all(text(name).as_bytes()))
}
