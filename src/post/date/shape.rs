//! The shape of a written date: which day, which time, which zone, and that nothing else is there.

use super::clock::{self, Clock};
use super::help;
use super::month::{month, nearest_month, weekday, weekday_name};
use super::refuse::{because, form, shown, unless_in_calendar};
use super::scan::Scan;
use super::{DATE_BYTES_MAX, zone};
use crate::diagnostic::Diagnostic;

type Refused = Box<Diagnostic>;

/// A date as written, checked against the calendar.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub(super) year: i16,
    pub(super) month: i8,
    pub(super) day: i8,
    pub(super) time: Option<Clock>,
    pub(super) zone: Zone,
}

/// The zone as written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Zone {
    /// None: the configured one.
    Local,
    /// `Z` or an offset, in seconds east of UTC.
    Offset(i32),
    /// A zone by name.
    Named(jiff::tz::TimeZone),
    /// An offset and the zone that it must be an offset of.
    Both(i32, jiff::tz::TimeZone),
}

/// A day with the weekday that was written before it.
struct Day {
    year: i32,
    month: i32,
    number: i32,
    weekday: Option<i8>,
}

/// Reads the whole of `text`.
pub(super) fn read(text: &str) -> Result<Written, Refused> {
    if text.is_empty() {
        let empty = Diagnostic::error("date-empty", "the date is empty");
        return Err(Box::new(empty.help(format!("{}, or leave the key out", help::FORMS))));
    }
    if text.len() > DATE_BYTES_MAX {
        return Err(form(text, format!("it has more than {DATE_BYTES_MAX} bytes")));
    }
    let mut scan = Scan::new(text);
    let day = read_day(text, &mut scan)?;
    let date_end = text.len() - scan.rest().len();
    let time = clock::read(text, &mut scan)?;
    let zone = zone::read(text, &mut scan, time.is_some())?;
    if !scan.is_done() {
        let kept = text.get(..if time.is_some() { text.len() - scan.rest().len() } else { date_end });
        return Err(because(
            "date-form",
            text,
            format!("\"{}\" stands after the date", shown(scan.rest().trim_start())),
            format!("write {} and nothing after it", kept.unwrap_or(text).trim_end()),
        ));
    }
    unless_in_calendar(text, day.year, day.month, day.number)?;
    let (Ok(year), Ok(month), Ok(number)) =
        (i16::try_from(day.year), i8::try_from(day.month), i8::try_from(day.number))
    else {
        return Err(form(text, "it has too many digits"));
    };
    check_weekday(text, &day, year, month, number)?;
    Ok(Written { year, month, day: number, time, zone })
}

fn check_weekday(text: &str, day: &Day, year: i16, month: i8, number: i8) -> Result<(), Refused> {
    let Some(written) = day.weekday else {
        return Ok(());
    };
    let real = jiff::civil::Date::new(year, month, number)
        .map_or(written, |date| date.weekday().to_monday_one_offset());
    if real == written {
        return Ok(());
    }
    let iso = format!("{year:04}-{month:02}-{number:02}");
    Err(because(
        "date-weekday",
        text,
        format!("{iso} is a {}, not a {}", weekday_name(real), weekday_name(written)),
        format!("write {iso}, or correct the day or the weekday"),
    ))
}

fn read_day(text: &str, scan: &mut Scan) -> Result<Day, Refused> {
    match scan.peek() {
        Some(first) if first.is_ascii_digit() => read_numbers(text, scan),
        Some(first) if first.is_ascii_alphabetic() => read_words(text, scan),
        Some('+' | '-') => Err(signed(text, scan)),
        _ => Err(unknown(text)),
    }
}

/// `+012024-01-01`, `-0044-03-15`: years that are written with a sign have no four digits.
fn signed(text: &str, scan: &mut Scan) -> Refused {
    scan.eat(&['+', '-']);
    let year = scan.digits();
    if year.is_empty() || scan.peek() != Some('-') {
        return form(text, "it begins with a sign");
    }
    because(
        "date-range",
        text,
        "a year has four digits and no sign; the id holds 1970 to 9999",
        "write a year from 1970 to 9999",
    )
}

