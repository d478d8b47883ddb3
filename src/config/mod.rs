//! What was typed, exported and written becomes [`Settings`]: plain values, each with its origin.
//!
//! Begin at [`load`]. Flags win over the environment, the environment over `idempost.toml`, the file over
//! defaults. This module reads the configuration file and the file of a mounted secret, nothing else; the
//! environment and the working directory come in as values. A password is never part of a message.

pub mod assets;
pub mod ci;
pub mod file;
pub mod keys;
pub mod layers;
pub mod paths;
mod pick;
mod read;
pub mod show;
pub mod store;
#[cfg(test)]
mod tests;
pub mod value;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::catalog::links::{LinkPolicy, MissingAsset};
use crate::cli::{Cli, Format};
use crate::error::Failure;
use crate::post::Rules;
use crate::post::lang::Lang;
use crate::post::preset::Preset;
use crate::post::render::{RawHtml, RenderOptions};
use crate::post::slug::{SlugMode, SlugPattern};
use crate::source::WalkOptions;
use crate::store::objects::bucket::Options;
use assets::AssetStore;
use layers::Layers;
pub use layers::{Environment, Origin, Sourced};
pub use paths::Content;
pub use read::is_ci;
use store::StoreKind;
pub use store::{StoreUri, redact_uri};
pub use value::PruneLimit;

/// What raw HTML becomes, by name.
pub const RAW_HTML: [(&str, RawHtml); 3] =
    [("sanitize", RawHtml::Sanitize), ("allow", RawHtml::Allow), ("escape", RawHtml::Escape)];

/// What a missing asset is, by name.
pub const MISSING_ASSETS: [(&str, MissingAsset); 3] = [
    ("fail", MissingAsset::Fail),
    ("skip-post", MissingAsset::SkipPost),
    ("skip-asset", MissingAsset::SkipAsset),
];

/// What becomes of posts in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Future {
    /// Stored; the reader decides.
    Store,
    /// Left out until then.
    Skip,
}

/// Futures by name.
pub const FUTURES: [(&str, Future); 2] = [("store", Future::Store), ("skip", Future::Skip)];

/// Largest file that may be configured, in bytes.
pub const FILE_BYTES_LIMIT_MAX: u64 = 256 << 20;
/// Most posts in one batch.
pub const BATCH_POSTS_MAX: u64 = 100_000;
/// Most batches at once.
pub const IN_FLIGHT_BATCHES_MAX: u64 = 64;
/// Most attempts of one command.
pub const ATTEMPTS_MAX: u64 = 100;

/// How a run goes about failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// A run that makes no progress for so long gives up.
    pub deadline: Sourced<Duration>,
    /// One command that has not answered for so long has failed.
    pub command: Sourced<Duration>,
    /// How often one command is tried, the first time counted.
    pub attempts: Sourced<u32>,
    /// Shortest and longest pause.
    pub backoff: Sourced<(Duration, Duration)>,
}

/// Bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitSettings {
    /// How many posts may be archived at once.
    pub prune: Sourced<PruneLimit>,
    /// Largest file that is read, in bytes.
    pub file_bytes: Sourced<u64>,
    /// Before-images kept of one run, in bytes; 0: none.
    pub history_bytes: Sourced<u64>,
    /// Posts in one batch.
    pub batch: Sourced<usize>,
    /// Batches at once.
    pub in_flight: Sourced<usize>,
}

/// What may be done; flags alone, never in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Ingest the other posts where some are invalid or in conflict.
    pub keep_going: bool,
    /// A tree without posts is no error.
    pub allow_empty: bool,
    /// Broken internal links are errors.
    pub strict_links: bool,
    /// Archive the posts of this source whose files are gone.
    pub prune: bool,
    /// Mend drift.
    pub repair: bool,
    /// Write equal posts too.
    pub force: bool,
}

/// Which revision of the source a run carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Revision {
    /// What the CI tells, if there is one that does.
    #[default]
    Detect,
    /// None (`--no-revision`).
    Without,
    /// This one (`--revision N`).
    Is(i64),
}

