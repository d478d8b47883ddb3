//! Tells which kind an id is, and what it holds.

use std::io::Write;

use serde_json::{Map, Value, json};
use ulid::Ulid;
use uuid::Uuid;

use super::super::output::written;
use super::tsid;
use crate::cli::{Format, IdInspect};
use crate::error::{Exit, Failure};
use crate::report::json::{FORMAT_VERSION, write_pretty};
use crate::report::snippet::plain;

/// Characters of a ULID.
const ULID_CHARS: usize = 26;

/// What an id holds: names and values in the order in which they are told.
type Facts = Vec<(&'static str, Value)>;

pub(super) fn run(inspect: &IdInspect, format: Format, out: &mut dyn Write) -> Result<Exit, Failure> {
    let facts = facts(inspect.id.trim(), inspect.node_bits)?;
    if format == Format::Json {
        let mut object = Map::new();
        object.insert("formatVersion".to_owned(), json!(FORMAT_VERSION));
        object.extend(facts.into_iter().map(|(name, value)| (name.to_owned(), value)));
        return written(write_pretty(out, &Value::Object(object)));
    }
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    written(facts.iter().try_for_each(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        writeln!(out, "{name:<width$}  {value}")
    }))
}

fn facts(id: &str, node_bits: Option<u32>) -> Result<Facts, Failure> {
    if let Some(ulid) = ulid(id) {
        return Ok(of_ulid(ulid));
    }
    // The forms of a UUID other than bare hexadecimal digits have hyphens.
    if let Ok(uuid) = Uuid::parse_str(id) {
        return Ok(of_uuid(uuid));
    }
    if let Some(number) = tsid::parse(id) {
        return Ok(of_tsid(number, node_bits));
    }
    let why = match id.chars().count() {
        ULID_CHARS if id.chars().all(|letter| tsid::digit(letter).is_some()) => {
            "it is greater than the greatest ULID, 7ZZZZZZZZZZZZZZZZZZZZZZZZZ"
        }
        ULID_CHARS => "a ULID has digits and letters without I, L, O and U",
        tsid::TEXT_CHARS => "a TSID has digits and letters without I, L, O and U, and begins with 0 to F",
        _ => "a ULID has 26 characters, a UUID 36, a TSID 13 or is a number",
    };
    Err(Failure::usage(format!("`{}` is no id that is known: {why}", plain(id))))
}

fn ulid(id: &str) -> Option<Ulid> {
    if id.chars().count() != ULID_CHARS {
        return None;
    }
    let mut out: u128 = 0;
    for (at, letter) in id.chars().enumerate() {
        let digit = tsid::digit(letter)?;
        if at == 0 && digit > 7 {
            return None;
        }
        out = out << 5 | u128::from(digit);
    }
    Some(Ulid::from_bytes(out.to_be_bytes()))
}

fn of_ulid(ulid: Ulid) -> Facts {
    let mut out = vec![("kind", json!("ulid")), ("id", json!(ulid.to_string()))];
    out.extend(time(i64::try_from(ulid.timestamp_ms()).unwrap_or(i64::MAX)));
    out.push(("random", json!(format!("{:020x}", ulid.random()))));
    out.push(("uuid", json!(Uuid::from_bytes(ulid.to_bytes()).to_string())));
    out.push((
        "note",
        json!("a post's id has this form; there, the random part is a digest of slug and language"),
    ));
    out
}

fn of_uuid(uuid: Uuid) -> Facts {
    let version = uuid.get_version_num();
    let known = uuid.get_variant() == uuid::Variant::RFC4122 && (1..=8).contains(&version);
    let kind = if known { format!("uuid{version}") } else { "uuid".to_owned() };
    let mut out = vec![("kind", json!(kind)), ("id", json!(uuid.to_string()))];
    if let Some(stamp) = uuid.get_timestamp().filter(|_| known) {
        let (seconds, nanos) = stamp.to_unix();
        let millis = i64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000));
        out.extend(time(millis.unwrap_or(i64::MAX).saturating_add(i64::from(nanos / 1_000_000))));
    }
    let bytes = uuid.as_u128();
    let random = match (known, version) {
        (true, 4) => Some(format!("{:031x}", without_marks(bytes, 122))),
        (true, 7) => Some(format!("{:019x}", without_marks(bytes, 74))),
        _ => None,
    };
    if let Some(random) = random {
        out.push(("random", json!(random)));
    }
    out
}

/// The low `bits` of a UUID without its version (four bits) and its variant (two bits).
fn without_marks(uuid: u128, bits: u32) -> u128 {
    let low = uuid & ((1 << 62) - 1);
    let middle = uuid >> 64 & 0xfff;
    let high = uuid >> 80;
    let whole = high << 74 | middle << 62 | low;
    whole & ((1 << bits) - 1)
}

fn of_tsid(number: u64, node_bits: Option<u32>) -> Facts {
    let low = number & ((1 << tsid::LOW_BITS) - 1);
    let since = i64::try_from(number >> tsid::LOW_BITS).unwrap_or(i64::MAX);
    let mut out = vec![
        ("kind", json!("tsid")),
        ("id", json!(tsid::text(number))),
        // As text: a number of 64 bits is more than JSON's readers can hold.
        ("number", json!(number.to_string())),
    ];
    out.extend(time(since.saturating_add(tsid::EPOCH_MILLIS)));
    if let Some(bits) = node_bits {
        let counter_bits = tsid::LOW_BITS - bits;
        out.push(("nodeBits", json!(bits)));
        out.push(("node", json!(low >> counter_bits)));
        out.push(("counter", json!(low & ((1 << counter_bits) - 1))));
    } else {
        out.push(("nodeAndCounter", json!(low)));
        out.push(("note", json!("--node-bits tells the node from the counter")));
    }
    out
}

fn time(millis: i64) -> Facts {
    let text = jiff::Timestamp::from_millisecond(millis).ok().map(|instant| instant.to_string());
    vec![("timeMs", json!(millis)), ("time", json!(text.unwrap_or_else(|| "after the year 9999".to_owned())))]
}
