//! `id`: makes, derives and explains ids of the kinds a team chooses between.
//!
//! Clock and chance come in as values.

mod inspect;
mod tsid;

use std::io::{self, Write};

use rand::Rng;
use serde_json::json;
use ulid::Ulid;

use super::output::written;
use crate::cli::{Format, Id, IdDerive, IdKind, IdNew, IdVerb};
use crate::error::{Exit, Failure};
use crate::identity::PostId;
use crate::post::date::PublishedAt;
use crate::post::lang::Lang;
use crate::post::slug::Slug;
use crate::report::json::{FORMAT_VERSION, write_pretty};
use tsid::TsidMaker;

/// Most ids that are made at once.
pub const IDS_MAX: u32 = 1_000_000;

/// What ids are made of: the time in Unix milliseconds, asked for each id, and chance.
pub struct Sources<'a> {
    /// Unix milliseconds.
    pub now: &'a mut dyn FnMut() -> i64,
    /// Chance.
    pub rng: &'a mut dyn Rng,
}

/// Runs `id`.
pub fn run(id: &Id, format: Format, sources: &mut Sources<'_>, out: &mut dyn Write) -> Result<Exit, Failure> {
    match &id.verb {
        IdVerb::New(new) => make(new, format, sources, out),
        IdVerb::Derive(derive) => derived(derive, format, out),
        IdVerb::Inspect(inspect) => inspect::run(inspect, format, out),
    }
}

fn make(
    new: &IdNew,
    format: Format,
    sources: &mut Sources<'_>,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    if !(1..=IDS_MAX).contains(&new.count) {
        return Err(Failure::usage(format!("--count {}: from 1 to {IDS_MAX}", new.count)));
    }
    if new.kind != IdKind::Tsid && (new.node.is_some() || new.node_bits.is_some()) {
        return Err(Failure::usage("--node and --node-bits are for --kind tsid"));
    }
    let mut maker = Maker::new(new, sources.rng)?;
    if format == Format::Json {
        let ids: Vec<String> = (0..new.count).map(|_| maker.next(sources)).collect();
        return written(write_pretty(out, &json!({ "formatVersion": FORMAT_VERSION, "ids": ids })));
    }
    // A buffer of our own: standard output would be flushed line by line.
    let mut buffered = io::BufWriter::new(out);
    let result = (0..new.count).try_for_each(|_| writeln!(buffered, "{}", maker.next(sources)));
    written(result.and_then(|()| buffered.flush()))
}

enum Maker {
    Ulid,
    Monotonic(Option<Ulid>),
    Uuid4,
    Uuid7,
    Tsid(TsidMaker),
}

impl Maker {
    fn new(new: &IdNew, rng: &mut dyn Rng) -> Result<Self, Failure> {
        Ok(match new.kind {
            IdKind::Ulid => Maker::Ulid,
            IdKind::UlidMonotonic => Maker::Monotonic(None),
            IdKind::Uuid4 => Maker::Uuid4,
            IdKind::Uuid7 => Maker::Uuid7,
            IdKind::Tsid => Maker::Tsid(TsidMaker::new(new.node_bits, new.node, rng)?),
        })
    }

    fn next(&mut self, sources: &mut Sources<'_>) -> String {
        let now = (sources.now)();
        let millis = u64::try_from(now).unwrap_or(0);
        let mut random = [0_u8; 16];
        match self {
            Maker::Ulid => fresh_ulid(millis, sources.rng).to_string(),
            Maker::Monotonic(last) => {
                let next = match *last {
                    // The same millisecond, or a clock that went back: the one before plus one. A carry
                    // out of the random part goes into the time.
                    Some(last) if millis <= last.timestamp_ms() => {
                        Ulid::from_bytes(u128::from_be_bytes(last.to_bytes()).wrapping_add(1).to_be_bytes())
                    }
                    _ => fresh_ulid(millis, sources.rng),
                };
                *last = Some(next);
                next.to_string()
            }
            Maker::Uuid4 => {
                sources.rng.fill_bytes(&mut random);
                uuid::Builder::from_random_bytes(random).into_uuid().to_string()
            }
            Maker::Uuid7 => {
                let mut random = [0_u8; 10];
                sources.rng.fill_bytes(&mut random);
                uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string()
            }
            Maker::Tsid(maker) => tsid::text(maker.next(now, sources.rng)),
        }
    }
}

fn fresh_ulid(millis: u64, rng: &mut dyn Rng) -> Ulid {
    let random = (u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64());
    Ulid::from_parts(millis, random)
}

fn derived(derive: &IdDerive, format: Format, out: &mut dyn Write) -> Result<Exit, Failure> {
    let slug = Slug::parse(&derive.slug)
        .map_err(|(message, help)| Failure::usage(format!("--slug: {message}")).help(help))?;
    let lang = Lang::parse(&derive.lang).map_err(|message| Failure::usage(format!("--lang: {message}")))?;
    let at = PublishedAt::from_unix_millis(derive.published_at_ms)
        .map_err(|why| Failure::usage(format!("--published-at-ms {}: {why}", derive.published_at_ms)))?;
    let id = PostId::derive(&slug, &lang, at);
    if format == Format::Json {
        return written(write_pretty(
            out,
            &json!({
                "formatVersion": FORMAT_VERSION,
                "id": id.to_string(),
                "slug": slug.as_str(),
                "lang": lang.as_str(),
                "publishedAtMs": at.unix_millis(),
                "publishedAt": at.to_rfc3339(),
            }),
        ));
    }
    written(writeln!(out, "{id}"))
}

#[cfg(test)]
mod tests;
