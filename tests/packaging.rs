//! What a fresh machine gets: licences, the compose file, the image, the continuous check.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "packaging/actions.rs"]
mod actions;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use idempost::post::front_matter::{self, Node, Reading, Value};

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(package().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

// Licences.

/// Whether an SPDX expression can be satisfied by the licences in `allowed`; `OR` binds weaker than `AND`.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut tokens = spaced.split_whitespace().peekable();
    let answer = any_of(&mut tokens, allowed);
    assert!(tokens.next().is_none(), "cannot read the licence expression {expression}");
    answer
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut answer = all_of(tokens, allowed);
    while tokens.next_if_eq(&"OR").is_some() {
        answer |= all_of(tokens, allowed);
    }
    answer
}

fn all_of(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> bool {
    let mut answer = one(tokens, allowed);
    while tokens.next_if_eq(&"AND").is_some() {
        answer &= one(tokens, allowed);
    }
    answer
}

fn one(tokens: &mut Tokens<'_>, allowed: &BTreeSet<String>) -> bool {
    let name = tokens.next().unwrap_or_default();
    if name == "(" {
        let answer = any_of(tokens, allowed);
        assert_eq!(tokens.next(), Some(")"));
        return answer;
    }
    if tokens.next_if_eq(&"WITH").is_some() {
        // With an exception it is another licence.
        return allowed.contains(&format!("{name} WITH {}", tokens.next().unwrap_or_default()));
    }
    allowed.contains(name)
}

#[test]
fn licence_expressions_are_read_as_spdx_says() {
    let allowed: BTreeSet<String> = ["MIT", "ISC"].map(str::to_owned).into();
    for yes in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(MIT OR GPL-2.0) AND ISC", "GPL-2.0 AND X OR ISC"]
    {
        assert!(satisfied(yes, &allowed), "{yes}");
    }
    for no in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND Zlib", "MIT WITH some-exception"] {
        assert!(!satisfied(no, &allowed), "{no}");
    }
}

/// The packages that are built here, with their licences, as cargo tells them.
fn dependencies() -> Vec<(String, String)> {
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let host = String::from_utf8(rustc.stdout).unwrap();
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(package())
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout).unwrap();
    let used: BTreeSet<&str> = metadata["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["id"].as_str().unwrap())
        .collect();
    let field =
        |package: &serde_json::Value, name: &str| package[name].as_str().unwrap_or_default().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| used.contains(package["id"].as_str().unwrap()))
        .map(|package| (field(package, "name"), field(package, "license")))
        .collect()
}

#[test]
fn every_dependency_has_a_licence_that_deny_toml_allows() {
    let deny: toml::Table = text("deny.toml").parse().unwrap();
    let names = |value: &toml::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let allowed: BTreeSet<String> = names(&deny["licenses"]["allow"]).into_iter().collect();
    let exceptions = deny["licenses"]["exceptions"].as_array().unwrap();
    let dependencies = dependencies();
    assert!(dependencies.len() > 50, "only {} packages", dependencies.len());
    for (name, licence) in dependencies {
        let mut allowed = allowed.clone();
        for exception in exceptions.iter().filter(|exception| exception["crate"].as_str() == Some(&name)) {
            allowed.extend(names(&exception["allow"]));
        }
        assert!(satisfied(&licence, &allowed), "{name} is under {licence}, which deny.toml does not allow");
    }
}

#[test]
fn both_licences_are_here() {
    assert!(text("LICENSE-MIT").starts_with("MIT License"));
    let apache = text("LICENSE-APACHE");
    assert!(apache.contains("Version 2.0, January 2004") && apache.contains("END OF TERMS AND CONDITIONS"));
    assert!(text("Cargo.toml").contains("license = \"MIT OR Apache-2.0\""));
}

#[test]
fn no_dependency_is_taken_at_any_version() {
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    for table in ["dependencies", "dev-dependencies"] {
        for (name, wanted) in manifest[table].as_table().unwrap() {
            let version = wanted.as_str().or_else(|| wanted.get("version").and_then(toml::Value::as_str));
            assert!(version.is_some_and(|version| version != "*"), "{table}: {name} has no version");
        }
    }
}

// The compose file and the image. No engine is needed to read them.

