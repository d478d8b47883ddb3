//! YAML: core schema, anchors and merges, tags, duplicates, limits, and errors with their places.

use super::*;

#[test]
fn text_is_kept_as_written() {
    assert_eq!(
        good(&yaml_file(
            "a: 0042\nb: 2.50\nc: no\nd: 'true'\ne: \"1\"\nf: 08:15\ng: 2019-03-04\nh: v1 # note\ni: C#"
        )),
        "{a=Int(42):0042 b=Float(2.5):2.50 c='no' d='true' e='1' f='08:15' g='2019-03-04' h='v1' i='C#'}"
    );
}

#[test]
fn nothing_written_is_null() {
    assert_eq!(
        good(&yaml_file("a:\nb: ~\nc: null\nd: ''\ne: [,]".trim_end_matches("\ne: [,]"))),
        "{a=Null: b=Null:~ c=Null:null d=''}"
    );
    assert_eq!(good(&yaml_file("a:\n  -\n  - x")), "{a=[Null: 'x']}");
}

#[test]
fn empty_blocks_have_no_entries() {
    for block in ["---\n---\n", "---\n# a\n  # b\n---\n", "---\n\n \n---", "---\n~\n---", "---\n{}\n---"] {
        assert_eq!(good(block), "{}", "{block:?}");
    }
}

#[test]
fn numbers_over_64_bits_and_non_finite_ones_are_told_apart() {
    assert_eq!(
        good(&yaml_file(
            "a: -9223372036854775808\nb: 18446744073709551616\nc: -.inf\nd: .NaN\ne: 1e500\nf: 0x10"
        )),
        "{a=Int(-9223372036854775808):-9223372036854775808 b=BigInt:18446744073709551616 c=NonFinite:-.inf \
         d=NonFinite:.NaN e=NonFinite:1e500 f=Int(16):0x10}"
    );
}

#[test]
fn keys_become_text() {
    assert_eq!(
        good(&yaml_file("7: a\ntrue: b\n~: c\n\"\": d\n1.50: e\nx y: f\nns:k: g\n'q': h\n? long\n: i")),
        "{7='a' true='b' ~='c' ='d' 1.50='e' x y='f' ns:k='g' q='h' long='i'}"
    );
}

#[test]
fn a_list_or_map_is_no_key() {
    assert_eq!(bad(&yaml_file("a: {{ site.name }}\nb: 1")), [("complex-key", 2, 5)]);
    assert_eq!(bad(&yaml_file("? [x, y]\n: 1")), [("complex-key", 2, 3)]);
}

#[test]
fn block_texts_keep_their_lines() {
    assert_eq!(
        good(&yaml_file("a: |\n  one\n  two\nb: >-\n  three\n  four\nc: five\n  six")),
        "{a='one\ntwo\n' b='three four' c='five six'}"
    );
}

#[test]
fn places_are_those_of_the_file() {
    let source = yaml_file("한글: 값\nlist:\n  - \"q\"\n  - {k: v}");
    let Reading::Block { entries, body_start, .. } = read(&source) else {
        panic!("no block");
    };
    assert_eq!(&source[body_start..], "Body\n");
    assert_eq!(&source[entries[0].key_span.clone()], "한글");
    let written: Vec<&str> = every_node(&entries).iter().map(|(span, _)| &source[(*span).clone()]).collect();
    assert_eq!(written[0], "값");
    assert!(written[1].starts_with("- \"q\""), "{written:?}");
    assert_eq!(written[2..], ["\"q\"", "{k: v}", "v"]);
}

#[test]
fn duplicate_keys_name_both_lines() {
    let source = yaml_file("x: 1\nsummary: a\nsummary: b\nn:\n  k: 1\n  K: 2\n  k: 3\n'x': 2");
    let told: Vec<String> = problems(&source).into_iter().map(|problem| problem.message).collect();
    assert_eq!(
        told,
        [
            "summary given twice (first on line 3)",
            "k given twice (first on line 6)",
            "x given twice (first on line 2)"
        ]
    );
    assert_eq!(bad(&source), [("duplicate-key", 4, 1), ("duplicate-key", 8, 3), ("duplicate-key", 9, 1)]);
}

