//! The zone after a time: `Z`, an offset, `GMT` and `UTC`, an IANA name. Every other word of letters
//! is refused, since most of them stand for several zones.

use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::help;
use super::refuse::{because, form, shown};
use super::scan::Scan;
use super::shape::Zone;
use crate::diagnostic::{Diagnostic, nearest};

type Refused = Box<Diagnostic>;

/// Letters that are in use for zones, with what to write in their place.
const LETTERS: [(&str, &str); 30] = [
    ("ACST", "+09:30"),
    ("ADT", "-03:00"),
    ("AEDT", "+11:00"),
    ("AEST", "+10:00"),
    ("AKST", "-09:00"),
    ("AST", "-04:00 (Atlantic) or +03:00 (Arabia)"),
    ("AWST", "+08:00"),
    ("BST", "+01:00 (Britain), +06:00 (Bangladesh) or +11:00 (Bougainville)"),
    ("CDT", "-05:00 (North America) or -04:00 (Cuba)"),
    ("CEST", "+02:00"),
    ("CET", "+01:00"),
    ("CST", "-06:00 (North America), +08:00 (China) or -05:00 (Cuba)"),
    ("EDT", "-04:00"),
    ("EEST", "+03:00"),
    ("EET", "+02:00"),
    ("EST", "-05:00"),
    ("HKT", "+08:00"),
    ("HST", "-10:00"),
    ("ICT", "+07:00"),
    ("IST", "+05:30 (India), +01:00 (Ireland) or +02:00 (Israel)"),
    ("JST", "+09:00"),
    ("KST", "+09:00"),
    ("MDT", "-06:00"),
    ("MSK", "+03:00"),
    ("MST", "-07:00 (North America) or +08:00 (Malaysia)"),
    ("NZST", "+12:00"),
    ("PDT", "-07:00"),
    ("PST", "-08:00 (North America) or +08:00 (Philippines)"),
    ("SGT", "+08:00"),
    ("WET", "+00:00"),
];

/// Most letters of a word that is taken for a zone's.
const LETTERS_MAX: usize = 5;

/// The zone data that is compiled in, never the host's.
fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

/// The zone of an IANA name (`Asia/Seoul`, `UTC`), from the data that is compiled in. The error is
/// (message, help).
pub fn timezone(name: &str) -> Result<TimeZone, (String, String)> {
    if is_utc(name) {
        return Ok(TimeZone::UTC);
    }
    if name.contains('/')
        && let Ok(zone) = database().get(name)
    {
        return Ok(zone);
    }
    let message = format!("{} is not an IANA time zone", shown(name));
    let letters = LETTERS.iter().any(|(letters, _)| letters.eq_ignore_ascii_case(name));
    let help = match nearest_name(name) {
        Some(near) if !letters => format!("write {near}"),
        _ => "write a name with a place, such as Asia/Seoul, or UTC".to_owned(),
    };
    Err((message, help))
}

fn nearest_name(name: &str) -> Option<String> {
    let known: Vec<String> = database()
        .available()
        .map(|known| known.as_str().to_owned())
        .filter(|known| known.contains('/'))
        .collect();
    let same_place = |known: &&String| {
        known.rsplit('/').next().is_some_and(|place| place.eq_ignore_ascii_case(&name.replace(' ', "_")))
    };
    let by_place = known.iter().find(same_place).cloned();
    by_place.or_else(|| nearest(name, known.iter().map(String::as_str)).map(str::to_owned))
}

