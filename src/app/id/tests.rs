//! Ids of each kind, made with a fixed clock and fixed chance, and read again.

use rand::SeedableRng;
use rand::rngs::SmallRng;

use super::*;
use crate::cli::{IdInspect, parse};

/// 2026-05-06T07:08:09.010Z.
const NOW: i64 = 1_778_051_289_010;

fn id_with(args: &[&str], now: &mut dyn FnMut() -> i64) -> Result<String, Failure> {
    let cli = parse(["idempost", "id"].iter().chain(args)).map_err(|told| Failure::usage(told.plain))?;
    let crate::cli::Verb::Id(id) = &cli.verb else { panic!("not id") };
    let mut rng = SmallRng::seed_from_u64(7);
    let mut out = Vec::new();
    let format = cli.global.format.unwrap_or_default();
    run(id, format, &mut Sources { now, rng: &mut rng }, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn id(args: &[&str]) -> Result<String, Failure> {
    id_with(args, &mut || NOW)
}

fn inspected(text: &str, node_bits: Option<u32>) -> serde_json::Value {
    let mut out = Vec::new();
    let inspect = IdInspect { id: text.to_owned(), node_bits };
    inspect::run(&inspect, Format::Json, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn every_kind_that_holds_the_time_tells_it_again() {
    for kind in ["ulid", "ulid-monotonic", "uuid7", "tsid"] {
        let text = id(&["new", "--kind", kind]).unwrap();
        let found = inspected(text.trim(), None);
        assert_eq!(found["timeMs"], NOW, "{kind} {text}");
        assert_eq!(found["time"], "2026-05-06T07:08:09.01Z");
        assert_eq!(found["id"], text.trim());
    }
    let text = id(&["new", "--kind", "uuid4"]).unwrap();
    let found = inspected(text.trim(), None);
    assert_eq!((&found["kind"], &found["timeMs"]), (&"uuid4".into(), &serde_json::Value::Null));
}

#[test]
fn ids_are_many_and_different() {
    for kind in ["ulid", "ulid-monotonic", "uuid4", "uuid7", "tsid"] {
        let text = id(&["new", "--kind", kind, "--count", "2000"]).unwrap();
        let ids: std::collections::BTreeSet<&str> = text.lines().collect();
        assert_eq!(ids.len(), 2_000, "{kind}");
    }
}

#[test]
fn monotonic_ids_go_up_also_when_the_clock_goes_back() {
    for kind in ["ulid-monotonic", "tsid"] {
        let mut clock = [NOW, NOW, NOW - 5_000, NOW, NOW + 1, NOW - 1].into_iter().cycle();
        let text = id_with(&["new", "--kind", kind, "--count", "60"], &mut || clock.next().unwrap()).unwrap();
        let ids: Vec<&str> = text.lines().collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{kind} {text}");
    }
}

#[test]
fn a_tsid_holds_its_node_and_its_counter_never_runs_over() {
    let args = ["new", "--kind", "tsid", "--node-bits", "20", "--node", "1048575", "--count", "9"];
    let text = id(&args).unwrap();
    let found: Vec<serde_json::Value> = text.lines().map(|line| inspected(line, Some(20))).collect();
    assert!(found.iter().all(|one| one["node"] == 1_048_575 && one["counter"].as_u64().unwrap() < 4));
    let times: Vec<i64> = found.iter().map(|one| one["timeMs"].as_i64().unwrap()).collect();
    assert_eq!(times[0], NOW);
    assert!(times[8] > NOW, "four counters a millisecond: the time had to go on, {times:?}");
    let none = id(&["new", "--kind", "tsid", "--node-bits", "0"]).unwrap();
    assert_eq!(inspected(none.trim(), Some(0))["node"], 0);
}

#[test]
fn known_ids_are_read_right() {
    // The example of the ULID specification.
    let ulid = inspected("01ARZ3NDEKTSV4RRFFQ69G5FAV", None);
    assert_eq!((&ulid["kind"], &ulid["timeMs"]), (&"ulid".into(), &1_469_922_850_259_i64.into()));
    assert_eq!(inspected("01arz3ndektsv4rrffq69g5fav", None)["id"], ulid["id"]);
    // RFC 9562, appendix A.6.
    let newer = inspected("017F22E2-79B0-7CC3-98C4-DC0C0C07398F", None);
    assert_eq!((&newer["kind"], &newer["timeMs"]), (&"uuid7".into(), &1_645_557_742_000_i64.into()));
    assert_eq!(
        newer["random"],
        format!("{:019x}", (0xcc3_u128 << 62) | (0x18c4_dc0c_0c07_398f & ((1 << 62) - 1)))
    );
    // RFC 9562, appendix A.1.
    let old = inspected("C232AB00-9414-11EC-B3C8-9F6BDECED846", None);
    assert_eq!((&old["kind"], &old["timeMs"]), (&"uuid1".into(), &1_645_557_742_000_i64.into()));
    // Zero is the first millisecond of 2020; text and number are one id.
    let zero = inspected("0000000000000", Some(10));
    assert_eq!((&zero["time"], &zero["number"]), (&"2020-01-01T00:00:00Z".into(), &"0".into()));
    let greatest = inspected("FZZZZZZZZZZZZ", None);
    assert_eq!(greatest["number"], u64::MAX.to_string());
    assert_eq!(inspected(&u64::MAX.to_string(), None)["id"], "FZZZZZZZZZZZZ");
    assert_eq!(inspected("00000000-0000-0000-0000-000000000000", None)["kind"], "uuid");
}

#[test]
fn what_is_no_id_says_why() {
    for wrong in [
        "",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "GZZZZZZZZZZZZ",
        "18446744073709551616",
        "hello",
        "-1",
        "아이디",
    ] {
        assert!(id(&["inspect", "--", wrong]).unwrap_err().message.contains("is no id"), "{wrong}");
    }
}

#[test]
fn a_derived_id_is_the_posts() {
    let args = ["derive", "--slug", "안녕", "--lang", "KO", "--published-at-ms", "1704153600000"];
    let text = id(&args).unwrap();
    let expected = PostId::derive(
        &Slug::parse("안녕").unwrap(),
        &Lang::parse("ko").unwrap(),
        PublishedAt::from_unix_millis(1_704_153_600_000).unwrap(),
    );
    assert_eq!(text.trim(), expected.to_string());
    assert_eq!(inspected(text.trim(), None)["timeMs"], 1_704_153_600_000_i64);
    for wrong in [
        ["derive", "--slug", "", "--lang", "ko", "--published-at-ms", "1"],
        ["derive", "--slug", "a", "--lang", "korean", "--published-at-ms", "1"],
        ["derive", "--slug", "a", "--lang", "ko", "--published-at-ms", "-1"],
        ["derive", "--slug", "a", "--lang", "ko", "--published-at-ms", "253402300800000"],
    ] {
        assert_eq!(id(&wrong).unwrap_err().exit, Exit::Usage, "{wrong:?}");
    }
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    for wrong in [
        &["new", "--kind", "ulid", "--node", "1"][..],
        &["new", "--kind", "tsid", "--node-bits", "2", "--node", "4"],
        &["new", "--kind", "tsid", "--node-bits", "21"],
        &["new", "--kind", "ulid", "--count", "0"],
        &["new"],
    ] {
        assert!(id(wrong).is_err(), "{wrong:?}");
    }
}
