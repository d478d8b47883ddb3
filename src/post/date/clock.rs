//! The time of day after a day: hour, minute, second, fraction.

use super::refuse::{because, form};
use super::scan::Scan;
use crate::diagnostic::Diagnostic;

type Refused = Box<Diagnostic>;

/// A time of day, cut to the millisecond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    pub(super) hour: i8,
    pub(super) minute: i8,
    pub(super) second: i8,
    pub(super) millis: i16,
}

/// The time after a day, if one is there. After `T` there must be one.
pub(super) fn read(text: &str, scan: &mut Scan) -> Result<Option<Clock>, Refused> {
    let before = *scan;
    let announced = scan.eat(&['T', 't']).is_some();
    if !announced && !scan.blanks() {
        return Ok(None);
    }
    let hour = scan.digits();
    if hour.is_empty() && !announced {
        *scan = before;
        return Ok(None);
    }
    let day_text = || text.strip_suffix(before.rest()).unwrap_or(text);
    if scan.eat(&[':']).is_none() {
        if announced || scan.is_done() {
            return Err(because(
                "date-form",
                text,
                "the time has not hour and minute",
                format!("write {}T10:30", day_text()),
            ));
        }
        *scan = before;
        return Ok(None);
    }
    let minute = scan.digits();
    let second = scan.eat(&[':']).map(|_| scan.digits());
    let millis = match second.and_then(|_| scan.eat(&['.'])) {
        Some(_) => read_fraction(text, scan)?,
        None => 0,
    };
    let two = |digits: &str| digits.len() == 2;
    if !(1..=2).contains(&hour.len()) || !two(minute) || !second.is_none_or(two) {
        return Err(because(
            "date-form",
            text,
            "minute and second have two digits",
            format!("write {}T10:30 or {}T10:30:00", day_text(), day_text()),
        ));
    }
    refuse_half_day(text, scan)?;
    check(text, hour, minute, second.unwrap_or("0"), millis).map(Some)
}

/// Digits after the point, cut to the millisecond.
fn read_fraction(text: &str, scan: &mut Scan) -> Result<i16, Refused> {
    let digits = scan.digits();
    if digits.is_empty() {
        return Err(form(text, "no digits stand after the point of the seconds"));
    }
    let millis: String = digits.chars().chain("000".chars()).take(3).collect();
    Ok(millis.parse().unwrap_or(0))
}

/// `10:30 PM`: half a day's clock is not read.
fn refuse_half_day(text: &str, scan: &Scan) -> Result<(), Refused> {
    let mut ahead = *scan;
    ahead.blanks();
    let letters = ahead.run(|next| next.is_ascii_alphabetic() || next == '.');
    let plain: String = letters.chars().filter(|next| *next != '.').collect();
    if plain.eq_ignore_ascii_case("am") || plain.eq_ignore_ascii_case("pm") {
        return Err(because(
            "date-form",
            text,
            "a clock of twelve hours is not read",
            "write the hour from 00 to 23 and leave AM or PM out",
        ));
    }
    Ok(())
}

/// Refuses a time that no clock shows.
fn check(text: &str, hour: &str, minute: &str, second: &str, millis: i16) -> Result<Clock, Refused> {
    let (Ok(hour), Ok(minute), Ok(second)) = (hour.parse::<i8>(), minute.parse::<i8>(), second.parse::<i8>())
    else {
        return Err(form(text, "the time is no time"));
    };
    let impossible = |what: &str, number: i8, last: i8| {
        because(
            "date-impossible",
            text,
            format!("there is no {what} {number}"),
            format!("write {what}s from 00 to {last}"),
        )
    };
    match (hour, minute, second) {
        (24, 0, 0) => {
            Err(because("date-24h", text, "24:00 is 00:00 of the next day", "write the next day with 00:00"))
        }
        (24.., _, _) => Err(impossible("hour", hour, 23)),
        (_, 60.., _) => Err(impossible("minute", minute, 59)),
        (_, 59, 60) => Err(because(
            "date-leap-second",
            text,
            "leap seconds have no place in Unix time",
            "write second 59, or the next minute with second 00",
        )),
        (_, _, 60..) => Err(impossible("second", second, 59)),
        _ => Ok(Clock { hour, minute, second, millis }),
    }
}
