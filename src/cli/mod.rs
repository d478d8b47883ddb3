//! What was typed: verbs and flags, and nothing of what they mean. No file, no environment variable
//! and no clock is read here; [`crate::config`] gives the values their meaning.
//!
//! Every flag that stands for a configuration key is told to [`crate::config`] by
//! [`Cli::typed`], as a key, the flag and the text; so a value is read by the same rules whether it
//! was typed, exported or written in the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

mod flags;
mod formats;
mod verbs;

use flags::push;
pub use flags::{
    OperationFlags, PolicyFlags, ReadingFlags, RunningFlags, TargetFlags, TreelessFlags, Typed, ViewFlags,
};
pub use verbs::{
    Assets, AssetsGc, AssetsVerb, ByHand, Check, Completions, Config, Diff, Doctor, Explain, Export, Id,
    IdDerive, IdInspect, IdKind, IdNew, IdVerb, Ingest, Init, Runs, RunsVerb, Schema, SchemaName, Show, Undo,
    Verify, Watch,
};

use crate::error::Exit;
pub use crate::report::format::{ColorWhen, Format, LogFormat};

/// Exit codes, shown at the end of the long help.
const AFTER_HELP: &str = "\
Exit codes: 0 done or nothing to do, 1 failed, 2 changes (diff --exit-code), 3 partly done,
4 invalid content, 5 conflict, 7 a safety limit, 64 usage or configuration, 75 store not reached,
130 and 143 interrupted after a clean stop.";

/// Makes a MongoDB collection, or a SQLite file, say exactly what a tree of markdown posts says.
///
/// Running it again changes nothing.
#[derive(Debug, Clone, Parser)]
#[command(name = "idempost", version, after_long_help = AFTER_HELP, max_term_width = 100)]
#[command(arg_required_else_help = true, subcommand_required = true, disable_help_subcommand = true)]
pub struct Cli {
    /// Flags that go with every verb.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Flags that go with every verb.
#[derive(Debug, Clone, Default, Args)]
pub struct Global {
    /// Configuration file; else idempost.toml, looked for from the working directory upwards.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Where")]
    pub config: Option<PathBuf>,
    /// How results are told.
    #[arg(long, value_name = "FORMAT", global = true, help_heading = "Output")]
    pub format: Option<Format>,
    /// Write the output to FILE instead of standard output.
    #[arg(long, value_name = "FILE", global = true, help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Errors and results alone.
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Say more; twice: still more.
    #[arg(long, short, action = clap::ArgAction::Count, global = true, help_heading = "Output")]
    pub verbose: u8,
    /// How log lines on standard error are written.
    #[arg(long, value_name = "FORMAT", global = true, help_heading = "Output")]
    pub log_format: Option<LogFormat>,
    /// Colours; `auto` honours NO_COLOR, CLICOLOR and CLICOLOR_FORCE.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", help_heading = "Output")]
    pub color: ColorWhen,
    /// No progress bar, on a terminal either.
    #[arg(long, global = true, help_heading = "Output")]
    pub no_progress: bool,
}

/// What to do.
#[derive(Debug, Clone, Subcommand)]
pub enum Verb {
    /// Make the store say what the tree says
    ///
    /// Reads every post of the content root, compares it with the store, and writes what differs. By
    /// default one invalid file or one conflict stops the run before anything is written.
    Ingest(Ingest),
    /// Show what ingest would do, and write nothing
    Diff(Diff),
    /// Ingest what an editor saves, until Ctrl-C
    ///
    /// Begins with a run over the whole tree. A broken save shows what is wrong and keeps the last good
    /// version; a post that somebody else changed meanwhile is shown and left alone.
    Watch(Watch),
    /// Show a saved plan
    Show(Show),
    /// Check the files alone, without a store
    Check(Check),
    /// Compare every stored post with its source, and mend what differs with --repair
    ///
    /// Tells orphans, duplicates, changed fields, foreign documents, wrong ids, broken pointers and left-over
    /// claims, and writes nothing. Exit 5 where anything differs.
    Verify(Verify),
    /// Take posts down by hand
    ///
    /// Nothing is deleted, and ingesting leaves them archived although their files are there, until `restore`.
    Archive(ByHand),
    /// Show archived posts again, as they are stored
    Restore(ByHand),
    /// Put back what one run changed
    ///
    /// By plan, with the guards of every write: a post that was changed after that run is told and left. A post that
    /// the run made is archived. An undo is a run too, and can be undone.
    Undo(Undo),
    /// Tell where an id, a hash, a decision comes from, judged against the whole tree
    Explain(Explain),
    /// Write the stored posts as markdown files that ingest to the same documents
    ///
    /// A post that nobody changed since it was ingested becomes its source again, byte for byte. A file that is
    /// there and differs is left as it is (exit 3).
    Export(Export),
    /// Make, derive and inspect ids of the kinds a team chooses between
    Id(Id),
    /// Look at connection, engine, indexes, reader queries and rights
    Doctor(Doctor),
    /// Look after stored assets
    Assets(Assets),
    /// Show or list past runs
    Runs(Runs),
    /// Print each setting with where it comes from
    Config(Config),
    /// Print a JSON Schema
    Schema(Schema),
    /// Write idempost.toml with a reason for each line
    Init(Init),
    /// Print a completion script
    Completions(Completions),
    /// Print the manual page, or write one for each verb into the folder --out
    Man,
}

impl Cli {
    /// The values that were typed for configuration keys.
    pub fn typed(&self) -> Vec<Typed> {
        let mut out = Vec::new();
        if let Some(target) = self.verb.target() {
            target.typed(&mut out);
        }
        if let Some(reading) = self.verb.reading() {
            reading.typed(&mut out);
        }
        if let Some(treeless) = self.verb.treeless() {
            let content = treeless.content.as_deref().map(Path::to_string_lossy);
            push(&mut out, "content", "--content", content.as_deref());
        }
        if let Some(running) = self.verb.running() {
            running.typed(&mut out);
        }
        let max_prune = match &self.verb {
            Verb::Verify(verb) => verb.max_prune.as_deref(),
            _ => self.verb.policy().and_then(|policy| policy.max_prune.as_deref()),
        };
        push(&mut out, "limits.prune", "--max-prune", max_prune);
        out
    }

