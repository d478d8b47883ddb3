//! What was typed: verbs and flags, and nothing of what they mean. No file, no environment variable
//! and no clock is read here; [`crate::config`] gives the values their meaning.
//!
//! Every flag that stands for a configuration key is told to [`crate::config`] by
//! [`Cli::typed`], as a key, the flag and the text; so a value is read by the same rules whether it
//! was typed, exported or written in the file.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::error::Exit;

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
    /// A page by itself.
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
    /// Check the files alone, without a store
    Check(Check),
    /// Tell where an id, a hash, a decision comes from, judged against the whole tree
    Explain(Explain),
    /// Make, derive and inspect ids of the kinds a team chooses between
    Id(Id),
    /// Look at connection, engine, indexes, reader queries and rights
    Doctor(Doctor),
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

/// `ingest`.
#[derive(Debug, Clone, Default, Args)]
pub struct Ingest {
    /// Plan only the posts below these paths; the whole content root is still checked. Where no content
    /// root is configured, one folder is the content root.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Show what would be done and write nothing, as `diff`.
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyFlags,
    /// Operations.
    #[command(flatten)]
    pub operation: OperationFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// `diff`.
#[derive(Debug, Clone, Default, Args)]
pub struct Diff {
    /// Plan only the posts below these paths; the whole content root is still checked.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Exit 2 if there are changes.
    #[arg(long)]
    pub exit_code: bool,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// Policy.
    #[command(flatten)]
    pub policy: PolicyFlags,
    /// Operations.
    #[command(flatten)]
    pub operation: OperationFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// `check`.
#[derive(Debug, Clone, Default, Args)]
pub struct Check {
    /// Report only on the files below these paths; the whole content root is still checked.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Do not render the bodies.
    #[arg(long)]
    pub no_render: bool,
    /// A tree without posts is no error.
    #[arg(long, help_heading = "Policy")]
    pub allow_empty: bool,
    /// Broken internal links are errors.
    #[arg(long, help_heading = "Policy")]
    pub strict_links: bool,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
}

/// `explain`.
#[derive(Debug, Clone, Default, Args)]
pub struct Explain {
    /// A file below the content root, or a post's id.
    #[arg(value_name = "FILE|ID")]
    pub subject: String,
    /// Broken internal links are errors.
    #[arg(long, help_heading = "Policy")]
    pub strict_links: bool,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
}

/// `id`.
#[derive(Debug, Clone, Args)]
pub struct Id {
    /// What to do with ids.
    #[command(subcommand)]
    pub verb: IdVerb,
}

/// What to do with ids.
#[derive(Debug, Clone, Subcommand)]
pub enum IdVerb {
    /// Make new ids, one a line
    New(IdNew),
    /// Print the id of the post with this slug, language and instant
    Derive(IdDerive),
    /// Tell which kind an id is, and what it holds
    Inspect(IdInspect),
}

/// Kinds of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum IdKind {
    /// 48 bits of time, 80 random bits.
    Ulid,
    /// The same; within one millisecond each is the one before plus one.
    UlidMonotonic,
    /// 122 random bits.
    Uuid4,
    /// 48 bits of time, 74 random bits.
    Uuid7,
    /// 42 bits of time from 2020-01-01, 22 bits of node and counter.
    Tsid,
}

/// `id new`.
#[derive(Debug, Clone, Args)]
pub struct IdNew {
    /// Which kind.
    #[arg(long, value_name = "KIND")]
    pub kind: IdKind,
    /// How many.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub count: u32,
    /// For `tsid`: how many of the 22 low bits name the node, 0 to 20.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(0..=20))]
    pub node_bits: Option<u32>,
    /// For `tsid`: the number of this node.
    #[arg(long, value_name = "N")]
    pub node: Option<u32>,
}

/// `id derive`.
#[derive(Debug, Clone, Args)]
pub struct IdDerive {
    /// The slug.
    #[arg(long)]
    pub slug: String,
    /// The language, a BCP 47 tag.
    #[arg(long)]
    pub lang: String,
    /// The instant of publication in Unix milliseconds.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub published_at_ms: i64,
}

/// `id inspect`.
#[derive(Debug, Clone, Args)]
pub struct IdInspect {
    /// A ULID, a UUID, or a TSID as 13 characters or as a number.
    pub id: String,
    /// For a TSID: how many of its 22 low bits name the node.
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(0..=20))]
    pub node_bits: Option<u32>,
}

