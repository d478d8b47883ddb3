//! English names of months and weekdays.

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Number of letters of a short name.
const SHORT_LETTERS: usize = 3;

/// The month (1 to 12) that `word` names: whole, its first three letters, or `Sept`; in any case.
pub(super) fn month(word: &str) -> Option<i8> {
    if word.eq_ignore_ascii_case("sept") {
        return Some(9);
    }
    position(&MONTHS, word)
}

/// The weekday (1 is Monday) that `word` names: whole or its first three letters; in any case.
pub(super) fn weekday(word: &str) -> Option<i8> {
    position(&WEEKDAYS, word)
}

/// The English name of a month from 1 to 12.
pub(super) fn month_name(month: i32) -> &'static str {
    usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("no month")
}

/// The English name of a weekday from 1 (Monday) to 7.
pub(super) fn weekday_name(weekday: i8) -> &'static str {
    usize::try_from(weekday - 1).ok().and_then(|at| WEEKDAYS.get(at)).copied().unwrap_or("no day")
}

/// The English month name nearest to `word`, if a month is likely meant.
pub(super) fn nearest_month(word: &str) -> Option<&'static str> {
    crate::diagnostic::nearest(word, MONTHS)
}

fn position(names: &[&str], word: &str) -> Option<i8> {
    let at = names.iter().position(|name| {
        name.eq_ignore_ascii_case(word)
            || name.get(..SHORT_LETTERS).is_some_and(|short| short.eq_ignore_ascii_case(word))
    })?;
    i8::try_from(at + 1).ok()
}
