//! What each renderer prints of one small run.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bson::{Bson, doc};

use super::event::{Checked, End, Event, FailedPost, RunReport};
use super::format::Format;
use super::paint::Paint;
use super::{Output, Purpose, View, renderer};
use crate::catalog::Skipped;
use crate::diagnostic::Diagnostic;
use crate::error::{Exit, Failure};
use crate::plan::change::{self, FieldChange};
use crate::plan::compose::Composer;
use crate::plan::{Action, Operation, Origin, Orphan, Plan, Reason, Summary};
use crate::post::Skip;
use crate::store::Target;

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn diagnostics() -> Vec<Diagnostic> {
    let source = "---\ntitle: 안녕, 세상\ndate: 2024-13-01\n---\n";
    let at = source.find("2024").unwrap();
    let mut date = Diagnostic::error("bad-date", "`2024-13-01` is no date: there is no month 13")
        .at(at..at + 10)
        .help("write 2024-12-01")
        .in_file("ko/bad, one.md");
    date.locate(source);
    let title = Diagnostic::warning("long-title", "100% of the line\nis title").in_file("ko/hello.md");
    vec![date, title]
}

fn operation(action: Action, file: Option<&str>, code: &'static str) -> Operation {
    Operation {
        id: format!("01ID-{}", action.as_str().to_uppercase()),
        slug: format!("{}-slug", action.as_str()),
        lang: "ko".to_owned(),
        file: file.map(str::to_owned),
        line: None,
        action,
        by: crate::plan::lifecycle::By::Ingest,
        reason: Reason { code, detail: String::new(), help: String::new() },
        expected_version: (action != Action::Create).then_some(3),
        content: None,
        seen: None,
        stamp: None,
    }
}

fn plan() -> Plan {
    let mut conflict = operation(Action::Conflict, Some("ko/moved.md"), "frozen-date");
    conflict.line = Some(3);
    conflict.reason.detail = "(moved, ko) is live as 01AAA with 2024-01-01T00:00:00Z".to_owned();
    conflict.reason.help = "put the date back, or say that you mean it".to_owned();
    Plan {
        source: Origin { name: Some("site".to_owned()), root: "content".to_owned(), commit: None },
        target: Target {
            store: "sqlite:idempost.db".to_owned(),
            database: "idempost".to_owned(),
            collection: "posts".to_owned(),
            engine: "sqlite".to_owned(),
        },
        pipeline: "1/x".to_owned(),
        summary: Summary {
            files: 7,
            posts: 5,
            skipped: 1,
            invalid: 1,
            create: 1,
            update: 1,
            archive: 1,
            unchanged: 1,
            conflict: 1,
            orphans: 1,
            ..Summary::default()
        },
        operations: [
            operation(Action::Create, Some("ko/new.md"), "new"),
            operation(Action::Update, Some("ko/hello.md"), "source"),
            operation(Action::Archive, None, "gone"),
            operation(Action::Unchanged, Some("ko/same.md"), "equal"),
            conflict,
        ]
        .map(Arc::new)
        .into(),
        orphans: vec![Orphan {
            id: "01OLD".to_owned(),
            slug: "old".to_owned(),
            lang: "ko".to_owned(),
            path: "ko/old.md".to_owned(),
        }],
        diagnostics: diagnostics(),
        skipped: vec![Skipped { file: "README.md".to_owned(), reason: Skip::Readme }],
        live: 3,
        settings_change: None,
        notes: vec!["default_lang was never said: 5 ids were made with en".to_owned()],
    }
}

fn changes() -> Vec<Vec<FieldChange>> {
    let stored = doc! { "title": "Old", "body": "one\ntwo\nthree\n", "html": "<p>\n", "tags": ["a"] };
    let content = doc! { "title": "New", "body": "one\n2\nthree\nfour\n", "html": "<p>x\n", "summary": "s",
    "publishedAt": bson::DateTime::from_millis(1_700_000_000_000) };
    let archived = FieldChange {
        path: "status".to_owned(),
        before: Some(Bson::from("active")),
        after: Some(Bson::from("archived")),
    };
    vec![Vec::new(), change::fields(&stored, &content), vec![archived], Vec::new(), Vec::new()]
}