/// Everything that was configured, resolved.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The configuration file, as a person is told it.
    pub file: Option<String>,
    /// Where that file lies.
    pub file_path: Option<PathBuf>,
    /// The content root and what is planned of it.
    pub content: Content,
    /// `--changed-since`: only what differs from this commit is planned.
    pub changed_since: Option<String>,
    /// The store; [`Settings::store`] checks that it may be used.
    pub store: Sourced<StoreUri>,
    /// `database`; [`Settings::database`] tells the one that is used.
    pub database: Sourced<Option<String>>,
    /// Collection of the posts.
    pub collection: Sourced<String>,
    /// Whose posts these are.
    pub source: Sourced<Option<String>>,
    /// Engine profile; `auto` is detected.
    pub engine: Sourced<String>,
    /// The site generator.
    pub preset: Sourced<Preset>,
    /// Languages of the tree, canonical, each once.
    pub langs: Sourced<Vec<Lang>>,
    /// Language of posts that name none.
    pub default_lang: Sourced<Lang>,
    /// Zone of local dates, its IANA name as the database spells it.
    pub timezone: Sourced<String>,
    /// The zone itself.
    pub zone: jiff::tz::TimeZone,
    /// How slugs are spelled.
    pub slug_mode: Sourced<SlugMode>,
    /// How slugs from files are put together.
    pub slug_pattern: Sourced<SlugPattern>,
    /// URL of a post.
    pub url_pattern: Sourced<String>,
    /// Files without a date are errors.
    pub require_date: Sourced<bool>,
    /// Posts in the future.
    pub future: Sourced<Future>,
    /// Symbolic links inside the root are followed.
    pub follow_links: Sourced<bool>,
    /// How long rows of runs are kept.
    pub runs_keep: Sourced<Duration>,
    /// More names for a field.
    pub fields: BTreeMap<String, Sourced<Vec<String>>>,
    /// Whether bodies are rendered.
    pub render_html: Sourced<bool>,
    /// Raw HTML in bodies.
    pub raw_html: Sourced<RawHtml>,
    /// Where assets are stored.
    pub assets_store: Sourced<Option<AssetStore>>,
    /// Credentials and endpoint of an object store, from the environment.
    pub assets_options: Options,
    /// How long a claim on a post lasts while its assets are stored.
    pub assets_claim: Sourced<Duration>,
    /// Where readers find assets.
    pub assets_public_url: Sourced<Option<String>>,
    /// What a missing asset is.
    pub assets_missing: Sourced<MissingAsset>,
    /// How a run goes about failures.
    pub retry: RetrySettings,
    /// Bounds.
    pub limits: LimitSettings,
    /// What may be done.
    pub policy: Policy,
    /// `--plan`: the saved plan that is applied.
    pub saved_plan: Option<PathBuf>,
    /// `--partial`: what moved since that plan is left, and the rest applied.
    pub partial: bool,
    /// `--operation-id`.
    pub operation_id: Option<String>,
    /// Which revision.
    pub revision: Revision,
    /// The revision that the CI counts, if one does.
    pub detected: Option<ci::Detected>,
    /// Where the run comes from, as far as a CI says.
    pub provenance: ci::Provenance,
    /// `CI` is set.
    pub ci: bool,
    /// How results are told.
    pub format: Format,
    /// Things a person should know before the run.
    pub warnings: Vec<String>,
}

/// Resolves all settings.
///
/// # Errors
/// Exit 64 with the place of the first value that is wrong.
pub fn load(cli: &Cli, env: &Environment, cwd: &Path) -> Result<Settings, Failure> {
    let format = cli.format();
    read::check_format(&cli.verb, format)?;
    let layers = Layers { typed: cli.typed(), env, file: read::config_file(cli, env, cwd)?, cwd };
    let mut warnings = read::unknown_variables(env);
    warnings.extend(read::not_acted_on(&layers));
    let ci = read::is_ci(env);
    let database = layers.text_or_none("database")?;
    let preset = layers.parse("preset", Preset::Plain, Preset::parse)?;
    let (timezone, zone) = read::timezone(&layers)?;
    let langs = read::langs(&layers)?;
    let default_lang = read::default_lang(&layers)?;
    if !langs.value.is_empty() && !langs.value.contains(&default_lang.value) {
        warnings.push(format!(
            "default_lang is {} ({}), which is not one of the langs ({})",
            default_lang.value, default_lang.origin, langs.origin
        ));
    }
    let policy = read::policy(&cli.verb);
    let assets_store = assets::store(&layers)?;
    let assets_public_url = layers.text_or_none("assets.public_url")?;
    assets::warn_without_url(&assets_store, &assets_public_url, &mut warnings);
    let operation = cli.verb.operation();
    Ok(Settings {
        content: paths::content(&layers, cli.verb.paths())?,
        changed_since: cli.verb.changed_since().map(str::to_owned),
        file_path: layers.file.as_ref().map(|file| file.path.clone()),
        store: pick::store_uri(&layers, ci, &mut warnings)?,
        database,
        collection: layers.parse("collection", "posts".to_owned(), read::collection_name)?,
        source: layers.text_or_none("source")?,
        engine: layers.text("engine", "auto")?,
        slug_pattern: read::slug_pattern(&layers, preset.value)?,
        slug_mode: read::slug_mode(&layers, preset.value)?,
        preset,
        langs,
        default_lang,
        timezone,
        zone,
        url_pattern: layers.parse("url_pattern", "/{lang}/{slug}".to_owned(), read::url_pattern)?,
        require_date: layers.flag("require_date", false)?,
        future: layers.word("future", Future::Store, &FUTURES)?,
        follow_links: layers.flag("follow_links", false)?,
        runs_keep: layers.parse("runs_keep", Duration::from_hours(2160), value::time)?,
        fields: read::fields(&layers),
        render_html: layers.flag("render.html", true)?,
        raw_html: layers.word("render.raw_html", RawHtml::Sanitize, &RAW_HTML)?,
        assets_store,
        assets_options: Options::of(env),
        assets_claim: layers.parse("assets.claim", Duration::from_secs(15), value::time)?,
        assets_public_url,
        assets_missing: layers.word("assets.missing", MissingAsset::Fail, &MISSING_ASSETS)?,
        retry: read::retry(&layers)?,
        limits: read::limits(&layers)?,
        policy,
        saved_plan: cli.verb.saved_plan().0.map(|path| cwd.join(path)),
        partial: cli.verb.saved_plan().1,
        operation_id: cli.verb.operation_id().map(str::to_owned),
        revision: operation.map_or(Revision::Detect, |flags| match (flags.revision, flags.no_revision) {
            (Some(number), _) => Revision::Is(number),
            (None, true) => Revision::Without,
            (None, false) => Revision::Detect,
        }),
        detected: ci::detect(env),
        provenance: ci::provenance(env),
        ci,
        format,
        warnings,
        file: layers.file.map(|file| file.shown),
    })
}

