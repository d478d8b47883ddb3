//! Any text as a date, in three zones: without offset, with a gap and an overlap, and with an odd history.
#![no_main]

use std::sync::LazyLock;

use idempost::post::date::{PUBLISHED_AT_MILLIS_MAX, PublishedAt, parse};
use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;

static ZONES: LazyLock<Vec<TimeZone>> = LazyLock::new(|| {
    ["UTC", "America/New_York", "Asia/Seoul"]
        .iter()
        .map(|name| TimeZone::get(name).expect("a bundled zone"))
        .collect()
});

fuzz_target!(|text: &str| {
    for zone in ZONES.iter() {
        match parse(text, zone) {
            Ok(instant) => {
                assert!((0..=PUBLISHED_AT_MILLIS_MAX).contains(&instant.unix_millis));
                let at = PublishedAt::from_unix_millis(instant.unix_millis).expect("in range");
                let again = parse(&at.to_rfc3339(), zone).expect("its own form is accepted");
                assert_eq!(again.unix_millis, instant.unix_millis);
            }
            Err(problem) => assert!(!problem.message.is_empty() && !problem.help.is_empty()),
        }
    }
});
