//! Titles, names and texts that would like to be something else, and ten megabytes of them, in every format.

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::Value;

use super::harness::{Scratch, Told};

/// What a title holds: line ends, a bar, backticks, quotes, a runner's command, ANSI, a right-to-left override, markup.
const HOSTILE: &str = "one\\ntwo | `three` ``four`` \\\"five\\\" 'six'\\n::error::seven\\r\\n##[error]eight \\e[31mnine\\e[0m \
                       \\u202eten\\u202c </script><script>top.ran=1</script> <!-- @team [x](javascript:1) ![y](z)\\n# head\\n- item";

fn post(title: &str, body: &str) -> String {
    format!("---\ntitle: \"{title}\"\ndate: 2031-03-04\n---\n\n{body}\n")
}

/// A tree whose every action has a hostile post, edited after a first run.
fn tree() -> Scratch {
    let big = "가나다 <b> `x` | ::error:: ".repeat(10 << 15);
    assert!(big.len() > 9_000_000);
    let config = "content = \"content\"\nsource = \"s\"\nlangs = [\"en\"]\ndefault_lang = \"en\"\ntimezone = \"UTC\"\n\
                  [limits]\nfile = \"64MiB\"\n";
    let scratch = Scratch::new()
        .with("idempost.toml", config)
        .with("content/a.md", &post(HOSTILE, "Text."))
        .with("content/big.md", &post("Big", "Text."))
        .with("content/moved `|` ::error::.md", &post("Moved", "Text."));
    let told = scratch.run(&["ingest"]);
    assert_eq!(told.exit, 0, "{told}");
    scratch
        .with(
            "content/a.md",
            &post(&format!("{HOSTILE} again"), "::error::text\n\n<script>top.ran=1</script>"),
        )
        .with("content/big.md", &post(&big, &big))
        .with("content/moved `|` ::error::.md", &post("Moved", "Text.").replace("03-04", "03-05"))
        .with("content/new\u{202e}.md", &post(HOSTILE, "Text."))
        .with(
            "content/broken\n::error::x.md",
            "---\ntitle: x\ndate: \"2031-13-01 ::error:: `|` \\e[31m\"\n---\n",
        )
}

fn run(scratch: &Scratch, verb: &str, format: &str) -> Told {
    let mut args = vec![verb, "--format", format];
    if verb != "check" {
        args.push("--keep-going");
    }
    let told = scratch.run_with(&args, &[("GITHUB_ACTIONS", "true")]);
    assert!([0, 3, 4, 5].contains(&told.exit), "{verb} {format}: exit {}", told.exit);
    told
}

const VERBS: [&str; 3] = ["check", "diff", "ingest"];

#[test]
fn what_a_person_reads_stays_text_and_short() {
    for verb in VERBS {
        let scratch = tree();
        for format in ["human", "markdown", "github", "html"] {
            let told = run(&scratch, verb, format);
            let all = format!("{}{}", told.out, told.err);
            // The name in an annotation is the file's own, or GitHub would not find the file.
            let all = if format == "github" { all.replace("new\u{202e}.md", "new.md") } else { all };
            for hidden in ['\u{1b}', '\u{202e}', '\u{202c}'] {
                assert!(!all.contains(hidden), "{verb} {format} holds {hidden:?}");
            }
            assert!(all.len() < 2_000_000, "{verb} {format}: {} bytes", all.len());
            if format != "html" {
                assert!(all.lines().all(|line| line.len() < 40_000), "{verb} {format}: a long line");
            }
            let commands =
                all.lines().filter(|line| line.trim_start().starts_with("::") || line.contains("##["));
            if format == "github" {
                let ours = |line: &str| {
                    ["::error ", "::warning ", "::notice "].iter().any(|kind| line.starts_with(kind))
                };
                assert!(commands.clone().all(ours), "{verb}: {:?}", commands.collect::<Vec<_>>());
                assert!(commands.count() <= 30);
            } else if format != "html" {
                assert_eq!(commands.count(), 0, "{verb} {format}: {all}");
            }
        }
    }
}

#[test]
fn nothing_of_a_post_is_markup_in_a_comment() {
    let scratch = tree();
    for verb in VERBS {
        let told = run(&scratch, verb, "markdown");
        assert!(told.out.encode_utf16().count() <= 65_536);
        let mut headings = 0;
        for event in Parser::new_ext(&told.out, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
            match event {
                Event::Start(Tag::Heading { .. }) => headings += 1,
                Event::Html(text) | Event::InlineHtml(text) => panic!("{verb}: {text} is markup"),
                Event::Start(
                    Tag::Link { .. } | Tag::Image { .. } | Tag::CodeBlock(_) | Tag::BlockQuote(_),
                ) => {
                    panic!("{verb}: {event:?} in {}", told.out)
                }
                Event::Text(text) => {
                    assert!(!text.contains("top.ran") && !text.contains('@'), "{verb}: {text}");
                }
                _ => {}
            }
        }
        assert_eq!(headings, 1, "{}", told.out);
    }
}

#[test]
fn a_page_holds_what_posts_say_as_text() {
    let scratch = tree();
    let page = run(&scratch, "diff", "html").out;
    let (before, after) = page.split_once("id=\"heads\">").unwrap();
    // The element that is split here is the one script of what is written out.
    assert_eq!(before.matches("<script").count(), 1);
    // Of all that follows, only our own elements are elements.
    let tags = after.matches('<').count();
    let ours = ["</script>", "<script>", "<script type=\"application/json\"", "</body>", "</html>"];
    let script = include_str!("../../src/report/html/page.js").matches('<').count();
    let known: usize = ours.iter().map(|tag| after.matches(tag).count()).sum();
    assert_eq!(tags, known + script);
}

#[test]
fn what_a_program_reads_is_whole() {
    let scratch = tree();
    for verb in VERBS {
        let told = run(&scratch, verb, "json");
        let object: Value = serde_json::from_str(&told.out).unwrap();
        assert!(object["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{verb}");
        for line in run(&scratch, verb, "ndjson").out.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["event"].is_string());
        }
    }
    let log: Value = serde_json::from_str(&run(&scratch, "check", "sarif").out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let uri =
        |result: &Value| result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].to_string();
    assert!(results.iter().any(|result| uri(result).contains("broken%0A%3A%3Aerror")), "{log}");
}
