//! Reads each key into its type. Every error names the place of the value.

use super::layers::{Environment, Layers, Origin, Sourced};
use super::{
    ATTEMPTS_MAX, BATCH_POSTS_MAX, FILE_BYTES_LIMIT_MAX, IN_FLIGHT_BATCHES_MAX, LimitSettings, Policy,
    PruneLimit, RetrySettings, file, keys, value,
};
use crate::cli::{Cli, Format, Verb};
use crate::diagnostic::nearest;
use crate::error::Failure;
use crate::post::lang::Lang;
use crate::post::preset::Preset;
use crate::post::slug::{SlugMode, SlugPattern};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) fn check_format(verb: &Verb, format: Format) -> Result<(), Failure> {
    let known = verb.formats();
    if known.contains(&format) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(|format| format.as_str()).collect();
    Err(Failure::usage(format!("`{}` cannot be told as {}", verb.name(), format.as_str()))
        .help(format!("--format for it: {}", known.join(", "))))
}

pub(super) fn config_file(
    cli: &Cli,
    env: &Environment,
    cwd: &Path,
) -> Result<Option<file::ConfigFile>, Failure> {
    let named: Option<PathBuf> = cli
        .global
        .config
        .clone()
        .or_else(|| env.get("IDEMPOST_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from));
    match named.map(|path| cwd.join(path)).or_else(|| file::find(cwd)) {
        Some(path) => file::read(&path, cwd).map(Some),
        None => Ok(None),
    }
}

/// Whether the environment says that this is CI.
pub fn is_ci(env: &Environment) -> bool {
    env.get("CI").is_some_and(|text| !matches!(text.trim().to_ascii_lowercase().as_str(), "" | "0" | "false"))
}

/// Variables of ours that stand for no key.
const OTHER_VARIABLES: [&str; 7] = [
    "IDEMPOST_URI",
    "IDEMPOST_URI_FILE",
    "IDEMPOST_STORE",
    "IDEMPOST_STORE_FILE",
    "IDEMPOST_CONFIG",
    "IDEMPOST_LOG",
    "IDEMPOST_PAGER",
];

/// A variable with our prefix that stands for nothing is most likely misspelt.
pub(super) fn unknown_variables(env: &Environment) -> Vec<String> {
    let mut known: Vec<String> = OTHER_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    known.extend(keys::KEYS.iter().filter(|key| !key.name.contains('*')).map(|key| keys::variable(key.name)));
    env.keys()
        .filter(|name| name.starts_with("IDEMPOST_") && !known.contains(name))
        .filter(|name| !["IDEMPOST_TEST_", "IDEMPOST_EFFECTS_"].iter().any(|p| name.starts_with(p)))
        .map(|name| match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => format!("the variable {name} stands for nothing; did you mean {meant}?"),
            None => format!("the variable {name} stands for nothing"),
        })
        .collect()
}

/// Keys that are read and that this version does not act on: better said than found out.
pub(super) fn not_acted_on(layers: &Layers<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for (name, placed) in layers.file.iter().flat_map(|file| &file.values) {
        if keys::find(name).is_some_and(|key| !key.acted_on) {
            let file = layers.file.as_ref().map_or("", |file| file.shown.as_str());
            out.push(format!("{file}:{}: `{name}` is not acted on by this version", placed.line));
        }
    }
    out
}

pub(super) fn slug_mode(layers: &Layers<'_>, preset: Preset) -> Result<Sourced<SlugMode>, Failure> {
    let words: Vec<(&'static str, SlugMode)> =
        SlugMode::ALL.into_iter().map(|mode| (mode.as_str(), mode)).collect();
    let found = layers.word("slug_mode", preset.slug_mode(), &words)?;
    Ok(by_preset(found, preset, &SlugMode::default()))
}

pub(super) fn slug_pattern(layers: &Layers<'_>, preset: Preset) -> Result<Sourced<SlugPattern>, Failure> {
    let found = layers.parse("slug_pattern", preset.slug_pattern(), SlugPattern::parse)?;
    Ok(by_preset(found, preset, &SlugPattern::default()))
}

/// A default that the preset changed says so.
fn by_preset<T: PartialEq>(found: Sourced<T>, preset: Preset, plain: &T) -> Sourced<T> {
    if found.is_default() && found.value != *plain {
        return Sourced { value: found.value, origin: Origin::Preset(preset.as_str()) };
    }
    found
}

pub(super) fn timezone(layers: &Layers<'_>) -> Result<(Sourced<String>, jiff::tz::TimeZone), Failure> {
    let name = layers.parse("timezone", "UTC".to_owned(), |text| zone(text).map(|(name, _)| name))?;
    let (_, zone) = zone(&name.value).map_err(Failure::usage)?;
    Ok((name, zone))
}

/// The zone of an IANA name in any case, with the name as the database spells it.
fn zone(text: &str) -> Result<(String, jiff::tz::TimeZone), String> {
    let text = text.trim();
    let database = jiff::tz::db();
    if let Ok(zone) = database.get(text) {
        let name = zone.iana_name().unwrap_or(text).to_owned();
        return Ok((name, zone));
    }
    let names: Vec<String> = database.available().map(|name| name.to_string()).collect();
    let city = names.iter().find(|name| {
        name.rsplit_once('/').is_some_and(|(_, last)| last.eq_ignore_ascii_case(&text.replace(' ', "_")))
    });
    let meant = city.map(String::as_str).or_else(|| nearest(text, names.iter().map(String::as_str)));
    Err(match meant {
        Some(meant) => format!("`{text}` is no time zone (did you mean `{meant}`?): write an IANA name"),
        None => format!("`{text}` is no time zone: write an IANA name, for example Asia/Seoul or UTC"),
    })
}

pub(super) fn langs(layers: &Layers<'_>) -> Result<Sourced<Vec<Lang>>, Failure> {
    let Some(found) = layers.find("langs") else {
        return Ok(Sourced::default(Vec::new()));
    };
    let mut langs: Vec<Lang> = Vec::new();
    for text in found.list() {
        let lang = Lang::parse(text.trim()).map_err(|message| found.wrong(message))?;
        if !langs.contains(&lang) {
            langs.push(lang);
        }
    }
    Ok(Sourced { value: langs, origin: found.origin })
}

pub(super) fn default_lang(layers: &Layers<'_>) -> Result<Sourced<Lang>, Failure> {
    let text = layers.text("default_lang", "en")?;
    let lang =
        Lang::parse(&text.value).map_err(|message| Failure::usage(format!("{}: {message}", text.origin)))?;
    Ok(Sourced { value: lang, origin: text.origin })
}

/// Names that MongoDB refuses, or that would clash with our own collections beside it.
pub(super) fn collection_name(text: &str) -> Result<String, String> {
    let wrong = text.is_empty()
        || text.starts_with("system.")
        || text.contains(['$', '\0'])
        || text.starts_with('.')
        || text.ends_with('.');
    if wrong { Err(format!("`{text}` is no name of a collection")) } else { Ok(text.to_owned()) }
}

/// Tokens of `url_pattern`.
const URL_TOKENS: [&str; 5] = ["lang", "slug", "year", "month", "day"];

pub(super) fn url_pattern(text: &str) -> Result<String, String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let (token, tail) = after.split_once('}').ok_or_else(|| format!("`{text}` has a {{ without a }}"))?;
        if !URL_TOKENS.contains(&token) {
            let known = URL_TOKENS.map(|token| format!("{{{token}}}")).join(" ");
            return Err(format!("`{{{token}}}` in `{text}` is no token: there are {known}"));
        }
        rest = tail;
    }
    if !text.contains("{slug}") {
        return Err(format!("`{text}` has no {{slug}}: all posts would have one URL"));
    }
    Ok(text.to_owned())
}

