//! Blocks of every format: what is read, what is refused and where.

#![allow(clippy::string_slice, reason = "a wrong place is a failed test")]

mod json;
mod toml;
mod yaml;

use super::problems::PROBLEMS_MAX;
use super::{
    Diagnostic, Entry, FRONT_MATTER_BYTES_MAX, Kind, Node, Range, Reading, Scalar, Value, fold_key, read,
};
use proptest::prelude::*;

/// The keys and values of a block without problems, written in one line.
fn good(source: &str) -> String {
    match read(source) {
        Reading::Block { entries, problems, .. } if problems.is_empty() => show_map(&entries),
        other => panic!("{source:?}: {other:?}"),
    }
}

/// Code, line and column of each problem.
fn bad(source: &str) -> Vec<(&'static str, u32, u32)> {
    problems(source)
        .iter()
        .map(|problem| (problem.code, problem.line.expect("line"), problem.column.expect("column")))
        .collect()
}

fn problems(source: &str) -> Vec<Diagnostic> {
    let mut problems = match read(source) {
        Reading::Block { problems, .. } | Reading::Broken(problems) => problems,
        other => panic!("{source:?}: {other:?}"),
    };
    for problem in &mut problems {
        assert!(problem.is_error() && !problem.help.is_empty(), "{problem:?}");
        problem.locate(source);
    }
    problems
}

fn show_map(entries: &[Entry]) -> String {
    let shown: Vec<String> =
        entries.iter().map(|entry| format!("{}={}", entry.key, show(&entry.node))).collect();
    format!("{{{}}}", shown.join(" "))
}

fn show(node: &Node) -> String {
    match &node.value {
        Value::Map(entries) => show_map(entries),
        Value::List(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(" ")),
        Value::Scalar(scalar) => {
            let text = &scalar.text;
            match scalar.kind {
                Kind::Text => format!("'{text}'"),
                kind => format!("{kind:?}:{text}"),
            }
        }
    }
}

fn yaml_file(block: &str) -> String {
    format!("---\n{block}\n---\nBody\n")
}

fn toml_file(block: &str) -> String {
    format!("+++\n{block}\n+++\nBody\n")
}

fn every_node(entries: &[Entry]) -> Vec<(&Range<usize>, &Value)> {
    fn visit<'a>(node: &'a Node, all: &mut Vec<(&'a Range<usize>, &'a Value)>) {
        all.push((&node.span, &node.value));
        match &node.value {
            Value::Map(entries) => entries.iter().for_each(|entry| visit(&entry.node, all)),
            Value::List(items) => items.iter().for_each(|item| visit(item, all)),
            Value::Scalar(_) => {}
        }
    }
    let mut all = Vec::new();
    for entry in entries {
        visit(&entry.node, &mut all);
    }
    all
}

#[test]
fn keys_fold_as_they_are_matched() {
    for key in ["pubDate", "pub_date", "pub-date", "PUB DATE", "PubDate"] {
        assert_eq!(fold_key(key), "pubdate");
    }
    assert_eq!(fold_key("_id"), "_id");
    assert_eq!(fold_key("__v_"), "__v_");
    assert_eq!(fold_key("_"), "_");
    assert_eq!(fold_key(""), "");
    assert_eq!(fold_key("제목-길이"), "제목길이");
}

/// Pieces of which blocks are made, to mutate.
const PIECES: &[&str] = &[
    "---\n",
    "+++\n",
    "---",
    "...",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "a: ",
    "b: 1\n",
    "- ",
    "\n",
    "  ",
    "\t",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "|\n",
    ">-\n",
    "? ",
    ": ",
    ", ",
    "#",
    "%YAML 1.2\n",
    "title = ",
    "[t]\n",
    "[[t]]\n",
    "\\u0000",
    "\\",
    "한",
    "\u{feff}",
    "\r",
    "<!-- ",
    "-->\n",
    "Title: x\n",
    "1e400",
    "2024-02-30",
    "a.b = {c=1}\n",
    "\"k\": ",
    "'''",
    "\"\"\"",
    "null",
    "~",
    "\u{2014}",
    "\u{85}",
];

fn pieces() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

/// What must hold of any reading: places lie in the source, on characters, and in the block.
fn is_sound(source: &str) {
    match read(source) {
        Reading::Block { entries, body_start, problems, .. } => {
            assert!(source.get(body_start..).is_some());
            for (span, _) in every_node(&entries) {
                assert!(source.get(span.clone()).is_some(), "{span:?}");
            }
            points_into(source, &problems);
        }
        Reading::Broken(problems) => {
            assert!(!problems.is_empty());
            points_into(source, &problems);
        }
        Reading::None | Reading::Empty => {}
    }
}

fn points_into(source: &str, problems: &[Diagnostic]) {
    for problem in problems {
        let span = problem.span.clone().expect("a span");
        assert!(span.end <= source.len() && span.start <= span.end, "{problem:?}");
        let mut located = problem.clone();
        located.locate(source);
        assert!(located.line.is_some_and(|line| line as usize <= source.split('\n').count()));
        assert!(!problem.help.is_empty(), "{problem:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_text_is_read_without_a_panic(source in any::<String>()) {
        is_sound(&source);
    }

    #[test]
    fn any_mix_of_pieces_is_read_without_a_panic(source in pieces()) {
        is_sound(&source);
        is_sound(&format!("---\n{source}\n---\nx"));
        is_sound(&format!("+++\n{source}\n+++\nx"));
        is_sound(&format!("{{{source}}}\nx"));
    }

    #[test]
    fn marks_and_line_ends_do_not_matter(block in "([a-z]{1,5}: [a-z0-9 \"']{0,9}\n){0,5}", body in "[a-z\n]{0,20}") {
        let unix = format!("---\n{block}---\n{body}");
        let windows = format!("\u{feff}{}", unix.replace('\n', "\r\n"));
        let decoded = crate::post::decode::decode(windows.as_bytes()).expect("UTF-8");
        prop_assert_eq!(read(&decoded), read(&unix));
    }

    #[test]
    fn quoted_text_comes_back(text in "[^\0\r\n]{0,30}") {
        let json = serde_json::to_string(&text).expect("JSON");
        let key = |reading: Reading| match reading {
            Reading::Block { entries, problems, .. } if problems.is_empty() => entries.into_iter().next().map(|entry| entry.node.value),
            _ => None,
        };
        let wanted = Some(Value::Scalar(Scalar { text: text.clone(), kind: Kind::Text }));
        prop_assert_eq!(key(read(&format!("{{\"k\": {json}}}\n"))), wanted.clone());
        // A single-quoted scalar of YAML escapes nothing but its quote.
        let quoted = text.replace('\'', "''");
        if !text.chars().any(|c| c.is_control() || c == '\u{feff}' || c == '\u{2028}' || c == '\u{2029}') {
            prop_assert_eq!(key(read(&format!("---\nk: '{quoted}'\n---\n"))), wanted);
        }
    }
}
