//! `id`.

use super::harness::Scratch;

#[test]
fn an_id_is_derived_and_read_again() {
    let scratch = Scratch::new();
    let derive = ["id", "derive", "--slug", "hello", "--lang", "en", "--published-at-ms", "1704164645678"];
    let told = scratch.run(&derive);
    assert_eq!((told.exit, told.err.as_str()), (0, ""));
    assert_eq!(told.out, scratch.run(&derive).out, "it depends on nothing but its arguments");
    insta::assert_snapshot!(scratch.run(&["id", "inspect", told.out.trim()]));
    insta::assert_snapshot!(scratch.run(&["id", "inspect", told.out.trim(), "--format", "json"]));
}

#[test]
fn each_kind_is_made_and_told() {
    let scratch = Scratch::new();
    for (kind, told_as) in [
        ("ulid", "ulid"),
        ("ulid-monotonic", "ulid"),
        ("uuid4", "uuid4"),
        ("uuid7", "uuid7"),
        ("tsid", "tsid"),
    ] {
        let told = scratch.run(&["id", "new", "--kind", kind, "--count", "3"]);
        assert_eq!((told.exit, told.out.lines().count()), (0, 3), "{told}");
        let inspected = scratch.run(&["id", "inspect", told.out.lines().next().unwrap()]);
        assert!(inspected.out.starts_with("kind") && inspected.out.contains(told_as), "{inspected}");
    }
}

#[test]
fn what_is_no_id_exits_64() {
    insta::assert_snapshot!(Scratch::new().run(&["id", "inspect", "01HJ4XM0000000000000000000U"]));
}
