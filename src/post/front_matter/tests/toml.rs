//! TOML: values as written, duplicates, limits, and errors with their places.

use super::*;

#[test]
fn values_keep_their_text_and_order() {
    assert_eq!(
        good(&toml_file(
            "z = 'C:\\dir'\na = 1_000\nb = 0xFF\nc = 1.50\nd = true\ne = -inf\nf = 99999999999999999999\n[t]\nx = [1, 'y']\n[[r]]\nk = \"\\u00e9\"\n[[r]]\nk = {p.q = 2}"
        )),
        "{z='C:\\dir' a=Int(1000):1_000 b=Int(255):0xFF c=Float(1.5):1.50 d=Bool(true):true e=NonFinite:-inf \
         f=BigInt:99999999999999999999 t={x=[Int(1):1 'y']} r=[{k='é'} {k={p={q=Int(2):2}}}]}"
    );
}

#[test]
fn dates_keep_their_text() {
    assert_eq!(
        good(&toml_file(
            "a = 2020-02-29\nb = 2020-02-29T08:09:10\nc = 2020-02-29 08:09:10.5+09:00\nd = 08:09:10\ne = 2016-12-31T23:59:60Z"
        )),
        "{a=DateTime:2020-02-29 b=DateTime:2020-02-29T08:09:10 c=DateTime:2020-02-29 08:09:10.5+09:00 \
         d=LocalTime:08:09:10 e=DateTime:2016-12-31T23:59:60Z}"
    );
    let source = toml_file("a = 2021-02-29\nb = 1");
    assert_eq!(bad(&source), [("toml-syntax", 2, 5)]);
    let Reading::Block { entries, .. } = read(&source) else {
        panic!("no block");
    };
    assert_eq!(show_map(&entries), "{a=Null: b=Int(1):1}");
}

#[test]
fn errors_are_all_told_with_their_places() {
    assert_eq!(
        bad(&toml_file("a = word\nb = 1\nc = \"open\nd = 'x\\y'\ne = \"x\\y\"")),
        [("toml-syntax", 2, 5), ("toml-syntax", 4, 10), ("toml-syntax", 6, 8)]
    );
    // A fence of another kind: what follows it is the body, up to a `+++` in it.
    assert_eq!(bad(&toml_file("a = 1\n---\n\nProse goes on.\n")), [("toml-syntax", 3, 1)]);
    assert!(problems(&toml_file("author: me"))[0].help.starts_with("this is YAML"));
    assert!(problems(&toml_file("{\"a\": 1}"))[0].help.starts_with("this is JSON"));
}

#[test]
fn duplicate_keys_name_both_lines() {
    let told: Vec<String> =
        problems(&toml_file("k = 1\nj = 2\nk = 3\nJ = 4\n[t]\nk = 5\nk = 6\ni = {p = 1, p = 2}\n[t]\nx = 1"))
            .into_iter()
            .map(|problem| format!("{} {}", problem.line.unwrap(), problem.message))
            .collect();
    assert_eq!(
        told,
        [
            "4 k given twice (first on line 2)",
            "5 J given twice: it is the same key as j (first on line 3)",
            "8 k given twice (first on line 7)",
            "9 p given twice (first on line 9)",
            "10 t given twice (first on line 6)",
        ]
    );
}

#[test]
fn limits_and_nul_hold() {
    let nested = |levels: usize| toml_file(&format!("a = {}{}", "[".repeat(levels), "]".repeat(levels)));
    good(&nested(32));
    assert_eq!(bad(&nested(33))[0], ("nesting-too-deep", 2, 37));
    assert!(bad(&nested(3000)).iter().any(|problem| problem.0 == "nesting-too-deep"));
    assert_eq!(bad(&toml_file(&format!("a{} = 1", ".a".repeat(90)))), [("nesting-too-deep", 2, 1)]);
    assert_eq!(bad(&toml_file("a = \"\\u0000\"")), [("nul", 2, 5)]);
}

#[test]
fn empty_blocks_have_no_entries() {
    assert_eq!(good("+++\n+++\n"), "{}");
    assert_eq!(good(&toml_file("# nothing")), "{}");
}
