//! The action and the workflows: read as YAML, and the action's own steps run by bash as a runner runs them, from an
//! empty folder to the files that a pull request shows.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use idempost::post::front_matter::{self, Node, Reading, Value};
use serde_json::{Value as Json, json};

use super::{get, package, scalar, text};

fn yaml(source: &str) -> Node {
    let Reading::Block { entries, problems, .. } = front_matter::read(&format!("---\n{source}\n---\n"))
    else {
        panic!("this is no YAML:\n{source}");
    };
    assert!(problems.is_empty(), "{problems:?}\n{source}");
    Node { span: 0..0, value: Value::Map(entries) }
}

fn find<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        Value::Map(entries) => entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node),
        _ => None,
    }
}

fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        other => panic!("{other:?} is no list"),
    }
}

fn pairs(node: &Node) -> Vec<(String, &Node)> {
    match &node.value {
        Value::Map(entries) => entries.iter().map(|entry| (entry.key.clone(), &entry.node)).collect(),
        other => panic!("{other:?} is no map"),
    }
}

/// The steps of every job of a workflow.
fn steps_of_jobs(workflow: &Node) -> Vec<&Node> {
    pairs(get(workflow, &["jobs"])).into_iter().flat_map(|(_, job)| items(get(job, &["steps"]))).collect()
}

/// The fenced blocks of a document in a language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    document.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// What goes against the rules of a step: an action that is not pinned, and a script that an expression is written
/// into (what it stands for may be a stranger's text).
fn breaches(step: &Node) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(uses) = find(step, "uses").map(scalar) {
        let pinned = uses.split_once('@').is_some_and(|(_, version)| {
            version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit())
        });
        if !pinned && uses != "./" && !uses.starts_with("idempost/idempost@") {
            out.push(format!("{uses} is not pinned to a commit"));
        }
    }
    if let Some(run) = find(step, "run").map(scalar)
        && run.contains("${{")
    {
        out.push(format!("an expression is written into a script: {run}"));
    }
    out
}

#[test]
fn nothing_is_unpinned_and_nothing_from_outside_is_written_into_a_script() {
    let action = yaml(&text("action.yml"));
    let workflow = yaml(&text(".github/workflows/ci.yml"));
    let example = yaml(&blocks(&text("docs/ci.md"), "yaml")[0]);
    let mut steps: Vec<&Node> = items(get(&action, &["runs", "steps"])).iter().collect();
    assert!(steps.iter().all(|step| find(step, "run").is_none() || scalar(get(step, &["shell"])) == "bash"));
    steps.extend(steps_of_jobs(&workflow));
    steps.extend(steps_of_jobs(&example));
    assert!(steps.len() > 15, "{} steps", steps.len());
    let found: Vec<String> = steps.iter().flat_map(|step| breaches(step)).collect();
    assert!(found.is_empty(), "{found:#?}");
    for workflow in [&workflow, &example] {
        assert_eq!(scalar(get(workflow, &["permissions", "contents"])), "read");
        assert!(find(get(workflow, &["on"]), "pull_request_target").is_none());
    }
    // The rules can be broken.
    for bad in ["uses: actions/checkout@v6", "run: echo ${{ github.event.pull_request.title }}"] {
        assert_eq!(breaches(&yaml(bad)).len(), 1, "{bad}");
    }
}

#[test]
fn the_workflow_runs_the_tests_where_they_should_run() {
    let workflow = yaml(&text(".github/workflows/ci.yml"));
    let systems = items(get(&workflow, &["jobs", "test", "strategy", "matrix", "os"]));
    let systems: Vec<&str> = systems.iter().map(scalar).collect();
    assert!(systems.contains(&"ubuntu-latest") && systems.contains(&"macos-latest"), "{systems:?}");
    let with_mongo = items(get(&workflow, &["jobs", "mongodb", "steps"]));
    let tests =
        with_mongo.iter().find(|step| find(step, "run").is_some_and(|run| scalar(run) == "./scripts/test"));
    assert!(
        scalar(get(tests.unwrap(), &["env", "IDEMPOST_TEST_URI"])).starts_with("mongodb://127.0.0.1:27017/")
    );
}