fn is_utc(word: &str) -> bool {
    ["UTC", "GMT", "UT"].iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// One zone as written, before it is known whether another stands beside it.
enum Part {
    Offset(i32),
    Name(TimeZone),
}

/// The zone or zones at the cursor. `after_time` tells that a time was written: an offset may follow it
/// at once, while after a day alone there must be a blank, so that a range of days is not taken for one.
pub(super) fn read(text: &str, scan: &mut Scan, after_time: bool) -> Result<Zone, Refused> {
    let Some(first) = read_part(text, scan, after_time)? else {
        return Ok(Zone::Local);
    };
    let second = read_part(text, scan, true)?;
    if second.is_some() && read_part(text, scan, true)?.is_some() {
        return Err(two_zones(text));
    }
    match (first, second) {
        (Part::Offset(offset), None) => Ok(Zone::Offset(offset)),
        (Part::Name(name), None) => Ok(Zone::Named(name)),
        (Part::Offset(offset), Some(Part::Name(name))) => Ok(Zone::Both(offset, name)),
        (_, Some(_)) => Err(two_zones(text)),
    }
}

fn two_zones(text: &str) -> Refused {
    because("date-zone", text, "it names two zones", "write one offset, as in 2024-05-22T10:30:00+09:00")
}

fn read_part(text: &str, scan: &mut Scan, attached: bool) -> Result<Option<Part>, Refused> {
    let before = *scan;
    let blank = scan.blanks();
    if !blank && !attached {
        return Ok(None);
    }
    let part = match scan.peek() {
        Some('+' | '-') => Some(Part::Offset(read_offset(text, scan)?)),
        Some('[') => Some(Part::Name(read_bracket(text, scan)?)),
        Some(next) if next.is_ascii_alphabetic() => read_word(text, scan, blank)?,
        _ => None,
    };
    if part.is_none() {
        *scan = before;
    }
    Ok(part)
}

/// `+09:00`, `+0900`, `+09`.
fn read_offset(text: &str, scan: &mut Scan) -> Result<i32, Refused> {
    let sign = if scan.eat(&['+', '-']) == Some('-') { -1 } else { 1 };
    let first = scan.digits();
    let (hours, minutes) = match (first.len(), scan.peek()) {
        (4, _) => first.split_at_checked(2).unwrap_or((first, "")),
        (2, Some(':')) => {
            scan.eat(&[':']);
            (first, scan.digits())
        }
        (2, _) => (first, "00"),
        _ => (first, ""),
    };
    if hours.len() != 2 || minutes.len() != 2 {
        return Err(because(
            "date-zone",
            text,
            "an offset has two digits for hours and two for minutes",
            "write an offset such as +09:00",
        ));
    }
    match (hours.parse::<i32>(), minutes.parse::<i32>()) {
        (Ok(hours @ 0..=23), Ok(minutes @ 0..=59)) => Ok(sign * (hours * 3600 + minutes * 60)),
        _ => Err(because(
            "date-zone",
            text,
            format!("there is no offset of {hours}:{minutes}"),
            "write an offset with hours to 23 and minutes to 59, such as +09:00",
        )),
    }
}

/// `[Asia/Seoul]`.
fn read_bracket(text: &str, scan: &mut Scan) -> Result<TimeZone, Refused> {
    scan.eat(&['[']);
    let name = scan.run(|next| next != ']');
    if scan.eat(&[']']).is_none() {
        return Err(form(text, "the bracket is not closed"));
    }
    lookup(text, name)
}

/// `Z`, `GMT`, `UTC`, an IANA name, or letters that are refused. None where it is no zone's word but
/// other text.
fn read_word(text: &str, scan: &mut Scan, blank: bool) -> Result<Option<Part>, Refused> {
    let word = scan.run(|next| next.is_ascii_alphanumeric() || matches!(next, '/' | '_' | '-' | '+' | ':'));
    if word.eq_ignore_ascii_case("Z") {
        return Ok(Some(Part::Offset(0)));
    }
    if word.contains('/') {
        return if blank { lookup(text, word).map(|zone| Some(Part::Name(zone))) } else { Ok(None) };
    }
    let letters_end = word.find(|next: char| !next.is_ascii_alphabetic()).unwrap_or(word.len());
    let (letters, rest) = word.split_at_checked(letters_end).unwrap_or((word, ""));
    let is_zone = is_utc(letters) || letters.eq_ignore_ascii_case("Z");
    if is_zone && rest.starts_with(['+', '-']) {
        return Err(two_zones(text));
    }
    if is_zone && rest.is_empty() {
        return Ok(Some(Part::Name(TimeZone::UTC)));
    }
    if is_letters(letters) && (rest.is_empty() || rest.starts_with(['+', '-'])) {
        return Err(refused_letters(text, letters));
    }
    Ok(None)
}

/// Whether a word looks like the letters of a zone rather than like text.
fn is_letters(word: &str) -> bool {
    let known = LETTERS.iter().any(|(letters, _)| letters.eq_ignore_ascii_case(word));
    known
        || ((1..=LETTERS_MAX).contains(&word.len()) && word.chars().all(|letter| letter.is_ascii_uppercase()))
}

fn refused_letters(text: &str, word: &str) -> Refused {
    let upper = word.to_ascii_uppercase();
    let known = LETTERS.iter().find(|(letters, _)| *letters == upper).map(|(_, offsets)| *offsets);
    match known {
        Some(offsets) if offsets.contains(" or ") => because(
            "date-zone",
            text,
            format!("{upper} stands for several zones"),
            format!("write {offsets} in its place, or an IANA zone such as America/Chicago"),
        ),
        Some(offset) => because(
            "date-zone",
            text,
            format!("the letters {upper} name no zone for certain"),
            format!("write {offset} in their place, or an IANA zone such as Asia/Seoul"),
        ),
        None => because("date-zone", text, format!("{} is no known zone", shown(word)), help::ZONE),
    }
}

fn lookup(text: &str, name: &str) -> Result<TimeZone, Refused> {
    timezone(name).map_err(|(message, help)| because("date-zone", text, message, help))
}
