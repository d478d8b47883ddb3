//! What to write instead.

use super::refuse::days_in_month;

/// For a text that is not near to anything.
pub(super) const FORMS: &str = "write a date such as 2024-05-22, 2024-05-22T10:30:00+09:00 or 22 May 2024";

/// For a zone that no letters are known of.
pub(super) const ZONE: &str =
    "write an offset such as -06:00, or an IANA zone such as America/Chicago, in its place";

/// A day that the calendar has.
fn is_day(year: i32, month: i32, day: i32) -> bool {
    (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day)
}

/// For a month over 12: the same numbers with day and month changed about, where that is a day.
pub(super) fn swapped(year: i32, month: i32, day: i32) -> String {
    if is_day(year, day, month) {
        format!("write {year:04}-{day:02}-{month:02} if day and month were changed about")
    } else {
        "write year, month (01 to 12) and day, as in 2024-05-22".to_owned()
    }
}

/// For a day that the month does not have.
pub(super) fn day_of_month(year: i32, month: i32, days: i32) -> String {
    format!("write a day from {year:04}-{month:02}-01 to {year:04}-{month:02}-{days:02}")
}

/// For two small numbers and a year: each reading that is a day.
pub(super) fn both_orders(first: i32, second: i32, year: i32) -> String {
    let day_first = is_day(year, second, first).then(|| format!("{year:04}-{second:02}-{first:02}"));
    let month_first = is_day(year, first, second).then(|| format!("{year:04}-{first:02}-{second:02}"));
    match (day_first, month_first) {
        (Some(one), Some(other)) if one != other => format!("write {one} or {other}"),
        (Some(only), _) | (None, Some(only)) => format!("write {only}"),
        (None, None) => "write year, month and day, as in 2024-05-22".to_owned(),
    }
}

/// For digits alone: a compact day, seconds or milliseconds, where the number of digits tells.
pub(super) fn number(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<i32>().ok());
    match digits.len() {
        4 => format!("write a whole date, as in {digits}-01-01"),
        6 => "write a whole date, as in 2024-05-22".to_owned(),
        8 => match (part(0, 4), part(4, 6), part(6, 8)) {
            (Some(year), Some(month), Some(day)) if is_day(year, month, day) => {
                format!("write {year:04}-{month:02}-{day:02}")
            }
            _ => FORMS.to_owned(),
        },
        9 | 10 => unix(digits, 1000, "seconds"),
        12 | 13 => unix(digits, 1, "milliseconds"),
        _ => FORMS.to_owned(),
    }
}

fn unix(digits: &str, millis: i64, unit: &str) -> String {
    digits
        .parse::<i64>()
        .ok()
        .and_then(|number| jiff::Timestamp::from_millisecond(number.checked_mul(millis)?).ok())
        .map_or_else(|| FORMS.to_owned(), |instant| format!("write {instant} if these are Unix {unit}"))
}
