//! CommonMark's own examples. They are not part of this project: `scripts/commonmark` fetches them and
//! names the file in `IDEMPOST_COMMONMARK_SPEC`.

use idempost::post::render::RawHtml;

use crate::dom::normalised;
use crate::html_with;

/// Examples whose HTML differs on purpose, with the reason. Numbers are those of version 0.31.2.
const DEVIATIONS: &[(usize, &str)] = &[];

struct Example {
    number: usize,
    markdown: String,
    html: String,
}

/// The examples of `spec.txt`: fenced by 32 backquotes and `example`, the two halves parted by a dot,
/// tabs shown as arrows.
fn examples(spec: &str) -> Vec<Example> {
    let fence = "`".repeat(32);
    let mut examples = Vec::new();
    let mut lines = spec.lines();
    while let Some(line) = lines.next() {
        if line != format!("{fence} example") {
            continue;
        }
        let mut halves = [String::new(), String::new()];
        let mut half = 0;
        for line in lines.by_ref().take_while(|line| *line != fence) {
            if line == "." && half == 0 {
                half = 1;
            } else {
                halves[half].push_str(&line.replace('→', "\t"));
                halves[half].push('\n');
            }
        }
        let [markdown, html] = halves;
        examples.push(Example { number: examples.len() + 1, markdown, html });
    }
    examples
}

#[test]
fn examples_are_rendered_as_the_specification_says() {
    let Ok(path) = std::env::var("IDEMPOST_COMMONMARK_SPEC") else {
        println!("not compared with CommonMark's examples: scripts/commonmark does that");
        return;
    };
    let spec = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let examples = examples(&spec);
    assert!(examples.len() > 600, "only {} examples in {path}", examples.len());
    let mut failed = Vec::new();
    for example in &examples {
        let html = html_with(&example.markdown, RawHtml::Allow);
        if normalised(&html) != normalised(&example.html) {
            eprintln!(
                "example {}\n{}expected\n{}got\n{html}",
                example.number, example.markdown, example.html
            );
            failed.push(example.number);
        }
    }
    println!("CommonMark: {} of {} examples pass", examples.len() - failed.len(), examples.len());
    for (number, reason) in DEVIATIONS {
        println!("  example {number}: {reason}");
    }
    let known: Vec<usize> = DEVIATIONS.iter().map(|(number, _)| *number).collect();
    assert_eq!(failed, known, "the examples that differ, against those that are known to");
}