#[test]
fn own_keys_are_matched_loosely_and_nested_ones_exactly() {
    assert_eq!(
        bad(&yaml_file("pub_date: 1\npubDate: 2\nPub-Date: 3")),
        [("duplicate-key", 3, 1), ("duplicate-key", 4, 1)]
    );
    good(&yaml_file("_id: 1\nid: 2\n__id: 3\nm: {Pub_date: 1, pubDate: 2}"));
}

#[test]
fn aliases_give_what_they_refer_to() {
    assert_eq!(
        good(&yaml_file("a: &one 007\nb: *one\nc: &two [x, {k: *one}]\nd: *two\n*one : e")),
        "{a=Int(7):007 b=Int(7):007 c=['x' {k=Int(7):007}] d=['x' {k=Int(7):007}] 007='e'}"
    );
}

#[test]
fn merges_yield_to_keys_that_are_given() {
    assert_eq!(
        good(&yaml_file(
            "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\none:\n  <<: *b\n  y: 9\nboth:\n  z: 0\n  <<: [*m, *b]"
        )),
        "{base={x=Int(1):1 y=Int(2):2} more={y=Int(3):3 z=Int(4):4} one={x=Int(1):1 y=Int(9):9} \
         both={z=Int(0):0 y=Int(3):3 x=Int(1):1}}"
    );
    // At the top, keys that are matched alike are one key.
    assert_eq!(good(&yaml_file("Title: mine\n<<: {title: theirs, lang: xx}")), "{Title='mine' lang='xx'}");
    // Quoted it is a key like any other.
    assert_eq!(good(&yaml_file("'<<': 1")), "{<<=Int(1):1}");
}

#[test]
fn a_merge_of_anything_but_maps_is_refused() {
    assert_eq!(bad(&yaml_file("a:\n  <<: text")), [("merge-not-a-map", 3, 3)]);
    assert_eq!(bad(&yaml_file("a: {<<: [{x: 1}, 2]}")), [("merge-not-a-map", 2, 5)]);
    assert_eq!(bad(&yaml_file("<<: {a: 1}\n<<: {b: 1}")), [("duplicate-key", 3, 1)]);
}

#[test]
fn unknown_and_circular_anchors_are_named() {
    assert_eq!(
        bad(&yaml_file("a: 1\nb: [*none]\nc: *nil")),
        [("unknown-anchor", 3, 5), ("unknown-anchor", 4, 4)]
    );
    assert_eq!(
        problems(&yaml_file("a: &names [x]\nb: *name"))[0].help,
        "did you mean *names? Quote the value if it is text"
    );
    assert_eq!(bad(&yaml_file("a: &a {b: [*a]}")), [("anchor-in-itself", 2, 12)]);
}

#[test]
fn aliases_have_a_budget_of_values() {
    let mut block = String::from("l0: &l0 [a,b,c,d,e,f,g,h]\n");
    for level in 1..12 {
        let below = format!("*l{}", level - 1);
        let line = format!("l{level}: &l{level} [{}]\n", [below.as_str(); 8].join(","));
        block.push_str(&line);
    }
    let source = yaml_file(&block);
    assert_eq!(
        problems(&source).iter().map(|problem| problem.code).collect::<Vec<_>>(),
        ["too-many-aliases"]
    );
    let Reading::Block { entries, .. } = read(&source) else {
        panic!("no block");
    };
    // Nothing is written out: 12 lists of 8 nulls, and not 8^12 values.
    assert_eq!(every_node(&entries).len(), 12 * 9);
    let merges = format!("{block}<<: *l0\n*l1 : x\nm: {{<<: [*l2]}}");
    assert_eq!(bad(&yaml_file(&merges)).len(), 1);
}

#[test]
fn aliases_have_a_budget_of_number_and_of_text() {
    let many = |count: usize| yaml_file(&format!("a: &a x\nb: [{}]", vec!["*a"; count].join(",")));
    good(&many(100));
    assert_eq!(bad(&many(101)).len(), 1);
    let long = yaml_file(&format!(
        "a: &a {}\nb: &b [{}]\nc: [{}]",
        "x".repeat(9000),
        ["*a"; 10].join(","),
        ["*b"; 20].join(",")
    ));
    assert_eq!(problems(&long)[0].code, "too-many-aliases");
}