fn run() -> RunReport {
    RunReport {
        run_id: "01RUN".to_owned(),
        operation_id: "01RUN".to_owned(),
        replayed: false,
        applied: vec![(Action::Create, 1), (Action::Archive, 1)],
        settled_by_others: 0,
        failed: vec![failed()],
        not_tried: 0,
        retries: 2,
        stopped: None,
        exit: Exit::Conflict,
    }
}

fn failed() -> FailedPost {
    FailedPost {
        id: "01ID-UPDATE".to_owned(),
        file: Some("ko/hello.md".to_owned()),
        class: "conflict".to_owned(),
        message: "another run wrote it meanwhile".to_owned(),
        attempts: 3,
    }
}

fn told(format: Format, purpose: Purpose, paint: Paint, verbose: u8, quiet: bool) -> (String, String) {
    let (out, err) = (Buffer::default(), Buffer::default());
    let mut renderer = renderer(
        format,
        Output {
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            paint_out: paint,
            paint_err: paint,
            quiet,
            verbose,
            progress: false,
            root: "content".to_owned(),
            purpose,
            summary: None,
            outputs: None,
            view: View::default(),
            saves: None,
        },
    );
    let (plan, changes, run) = (plan(), changes(), run());
    let checked = Checked { summary: &plan.summary, skipped: &plan.skipped, diagnostics: &plan.diagnostics };
    let mut event = |event: Event<'_>| renderer.event(&event).unwrap();
    event(Event::Reading { done: 1, all: 7 });
    event(Event::Problem(&plan.diagnostics[0]));
    if purpose != Purpose::Check {
        event(Event::Target(&plan.target));
        event(Event::Planned(&plan));
    }
    if purpose == Purpose::Apply {
        event(Event::Retrying { message: "connection reset", attempt: 1, pause: Duration::from_millis(120) });
        event(Event::Applied {
            id: "01ID-CREATE",
            file: Some("ko/new.md"),
            action: Action::Create,
            done: 1,
            all: 3,
        });
        event(Event::Failed(&failed()));
    }
    let composer = Composer::of_given();
    let end = match purpose {
        Purpose::Check => End::Check(&checked),
        Purpose::Look => End::Plan { plan: &plan, changes: &changes, composer: &composer },
        Purpose::Apply => End::Run { plan: &plan, changes: &changes, composer: &composer, run: &run },
    };
    renderer.finish(&end).unwrap();
    (out.text(), err.text())
}

fn both(format: Format, purpose: Purpose) -> String {
    let (out, err) = told(format, purpose, Paint::OFF, 0, false);
    format!("--- standard output\n{out}--- standard error\n{err}")
}

#[test]
fn a_check_for_a_person() {
    insta::assert_snapshot!(both(Format::Human, Purpose::Check));
}

#[test]
fn a_diff_for_a_person() {
    insta::assert_snapshot!(both(Format::Human, Purpose::Look));
}

#[test]
fn a_diff_that_says_more() {
    insta::assert_snapshot!(told(Format::Human, Purpose::Look, Paint::OFF, 1, false).0);
}

#[test]
fn a_run_for_a_person() {
    insta::assert_snapshot!(both(Format::Human, Purpose::Apply));
}

#[test]
fn a_quiet_run_tells_errors_and_the_result() {
    let (out, err) = told(Format::Human, Purpose::Apply, Paint::OFF, 0, true);
    // A refusal is an error: what is refused and what to do is told however quiet a run is.
    assert_eq!(
        out,
        "conflict   content/ko/moved.md:3 (frozen-date)\n           (moved, ko) is live as 01AAA with \
         2024-01-01T00:00:00Z\n           help: put the date back, or say that you mean it\nconflict: 1 created, 1 \
         archived, 1 unchanged, 1 in conflict, 1 failed; 2 commands sent again\n"
    );
    assert!(err.contains("error[bad-date]") && !err.contains("warning") && !err.contains("target"));
    assert!(err.contains("failed ko/hello.md conflict: another run wrote it meanwhile (3 attempts)"));
}