#[test]
fn the_examples_are_yaml_and_the_inputs_and_outputs_are_those_of_the_action() {
    let document = text("docs/ci.md");
    for block in blocks(&document, "yaml") {
        yaml(&block);
    }
    let action = yaml(&text("action.yml"));
    for kind in ["inputs", "outputs"] {
        for (name, _) in pairs(get(&action, &[kind])) {
            assert!(document.contains(&format!("`{name}`")), "docs/ci.md lacks `{name}` of the {kind}");
        }
    }
    let inputs: Vec<String> = pairs(get(&action, &["inputs"])).into_iter().map(|(name, _)| name).collect();
    for step in steps_of_jobs(&yaml(&blocks(&document, "yaml")[0])) {
        let ours = find(step, "uses").is_some_and(|uses| scalar(uses).starts_with("idempost/"));
        for (name, _) in find(step, "with").filter(|_| ours).map(pairs).unwrap_or_default() {
            assert!(inputs.contains(&name), "{name} is no input");
        }
    }
}

// A runner of the action's steps.

/// A workspace with the variables that a runner sets.
struct Runner {
    folder: tempfile::TempDir,
    env: BTreeMap<String, String>,
    number: u32,
}

/// What one use of the action left.
#[derive(Debug)]
struct Used {
    exit: i32,
    log: String,
    summary: String,
    outputs: BTreeMap<String, String>,
}

impl Runner {
    fn new(api: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("idempost-runner-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("blog")).unwrap();
        std::fs::create_dir(folder.path().join("temp")).unwrap();
        let temp = folder.path().join("temp").display().to_string();
        let store = format!("sqlite:{}", folder.path().join("blog.db").display());
        let env = [
            ("PATH", std::env::var("PATH").unwrap().as_str()),
            ("HOME", &temp),
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_ACTION_PATH", &package().display().to_string()),
            ("GITHUB_API_URL", api),
            ("GITHUB_SERVER_URL", "https://github.example"),
            ("GITHUB_REPOSITORY", "team/blog"),
            ("GITHUB_RUN_ID", "9001"),
            ("GITHUB_WORKFLOW", "content"),
            ("GITHUB_SHA", "0123456789abcdef0123456789abcdef01234567"),
            ("GITHUB_REF", "refs/heads/main"),
            ("RUNNER_TEMP", &temp),
            ("IDEMPOST_URI", &store),
            ("no_proxy", "127.0.0.1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        Runner { folder, env, number: 0 }
    }

    fn blog(&self) -> PathBuf {
        self.folder.path().join("blog")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.blog().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Uses the action: its steps in their order, each by bash.
    fn uses(&mut self, given: &[(&str, &str)]) -> Used {
        self.number += 1;
        let action = yaml(&text("action.yml"));
        let mut inputs: BTreeMap<String, String> = pairs(get(&action, &["inputs"]))
            .into_iter()
            .map(|(name, input)| (name, find(input, "default").map_or("", scalar).to_owned()))
            .collect();
        inputs.insert("program".to_owned(), env!("CARGO_BIN_EXE_idempost").to_owned());
        inputs.insert("github-token".to_owned(), "token".to_owned());
        inputs.extend(given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let file = |name: &str| self.folder.path().join(format!("{name}-{}", self.number));
        let (summary, outputs) = (file("summary"), file("output"));
        for path in [&summary, &outputs] {
            std::fs::write(path, "").unwrap();
        }
        let mut used = Used { exit: 0, log: String::new(), summary: String::new(), outputs: BTreeMap::new() };
        for step in items(get(&action, &["runs", "steps"])) {
            // What builds the program is not needed: it is given.
            let condition = find(step, "if").map_or("", scalar);
            let Some(run) = find(step, "run").map(scalar) else { continue };
            let comments = condition.contains("comment-file");
            if condition.contains("inputs.program == ''")
                || (comments && (inputs["comment"] != "true" || !used.outputs.contains_key("comment-file")))
            {
                continue;
            }
            let value = |text: &str| evaluate(text, &inputs, &used.outputs);
            let mut command = Command::new("bash");
            command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", run]);
            command.env_clear().envs(&self.env).env("GITHUB_RUN_NUMBER", self.number.to_string());
            command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outputs);
            for (name, node) in find(step, "env").map(pairs).unwrap_or_default() {
                command.env(name, value(scalar(node)));
            }
            let inside = find(step, "working-directory").map_or(".".to_owned(), |node| value(scalar(node)));
            let ended = command.current_dir(self.blog().join(inside)).stdin(Stdio::null()).output().unwrap();
            used.log.push_str(&String::from_utf8_lossy(&ended.stdout));
            used.log.push_str(&String::from_utf8_lossy(&ended.stderr));
            if used.exit == 0 {
                used.exit = ended.status.code().unwrap();
            }
            used.outputs = std::fs::read_to_string(&outputs)
                .unwrap()
                .lines()
                .map(|line| line.split_once('=').unwrap_or_else(|| panic!("{line:?} is no output")))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect();
        }
        used.summary = std::fs::read_to_string(&summary).unwrap();
        used
    }
}

impl Used {
    fn output(&self, name: &str) -> &str {
        self.outputs.get(name).unwrap_or_else(|| panic!("no output {name}: {self:#?}"))
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.output(name)).unwrap()
    }
}

/// The expressions that the steps have.
fn evaluate(text: &str, inputs: &BTreeMap<String, String>, outputs: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (expression, after) = after.split_once("}}").unwrap();
        out.push_str(before);
        let expression = expression.trim();
        let value = match expression.strip_prefix("inputs.") {
            Some(name) => inputs[name].clone(),
            None => match expression.strip_prefix("steps.run.outputs.") {
                Some(name) => outputs.get(name).cloned().unwrap_or_default(),
                None if expression == "github.event.pull_request.number" => "7".to_owned(),
                None => panic!("{expression} is not known here"),
            },
        };
        out.push_str(&value);
        rest = after;
    }
    out + rest
}

// The comments of one pull request, over HTTP.

#[derive(Default)]
struct Comments {
    all: Vec<Json>,
    asked: Vec<String>,
    read_only: bool,
}

fn api(comments: Arc<Mutex<Comments>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut request = String::new();
            reader.read_line(&mut request).unwrap();
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = number.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let (status, answer) = answered(&mut comments.lock().unwrap(), request.trim(), &body);
            let answer = answer.to_string();
            write!(
                stream,
                "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
                answer.len()
            )
            .unwrap();
        }
    });
    address
}

