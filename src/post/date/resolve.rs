//! A written date and a zone become an instant.
//!
//! The library's timestamps end a day before the year 9999 does, so the instant is reckoned from the
//! calendar and the offset; only the offset is asked of a zone.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::clock::Clock;
use super::refuse::{because, form, shown};
use super::shape::{Written, Zone};
use super::{EPOCH, Instant, PublishedAt};
use crate::diagnostic::Diagnostic;

type Refused = Box<Diagnostic>;

/// What is said of a time that the clocks show twice.
const OVERLAP: &str = "this local time comes twice, as clocks are put back; the earlier is taken: \
                       write an offset to be certain";

/// The instant of `written`, whose local values are in `timezone`.
pub(super) fn instant(text: &str, written: &Written, timezone: &TimeZone) -> Result<Instant, Refused> {
    let clock = written.time.unwrap_or(Clock { hour: 0, minute: 0, second: 0, millis: 0 });
    let local = DateTime::new(
        written.year,
        written.month,
        written.day,
        clock.hour,
        clock.minute,
        clock.second,
        i32::from(clock.millis) * 1_000_000,
    )
    .map_err(|_| form(text, "the calendar does not have it"))?;
    let (offset_seconds, warning) = match &written.zone {
        Zone::Local => in_zone(text, local, timezone)?,
        Zone::Named(zone) => in_zone(text, local, zone)?,
        Zone::Offset(seconds) => (*seconds, None),
        Zone::Both(seconds, zone) => (agreed(text, local, *seconds, zone)?, None),
    };
    // `as_millis` is exact: the local time holds whole milliseconds.
    let local_millis = i64::try_from(local.duration_since(EPOCH).as_millis()).unwrap_or(i64::MAX);
    let unix_millis = local_millis - i64::from(offset_seconds) * 1000;
    PublishedAt::from_unix_millis(unix_millis).map_err(|why| {
        because("date-range", text, why, "write a date from 1970-01-01T00:00:00Z to 9999-12-31T23:59:59Z")
    })?;
    let written_day = (written.year, written.month, written.day);
    Ok(Instant { unix_millis, written_day, warning })
}

/// The offset in seconds of a local time in `zone`, with what is doubtful about it.
fn in_zone(text: &str, local: DateTime, zone: &TimeZone) -> Result<(i32, Option<&'static str>), Refused> {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => Ok((offset.seconds(), None)),
        AmbiguousOffset::Fold { before, .. } => Ok((before.seconds(), Some(OVERLAP))),
        AmbiguousOffset::Gap { before, after } => Err(gap(text, local, zone, before, after)),
    }
}

/// A local time that the clocks leave out, as they go from one offset to a later one.
fn gap(text: &str, local: DateTime, zone: &TimeZone, before: Offset, after: Offset) -> Refused {
    let name = zone.iana_name().unwrap_or("the time zone");
    let message = format!("{} does not exist in {name}: clocks are put forward over it", shown(text));
    let forward = jiff::SignedDuration::from_secs(i64::from(after.seconds() - before.seconds()));
    let help = match local.checked_add(forward) {
        Ok(next) => format!("write {next}{}, or the time that is meant", spelled(after)),
        Err(_) => "write a time that the clocks show, with its offset".to_owned(),
    };
    Box::new(Diagnostic::error("date-gap", message).help(help))
}

/// `+09:00`, as RFC 3339 has it; an offset of seconds (before standard time) loses them.
fn spelled(offset: Offset) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// The offset that was written, if it is one of the zone's then.
fn agreed(text: &str, local: DateTime, seconds: i32, zone: &TimeZone) -> Result<i32, Refused> {
    let (one, other) = match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => (offset, offset),
        AmbiguousOffset::Fold { before, after } => (before, after),
        AmbiguousOffset::Gap { before, after } => return Err(gap(text, local, zone, before, after)),
    };
    if one.seconds() == seconds || other.seconds() == seconds {
        return Ok(seconds);
    }
    let name = zone.iana_name().unwrap_or("the zone");
    Err(because(
        "date-zone",
        text,
        format!("the offset and {name} are two zones: {name} is at {} then", spelled(one)),
        "write the offset or the zone, not both",
    ))
}