    /// How results are told: as was typed, else as the name of `--out` says (`plan.json`), else for a
    /// person.
    pub fn format(&self) -> Format {
        let named = || {
            let extension = self.global.out.as_deref()?.extension()?.to_str()?;
            self.verb.formats().iter().copied().find(|format| format.extensions().contains(&extension))
        };
        self.global.format.or_else(named).unwrap_or_default()
    }

    /// The command as clap knows it: each verb offers the formats that it takes.
    pub fn command() -> clap::Command {
        formats::offer(<Self as CommandFactory>::command())
    }
}

impl Verb {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::Ingest(_) => "ingest",
            Verb::Diff(_) => "diff",
            Verb::Show(_) => "show",
            Verb::Watch(_) => "watch",
            Verb::Check(_) => "check",
            Verb::Verify(_) => "verify",
            Verb::Archive(_) => "archive",
            Verb::Restore(_) => "restore",
            Verb::Undo(_) => "undo",
            Verb::Explain(_) => "explain",
            Verb::Export(_) => "export",
            Verb::Id(_) => "id",
            Verb::Doctor(_) => "doctor",
            Verb::Assets(_) => "assets",
            Verb::Runs(_) => "runs",
            Verb::Config(_) => "config",
            Verb::Schema(_) => "schema",
            Verb::Init(_) => "init",
            Verb::Completions(_) => "completions",
            Verb::Man => "man",
        }
    }

    /// The formats that make sense for it, the default one first.
    pub fn formats(&self) -> &'static [Format] {
        formats::of(self.name())
    }

    /// How much of a plan is shown; of the verbs that show one.
    pub fn view(&self) -> Option<&ViewFlags> {
        match self {
            Verb::Diff(verb) => Some(&verb.view),
            Verb::Show(verb) => Some(&verb.view),
            _ => None,
        }
    }

    /// The paths that narrow what is planned or reported.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Verb::Ingest(verb) => &verb.paths,
            Verb::Diff(verb) => &verb.paths,
            Verb::Watch(verb) => &verb.paths,
            Verb::Check(verb) => &verb.paths,
            _ => &[],
        }
    }

    fn target(&self) -> Option<&TargetFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.target),
            Verb::Diff(verb) => Some(&verb.target),
            Verb::Watch(verb) => Some(&verb.target),
            Verb::Verify(verb) => Some(&verb.target),
            Verb::Explain(verb) => Some(&verb.target),
            Verb::Export(verb) => Some(&verb.target),
            Verb::Doctor(verb) => Some(&verb.target),
            Verb::Assets(verb) => Some(&verb.gc().target),
            Verb::Runs(verb) => Some(&verb.target),
            Verb::Config(verb) => Some(&verb.target),
            _ => self.treeless().map(|treeless| &treeless.target),
        }
    }

    fn reading(&self) -> Option<&ReadingFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.reading),
            Verb::Diff(verb) => Some(&verb.reading),
            Verb::Watch(verb) => Some(&verb.reading),
            Verb::Check(verb) => Some(&verb.reading),
            Verb::Verify(verb) => Some(&verb.reading),
            Verb::Explain(verb) => Some(&verb.reading),
            Verb::Export(verb) => Some(&verb.reading),
            Verb::Config(verb) => Some(&verb.reading),
            _ => None,
        }
    }

    fn running(&self) -> Option<&RunningFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.running),
            Verb::Diff(verb) => Some(&verb.running),
            Verb::Watch(verb) => Some(&verb.running),
            Verb::Verify(verb) => Some(&verb.running),
            Verb::Export(verb) => Some(&verb.running),
            Verb::Doctor(verb) => Some(&verb.running),
            Verb::Assets(verb) => Some(&verb.gc().running),
            Verb::Runs(verb) => Some(&verb.running),
            Verb::Config(verb) => Some(&verb.running),
            _ => self.treeless().map(|treeless| &treeless.running),
        }
    }

    /// What may be done; of the verbs that plan.
    pub fn policy(&self) -> Option<&PolicyFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.policy),
            Verb::Diff(verb) => Some(&verb.policy),
            _ => None,
        }
    }

    /// The saved plan that is applied, and whether a part of it may be.
    pub fn saved_plan(&self) -> (Option<&Path>, bool) {
        match self {
            Verb::Ingest(verb) => (verb.plan.as_deref(), verb.partial),
            _ => (None, false),
        }
    }

    /// The commit since which a change is looked for; of the verbs that can be narrowed so.
    pub fn changed_since(&self) -> Option<&str> {
        match self {
            Verb::Check(verb) => verb.changed_since.as_deref(),
            _ => self.policy().and_then(|policy| policy.changed_since.as_deref()),
        }
    }

    /// Which intent, which revision; of the verbs that plan.
    pub fn operation(&self) -> Option<&OperationFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.operation),
            Verb::Diff(verb) => Some(&verb.operation),
            Verb::Verify(verb) => Some(&verb.operation),
            _ => None,
        }
    }
}

