//! Every accepted and every refused form, with what the message must name.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

fn utc(text: &str) -> Result<String, Box<Diagnostic>> {
    at(text, "UTC")
}

fn at(text: &str, zone: &str) -> Result<String, Box<Diagnostic>> {
    let zone = timezone(zone).unwrap();
    parse(text, &zone).map(|instant| PublishedAt::from_unix_millis(instant.unix_millis).unwrap().to_rfc3339())
}

/// The code, then message and help in one line.
fn refused(text: &str, zone: &str) -> (&'static str, String) {
    match at(text, zone) {
        Ok(instant) => panic!("{text} was read as {instant}"),
        Err(refused) => (refused.code, format!("{} | {}", refused.message, refused.help)),
    }
}

#[test]
fn accepted_forms() {
    let same = "2031-08-09T06:07:00Z";
    for text in [
        "2031-08-09T06:07:00Z",
        "2031-08-09t06:07:00z",
        "2031-08-09 06:07:00Z",
        "2031-08-09 06:07Z",
        "2031-08-09  06:07 Z",
        "2031-8-9 6:07 Z",
        "2031/08/09 06:07Z",
        "2031/8/9 6:07",
        "2031-08-09T06:07",
        "2031-08-09T06:07:00.000",
        "2031-08-09T06:07:00.0009Z",
        "2031-08-09T15:07:00+09:00",
        "2031-08-09T15:07:00+0900",
        "2031-08-09T15:07:00+09",
        "2031-08-09 15:07 +0900",
        "2031-08-09 15:07 +09:00",
        "2031-08-09 15:07 +09",
        "2031-08-09T01:22:00-04:45",
        "2031-08-09 15:07 Asia/Seoul",
        "2031-08-09 15:07 asia/seoul",
        "2031-08-09T15:07[Asia/Seoul]",
        "2031-08-09T15:07+09:00[Asia/Seoul]",
        "2031-08-09 15:07 +0900 Asia/Tokyo",
        "2031-08-09T06:07Z[UTC]",
        "2031-08-09 06:07:00 +0000 UTC",
        "2031-08-09 06:07 GMT",
        "2031-08-09 06:07 utc",
        "2031-08-09 06:07UTC",
        "Sat, 09 Aug 2031 06:07:00 GMT",
        "Sat, 9 Aug 2031 15:07:00 +0900",
        "9 Aug 2031 06:07 UT",
        "9 August 2031 06:07",
        "August 9, 2031 06:07",
        "aug 9 2031 06:07",
        "Saturday, August 9, 2031 06:07",
        "2031년 8월 9일 06:07",
        "2031年8月9日 06:07",
    ] {
        assert_eq!(utc(text).as_deref().map_err(|refused| refused.message.clone()), Ok(same), "{text}");
    }
}

#[test]
fn days_alone_are_midnight_in_the_zone() {
    for text in [
        "1999-11-12",
        "1999/11/12",
        "12 Nov 1999",
        "Nov 12, 1999",
        "Nov. 12, 1999",
        "november 12, 1999",
        "Fri, 12 Nov 1999",
        "1999년 11월 12일",
        "1999년11월12일",
        "1999 年 11 月 12 日",
    ] {
        assert_eq!(utc(text).unwrap(), "1999-11-12T00:00:00Z", "{text}");
        assert_eq!(at(text, "Asia/Tokyo").unwrap(), "1999-11-11T15:00:00Z", "{text}");
        assert_eq!(at(text, "America/Caracas").unwrap(), "1999-11-12T04:00:00Z", "{text}");
    }
    assert_eq!(utc("1999-11-12 Asia/Tokyo").unwrap(), "1999-11-11T15:00:00Z");
    assert_eq!(utc("1999-11-12 +0300").unwrap(), "1999-11-11T21:00:00Z");
}

#[test]
fn fractions_are_cut_to_the_millisecond() {
    for (fraction, millis) in [
        ("5", 500),
        ("05", 50),
        ("123", 123),
        ("1239", 123),
        ("999999999", 999),
        ("00000000000000000000000000001", 0),
    ] {
        let text = format!("2001-02-03T04:05:06.{fraction}Z");
        let instant = parse(&text, &TimeZone::UTC).unwrap();
        assert_eq!(instant.unix_millis % 1000, millis, "{text}");
    }
    assert_eq!(utc("9999-12-31T23:59:59.99999Z").unwrap(), "9999-12-31T23:59:59.999Z");
}

