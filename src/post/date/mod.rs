//! Dates: the accepted forms of `CONVENTIONS`, read as a whole millisecond.
//!
//! Begin at [`parse`]: the shape of the whole text is looked at first ([`shape`]), then the day and the
//! time are checked against the calendar, then the zone makes an instant of them ([`resolve`]). Text is
//! never searched for a date, and nothing after a date is ignored. The zone data is compiled in: the
//! host's zone, its zone files and its locale are never read.

mod clock;
mod help;
mod month;
mod refuse;
mod resolve;
mod scan;
mod shape;
mod zone;

pub(super) use refuse::unless_in_calendar;
pub use zone::timezone;

use crate::diagnostic::Diagnostic;

/// The last instant that drivers can show: 9999-12-31T23:59:59.999Z, in Unix milliseconds.
pub const PUBLISHED_AT_MILLIS_MAX: i64 = 253_402_300_799_999;

/// Longest text that is read as a date, in bytes; longer ones are none.
pub const DATE_BYTES_MAX: usize = 256;

/// When a post was published: whole Unix milliseconds, 1970-01-01T00:00:00Z to
/// 9999-12-31T23:59:59.999Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublishedAt(i64);

impl PublishedAt {
    /// Checks the range. The error says why.
    pub fn from_unix_millis(millis: i64) -> Result<Self, &'static str> {
        if millis < 0 {
            Err("before 1970: the id holds its time as an unsigned number from 1970-01-01T00:00:00Z")
        } else if millis > PUBLISHED_AT_MILLIS_MAX {
            Err("after 9999: drivers cannot show it")
        } else {
            Ok(PublishedAt(millis))
        }
    }

    /// Unix milliseconds, never negative.
    pub fn unix_millis(self) -> i64 {
        self.0
    }

    /// RFC 3339 in UTC with milliseconds where there are any.
    pub fn to_rfc3339(self) -> String {
        format!("{}Z", utc(self.0))
    }

    /// The calendar day (year, month, day) of this instant in `timezone`. An instant of the last hours
    /// of 9999 whose day there is of the year 10000 is told as the last day of 9999.
    pub fn day_in(self, timezone: &jiff::tz::TimeZone) -> (i16, i8, i8) {
        // A timestamp of the library ends a day before the range does; no zone changes in that day.
        let timestamp = jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::MAX);
        let offset_millis = i64::from(timezone.to_offset(timestamp).seconds()) * 1000;
        let date = utc(self.0.saturating_add(offset_millis)).date();
        (date.year(), date.month(), date.day())
    }
}

/// The calendar day and time of an instant in UTC; the calendar ends with the year 9999.
fn utc(millis: i64) -> jiff::civil::DateTime {
    EPOCH.checked_add(jiff::SignedDuration::from_millis(millis)).unwrap_or(jiff::civil::DateTime::MAX)
}

/// 1970-01-01T00:00:00.
const EPOCH: jiff::civil::DateTime = jiff::civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// An instant as read from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// Unix milliseconds; finer parts are cut. Always a valid [`PublishedAt`].
    pub unix_millis: i64,
    /// The calendar day as written (year, month, day), to compare with the day of a file name.
    pub written_day: (i16, i8, i8),
    /// A doubtful but accepted reading (an overlap of daylight saving), to be warned of.
    pub warning: Option<&'static str>,
}

/// Reads a date in any accepted form. `text` is trimmed by the caller; `timezone` is that of local
/// values. The error has code, message and help, but no place.
///
/// A wrong weekday is an error, an offset and a zone that disagree too, and so is a local time that
/// daylight saving leaves out; one that comes twice is the earlier, with a warning.
pub fn parse(text: &str, timezone: &jiff::tz::TimeZone) -> Result<Instant, Box<Diagnostic>> {
    let written = shape::read(text.trim_matches([' ', '\t']))?;
    resolve::instant(text.trim_matches([' ', '\t']), &written, timezone)
}

/// Midnight of a calendar day in `timezone`, for a day that a file name or a path tells. `written` is
/// the text that told it, for the message.
pub fn midnight(
    day: (i16, i8, i8),
    written: &str,
    timezone: &jiff::tz::TimeZone,
) -> Result<Instant, Box<Diagnostic>> {
    let (year, month, day) = day;
    unless_in_calendar(written, i32::from(year), i32::from(month), i32::from(day))?;
    let written_date = shape::Written { year, month, day, time: None, zone: shape::Zone::Local };
    resolve::instant(written, &written_date, timezone)
}

#[cfg(test)]
mod tests;