/// A day that begins with a number.
fn read_numbers(text: &str, scan: &mut Scan) -> Result<Day, Refused> {
    let first = scan.digits();
    match scan.peek() {
        Some('-' | '/' | '.') => read_three(text, first, scan),
        Some('년') => read_marked(text, first, scan, ['년', '월', '일']),
        Some('年') => read_marked(text, first, scan, ['年', '月', '日']),
        Some(':') => Err(time_only(text)),
        None => Err(because("date-number", text, "a bare number has no unit", help::number(first))),
        Some('T' | 't') if first.len() == 8 => {
            Err(because("date-form", text, "year, month and day run together", help::number(first)))
        }
        Some(' ' | '\t') => {
            let after_number = *scan;
            scan.blanks();
            if scan.peek().is_some_and(|next| matches!(next, '년' | '年')) {
                let marks =
                    if scan.peek() == Some('년') { ['년', '월', '일'] } else { ['年', '月', '日'] };
                return read_marked(text, first, scan, marks);
            }
            if scan.peek().is_some_and(|next| next.is_ascii_alphabetic()) {
                return read_day_month_year(text, first, None, scan);
            }
            *scan = after_number;
            Err(form(text, format!("{} is only a number", shown(first))))
        }
        Some(_) => Err(unknown(text)),
    }
}

/// Three numbers with one kind of mark between them.
fn read_three(text: &str, first: &str, scan: &mut Scan) -> Result<Day, Refused> {
    let mark = scan.eat(&['-', '/', '.']).unwrap_or('-');
    let second = scan.digits();
    if second.is_empty() {
        return Err(form(text, format!("no number stands after the first \"{mark}\"")));
    }
    let Some(second_mark) = scan.eat(&['-', '/', '.']) else {
        return Err(two_numbers(text, first, second, mark));
    };
    let third = scan.digits();
    let (Some(one), Some(two), Some(three)) = (number(first), number(second), number(third)) else {
        return Err(form(text, "it needs three numbers: year, month and day"));
    };
    let small = |digits: &str| (1..=2).contains(&digits.len());
    match (first.len(), small(second), third.len()) {
        (4, true, 1 | 2) if mark == second_mark && mark != '.' => {
            Ok(Day { year: one, month: two, number: three, weekday: None })
        }
        (4, true, 1 | 2) => Err(because(
            "date-form",
            text,
            "year, month and day are divided by \"-\" or by \"/\"",
            format!("write {one:04}-{two:02}-{three:02}"),
        )),
        (5.., true, 1 | 2) => Err(because(
            "date-range",
            text,
            format!("the year has {} digits", first.len()),
            "write a year of four digits, from 1970 to 9999",
        )),
        (1 | 2, true, 4) => Err(because(
            "date-ambiguous-order",
            text,
            "the order of day and month is not certain",
            help::both_orders(one, two, three),
        )),
        (1..=3, true, 1..=3) => Err(because(
            "date-year",
            text,
            "the year has not four digits",
            "write a year of four digits first, as in 2024-05-22",
        )),
        _ => Err(form(text, "month and day have one or two digits")),
    }
}

fn two_numbers(text: &str, first: &str, second: &str, mark: char) -> Refused {
    match (first.len(), second.len()) {
        (_, _) if mark == '.' => {
            because("date-number", text, "a bare number has no unit", help::number(first))
        }
        (4, 1 | 2) => because(
            "date-form",
            text,
            "the day is missing",
            format!("write the day too, as in {first}-{second:0>2}-01"),
        ),
        (4, 3) => because(
            "date-form",
            text,
            "a day of the year is not read",
            "write year, month and day, as in 2024-05-22",
        ),
        (_, _) => because(
            "date-form",
            text,
            "it has two numbers in place of three",
            "write year, month and day, as in 2024-05-22",
        ),
    }
}

/// `2024년 5월 22일` and `2024年5月22日`; blanks are optional.
fn read_marked(text: &str, year: &str, scan: &mut Scan, marks: [char; 3]) -> Result<Day, Refused> {
    let [year_mark, month_mark, day_mark] = marks;
    let incomplete =
        || form(text, format!("it needs three numbers with {year_mark}, {month_mark} and {day_mark}"));
    scan.eat(&[year_mark]).ok_or_else(incomplete)?;
    scan.blanks();
    let month = scan.digits();
    scan.blanks();
    scan.eat(&[month_mark]).ok_or_else(incomplete)?;
    scan.blanks();
    let day = scan.digits();
    scan.blanks();
    scan.eat(&[day_mark]).ok_or_else(incomplete)?;
    four_digits(text, year)?;
    match (number(year), number(month), number(day)) {
        (Some(year), Some(month), Some(day)) => Ok(Day { year, month, number: day, weekday: None }),
        _ => Err(incomplete()),
    }
}

