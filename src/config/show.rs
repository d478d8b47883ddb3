//! Every setting as text, with its origin: what `idempost config` prints. Passwords are redacted.

use serde_json::{Value, json};

use crate::post::lang::Lang;

use super::assets::AssetStore;
use super::keys::KEYS;
use super::value::{size_text, time_text};
use super::{FUTURES, MISSING_ASSETS, Origin, RAW_HTML, Settings, Sourced};

/// One setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Dotted key.
    pub key: String,
    /// Its value; null where there is none.
    pub value: Value,
    /// Where it comes from.
    pub origin: Origin,
}

impl Settings {
    /// Every setting, in the order of [`super::keys::KEYS`].
    pub fn entries(&self) -> Vec<Entry> {
        let mut out = vec![
            entry("content", &self.content.root, |_| json!(self.content.shown)),
            entry("store", &self.store, |uri| json!(uri.to_string())),
            entry("database", &self.database, |name| json!(name)),
            entry("collection", &self.collection, |name| json!(name)),
            entry("source", &self.source, |name| json!(name)),
            entry("engine", &self.engine, |name| json!(name)),
        ];
        self.naming_entries(&mut out);
        out.push(entry("runs_keep", &self.runs_keep, |time| json!(time_text(*time))));
        for (name, more) in &self.fields {
            out.push(entry(&format!("fields.{name}"), more, |names| json!(names)));
        }
        out.push(entry("render.html", &self.render_html, |flag| json!(flag)));
        out.push(entry("render.raw_html", &self.raw_html, |word| json!(name_of(&RAW_HTML, word))));
        out.push(entry("assets.store", &self.assets_store, |store| {
            json!(store.as_ref().map(AssetStore::shown))
        }));
        out.push(entry("assets.claim", &self.assets_claim, |time| json!(time_text(*time))));
        out.push(entry("assets.public_url", &self.assets_public_url, |url| json!(url)));
        out.push(entry("assets.missing", &self.assets_missing, |word| json!(name_of(&MISSING_ASSETS, word))));
        out.push(entry("retry.deadline", &self.retry.deadline, |time| json!(time_text(*time))));
        out.push(entry("retry.command", &self.retry.command, |time| json!(time_text(*time))));
        out.push(entry("retry.attempts", &self.retry.attempts, |number| json!(number)));
        out.push(entry("retry.backoff", &self.retry.backoff, |(low, high)| {
            json!(format!("{}..{}", time_text(*low), time_text(*high)))
        }));
        out.push(entry("limits.prune", &self.limits.prune, |limit| json!(limit.to_string())));
        out.push(entry("limits.file", &self.limits.file_bytes, |bytes| json!(size_text(*bytes))));
        out.push(entry("limits.history", &self.limits.history_bytes, |bytes| json!(size_text(*bytes))));
        out.push(entry("limits.batch", &self.limits.batch, |number| json!(number)));
        out.push(entry("limits.in_flight", &self.limits.in_flight, |number| json!(number)));
        out.sort_by_key(|entry| KEYS.iter().position(|key| key.name == entry.key));
        out
    }

    fn naming_entries(&self, out: &mut Vec<Entry>) {
        out.push(entry("preset", &self.preset, |word| json!(word.as_str())));
        out.push(entry("langs", &self.langs, |langs| langs.iter().map(Lang::as_str).collect::<Value>()));
        out.push(entry("default_lang", &self.default_lang, |lang| json!(lang.as_str())));
        out.push(entry("timezone", &self.timezone, |name| json!(name)));
        out.push(entry("slug_mode", &self.slug_mode, |word| json!(word.as_str())));
        out.push(entry("slug_pattern", &self.slug_pattern, |pattern| json!(pattern.as_str())));
        out.push(entry("url_pattern", &self.url_pattern, |pattern| json!(pattern)));
        out.push(entry("require_date", &self.require_date, |flag| json!(flag)));
        out.push(entry("future", &self.future, |word| json!(name_of(&FUTURES, word))));
        out.push(entry("follow_links", &self.follow_links, |flag| json!(flag)));
    }
}

fn entry<T>(key: &str, sourced: &Sourced<T>, value: impl FnOnce(&T) -> Value) -> Entry {
    Entry { key: key.to_owned(), value: value(&sourced.value), origin: sourced.origin.clone() }
}

fn name_of<T: PartialEq>(words: &[(&'static str, T)], meaning: &T) -> &'static str {
    words.iter().find(|(_, known)| known == meaning).map_or("", |(word, _)| word)
}