pub(super) fn fields(layers: &Layers<'_>) -> BTreeMap<String, Sourced<Vec<String>>> {
    let mut out = BTreeMap::new();
    for key in &keys::KEYS {
        if let (Some(name), Some(found)) = (key.name.strip_prefix("fields."), layers.find(key.name)) {
            out.insert(name.to_owned(), Sourced { value: found.list(), origin: found.origin });
        }
    }
    out
}

pub(super) fn retry(layers: &Layers<'_>) -> Result<RetrySettings, Failure> {
    Ok(RetrySettings {
        deadline: layers.parse("retry.deadline", Duration::from_mins(10), value::time)?,
        command: layers.parse("retry.command", Duration::from_secs(30), value::time)?,
        attempts: layers.parse("retry.attempts", 8, |text| narrow(value::whole(text, 1, ATTEMPTS_MAX)?))?,
        backoff: layers.parse(
            "retry.backoff",
            (Duration::from_millis(100), Duration::from_secs(10)),
            value::time_range,
        )?,
    })
}

pub(super) fn limits(layers: &Layers<'_>) -> Result<LimitSettings, Failure> {
    Ok(LimitSettings {
        prune: layers.parse("limits.prune", PruneLimit::Percent(10), PruneLimit::parse)?,
        file_bytes: layers.parse("limits.file", 8 << 20, |text| match value::size(text)? {
            bytes if (1..=FILE_BYTES_LIMIT_MAX).contains(&bytes) => Ok(bytes),
            _ => Err(format!("`{text}` is not from 1B to {}", value::size_text(FILE_BYTES_LIMIT_MAX))),
        })?,
        history_bytes: layers.parse("limits.history", 64 << 20, value::size)?,
        batch: layers.parse("limits.batch", 1_000, |text| narrow(value::whole(text, 1, BATCH_POSTS_MAX)?))?,
        in_flight: layers
            .parse("limits.in_flight", 4, |text| narrow(value::whole(text, 1, IN_FLIGHT_BATCHES_MAX)?))?,
    })
}

/// The same number in the type that counts things here; bounded before by a named limit.
fn narrow<T: TryFrom<u64>>(number: u64) -> Result<T, String> {
    T::try_from(number).map_err(|_| format!("{number} is too large"))
}

pub(super) fn policy(verb: &Verb) -> Policy {
    match verb {
        Verb::Check(flags) => {
            Policy { allow_empty: flags.allow_empty, strict_links: flags.strict_links, ..Policy::default() }
        }
        Verb::Verify(flags) => Policy {
            keep_going: flags.keep_going,
            allow_empty: flags.allow_empty,
            strict_links: flags.strict_links,
            prune: flags.prune,
            repair: flags.repair,
            ..Policy::default()
        },
        Verb::Explain(flags) => Policy { strict_links: flags.strict_links, ..Policy::default() },
        _ => verb.policy().map_or_else(Policy::default, |flags| Policy {
            keep_going: flags.keep_going,
            allow_empty: flags.allow_empty,
            strict_links: flags.strict_links,
            prune: flags.prune,
            repair: flags.repair,
            force: flags.force,
        }),
    }
}