/// A day that begins with a word: a weekday before one of the forms with a month's name, or a month.
fn read_words(text: &str, scan: &mut Scan) -> Result<Day, Refused> {
    let word = scan.letters();
    let Some(named) = weekday(word) else {
        return read_month_day_year(text, word, None, scan);
    };
    if scan.eat(&[',']).is_none() {
        return Err(form(text, "no comma stands after the weekday"));
    }
    scan.blanks();
    if scan.peek().is_some_and(|next| next.is_ascii_digit()) {
        let day = scan.digits();
        if !scan.blanks() {
            return Err(form(text, "the month's name does not stand after the day"));
        }
        return read_day_month_year(text, day, Some(named), scan);
    }
    let word = scan.letters();
    read_month_day_year(text, word, Some(named), scan)
}

/// `22 May 2024`, with the day and the blank after it taken.
fn read_day_month_year(text: &str, day: &str, weekday: Option<i8>, scan: &mut Scan) -> Result<Day, Refused> {
    let word = scan.letters();
    let Some(named) = month(word) else {
        return Err(no_month(text, word));
    };
    scan.eat(&['.']);
    if day.len() > 2 {
        return Err(because(
            "date-form",
            text,
            "the day is missing",
            format!("write the day too, as in {day}-{named:02}-01"),
        ));
    }
    if !scan.blanks() {
        return Err(form(text, "the year does not stand after the month's name"));
    }
    named_day(text, day, named, scan.digits(), weekday)
}

/// `May 22, 2024`, with the month's name taken.
fn read_month_day_year(text: &str, word: &str, weekday: Option<i8>, scan: &mut Scan) -> Result<Day, Refused> {
    let Some(named) = month(word) else {
        return Err(no_month(text, word));
    };
    scan.eat(&['.']);
    scan.blanks();
    let day = scan.digits();
    if day.len() > 2 || day.is_empty() {
        return Err(form(text, "the day does not stand after the month's name"));
    }
    let comma = scan.eat(&[',']).is_some();
    if !scan.blanks() && !comma {
        return Err(form(text, "the year does not stand after the day"));
    }
    named_day(text, day, named, scan.digits(), weekday)
}

fn named_day(text: &str, day: &str, month: i8, year: &str, weekday: Option<i8>) -> Result<Day, Refused> {
    four_digits(text, year)?;
    let (Some(year), Some(day)) = (number(year), number(day)) else {
        return Err(form(text, "day and year are numbers"));
    };
    Ok(Day { year, month: i32::from(month), number: day, weekday })
}

fn four_digits(text: &str, year: &str) -> Result<(), Refused> {
    match year.len() {
        4 => Ok(()),
        0 => Err(form(text, "the year is missing")),
        5.. => Err(because(
            "date-range",
            text,
            format!("the year has {} digits", year.len()),
            "write a year of four digits, from 1970 to 9999",
        )),
        _ => Err(because(
            "date-year",
            text,
            "the year has not four digits",
            "write a year of four digits, as in 2024-05-22",
        )),
    }
}

fn no_month(text: &str, word: &str) -> Refused {
    match nearest_month(word).filter(|_| word.len() >= 3) {
        Some(near) => because(
            "date-form",
            text,
            format!("{} is no English month", shown(word)),
            format!("write {near}, or year, month and day, as in 2024-05-22"),
        ),
        None => unknown(text),
    }
}

fn unknown(text: &str) -> Refused {
    let foreign = text.chars().find(|next| !next.is_ascii());
    match foreign {
        Some(foreign) => form(text, format!("it holds \"{}\"", shown(&foreign.to_string()))),
        None => form(text, "it has none of the accepted forms"),
    }
}

fn time_only(text: &str) -> Refused {
    because(
        "date-time-only",
        text,
        "it is a time without a date",
        format!("write the day before it, as in 2024-05-22T{}", shown(text)),
    )
}

/// A number of few digits; none for no digits and for too many.
fn number(digits: &str) -> Option<i32> {
    digits.parse().ok()
}