#[test]
fn a_run_as_lines() {
    insta::assert_snapshot!(
        both(Format::Ndjson, Purpose::Apply).replace(env!("CARGO_PKG_VERSION"), "VERSION")
    );
}

#[test]
fn a_run_as_annotations() {
    insta::assert_snapshot!(both(Format::Github, Purpose::Apply));
}

#[test]
fn a_check_as_annotations() {
    insta::assert_snapshot!(both(Format::Github, Purpose::Check));
}

#[test]
fn a_check_as_sarif() {
    insta::assert_snapshot!(
        both(Format::Sarif, Purpose::Check).replace(env!("CARGO_PKG_VERSION"), "VERSION")
    );
}

#[test]
fn a_diff_as_one_object() {
    insta::assert_snapshot!(both(Format::Json, Purpose::Look).replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn a_diff_as_markdown() {
    insta::assert_snapshot!(both(Format::Markdown, Purpose::Look));
}

#[test]
fn colours_change_no_text() {
    for purpose in [Purpose::Check, Purpose::Look, Purpose::Apply] {
        let (plain, _) = told(Format::Human, purpose, Paint::OFF, 2, false);
        let (coloured, _) = told(Format::Human, purpose, Paint::ON, 2, false);
        assert_ne!(plain, coloured);
        // Where there are colours, they are the marks of edited words.
        let unmarked = ["[-", "-]", "{+", "+}"].iter().fold(plain, |text, mark| text.replace(mark, ""));
        assert_eq!(unmarked, anstream::adapter::strip_str(&coloured).to_string());
    }
}

#[test]
fn equal_runs_print_equal_bytes() {
    for format in
        [Format::Human, Format::Json, Format::Ndjson, Format::Github, Format::Sarif, Format::Markdown]
    {
        assert_eq!(both(format, Purpose::Apply), both(format, Purpose::Apply));
    }
}

#[test]
fn a_failure_is_told_in_every_format() {
    for format in
        [Format::Human, Format::Json, Format::Ndjson, Format::Github, Format::Sarif, Format::Markdown]
    {
        let (out, err) = (Buffer::default(), Buffer::default());
        let output = Output {
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            paint_out: Paint::OFF,
            paint_err: Paint::OFF,
            quiet: false,
            verbose: 0,
            progress: false,
            root: String::new(),
            purpose: Purpose::Look,
            summary: None,
            outputs: None,
            view: View::default(),
            saves: None,
        };
        let failure = Failure::new(Exit::Unreachable, "the store did not answer").help("try again");
        renderer(format, output).finish(&End::Failed(&failure)).unwrap();
        assert!(format!("{}{}", out.text(), err.text()).contains("the store did not answer"), "{format:?}");
        if format == Format::Json {
            let value: serde_json::Value = serde_json::from_str(&out.text()).unwrap();
            assert_eq!(value["exit"], 75);
        }
    }
}

#[test]
fn the_objects_are_what_their_schemas_say() {
    let (plan, changes, run) = (plan(), changes(), run());
    let schemas = [
        (include_str!("../../schemas/plan.json"), super::json::plan(&plan, &changes)),
        (include_str!("../../schemas/run.json"), super::json::run(&plan, &changes, &run)),
        (include_str!("../../schemas/run.json"), super::json::run(&plan, &[], &run)),
    ];
    for (schema, value) in schemas {
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&value)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{value:#}");
        let keys = |value: &serde_json::Value| -> Vec<String> {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.sort();
            keys
        };
        let mut known = keys(&schema["properties"]);
        // Only a plan that is saved for its application holds the flags it was made under.
        known.retain(|key| key != "flags");
        assert_eq!(keys(&value), known, "a key is in one of the two alone");
    }
}