#[test]
fn nested_anchors_cost_no_more_than_the_block() {
    let open = (0..30).map(|level| format!("&n{level} [")).collect::<Vec<_>>().concat();
    good(&yaml_file(&format!("a: {open}{}{}", "x,".repeat(20_000), "]".repeat(30))));
}

#[test]
fn only_tags_of_yaml_are_taken() {
    assert_eq!(
        good(&yaml_file(
            "a: !!str 12\nb: !!int 7\nc: !!binary aGk=\nd: !!seq [x]\ne: !!map {}\nf: !!float 2\ng: !!null\nh: !!bool true\ni: !!timestamp 2001-01-01\nj: !<tag:yaml.org,2002:str> 5"
        )),
        "{a='12' b=Int(7):7 c='aGk=' d=['x'] e={} f=Float(2.0):2 g=Null: h=Bool(true):true i='2001-01-01' j='5'}"
    );
    assert_eq!(
        bad(&yaml_file(
            "a: !custom x\nb:\n  - !!python/name:os y\nc: !!set {x}\nd: ! z\ne: !e!f x"
                .trim_end_matches("\ne: !e!f x")
        )),
        [("unknown-tag", 2, 4), ("unknown-tag", 4, 5), ("unknown-tag", 5, 4), ("unknown-tag", 6, 4)]
    );
    // What a refused tag is on reads as null, so that it is not judged in its turn.
    let Reading::Block { entries, .. } = read(&yaml_file("a: !x\n  k: 1\nb: !!str [z]\nc: 1")) else {
        panic!("no block");
    };
    assert_eq!(show_map(&entries), "{a=Null: b=Null: c=Int(1):1}");
    assert_eq!(
        bad(&yaml_file("a: !!int x\nb: !!map [y]\nc: !!seq z")),
        [("wrong-tag", 2, 10), ("wrong-tag", 3, 10), ("wrong-tag", 4, 10)]
    );
}

#[test]
fn directives_and_second_documents_are_refused() {
    assert_eq!(bad(&yaml_file("%TAG ! tag:x,2000:\na: 1")), [("yaml-syntax", 2, 1)]);
    assert_eq!(bad(&yaml_file("a: 1\n--- b\nc: 1")), [("yaml-syntax", 3, 1)]);
}

#[test]
fn a_block_must_be_a_map() {
    for (block, found) in [
        ("- a\n- b", "a list"),
        ("[a]", "a list"),
        ("words", "text"),
        ("7", "text"),
        ("key = 'x'", "TOML; its fence is `+++`"),
    ] {
        let told = problems(&yaml_file(block));
        assert_eq!(
            (told.len(), told[0].code, told[0].line),
            (1, "front-matter-not-a-map", Some(2)),
            "{block}"
        );
        assert!(told[0].message.ends_with(&format!("found {found}")), "{}", told[0].message);
    }
}

#[test]
fn nesting_has_a_limit() {
    let flow = |levels: usize| yaml_file(&format!("a: {}{}", "[".repeat(levels), "]".repeat(levels)));
    good(&flow(32));
    assert_eq!(bad(&flow(33)), [("nesting-too-deep", 2, 36)]);
    assert_eq!(bad(&flow(4000))[0].0, "nesting-too-deep");
    let block = |levels: usize| {
        let lines: Vec<String> = (0..=levels).map(|level| format!("{}k:", " ".repeat(level))).collect();
        yaml_file(&lines.join("\n"))
    };
    good(&block(32));
    assert_eq!(bad(&block(33))[0].0, "nesting-too-deep");
    // An alias adds the levels of what it refers to.
    let nested = yaml_file(&format!("a: &a {}{}\nb: [[[[*a]]]]", "[".repeat(30), "]".repeat(30)));
    assert_eq!(bad(&nested)[0].0, "nesting-too-deep");
}

#[test]
fn a_nul_escape_is_refused() {
    assert_eq!(bad(&yaml_file("a: \"x\\0\"\n\"k\\u0000\": 1")), [("nul", 2, 4), ("nul", 3, 1)]);
    good(&yaml_file("a: 'x\\0'"));
}