fn answered(comments: &mut Comments, request: &str, body: &[u8]) -> (u16, Json) {
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    comments.asked.push(method.to_owned());
    let body = || serde_json::from_slice::<Json>(body).unwrap()["body"].clone();
    assert!(path.starts_with("/repos/team/blog/issues/"), "{path}");
    match method {
        _ if comments.read_only => (403, json!({ "message": "Resource not accessible by integration" })),
        "GET" => (200, Json::Array(comments.all.clone())),
        "POST" => {
            let id = comments.all.len() + 100;
            comments.all.push(json!({ "id": id, "body": body(), "user": { "type": "Bot" } }));
            (201, json!({}))
        }
        "PATCH" => {
            let id: usize = path.rsplit('/').next().unwrap().parse().unwrap();
            comments.all.iter_mut().find(|one| one["id"] == id).unwrap()["body"] = body();
            (200, json!({}))
        }
        other => panic!("{other}"),
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Lines of the log that the runner takes for commands.
fn commands(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.trim_start().starts_with("::") || line.contains("##[")).collect()
}

/// From nothing to what a pull request shows, by the README's sample blog.
#[test]
fn a_pull_request_shows_what_a_push_would_do() {
    let comments = Arc::new(Mutex::new(Comments::default()));
    let mut runner = Runner::new(&api(comments.clone()));
    copy(&package().join("content"), &runner.blog().join("content"));
    std::fs::copy(package().join("idempost.toml"), runner.blog().join("idempost.toml")).unwrap();

    // The main branch.
    let first = runner.uses(&[("command", "ingest")]);
    assert_eq!((first.exit, first.output("exit")), (0, "0"), "{first:#?}");
    let created: usize = first.output("created").parse().unwrap();
    assert!(created > 3 && first.output("run-id").len() == 26, "{first:#?}");
    assert!(
        first.summary.starts_with(&format!("### idempost: {created} posts written")),
        "{}",
        first.summary
    );

    // A pull request that changes nothing says nothing.
    let quiet = runner.uses(&[]);
    assert_eq!((quiet.exit, quiet.output("changes"), quiet.output("news")), (0, "0", "false"), "{quiet:#?}");
    assert!(quiet.summary.starts_with("### idempost: nothing to write"), "{}", quiet.summary);
    assert!(comments.lock().unwrap().all.is_empty(), "no news is no comment");

    // One that adds a post with a title that would like to be a command.
    let hostile =
        "::error::x\\n::set-output name=exit::0\\n##[error]y | `z` <script>top.ran=1</script> \\u202e @team";
    runner.write(
        "content/en/new.md",
        &format!("---\ntitle: \"{hostile}\"\ndate: 2031-01-01\n---\n\n::warning::text\n"),
    );
    let news = runner.uses(&[]);
    assert_eq!((news.exit, news.output("changes"), news.output("created")), (0, "1", "1"), "{news:#?}");
    assert!(commands(&news.log).is_empty(), "{}", news.log);
    let comment = news.file("comment-file");
    assert!(
        comment.starts_with("### idempost: 1 post to write\n")
            && comment.contains("| create | `content/en/new.md` |")
    );
    assert!(news.summary.contains("content/en/new.md"), "{}", news.summary);
    assert!(news.file("report-file").starts_with("<!doctype html>"));
    {
        let comments = comments.lock().unwrap();
        assert_eq!(comments.all.len(), 1);
        let body = comments.all[0]["body"].as_str().unwrap();
        assert!(body.starts_with("<!-- idempost ") && body.ends_with(&comment), "{body}");
    }

    // Another push to it: a broken file. The comment is the same one, and the job fails with the tool's exit.
    runner.write("content/en/broken.md", "---\ntitle: Broken\ndate: 2031-13-01\n---\n\nx\n");
    let broken = runner.uses(&[]);
    assert_eq!((broken.exit, broken.output("exit"), broken.output("invalid")), (4, "4", "1"), "{broken:#?}");
    let told = commands(&broken.log);
    assert!(
        told.len() == 1 && told[0].starts_with("::error file=content/en/broken.md,line=3,col=7,title=date-"),
        "{told:?}"
    );
    assert!(broken.summary.contains("**Problems**"), "{}", broken.summary);
    {
        let comments = comments.lock().unwrap();
        assert_eq!(comments.all.len(), 1, "one comment is kept up to date");
        assert!(comments.all[0]["body"].as_str().unwrap().contains("broken.md"));
        assert!(comments.asked.contains(&"PATCH".to_owned()), "{:?}", comments.asked);
    }

    // From a fork the token may only read: a warning, and the result is the same.
    comments.lock().unwrap().read_only = true;
    let fork = runner.uses(&[("command", "check")]);
    assert_eq!((fork.exit, fork.output("errors")), (4, "1"), "{fork:#?}");
    assert!(
        commands(&fork.log).iter().any(|line| line.starts_with("::warning title=idempost::no comment")),
        "{}",
        fork.log
    );

    // Merged: the run number is the revision, and the row tells where it came from.
    std::fs::remove_file(runner.blog().join("content/en/broken.md")).unwrap();
    let merged = runner.uses(&[("command", "ingest"), ("arguments", "--keep-going\n--batch\n7")]);
    assert_eq!((merged.exit, merged.output("created")), (0, "1"), "{merged:#?}");
    let shown = Command::new(env!("CARGO_BIN_EXE_idempost"))
        .args(["runs", "show", merged.output("run-id")])
        .current_dir(runner.blog())
        .env_clear()
        .env("IDEMPOST_URI", &runner.env["IDEMPOST_URI"])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains(&format!("revision {}", runner.number)), "{shown}");
    for told in ["0123456789abcdef", "refs/heads/main", "https://github.example/team/blog/actions/runs/9001"]
    {
        assert!(shown.contains(told), "{told} in {shown}");
    }
}

