//! The verbs' own arguments, one struct a verb.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::flags::{
    OperationFlags, PolicyFlags, ReadingFlags, RunningFlags, TargetFlags, TreelessFlags, ViewFlags,
};

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
    /// Apply this saved plan and nothing else (`diff --out plan.json`); what moved since is refused.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dry_run", "paths", "changed_since"])]
    pub plan: Option<PathBuf>,
    /// Apply the posts of a saved plan that did not move, and leave the others.
    #[arg(long, requires = "plan")]
    pub partial: bool,
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
    /// How much is shown.
    #[command(flatten)]
    pub view: ViewFlags,
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

/// `watch`.
#[derive(Debug, Clone, Default, Args)]
pub struct Watch {
    /// Ingest only the posts below these paths; the whole content root is still checked. Where no content
    /// root is configured, one folder is the content root.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
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

/// `show`.
#[derive(Debug, Clone, Default, Args)]
pub struct Show {
    /// A plan that `diff --out plan.json` saved.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// How much is shown.
    #[command(flatten)]
    pub view: ViewFlags,
}

/// `check`.
#[derive(Debug, Clone, Default, Args)]
pub struct Check {
    /// Report only on the files below these paths; the whole content root is still checked.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read this file from standard input, as an editor holds it, and report on it alone.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["paths", "changed_since"])]
    pub stdin_filepath: Option<PathBuf>,
    /// Do not render the bodies.
    #[arg(long)]
    pub no_render: bool,
    /// A tree without posts is no error.
    #[arg(long, help_heading = "Policy")]
    pub allow_empty: bool,
    /// Broken internal links are errors.
    #[arg(long, help_heading = "Policy")]
    pub strict_links: bool,
    /// Report only on what differs from this commit, as git tells, and on the posts that refer to it.
    #[arg(long, value_name = "REF", help_heading = "Policy", allow_hyphen_values = true)]
    pub changed_since: Option<String>,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
}

/// `verify`.
#[derive(Debug, Clone, Default, Args)]
pub struct Verify {
    /// Mend what is ours: write what is missing or differs, set `live` and claims right, archive second
    /// copies. Foreign documents and other sources are never touched.
    #[arg(long, help_heading = "Policy")]
    pub repair: bool,
    /// With --repair: archive the posts of this source whose files are gone.
    #[arg(long, requires = "repair", help_heading = "Policy")]
    pub prune: bool,
    /// How many posts may be archived at once: a number, or a share such as 10%.
    #[arg(long, value_name = "LIMIT", requires = "repair", help_heading = "Policy")]
    pub max_prune: Option<String>,
    /// With --repair: mend the other posts where some files are invalid.
    #[arg(long, requires = "repair", help_heading = "Policy")]
    pub keep_going: bool,
    /// Render every post and compare, also where all digests agree.
    #[arg(long, help_heading = "Policy")]
    pub render: bool,
    /// A tree without posts is no error.
    #[arg(long, help_heading = "Policy")]
    pub allow_empty: bool,
    /// Broken internal links are errors.
    #[arg(long, help_heading = "Policy")]
    pub strict_links: bool,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// How files are read.
    #[command(flatten)]
    pub reading: ReadingFlags,
    /// Operations.
    #[command(flatten)]
    pub operation: OperationFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

/// `archive` and `restore`.
#[derive(Debug, Clone, Default, Args)]
pub struct ByHand {
    /// Posts, each by its id, its file, its slug, or slug:lang.
    #[arg(value_name = "POST", required = true)]
    pub posts: Vec<String>,
    /// Where and how.
    #[command(flatten)]
    pub treeless: TreelessFlags,
}

/// `undo`.
#[derive(Debug, Clone, Default, Args)]
pub struct Undo {
    /// The run's id, or its operation id; `idempost runs` lists them.
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Undo the other posts where some cannot be put back; exit 3.
    #[arg(long, help_heading = "Policy")]
    pub keep_going: bool,
    /// Where and how.
    #[command(flatten)]
    pub treeless: TreelessFlags,
}

/// `export`.
#[derive(Debug, Clone, Default, Args)]
pub struct Export {
    /// The folder that the files are written into; nothing is ever written outside of it.
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Show what would be written, and write nothing.
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Archived, superseded and staged posts too, each in a folder that `ingest` passes by.
    #[arg(long)]
    pub all: bool,
    /// Copy the files that posts refer to back from the asset store.
    #[arg(long)]
    pub assets: bool,
    /// Replace files that are there and differ.
    #[arg(long)]
    pub force: bool,
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

/// `explain`.
#[derive(Debug, Clone, Default, Args)]
pub struct Explain {
    /// A file below the content root, a post's id, its slug, or slug:lang.
    #[arg(value_name = "FILE|ID", required_unless_present_any = ["all", "stdin_filepath"])]
    pub subject: Option<String>,
    /// Read the file from standard input, as an editor holds it, and judge it as if it lay there.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["subject", "all"])]
    pub stdin_filepath: Option<PathBuf>,
    /// Look at the files alone: neither what the store holds nor what the next run would do.
    #[arg(long)]
    pub no_store: bool,
    /// Every file of the tree, one JSON object a line, without HTML.
    #[arg(long, hide = true, conflicts_with = "subject")]
    pub all: bool,
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

/// `assets`.
#[derive(Debug, Clone, Args)]
pub struct Assets {
    /// What to do with stored assets.
    #[command(subcommand)]
    pub verb: AssetsVerb,
}

/// What to do with stored assets.
#[derive(Debug, Clone, Subcommand)]
pub enum AssetsVerb {
    /// Show the stored assets that nothing shows any more; with --delete, delete them
    ///
    /// A post of any status keeps its assets, an archived one too, and so does the history that `undo` needs.
    Gc(AssetsGc),
}

/// `assets gc`.
#[derive(Debug, Clone, Default, Args)]
pub struct AssetsGc {
    /// Delete them; without it they are only shown.
    #[arg(long)]
    pub delete: bool,
    /// How long an asset stays after a post last asked for it; three hours at least.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub grace: String,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
}

impl Assets {
    /// The flags of its verb.
    pub fn gc(&self) -> &AssetsGc {
        let AssetsVerb::Gc(typed) = &self.verb;
        typed
    }
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
    /// Make the next run the newest, for a CI whose numbers start anew
    ///
    /// The revisions of the source's runs are moved down, in their order, below the next number.
    ResetRevision {
        /// The number of the next run.
        #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
        next: i64,
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
    /// Output of `verify --format json`.
    Verify,
    /// Output of `export --format json`.
    Export,
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
