//! The diagnostics of a text that is no date: the value, what is wrong with it, what to write.

pub(super) use super::super::slug::shown;
use super::help;
use super::month::month_name;
use crate::diagnostic::Diagnostic;

/// `TEXT is not a date: WHY`.
pub(super) fn because(
    code: &'static str,
    text: &str,
    why: impl AsRef<str>,
    help: impl Into<String>,
) -> Box<Diagnostic> {
    let message = format!("{} is not a date: {}", shown(text), why.as_ref());
    Box::new(Diagnostic::error(code, message).help(help))
}

/// The shape is none of the accepted ones.
pub(super) fn form(text: &str, why: impl AsRef<str>) -> Box<Diagnostic> {
    because("date-form", text, why, help::FORMS)
}

/// Refuses a day that the calendar does not have, and a year that does not have four digits.
pub(in crate::post) fn unless_in_calendar(
    text: &str,
    year: i32,
    month: i32,
    day: i32,
) -> Result<(), Box<Diagnostic>> {
    if !(1..=12).contains(&month) {
        return Err(because(
            "date-impossible",
            text,
            format!("there is no month {month}"),
            help::swapped(year, month, day),
        ));
    }
    let days = days_in_month(year, month);
    if (1..=days).contains(&day) {
        return Ok(());
    }
    let why = if day == 0 {
        "there is no day 0".to_owned()
    } else if month == 2 {
        format!("February {year:04} has {days} days")
    } else {
        format!("{} has {days} days", month_name(month))
    };
    Err(because("date-impossible", text, why, help::day_of_month(year, month, days)))
}

/// Days of a month of the proleptic Gregorian calendar; 0 where there is no such month.
pub(super) fn days_in_month(year: i32, month: i32) -> i32 {
    let (Ok(year), Ok(month)) = (i16::try_from(year), i8::try_from(month)) else {
        return 0;
    };
    jiff::civil::Date::new(year, month, 1).map_or(0, |first| i32::from(first.days_in_month()))
}