fn compose() -> Node {
    let Reading::Block { entries, problems, .. } =
        front_matter::read(&format!("---\n{}\n---\n", text("docker-compose.yml")))
    else {
        panic!("docker-compose.yml is no YAML");
    };
    assert!(problems.is_empty(), "{problems:?}");
    Node { span: 0..0, value: Value::Map(entries) }
}

fn get<'a>(node: &'a Node, path: &[&str]) -> &'a Node {
    path.iter().fold(node, |node, key| match &node.value {
        Value::Map(entries) => {
            &entries
                .iter()
                .find(|entry| entry.key == *key)
                .unwrap_or_else(|| panic!("no {key} of {path:?}"))
                .node
        }
        _ => panic!("{key} of {path:?} is in no map"),
    })
}

fn scalar(node: &Node) -> &str {
    match &node.value {
        Value::Scalar(scalar) => &scalar.text,
        other => panic!("{other:?} is no scalar"),
    }
}

fn list(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::List(items) => items.iter().map(scalar).collect(),
        other => panic!("{other:?} is no list"),
    }
}

#[test]
fn the_compose_file_has_a_replica_set_that_makes_itself() {
    let compose = compose();
    let mongo = get(&compose, &["services", "mongo"]);
    assert!(scalar(get(mongo, &["image"])).starts_with("mongo:8"));
    let command = list(get(mongo, &["command"]));
    let set = command.iter().position(|word| *word == "--replSet").map(|at| command[at + 1]).unwrap();
    let check = list(get(mongo, &["healthcheck", "test"])).join("\n");
    assert!(check.contains("rs.initiate") && check.contains(&format!("_id: \"{set}\"")), "{check}");
    let volume = list(get(mongo, &["volumes"]))[0].split(':').next().unwrap();
    get(&compose, &["volumes", volume]);
    // Nobody outside this machine reaches a database without a password.
    assert!(list(get(mongo, &["ports"])).iter().all(|port| port.starts_with("127.0.0.1:")));
}

#[test]
fn the_compose_file_has_the_ingester_as_a_service() {
    let compose = compose();
    let ingester = get(&compose, &["services", "idempost"]);
    assert!(package().join(scalar(get(ingester, &["build"]))).join("Dockerfile").exists());
    let uri = scalar(get(ingester, &["environment", "IDEMPOST_URI"]));
    assert!(uri.starts_with("mongodb://mongo:27017/") && uri.contains("retryWrites=false"), "{uri}");
    assert_eq!(scalar(get(ingester, &["depends_on", "mongo", "condition"])), "service_healthy");
    for volume in list(get(ingester, &["volumes"])) {
        let (here, there) = volume.split_once(':').unwrap();
        assert!(package().join(here).exists(), "{here} is not here");
        assert!(there.ends_with(":ro"), "{volume} may be written to");
    }
}

#[test]
fn the_image_is_built_from_what_is_here_and_runs_as_nobody_special() {
    let file = text("Dockerfile");
    let ignored = text(".dockerignore");
    for wanted in ["src", "Cargo.toml", "Cargo.lock", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        assert!(package().join(wanted).exists());
        assert!(!ignored.lines().any(|line| line == wanted), ".dockerignore keeps {wanted} out");
    }
    assert!(ignored.lines().any(|line| line == "target"));
    let last = file.rsplit("\nFROM ").next().unwrap();
    assert!(last.contains("\nUSER 10001"), "the image must not run as root");
    let rust = file.split("FROM rust:").nth(1).unwrap();
    let version: Vec<u32> = rust.split('-').next().unwrap().split('.').map(|n| n.parse().unwrap()).collect();
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    let wanted = manifest["package"]["rust-version"].as_str().unwrap();
    let wanted: Vec<u32> = wanted.split('.').map(|n| n.parse().unwrap()).collect();
    assert!(version >= wanted, "the image's Rust is older than rust-version");
}

// The continuous check.

#[cfg(unix)]
#[test]
fn the_scripts_can_be_run() {
    use std::os::unix::fs::PermissionsExt;
    for script in [".ci/run", "scripts/test", "scripts/action", "scripts/browser", "scripts/comment"] {
        let path: PathBuf = package().join(script);
        let mode =
            std::fs::metadata(&path).unwrap_or_else(|error| panic!("{script}: {error}")).permissions().mode();
        assert!(mode & 0o111 != 0, "{script} has no run bit");
    }
    assert!(text(".ci/run").contains("./scripts/test"));
}
