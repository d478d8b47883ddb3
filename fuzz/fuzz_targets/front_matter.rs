//! Any bytes as a file: decoded, and its front matter read.
#![no_main]

use idempost::diagnostic::Diagnostic;
use idempost::post::decode::decode;
use idempost::post::front_matter::{Entry, NESTING_LEVELS_MAX, Node, Reading, Value, read};
use libfuzzer_sys::fuzz_target;

/// More problems than this would drown the author.
const PROBLEMS_MAX: usize = 51;

fuzz_target!(|bytes: &[u8]| {
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(problem) => {
            assert!(problem.line.is_some() && problem.column.is_some() && !problem.help.is_empty());
            return;
        }
    };
    let reading = read(&text);
    match &reading {
        Reading::Block { entries, body_start, problems, .. } => {
            assert!(text.is_char_boundary(*body_start) && *body_start <= text.len());
            check_map(&text, entries, 0, problems.is_empty());
            check_problems(&text, problems);
        }
        Reading::Broken(problems) => {
            assert!(!problems.is_empty());
            check_problems(&text, problems);
        }
        Reading::None | Reading::Empty => {}
    }
    // NaN is kept as a kind of its own, so readings compare.
    assert_eq!(reading, read(&text));
});

fn check_map(text: &str, entries: &[Entry], levels: usize, clean: bool) {
    for (index, entry) in entries.iter().enumerate() {
        assert!(text.get(entry.key_span.clone()).is_some());
        assert!(entries.iter().skip(index + 1).all(|other| other.key != entry.key));
        assert!(!clean || !entry.key.contains('\0'));
        check_node(text, &entry.node, levels + 1, clean);
    }
}

fn check_node(text: &str, node: &Node, levels: usize, clean: bool) {
    assert!(text.get(node.span.clone()).is_some());
    match &node.value {
        Value::Scalar(scalar) => assert!(!clean || !scalar.text.contains('\0')),
        _ if clean => assert!(levels <= NESTING_LEVELS_MAX),
        _ => {}
    }
    match &node.value {
        Value::Map(entries) => check_map(text, entries, levels, clean),
        Value::List(items) => items.iter().for_each(|item| check_node(text, item, levels + 1, clean)),
        Value::Scalar(_) => {}
    }
}

fn check_problems(text: &str, problems: &[Diagnostic]) {
    assert!(problems.len() <= PROBLEMS_MAX);
    for problem in problems {
        let span = problem.span.clone().expect("every problem has a place");
        assert!(span.start <= span.end && span.end <= text.len());
        assert!(!problem.help.is_empty() && !problem.message.is_empty());
        let mut located = problem.clone();
        located.locate(text);
        assert!(located.line.is_some_and(|line| line as usize <= text.split('\n').count()));
    }
}