/// The README's own lines, typed as they stand where the sample blog is, in a CI's environment.
#[test]
fn the_readme_alone_leads_to_the_files_that_a_pull_request_shows() {
    let readme = text("README.md");
    let section = readme.split("## In CI").nth(1).unwrap().split("\n## ").next().unwrap();
    let typed = blocks(section, "console").concat();
    let runner = Runner::new("http://127.0.0.1:9");
    copy(&package().join("content"), &runner.blog().join("content"));
    std::fs::copy(package().join("idempost.toml"), runner.blog().join("idempost.toml")).unwrap();
    let bin = runner.folder.path().join("temp/bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_idempost"), bin.join("idempost")).unwrap();
    let (summary, outputs) = (runner.blog().join("summary"), runner.blog().join("outputs"));
    let mut command = Command::new("bash");
    command.args(["-euc", &typed]).current_dir(runner.blog()).env_clear().envs(&runner.env);
    command.env("PATH", format!("{}:{}", bin.display(), runner.env["PATH"]));
    command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outputs).env("GITHUB_RUN_NUMBER", "1");
    let ended = command.stdin(Stdio::null()).output().unwrap();
    let log = String::from_utf8_lossy(&ended.stdout) + String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{log}");
    let read = |name: &str| {
        std::fs::read_to_string(runner.blog().join(name)).unwrap_or_else(|_| panic!("{name}: {log}"))
    };
    assert!(read("comment.md").starts_with("### idempost: "));
    assert!(read("report.html").starts_with("<!doctype html>"));
    let summary = read("summary");
    assert!(summary.contains("to write\n") && summary.contains("posts written\n"), "{summary}");
    assert!(read("outputs").contains("\nexit=0\n"));
}

