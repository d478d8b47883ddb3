//! Dates: the accepted forms of `CONVENTIONS`, read as a whole millisecond.

use crate::diagnostic::Diagnostic;

/// The last instant that drivers can show: 9999-12-31T23:59:59.999Z, in Unix milliseconds.
pub const PUBLISHED_AT_MILLIS_MAX: i64 = 253_402_300_799_999;

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
        jiff::Timestamp::from_millisecond(self.0).map_or_else(|_| self.0.to_string(), |t| t.to_string())
    }
}

/// An instant as read from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instant {
    /// Unix milliseconds; finer parts are cut.
    pub unix_millis: i64,
    /// The calendar day as written (year, month, day), to compare with the day of a file name.
    pub written_day: (i16, i8, i8),
    /// A doubtful but accepted reading (an overlap of daylight saving), to be warned of.
    pub warning: Option<&'static str>,
}

/// Reads a date in any accepted form. `text` is trimmed by the caller; `timezone` is that of local
/// values. The error has code, message and help, but no place.
pub fn parse(text: &str, timezone: &jiff::tz::TimeZone) -> Result<Instant, Box<Diagnostic>> {
    let _ = (text, timezone);
    unimplemented!()
}