#[test]
fn an_offset_is_never_dropped_and_an_explicit_one_beats_the_configured_zone() {
    assert_eq!(at("2031-08-09T00:30+09:00", "America/New_York").unwrap(), "2031-08-08T15:30:00Z");
    assert_eq!(at("2031-08-09T00:30-00:00", "America/New_York").unwrap(), "2031-08-09T00:30:00Z");
    assert_eq!(at("2031-08-09 00:30", "America/New_York").unwrap(), "2031-08-09T04:30:00Z");
    assert_eq!(at("2031-08-09 00:30 UTC", "America/New_York").unwrap(), "2031-08-09T00:30:00Z");
    let instant = parse("2031-08-09T00:30+09:00", &TimeZone::UTC).unwrap();
    assert_eq!(instant.written_day, (2031, 8, 9), "the day as written, not the one in UTC");
}

#[test]
fn days_and_times_that_do_not_exist() {
    for (text, code, says) in [
        ("2027-02-29", "date-impossible", "2027-02-29 is not a date: February 2027 has 28 days"),
        ("1900-02-29", "date-impossible", "February 1900 has 28 days"),
        (
            "2024-06-31T10:00Z",
            "date-impossible",
            "June has 30 days | write a day from 2024-06-01 to 2024-06-30",
        ),
        ("2024-00-10", "date-impossible", "there is no month 0"),
        ("2024-10-00", "date-impossible", "there is no day 0"),
        ("2024-25-12", "date-impossible", "there is no month 25 | write 2024-12-25"),
        ("2024-45-99", "date-impossible", "there is no month 45"),
        ("31 Nov 2023", "date-impossible", "November has 30 days"),
        ("2023년 4월 31일", "date-impossible", "April has 30 days"),
        ("2024-06-01T24:30Z", "date-impossible", "there is no hour 24"),
        ("2024-06-01T31:00Z", "date-impossible", "there is no hour 31"),
        ("2024-06-01T10:60Z", "date-impossible", "there is no minute 60"),
        ("2024-06-01T10:10:61Z", "date-impossible", "there is no second 61"),
        ("2024-06-01T10:10:60Z", "date-impossible", "there is no second 60"),
        ("2024-06-01T24:00", "date-24h", "24:00 is 00:00 of the next day"),
        ("2024-06-01 24:00:00 +0900", "date-24h", "next day"),
        ("2015-06-30T23:59:60Z", "date-leap-second", "leap second"),
        ("2015-07-01T08:59:60+09:00", "date-leap-second", "leap second"),
    ] {
        let (found, message) = refused(text, "UTC");
        assert_eq!(found, code, "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn the_order_of_day_and_month_is_never_guessed() {
    for (text, says) in [
        ("11/12/2024", "write 2024-12-11 or 2024-11-12"),
        ("7-8-2019", "write 2019-08-07 or 2019-07-08"),
        ("25/12/2024 10:00", "write 2024-12-25"),
        ("12/25/2024", "write 2024-12-25"),
        ("25.12.2024", "write 2024-12-25"),
        ("05/05/2024", "write 2024-05-05"),
        ("31/31/2024", "write year, month and day"),
    ] {
        let (code, message) = refused(text, "UTC");
        assert_eq!(code, "date-ambiguous-order", "{text}: {message}");
        assert!(message.ends_with(says) || message.contains(&format!("| {says}")), "{text}: {message}");
    }
    for text in ["19-05-06", "1/2/19", "019-05-06", "5 May 19", "May 5, 19"] {
        assert_eq!(refused(text, "UTC").0, "date-year", "{text}");
    }
}

#[test]
fn years_that_the_id_cannot_hold() {
    for (text, zone, says) in [
        ("1969-12-31", "UTC", "before 1970"),
        ("1970-01-01", "Asia/Seoul", "before 1970"),
        ("1969-12-31T23:59:59.9999Z", "UTC", "before 1970"),
        ("0001-01-01", "UTC", "before 1970"),
        ("9999-12-31T23:00-05:00", "UTC", "after 9999"),
        ("9999-12-31 23:00", "America/New_York", "after 9999"),
        ("12024-01-01", "UTC", "the year has 5 digits"),
        ("123456-01-01T00:00Z", "UTC", "the year has 6 digits"),
        ("5 May 20245", "UTC", "the year has 5 digits"),
        ("20245년 5월 1일", "UTC", "the year has 5 digits"),
        ("+002024-01-01", "UTC", "no sign"),
        ("-0001-01-01", "UTC", "no sign"),
    ] {
        let (code, message) = refused(text, zone);
        assert_eq!(code, "date-range", "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
    assert_eq!(at("1970-01-01T09:00", "Asia/Seoul").unwrap(), "1970-01-01T00:00:00Z");
}

#[test]
fn zones_that_are_refused() {
    for (text, says) in [
        ("2024-06-01 10:00 IST", "IST stands for several zones | write +05:30 (India)"),
        ("2024-06-01 10:00 JST", "JST name no zone for certain | write +09:00"),
        ("2024-06-01 10:00 PDT", "-07:00"),
        ("2024-06-01T10:00:00EST", "-05:00"),
        ("2024-06-01 10:00 QQT", "QQT is no known zone | write an offset such as -06:00"),
        ("Sat, 01 Jun 2024 10:00:00 EDT", "-04:00"),
        ("2024-06-01 10:00 +0900 KST", "KST"),
        ("2024-06-01T10:00+24:00", "there is no offset of 24:00"),
        ("2024-06-01T10:00+05:60", "there is no offset of 05:60"),
        ("2024-06-01T10:00+9", "two digits for hours"),
        ("2024-06-01T10:00+9:00", "two digits for hours"),
        ("2024-06-01T10:00+090", "two digits for hours"),
        ("2024-06-01T10:00Z+09:00", "two zones"),
        ("2024-06-01T10:00+09:00Z", "two zones"),
        ("2024-06-01T10:00+09:00+09:00", "two zones"),
        ("2024-06-01T10:00 GMT+9", "two zones"),
        ("2024-06-01T10:00 UTC+09:00", "two zones"),
        ("2024-06-01T10:00 Asia/Seoul +09:00", "two zones"),
        ("2024-06-01T10:00Z[Asia/Seoul]", "Asia/Seoul is at +09:00 then"),
        ("2024-06-01T10:00+08:00[Asia/Seoul]", "Asia/Seoul is at +09:00 then"),
        ("2024-06-01T10:00-05:00[America/New_York]", "America/New_York is at -04:00 then"),
        ("2024-06-01 10:00 Asia/Sool", "Asia/Sool is not an IANA time zone | write Asia/Seoul"),
        ("2024-06-01 10:00 Europe/Atlantis", "Europe/Atlantis is not an IANA time zone"),
        ("2024-06-01T10:00[]", "is not an IANA time zone"),
        ("2024-06-01T10:00[EST]", "EST is not an IANA time zone"),
    ] {
        let (code, message) = refused(text, "UTC");
        assert_eq!(code, "date-zone", "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn the_whole_text_must_be_a_date() {
    for (text, says) in [
        ("2024-06-01 (final)", "\"(final)\" stands after the date | write 2024-06-01 and nothing after it"),
        ("2024-06-01 draft", "stands after the date"),
        ("2024-06-01T10:00Z today", "write 2024-06-01T10:00Z and nothing after it"),
        ("2024-06-01 10:00:00 2024 +0000", "\"2024 +0000\" stands after the date"),
        ("2024-06-01-", "stands after the date"),
        ("2024-06-01Z", "stands after the date"),
        ("2024-06-01+09:00", "stands after the date"),
        ("2024-06-01 2024-06-02", "stands after the date"),
        ("Tue, 05 Mar 2013 10:00:00 +0900 (KST)", "\"(KST)\" stands after the date"),
        ("2024년 5월 22일 (수)", "stands after the date"),
    ] {
        let (code, message) = refused(text, "UTC");
        assert_eq!(code, "date-form", "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn what_is_no_date_at_all() {
    for text in [
        "yesterday",
        "around 2024-06-01",
        "on 2024-06-01",
        "Last Modified",
        "git Created",
        "true",
        "Spring 2024",
        "June 2024",
        "2024 June",
        "3. Juni 2024",
        "3 juin 2024",
        "6월 1일",
        "2024년 6월",
        "２０２４-06-01",
        "2024-06",
        "2024/06",
        "2024-06/01",
        "2024.06.01",
        "2024-W23-6",
        "2024-153",
        "2024-Jun-01",
        "1-Jun-2024",
        "2024-006-01",
        "2024-06-001",
        "20240601T100000Z",
        "2024-06-01T",
        "2024-06-01T10",
        "2024-06-01 10",
        "2024-06-01T10:0",
        "2024-06-01T10:00:0",
        "2024-06-01T100:00",
        "2024-06-01T10:00:00.",
        "2024-06-01T10:00:00,5Z",
        "2024-06-01 3:00 PM",
        "2024-06-01 3:00pm",
        "Sat 01 Jun 2024",
        "1st June 2024",
        "June 1st, 2024",
        "{{ date }}",
        "2024-06-01\n",
        "2024\u{a0}-06-01",
        "—",
    ] {
        let (code, message) = refused(text, "UTC");
        assert_eq!(code, "date-form", "{text}: {message}");
    }
    for (text, code, says) in [
        ("", "date-empty", "the date is empty"),
        ("   ", "date-empty", "the date is empty"),
        ("20240601", "date-number", "write 2024-06-01"),
        ("20241301", "date-number", "write a date such as"),
        ("1717236000", "date-number", "write 2024-06-01T10:00:00Z if these are Unix seconds"),
        ("1717236000000", "date-number", "write 2024-06-01T10:00:00Z if these are Unix milliseconds"),
        ("2024", "date-number", "a bare number"),
        ("0", "date-number", "a bare number"),
        ("2024.5", "date-number", "a bare number"),
        ("10:20:30", "date-time-only", "it is a time without a date"),
        ("7:05", "date-time-only", "it is a time without a date"),
        ("Sun, 01 Jun 2024", "date-weekday", "2024-06-01 is a Saturday, not a Sunday"),
        ("3 Jnue 2024", "date-form", "Jnue is no English month | write June"),
        ("2024-06", "date-form", "the day is missing | write the day too, as in 2024-06-01"),
    ] {
        let (found, message) = refused(text, "UTC");
        assert_eq!(found, code, "{text}: {message}");
        assert!(message.contains(says), "{text}: {message}");
    }
}

#[test]
fn a_gap_is_an_error_and_an_overlap_the_earlier_with_a_warning() {
    let (code, message) = refused("2023-03-12 02:45", "America/Chicago");
    assert_eq!(code, "date-gap");
    assert!(message.contains("America/Chicago"), "{message}");
    assert!(message.contains("write 2023-03-12T03:45:00-05:00"), "{message}");
    let (code, message) = refused("2017-10-15", "America/Sao_Paulo");
    assert_eq!(code, "date-gap", "midnight is in the gap there: {message}");

    let chicago = timezone("America/Chicago").unwrap();
    let instant = parse("2023-11-05 01:15", &chicago).unwrap();
    assert_eq!(instant.unix_millis, parse("2023-11-05T01:15-05:00", &chicago).unwrap().unix_millis);
    assert!(instant.warning.is_some());
    assert!(parse("2023-11-05 01:15 -0600", &chicago).unwrap().warning.is_none());
    assert!(parse("2023-11-05 02:15", &chicago).unwrap().warning.is_none());
    // Named in the text, the same rules hold.
    assert_eq!(refused("2023-03-12 02:45 America/Chicago", "UTC").0, "date-gap");
    assert!(parse("2023-11-05 01:15 America/Chicago", &TimeZone::UTC).unwrap().warning.is_some());
}

#[test]
fn the_day_of_a_name_is_midnight_in_the_zone() {
    let seoul = timezone("Asia/Seoul").unwrap();
    let instant = midnight((2019, 3, 1), "2019-03-01 in the file name", &seoul).unwrap();
    assert_eq!(instant.unix_millis, parse("2019-03-01", &seoul).unwrap().unix_millis);
    let refused = midnight((2019, 2, 29), "2019-02-29 in the file name", &seoul).unwrap_err();
    assert_eq!(refused.message, "2019-02-29 in the file name is not a date: February 2019 has 28 days");
}

#[test]
fn the_last_day_of_9999_is_in_range() {
    for (text, zone, wanted) in [
        ("9999-12-31T23:59:59.999Z", "UTC", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31", "UTC", "9999-12-31T00:00:00Z"),
        ("9999-12-31 23:59", "Asia/Seoul", "9999-12-31T14:59:00Z"),
        ("9999-12-31T23:59[Asia/Seoul]", "UTC", "9999-12-31T14:59:00Z"),
        ("9999-12-31 18:59:59", "America/New_York", "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(at(text, zone).unwrap(), wanted);
    }
    let last = PublishedAt::from_unix_millis(PUBLISHED_AT_MILLIS_MAX).unwrap();
    assert_eq!(last.day_in(&TimeZone::UTC), (9999, 12, 31));
    assert_eq!(last.day_in(&timezone("Asia/Seoul").unwrap()), (9999, 12, 31));
    let first = PublishedAt::from_unix_millis(0).unwrap();
    assert_eq!(first.day_in(&timezone("America/New_York").unwrap()), (1969, 12, 31));
    assert_eq!(first.to_rfc3339(), "1970-01-01T00:00:00Z");
}

#[test]
fn a_zone_is_looked_up_by_its_iana_name_alone() {
    assert!(timezone("Europe/Berlin").is_ok());
    assert!(timezone("UTC").is_ok());
    for name in ["", "CET", "EST5EDT", "Seoul", "localtime", "+09:00", "KST", "/etc/localtime", "../UTC"] {
        assert!(timezone(name).is_err(), "{name}");
    }
    assert_eq!(timezone("seoul").unwrap_err().1, "write Asia/Seoul");
    assert_eq!(timezone("New York").unwrap_err().1, "write America/New_York");
}

#[test]
fn a_long_text_is_refused_and_cut_in_the_message() {
    let (_, message) = refused(&"9".repeat(100_000), "UTC");
    assert!(message.len() < 400, "{message}");
}

/// An instant from 1970 to 9999 whose day in `offset` is in range too.
fn instants() -> impl Strategy<Value = (i64, i32)> {
    (86_400_000..PUBLISHED_AT_MILLIS_MAX - 172_800_000, -14 * 60..=14 * 60i32)
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,40}") {
        let _ = parse(&text, &TimeZone::UTC);
    }

    #[test]
    fn never_panics_near_a_date(text in "[0-9TZ:/ .+,\\-\\[\\]年월A-Fa-y]{0,24}", zone in "[A-Z]{1,3}|/|Asia/Seoul") {
        let seoul = timezone("Asia/Seoul").unwrap();
        for text in [text.clone(), format!("2024-05-2{text}"), format!("2024-05-22 10:00{text}{zone}")] {
            if let Ok(instant) = parse(&text, &seoul) {
                prop_assert!(PublishedAt::from_unix_millis(instant.unix_millis).is_ok());
            }
        }
    }

    /// Every accepted form of one instant is read as that instant.
    #[test]
    fn forms_agree((millis, minutes) in instants()) {
        let offset = jiff::tz::Offset::from_seconds(minutes * 60).unwrap();
        let instant = jiff::Timestamp::from_millisecond(millis).unwrap();
        let local = offset.to_datetime(instant);
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
        let (date, time) = (local.date(), local.time());
        let clock = format!("{:02}:{:02}:{:02}.{:03}", time.hour(), time.minute(), time.second(), time.millisecond());
        let slashed = format!("{}/{}/{}", date.strftime("%Y"), date.month(), date.day());
        for text in [
            instant.to_string(),
            format!("{date}T{clock}{sign}{hours:02}:{rest:02}"),
            format!("{date} {clock} {sign}{hours:02}{rest:02}"),
            format!("{slashed} {clock}{sign}{hours:02}{rest:02}"),
            format!("{} {clock} {sign}{hours:02}:{rest:02}", date.strftime("%d %b %Y")),
            format!("{} {clock} {sign}{hours:02}{rest:02}", date.strftime("%a, %d %b %Y")),
            format!("{} {clock} {sign}{hours:02}{rest:02}", date.strftime("%B %-d, %Y")),
            format!("{}년 {}월 {}일 {clock} {sign}{hours:02}{rest:02}", date.strftime("%Y"), date.month(), date.day()),
        ] {
            let read = parse(&text, &TimeZone::UTC);
            prop_assert_eq!(read.as_ref().map(|read| read.unix_millis).map_err(|e| e.message.clone()), Ok(millis), "{}", text);
            prop_assert!(read.unwrap().warning.is_none());
        }
    }

    /// A day alone is midnight in the zone it is read in, whichever that is.
    #[test]
    fn days_agree(days in 400i32..2_932_896, zone in prop::sample::select(vec!["UTC", "Asia/Kathmandu", "Asia/Seoul", "America/Phoenix"])) {
        let date = jiff::civil::date(1970, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
        let zone = timezone(zone).unwrap();
        let wanted = zone.to_timestamp(date.at(0, 0, 0, 0)).unwrap().as_millisecond();
        let named = midnight((date.year(), date.month(), date.day()), "the day", &zone).unwrap();
        let texts = [date.to_string(), date.strftime("%Y/%-m/%-d").to_string(), date.strftime("%-d %B %Y").to_string(), date.strftime("%b %-d, %Y").to_string()];
        for text in texts {
            let read = parse(&text, &zone).unwrap();
            prop_assert_eq!(read.unix_millis, wanted);
            prop_assert_eq!(read.written_day, (date.year(), date.month(), date.day()));
        }
        prop_assert_eq!(named.unix_millis, wanted);
    }
}