#[test]
fn syntax_errors_point_at_the_line_to_change() {
    let first = |block: &str| {
        let told = problems(&yaml_file(block));
        let problem = &told[0];
        (problem.line.unwrap(), problem.column.unwrap(), problem.message.clone(), problem.help.clone())
    };
    let check = |block: &str, line: u32, column: u32, message: &str, help: &str| {
        let told = first(block);
        assert_eq!((told.0, told.1), (line, column), "{block:?}: {told:?}");
        assert!(told.2.contains(message) && told.3.contains(help), "{block:?}: {told:?}");
    };
    check("a: 1\nb: Rust: a tour", 3, 8, "colon", "quote the value: b: \"Rust: a tour\"");
    check("a: see \"x\": y", 2, 11, "colon", "quote the value: a: 'see \"x\": y'");
    check("a: \"open\nb: 1", 2, 4, "quote is not closed", "close the quote");
    check("a: \"open\nb: \"c\"", 2, 4, "quote is not closed", "close the quote");
    check("a: 'it's'\nb: 1", 2, 8, "after the closing quote", "quote the whole value");
    check("a: [x, y\nb: 1", 2, 4, "[ is not closed", "closing bracket");
    check("a: {x: 1\nb: 2", 2, 4, "{ is not closed", "closing bracket");
    check("a: [WIP] text", 2, 10, "begins with [", "a: \"[WIP] text\"");
    check("a: @user", 2, 4, "begins with @", "a: \"@user\"");
    check("a: `code`", 2, 4, "begins with `", "a: \"`code`\"");
    check("a: *bold* text", 2, 11, "begins with *", "a: \"*bold* text\"");
    check("a: > text", 2, 4, "text on the line of >", "next line");
    check("n:\n\tk: 1", 3, 2, "a tab", "blanks");
    check("\ta: 1\nb: 2", 2, 1, "a tab", "blanks");
    check("  a: 1\nb: 2", 2, 1, "first key is indented", "first column");
    check("a: 1\n  b: 2", 3, 4, "indented under a value", "column of the others");
    check("a:1\nb: 2", 2, 1, "no `key: value`", "one blank after the colon");
    check("a: 1\nb :2\nc: 3", 3, 1, "no `key: value`", "one blank after the colon");
    check("a: long\ntext goes on\nb: 2", 3, 1, "no `key: value`", "indent the line");
    check("a: 1\nb = 2\nc: 3", 3, 1, "no `key: value`", "TOML");
    check("a: 1\n\nSome prose.\n\nMore of it.", 4, 1, "no `key: value`", "closing line `---` missing");
    check("a: 1\n+++\n\nProse.", 3, 1, "+++ does not close", "`---` in its place");
    check("a: \"\\w\"", 2, 4, "unknown escape", "single quotes");
    check("a: \"\\uD800\"", 2, 4, "no character", "character itself");
}

#[test]
fn one_error_hides_no_other() {
    let source = yaml_file("a: x: y\nb: 1\nb: 2\nc: !evil z\nd: \"open\ne: *gone\nf: fine");
    assert_eq!(
        bad(&source),
        [
            ("yaml-syntax", 2, 5),
            ("duplicate-key", 4, 1),
            ("unknown-tag", 5, 4),
            ("yaml-syntax", 6, 4),
            ("unknown-anchor", 7, 4)
        ]
    );
    let Reading::Block { entries, .. } = read(&source) else {
        panic!("no block");
    };
    assert_eq!(entries.last().map(|entry| entry.key.as_str()), Some("f"));
}

#[test]
fn the_number_of_problems_is_bounded() {
    let twice: String = (0..400).map(|_| "k: 1\n").collect();
    let told = problems(&yaml_file(twice.trim_end()));
    assert_eq!(told.len(), PROBLEMS_MAX + 1);
    assert_eq!(told.last().unwrap().code, "too-many-problems");
    let syntax = (0..400).map(|line| format!("k{line}: a: b\n")).collect::<Vec<_>>().concat();
    assert!(problems(&yaml_file(syntax.trim_end())).len() < 20);
}
