//! Help, version and usage errors.

use super::harness::Scratch;

const VERBS: [&str; 15] = [
    "ingest",
    "diff",
    "show",
    "check",
    "verify",
    "explain",
    "export",
    "id",
    "doctor",
    "runs",
    "config",
    "schema",
    "init",
    "completions",
    "man",
];

#[test]
fn the_help_of_the_program() {
    insta::assert_snapshot!(Scratch::new().run(&["--help"]));
}

#[test]
fn the_help_of_ingest() {
    insta::assert_snapshot!(Scratch::new().run(&["ingest", "--help"]));
}

#[test]
fn every_verb_has_help_and_is_in_the_programs() {
    let scratch = Scratch::new();
    let program = scratch.run(&["--help"]).out;
    for verb in VERBS {
        let told = scratch.run(&[verb, "--help"]);
        assert_eq!((told.exit, told.err.as_str()), (0, ""), "{verb}");
        assert!(told.out.contains(&format!("Usage: idempost {verb}")), "{verb}: {}", told.out);
        assert!(program.contains(&format!("\n  {verb} ")), "{verb}");
    }
}

#[test]
fn a_verb_offers_the_formats_that_it_takes() {
    let scratch = Scratch::new();
    let offered = |verb: &str| {
        let told = scratch.run(&[verb, "--help"]).out;
        ["human", "json", "ndjson", "github", "sarif"].map(|format| told.contains(&format!("- {format}:")))
    };
    assert_eq!(offered("check"), [true; 5]);
    assert_eq!(offered("runs"), [true, true, false, false, false]);
    assert!(!offered("schema")[0]);
    // What stands before the verb, and on a verb of a verb, is read all the same.
    assert_eq!(
        scratch.run(&["--format", "json", "config"]).out,
        scratch.run(&["config", "--format", "json"]).out
    );
    assert!(scratch.run(&["id", "new", "--kind", "ulid", "--format", "json"]).out.starts_with('{'));
}

#[test]
fn the_version() {
    let told = Scratch::new().run(&["--version"]);
    assert_eq!((told.exit, told.out.as_str()), (0, "idempost [VERSION]\n"));
}

#[test]
fn usage_errors_exit_64_and_say_what_was_meant() {
    let scratch = Scratch::new();
    for (args, said) in [
        (&[][..], "Usage: idempost"),
        (&["injest"], "ingest"),
        (&["ingest", "--colection", "x"], "--collection"),
        (&["diff", "--format", "yaml"], "json"),
        (&["ingest", "--revision", "1", "--no-revision"], "cannot be used with"),
        (&["ingest", "--revision", "soon"], "--revision"),
        (&["check", "--quiet", "-v"], "cannot be used with"),
        (&["ingest", "--format", "sarif"], "possible values: human"),
        (&["--format", "sarif", "ingest"], "human"),
        (&["check", "--config", "gone.toml"], "gone.toml"),
        (&["check", "--timezone", "Asia/Soul"], "Asia/Seoul"),
        (&["check", "--lang", "korean"], "--lang"),
        (&["diff", "--store", "mongo://h/db"], "--store"),
        (&["diff", "--batch", "0"], "--batch"),
        (&["schema", "plans"], "plan"),
    ] {
        let told = scratch.run(args);
        assert_eq!((told.exit, told.out.as_str()), (64, ""), "{args:?}: {}", told.err);
        assert!(told.err.contains(said), "{args:?}: {}", told.err);
    }
}

#[test]
fn a_usage_error_as_it_is_printed() {
    insta::assert_snapshot!(Scratch::new().run(&["ingest", "--prunne"]));
}

#[test]
fn a_shell_gets_its_completions_and_a_reader_its_page() {
    let scratch = Scratch::new();
    let told = scratch.run(&["completions", "bash"]);
    assert_eq!(told.exit, 0);
    assert!(told.out.contains("complete -F _idempost"));
    let told = scratch.run(&["man"]);
    assert!(told.exit == 0 && told.out.contains(".SH NAME"), "{told}");
    let told = scratch.run(&["man", "--out", "pages"]);
    assert_eq!(told.exit, 0, "{told}");
    assert!(scratch.path().join("pages/idempost-diff.1").is_file());
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let scratch = Scratch::new().with("idempost.toml", "contents = 1\n");
    let plain = scratch.run(&["config"]);
    assert!(!plain.err.contains('\u{1b}'), "{plain}");
    let always = scratch.run(&["config", "--color", "always"]);
    assert!(always.err.contains('\u{1b}'), "{always}");
    let never = scratch.run_with(&["config", "--color", "never"], &[("CLICOLOR_FORCE", "1")]);
    assert!(!never.err.contains('\u{1b}'), "{never}");
}