impl Verb {
    /// The operation id that was typed.
    pub fn operation_id(&self) -> Option<&str> {
        match self.treeless() {
            Some(treeless) => treeless.operation_id.as_deref(),
            None => self.operation().and_then(|flags| flags.operation_id.as_deref()),
        }
    }

    /// Of the verbs that write without reading a tree.
    fn treeless(&self) -> Option<&TreelessFlags> {
        match self {
            Verb::Archive(verb) | Verb::Restore(verb) => Some(&verb.treeless),
            Verb::Undo(verb) => Some(&verb.treeless),
            _ => None,
        }
    }
}

/// Help, version or a usage error: text to print, and how the program ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The text with colours.
    pub ansi: String,
    /// The text without.
    pub plain: String,
    /// Whether it goes to standard error.
    pub to_stderr: bool,
    /// 0 for help and version, 64 for a usage error.
    pub exit: Exit,
}

/// Reads the command line. `args` begins with the program's name.
///
/// # Errors
/// Help, version and usage errors, as text that the caller prints.
pub fn parse<I, T>(args: I) -> Result<Cli, Box<Told>>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let matches = Cli::command().try_get_matches_from(args);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|error| {
        let text = error.render();
        let to_stderr = error.use_stderr();
        Box::new(Told {
            ansi: text.ansi().to_string(),
            plain: text.to_string(),
            to_stderr,
            exit: if to_stderr { Exit::Usage } else { Exit::Done },
        })
    })
}