impl Settings {
    /// How files are read. `now_millis` is the clock in Unix milliseconds, for `future = "skip"`.
    pub fn rules(&self, now_millis: i64) -> Rules {
        Rules {
            preset: self.preset.value,
            langs: self.langs.value.clone(),
            default_lang: self.default_lang.value.clone(),
            timezone: self.zone.clone(),
            timezone_name: self.timezone.value.clone(),
            slug_mode: self.slug_mode.value,
            slug_pattern: self.slug_pattern.value.clone(),
            url_pattern: self.url_pattern.value.clone(),
            require_date: self.require_date.value,
            skip_after: (self.future.value == Future::Skip).then_some(now_millis),
            field_names: self.fields.iter().map(|(name, more)| (name.clone(), more.value.clone())).collect(),
            file_bytes_max: self.limits.file_bytes.value,
            render: RenderOptions { html: self.render_html.value, raw_html: self.raw_html.value },
        }
    }

    /// How links and assets are told and resolved.
    pub fn link_policy(&self) -> LinkPolicy {
        LinkPolicy {
            strict_links: self.policy.strict_links,
            missing: self.assets_missing.value,
            public_url: self.assets_public_url.value.clone(),
        }
    }

    /// How the tree is walked.
    pub fn walk_options(&self) -> WalkOptions {
        WalkOptions { follow_links: self.follow_links.value }
    }

    /// The source revision of the run, and who counts it (nobody, where it was typed).
    pub fn source_revision(&self) -> (Option<i64>, Option<String>) {
        match (self.revision, &self.detected) {
            (Revision::Is(number), _) => (Some(number), None),
            (Revision::Detect, Some(detected)) => (Some(detected.revision), Some(detected.counter.clone())),
            (Revision::Without, _) | (Revision::Detect, None) => (None, None),
        }
    }

    /// The store, for verbs that use one.
    ///
    /// # Errors
    /// Under CI where nothing names a store: a lost secret must not turn into a green run that wrote to
    /// a file nobody reads.
    pub fn store(&self) -> Result<&StoreUri, Failure> {
        if self.ci && self.store.is_default() {
            return Err(Failure::usage("no store is named, and CI is set").help(
                "set IDEMPOST_URI (is the secret there, and not empty?), --store, or `store` in idempost.toml",
            ));
        }
        Ok(&self.store.value)
    }

    /// The database that is used: flag or variable, else the URI, else the file; for SQLite the file's
    /// stem.
    ///
    /// # Errors
    /// A MongoDB URI without a database, and none configured.
    pub fn database(&self) -> Result<String, Failure> {
        let uri = &self.store.value;
        let configured = self.database.value.clone();
        let strong = matches!(self.database.origin, Origin::Flag(_) | Origin::Variable(_));
        let found = match uri.kind() {
            StoreKind::Sqlite => uri.database(),
            StoreKind::Mongo if strong => configured,
            StoreKind::Mongo => uri.database().or(configured),
        };
        found.ok_or_else(|| {
            Failure::usage(format!("{uri} names no database"))
                .help("add /DATABASE to the URI, or set --database or `database` in idempost.toml")
        })
    }
}
