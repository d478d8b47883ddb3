//! JSON: where the object ends, strictness, duplicates and limits.

use super::*;

fn body(source: &str) -> &str {
    match read(source) {
        Reading::Block { body_start, .. } => &source[body_start..],
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_object_ends_where_it_ends() {
    assert_eq!(
        good("{\"a\": \"} \\\" {\", \"b\": [1.50, true, null, -0]}\n{\"c\": 1}"),
        "{a='} \" {' b=[Float(1.5):1.50 Bool(true):true Null:null Int(0):-0]}"
    );
    assert_eq!(body("{\"a\": {}}  \t\n\nText"), "\nText");
    assert_eq!(body("{\n \"a\": 1\n}"), "");
    assert_eq!(body("{}\nText"), "Text");
    assert_eq!(bad("{\"a\": 1} Text\n"), [("front-matter-fence", 1, 10)]);
}

#[test]
fn template_tags_and_prose_are_no_object() {
    for source in [
        "{{ toc }}\n",
        "{%- if x -%}\n",
        "{: .lead }\n",
        "{#anchor}\n",
        "{ braces } in prose\n",
        "{/* mdx */}\n",
        "{<b/>}\n",
    ] {
        assert_eq!(read(source), Reading::None, "{source}");
    }
}

#[test]
fn what_is_not_strict_is_refused() {
    for (source, line, column) in [
        ("{\n \"a\": 1,\n}\n", 3, 1),
        ("{\"a\": 1 // c\n}\n", 1, 9),
        ("{ 'a': 1}\n", 1, 3),
        ("{a: 1}\n", 1, 2),
        ("{\"a\": 'x'}\n", 1, 7),
        ("{\"a\": 0x1}\n", 1, 8),
        ("{\"a\": .5}\n", 1, 7),
        ("{\"a\": NaN}\n", 1, 7),
        ("{\"a\": \"\\udc00\"}\n", 1, 13),
        ("{\"a\": \"\\x41\"}\n", 1, 9),
        ("{\"a\": [1 2]}\n", 1, 10),
        ("{\"a\": 1e999}\n", 1, 7),
    ] {
        assert_eq!(bad(source), [("json-syntax", line, column)], "{source}");
    }
}

#[test]
fn escapes_are_read() {
    assert_eq!(good("{\"a\": \"\\uD83D\\uDE00 \\u00e9 \\/ \\t\"}"), "{a='\u{1f600} é / \t'}");
    assert_eq!(bad("{\"a\": \"\\u0000\"}"), [("nul", 1, 7)]);
}

#[test]
fn an_unclosed_object_says_so() {
    for source in ["{", "{\"a\": 1", "{\"a\": [1, 2\n", "{\"a\": 1\n\nText\n", "{\n"] {
        assert_eq!(bad(source), [("front-matter-unclosed", 1, 1)], "{source:?}");
    }
}

#[test]
fn duplicates_limits_and_big_numbers() {
    let told: Vec<String> = problems("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"A\": 3}\n")
        .into_iter()
        .map(|problem| problem.message)
        .collect();
    assert_eq!(
        told,
        ["c given twice (first on line 2)", "A given twice: it is the same key as a (first on line 1)"]
    );
    let nested = |levels: usize| format!("{{\"a\": {}{}}}", "[".repeat(levels), "]".repeat(levels));
    good(&nested(32));
    assert_eq!(bad(&nested(33)), [("nesting-too-deep", 1, 39)]);
    assert_eq!(bad(&nested(5000))[0].0, "nesting-too-deep");
    assert_eq!(good("{\"a\": 36893488147419103232}"), "{a=BigInt:36893488147419103232}");
    let big = format!("{{\"a\": \"{}\"}}\n", "x".repeat(FRONT_MATTER_BYTES_MAX));
    assert_eq!(bad(&big), [("front-matter-too-big", 1, 1)]);
}

#[test]
fn between_fences_it_must_be_one_object() {
    assert_eq!(good("---json\n{\"a\": 1}\n---\n"), "{a=Int(1):1}");
    assert_eq!(good("---json\n---\n"), "{}");
    assert_eq!(bad("---json\n[1]\n---\n"), [("front-matter-not-a-map", 2, 1)]);
    assert_eq!(bad("---json\n{\"a\": 1}\n{}\n---\n"), [("json-syntax", 3, 1)]);
}