/// Whatever a verb prints in a job's log: nothing that a post says is a command to the runner.
#[test]
fn no_text_of_a_post_is_a_command_in_a_log() {
    let runner = Runner::new("http://127.0.0.1:9");
    let body = |word: &str| format!("::error::before\n\n{word}\n\n  ::stop-commands::x\n\n##[error]legacy\n");
    let post = |word: &str| format!("---\ntitle: \"::add-mask::e\"\ndate: 2031-01-01\n---\n\n{}", body(word));
    runner.write(
        "idempost.toml",
        "content = \"content\"\nlangs = [\"en\"]\ndefault_lang = \"en\"\ntimezone = \"UTC\"\n",
    );
    runner.write("content/a.md", &post("old"));
    let run = |actions: &str, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempost"));
        command.args(args).current_dir(runner.blog()).env_clear().envs(&runner.env);
        let ended = command.env("GITHUB_ACTIONS", actions).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr)
    };
    run("true", &["ingest"]);
    runner.write("content/a.md", &post("new"));
    runner.write("content/::error::b.md", "---\ntitle: x\ndate: 2031-13-01\n---\n");
    let shown = run("false", &["diff", "-v", "--keep-going"]);
    assert!(!commands(&shown).is_empty(), "the control shows the text as it is: {shown}");
    for args in [
        &["diff", "-v", "--keep-going"][..],
        &["diff", "--format", "markdown", "--keep-going"],
        &["check", "-v"],
        &["explain", "content/a.md"],
        &["ingest", "--keep-going", "-v"],
        &["runs"],
    ] {
        let log = run("true", args);
        assert!(commands(&log).is_empty(), "{args:?}: {:?}", commands(&log));
    }
}

/// More than GitHub shows: ten are annotations, all are told.
#[test]
fn what_is_beyond_githubs_limits_is_told_elsewhere() {
    let mut runner = Runner::new("http://127.0.0.1:9");
    runner.write(
        "idempost.toml",
        "content = \"content\"\nlangs = [\"en\"]\ndefault_lang = \"en\"\ntimezone = \"UTC\"\n",
    );
    for number in 0..700 {
        let date = if number < 30 { "2031-13-01" } else { "2031-01-01" };
        let title = format!("{number} {}", "long ".repeat(40));
        runner.write(
            &format!("content/post-{number:03}-{}.md", "name".repeat(40)),
            &format!("---\ntitle: {title}\ndate: {date}\n---\n\nx\n"),
        );
    }
    let used = runner.uses(&[("arguments", "--keep-going"), ("report", "false")]);
    assert_eq!((used.exit, used.output("invalid"), used.output("created")), (3, "30", "670"), "{}", used.log);
    assert_eq!(commands(&used.log).iter().filter(|line| line.starts_with("::error")).count(), 10);
    assert!(used.log.contains("20 errors more stand above"), "{}", used.log);
    assert_eq!(used.summary.matches("date-").count(), 30);
    assert!(used.summary.len() < 1 << 20);
    let comment = used.file("comment-file");
    assert!(
        comment.encode_utf16().count() <= 65_536 && comment.contains("more. `idempost diff"),
        "{}",
        comment.len()
    );
    assert!(!used.outputs.contains_key("report-file"));
    // Nobody listens there.
    assert!(used.log.contains("::warning title=idempost::no comment"), "{}", used.log);
}

#[test]
fn a_command_that_is_none_is_refused() {
    let mut runner = Runner::new("http://127.0.0.1:9");
    let used = runner.uses(&[("command", "ingest; touch ran")]);
    assert_eq!(used.exit, 64, "{used:#?}");
    assert!(!runner.blog().join("ran").exists());
    // A secret that is not there.
    copy(&package().join("content"), &runner.blog().join("content"));
    runner.env.remove("IDEMPOST_URI");
    let used = runner.uses(&[]);
    assert_eq!((used.exit, used.output("exit")), (64, "64"), "{used:#?}");
    assert!(used.log.contains("::error title=idempost::there is no plan (exit 64)"), "{}", used.log);
    assert!(used.log.contains("no store is named"), "{}", used.log);
}
