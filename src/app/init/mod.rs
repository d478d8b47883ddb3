//! `init`: writes `idempost.toml` with a reason for each line, and never over one that is there.
//!
//! What it finds in the tree (a site generator's own configuration, folders and suffixes that look like
//! languages) becomes lines to look at; what it cannot know stands as a comment with its default.

mod look;

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::output::written;
use crate::cli::Init;
use crate::config::file::FILE_NAME;
use crate::error::{Exit, Failure};
use look::{Found, LangsFound};

/// Runs `init` in `cwd`, or in the folder that was named.
pub fn run(init: &Init, cwd: &Path, out: &mut dyn Write) -> Result<Exit, Failure> {
    let folder = init.folder.as_ref().map_or_else(|| cwd.to_owned(), |folder| cwd.join(folder));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("no such folder: {}", folder.display())));
    }
    let file = folder.join(FILE_NAME);
    let found = look::at(&folder, init.content.as_deref());
    let text = text(&found);
    let refused = |error: io::Error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            Failure::usage(format!("{} is there already; nothing was written", file.display()))
                .help("`idempost config` prints what it says, with the defaults of the rest")
        } else {
            Failure::new(Exit::Failed, format!("{} cannot be written: {error}", file.display()))
        }
    };
    let mut made = fs::File::create_new(&file).map_err(refused)?;
    made.write_all(text.as_bytes()).map_err(refused)?;
    let mut told = format!("wrote {}\n", file.display());
    if let Some(preset) = found.preset {
        let _ = writeln!(told, "found {} ({})", preset.0.as_str(), preset.1);
    }
    match &found.langs {
        LangsFound::Clear(langs) => {
            let _ = writeln!(told, "found languages: {}", langs.join(", "));
        }
        LangsFound::Doubtful(lang) => {
            let _ = writeln!(told, "one folder looks like a language: {lang}; see `langs` in the file");
        }
        LangsFound::None => {}
    }
    told.push_str("next: `idempost check`, then `idempost diff`\n");
    written(out.write_all(told.as_bytes()))
}

/// The text of the file.
fn text(found: &Found) -> String {
    let mut out = String::from(
        "# Configuration of idempost. Every key is optional; `idempost schema config` describes all of them,\n\
         # `idempost config` prints what is in force and where it comes from.\n\n",
    );
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line("# Root of the tree, relative to this file.");
    line(&format!("content = {}", quoted(&found.content)));
    line("");
    line(
        "# Where the posts go. Better in the environment variable IDEMPOST_URI, since a password in a file is",
    );
    line("# soon a password in git. Where nothing is said, a SQLite file beside this one.");
    line("# store = \"mongodb://localhost:27017\"");
    line("# database = \"blog\"");
    line("# collection = \"posts\"");
    line("");
    line("# Whose posts these are: keeps two trees in one collection apart. `--prune` needs it.");
    line("# source = \"main-site\"");
    line("");
    line("# The keys down to the next blank line shape ids. An id is made from slug, language and date and");
    line("# never changes: settle these before the first ingest.");
    match found.preset {
        Some((preset, why)) => line(&format!("preset = {} # {why} is here", quoted(preset.as_str()))),
        None => {
            line("# preset = \"plain\" # hugo, zola, jekyll, astro, docusaurus or eleventy: their defaults");
        }
    }
    langs(found, &mut line);
    line("# timezone = \"UTC\" # of dates that name no zone: an IANA name such as \"Asia/Seoul\"");
    line("# slug_mode = \"keep\" # or lower, ascii, strict");
    line(
        "# slug_pattern = \"{stem}\" # or, where one name is used on many days, \"{year}/{month}/{day}/{stem}\"",
    );
    line("");
    line("# URL of a post on the website: links between posts become these.");
    line("# url_pattern = \"/{lang}/{slug}\"");
    line("");
    line("# A file without a date is a page and is skipped. For a tree of posts alone, make it an error.");
    line("# require_date = false");
    line("");
    line("# Posts in the future are stored and the website decides; \"skip\" leaves them out until then.");
    line("# future = \"store\"");
    out
}

fn langs(found: &Found, line: &mut dyn FnMut(&str)) {
    match &found.langs {
        LangsFound::Clear(langs) => {
            line(&format!("langs = [{}] # found as folders or suffixes; only these count as languages", {
                let quoted: Vec<String> = langs.iter().map(|lang| quoted(lang)).collect();
                quoted.join(", ")
            }));
        }
        LangsFound::Doubtful(lang) => line(&format!(
            "# langs = [{}] # a folder is named so; without this line it is just a folder",
            quoted(lang)
        )),
        LangsFound::None => line("# langs = [\"en\"] # folders and suffixes of names that are languages"),
    }
    match &found.default_lang {
        Some(lang) => line(&format!(
            "default_lang = {} # of posts that name none: a guess, most files are of it",
            quoted(lang)
        )),
        None => line("# default_lang = \"en\" # of posts that name none"),
    }
}

/// Text as a basic string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