/// `doctor`.
#[derive(Debug, Clone, Default, Args)]
pub struct Doctor {
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// `runs`.
#[derive(Debug, Clone, Default, Args)]
pub struct Runs {
    /// What to show; without it, the list.
    #[command(subcommand)]
    pub verb: Option<RunsVerb>,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// What to show of past runs.
#[derive(Debug, Clone, Subcommand)]
pub enum RunsVerb {
    /// List the runs of the source, newest first
    List,
    /// Show one run whole
    Show {
        /// The run's id, or its operation id.
        id: String,
    },
}

/// `config`.
#[derive(Debug, Clone, Default, Args)]
pub struct Config {
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// `schema`.
#[derive(Debug, Clone, Args)]
pub struct Schema {
    /// Which one.
    #[arg(value_name = "NAME")]
    pub name: SchemaName,
}

/// Schemas that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum SchemaName {
    /// A stored document, as readers of the collection find it.
    Document,
    /// Output of `diff --format json`.
    Plan,
    /// Output of `ingest --format json`.
    Run,
    /// Output of `check --format json`.
    Check,
    /// Output of `explain FILE --format json`.
    Post,
    /// The front matter of a post, for editors.
    FrontMatter,
    /// The file idempost.toml.
    Config,
}

/// `init`.
#[derive(Debug, Clone, Default, Args)]
pub struct Init {
    /// Folder in which idempost.toml is made; the working directory if none is given.
    #[arg(value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// The content root, below that folder.
    #[arg(long, value_name = "FOLDER")]
    pub content: Option<PathBuf>,
}

/// `completions`.
#[derive(Debug, Clone, Args)]
pub struct Completions {
    /// Which shell.
    pub shell: clap_complete::Shell,
}

/// Where the posts go.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where")]
pub struct TargetFlags {
    /// `mongodb://…`, `mongodb+srv://…` or `sqlite:PATH`; better in IDEMPOST_URI.
    #[arg(long, value_name = "URI")]
    pub store: Option<String>,
    /// The database.
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// The collection of the posts.
    #[arg(long, value_name = "NAME")]
    pub collection: Option<String>,
    /// Whose posts these are.
    #[arg(long, value_name = "NAME")]
    pub source: Option<String>,
    /// Engine profile, where detecting it is wrong.
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
}

/// How files are read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "How files are read")]
pub struct ReadingFlags {
    /// Root of the tree.
    #[arg(long, value_name = "FOLDER")]
    pub content: Option<PathBuf>,
    /// Defaults of a site generator.
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A language of the tree; may be repeated.
    #[arg(long = "lang", value_name = "LANG", value_delimiter = ',')]
    pub langs: Vec<String>,
    /// Language of posts that name none.
    #[arg(long, value_name = "LANG")]
    pub default_lang: Option<String>,
    /// Zone of local dates, an IANA name.
    #[arg(long, value_name = "ZONE")]
    pub timezone: Option<String>,
    /// How slugs are spelled: keep, lower, ascii, strict.
    #[arg(long, value_name = "MODE")]
    pub slug_mode: Option<String>,
    /// How slugs from file names are put together.
    #[arg(long, value_name = "PATTERN")]
    pub slug_pattern: Option<String>,
    /// URL of a post on the website.
    #[arg(long, value_name = "PATTERN")]
    pub url_pattern: Option<String>,
    /// Files without a date are errors.
    #[arg(long)]
    pub require_date: bool,
    /// What becomes of posts in the future: store, skip.
    #[arg(long, value_name = "WHAT")]
    pub future: Option<String>,
}

/// What may be done, and what stops a run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Policy")]
pub struct PolicyFlags {
    /// Ingest the other posts where some are invalid or in conflict; exit 3.
    #[arg(long)]
    pub keep_going: bool,
    /// A tree without posts is no error.
    #[arg(long)]
    pub allow_empty: bool,
    /// Broken internal links are errors.
    #[arg(long)]
    pub strict_links: bool,
    /// Archive the posts of this source whose files are gone.
    #[arg(long)]
    pub prune: bool,
    /// How many posts may be archived at once: a number, or a share such as 10%.
    #[arg(long, value_name = "LIMIT")]
    pub max_prune: Option<String>,
    /// Write posts again whose stored content was changed by others.
    #[arg(long)]
    pub repair: bool,
    /// Write equal posts too.
    #[arg(long)]
    pub force: bool,
}

/// Which intent, which revision.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Operations")]
pub struct OperationFlags {
    /// Names the intent: a repeated request with the same id is recognised.
    #[arg(long, value_name = "ID")]
    pub operation_id: Option<String>,
    /// Revision of the source, an increasing number.
    #[arg(long, value_name = "N", conflicts_with = "no_revision")]
    pub revision: Option<i64>,
    /// Run without a revision, in CI too.
    #[arg(long)]
    pub no_revision: bool,
}

/// How a run goes about it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Running")]
pub struct RunningFlags {
    /// Posts in one batch.
    #[arg(long, value_name = "N")]
    pub batch: Option<String>,
    /// Batches at once.
    #[arg(long, value_name = "N")]
    pub in_flight: Option<String>,
    /// Give up after so long without progress, for example 10m.
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// Give up on one command after so long, for example 30s.
    #[arg(long, value_name = "TIME")]
    pub command_timeout: Option<String>,
    /// How often one command is tried.
    #[arg(long, value_name = "N")]
    pub attempts: Option<String>,
}

/// A value that was typed for a configuration key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The configuration key, dotted.
    pub key: &'static str,
    /// The flag, with its dashes.
    pub flag: &'static str,
    /// The text; items of a list each by itself.
    pub values: Vec<String>,
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
        if let Some(running) = self.verb.running() {
            running.typed(&mut out);
        }
        if let Some(policy) = self.verb.policy() {
            push(&mut out, "limits.prune", "--max-prune", policy.max_prune.as_deref());
        }
        out
    }

