//! Flags that several verbs share, in groups, and what each stands for.

use std::path::PathBuf;

use clap::Args;

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
    /// Plan only what differs from this commit, as git tells, and the posts that refer to it; the whole
    /// content root is still checked.
    #[arg(long, value_name = "REF", allow_hyphen_values = true)]
    pub changed_since: Option<String>,
}

/// How much of a plan is shown to a person.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct ViewFlags {
    /// A line a post, with the number of fields and lines that differ.
    #[arg(long, conflicts_with_all = ["fields", "no_body"])]
    pub stat: bool,
    /// The names of the fields that differ, without what they hold.
    #[arg(long, conflicts_with = "no_body")]
    pub fields: bool,
    /// The fields, and of bodies only how many lines differ.
    #[arg(long)]
    pub no_body: bool,
    /// Do not show a long result in a pager (IDEMPOST_PAGER, PAGER, else `less`).
    #[arg(long)]
    pub no_pager: bool,
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

/// What verbs that write without reading a tree share.
#[derive(Debug, Clone, Default, Args)]
pub struct TreelessFlags {
    /// Show what would be done and write nothing.
    #[arg(long, short = 'n')]
    pub dry_run: bool,
    /// Names the intent: a repeated request with the same id is recognised.
    #[arg(long, value_name = "ID", help_heading = "Operations")]
    pub operation_id: Option<String>,
    /// Root of the tree, where the files of posts are looked for.
    #[arg(long, value_name = "FOLDER", help_heading = "Where")]
    pub content: Option<PathBuf>,
    /// Where.
    #[command(flatten)]
    pub target: TargetFlags,
    /// Running.
    #[command(flatten)]
    pub running: RunningFlags,
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

impl TargetFlags {
    pub(super) fn typed(&self, out: &mut Vec<Typed>) {
        push(out, "store", "--store", self.store.as_deref());
        push(out, "database", "--database", self.database.as_deref());
        push(out, "collection", "--collection", self.collection.as_deref());
        push(out, "source", "--source", self.source.as_deref());
        push(out, "engine", "--engine", self.engine.as_deref());
    }
}

impl ReadingFlags {
    pub(super) fn typed(&self, out: &mut Vec<Typed>) {
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
    pub(super) fn typed(&self, out: &mut Vec<Typed>) {
        push(out, "limits.batch", "--batch", self.batch.as_deref());
        push(out, "limits.in_flight", "--in-flight", self.in_flight.as_deref());
        push(out, "retry.deadline", "--deadline", self.deadline.as_deref());
        push(out, "retry.command", "--command-timeout", self.command_timeout.as_deref());
        push(out, "retry.attempts", "--attempts", self.attempts.as_deref());
    }
}

pub(super) fn push(out: &mut Vec<Typed>, key: &'static str, flag: &'static str, value: Option<&str>) {
    if let Some(value) = value {
        out.push(Typed { key, flag, values: vec![value.to_owned()] });
    }
}