    /// The command as clap knows it, for completions and manual pages.
    pub fn command() -> clap::Command {
        <Self as CommandFactory>::command()
    }
}

impl Verb {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Verb::Ingest(_) => "ingest",
            Verb::Diff(_) => "diff",
            Verb::Check(_) => "check",
            Verb::Explain(_) => "explain",
            Verb::Id(_) => "id",
            Verb::Doctor(_) => "doctor",
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
        match self {
            Verb::Ingest(_) | Verb::Diff(_) => &[Format::Human, Format::Json, Format::Ndjson, Format::Github],
            Verb::Check(_) => &[Format::Human, Format::Json, Format::Ndjson, Format::Github, Format::Sarif],
            Verb::Explain(_) | Verb::Id(_) | Verb::Doctor(_) | Verb::Runs(_) | Verb::Config(_) => {
                &[Format::Human, Format::Json]
            }
            Verb::Schema(_) | Verb::Init(_) | Verb::Completions(_) | Verb::Man => &[Format::Human],
        }
    }

    /// The paths that narrow what is planned or reported.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Verb::Ingest(verb) => &verb.paths,
            Verb::Diff(verb) => &verb.paths,
            Verb::Check(verb) => &verb.paths,
            _ => &[],
        }
    }

    fn target(&self) -> Option<&TargetFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.target),
            Verb::Diff(verb) => Some(&verb.target),
            Verb::Explain(verb) => Some(&verb.target),
            Verb::Doctor(verb) => Some(&verb.target),
            Verb::Runs(verb) => Some(&verb.target),
            Verb::Config(verb) => Some(&verb.target),
            _ => None,
        }
    }

    fn reading(&self) -> Option<&ReadingFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.reading),
            Verb::Diff(verb) => Some(&verb.reading),
            Verb::Check(verb) => Some(&verb.reading),
            Verb::Explain(verb) => Some(&verb.reading),
            Verb::Config(verb) => Some(&verb.reading),
            _ => None,
        }
    }

    fn running(&self) -> Option<&RunningFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.running),
            Verb::Diff(verb) => Some(&verb.running),
            Verb::Doctor(verb) => Some(&verb.running),
            Verb::Runs(verb) => Some(&verb.running),
            Verb::Config(verb) => Some(&verb.running),
            _ => None,
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

    /// Which intent, which revision; of the verbs that plan.
    pub fn operation(&self) -> Option<&OperationFlags> {
        match self {
            Verb::Ingest(verb) => Some(&verb.operation),
            Verb::Diff(verb) => Some(&verb.operation),
            _ => None,
        }
    }
}

impl TargetFlags {
    fn typed(&self, out: &mut Vec<Typed>) {
        push(out, "store", "--store", self.store.as_deref());
        push(out, "database", "--database", self.database.as_deref());
        push(out, "collection", "--collection", self.collection.as_deref());
        push(out, "source", "--source", self.source.as_deref());
        push(out, "engine", "--engine", self.engine.as_deref());
    }
}

impl ReadingFlags {
    fn typed(&self, out: &mut Vec<Typed>) {
        let content = self.content.as_deref().map(|path| path.to_string_lossy());
        push(out, "content", "--content", content.as_deref());
        push(out, "preset", "--preset", self.preset.as_deref());
        if !self.langs.is_empty() {
            out.push(Typed { key: "langs", flag: "--lang", values: self.langs.clone() });
        }
        push(out, "default_lang", "--default-lang", self.default_lang.as_deref());
        push(out, "timezone", "--timezone", self.timezone.as_deref());
        push(out, "slug_mode", "--slug-mode", self.slug_mode.as_deref());
        push(out, "slug_pattern", "--slug-pattern", self.slug_pattern.as_deref());
        push(out, "url_pattern", "--url-pattern", self.url_pattern.as_deref());
        push(out, "require_date", "--require-date", self.require_date.then_some("true"));
        push(out, "future", "--future", self.future.as_deref());
    }
}

impl RunningFlags {
    fn typed(&self, out: &mut Vec<Typed>) {
        push(out, "limits.batch", "--batch", self.batch.as_deref());
        push(out, "limits.in_flight", "--in-flight", self.in_flight.as_deref());
        push(out, "retry.deadline", "--deadline", self.deadline.as_deref());
        push(out, "retry.command", "--command-timeout", self.command_timeout.as_deref());
        push(out, "retry.attempts", "--attempts", self.attempts.as_deref());
    }
}

fn push(out: &mut Vec<Typed>, key: &'static str, flag: &'static str, value: Option<&str>) {
    if let Some(value) = value {
        out.push(Typed { key, flag, values: vec![value.to_owned()] });
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
    Cli::try_parse_from(args).map_err(|error| {
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
