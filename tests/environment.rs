//! What must not matter, and what is too much: the host's zone, locale, folder, clock and order of files
//! change nothing that is stored; one more than each limit is refused by name, in bounded memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

const POSTS: [(&str, &str); 5] = [
    ("b/2023-11-05-clocks.md", "---\ntitle: Clocks\nlang: ko\n---\n\nA day from the name.\n"),
    (
        "a.md",
        "+++\ntitle = \"A local time\"\ndate = 2023-11-05T01:30:00\n+++\n\nSee [clocks](b/2023-11-05-clocks.md).\n",
    ),
    ("Ä.md", "---\ntitle: Umlaut\ndate: 5 Nov 2023\nupdated: 2023-11-06\n---\n\nText.\n"),
    ("zz.ja.md", "{\"title\": \"時計\", \"date\": \"2023-11-05T01:30:00+09:00\"}\n\n本文。\n"),
    (
        "i.md",
        "---\ntitle: Istanbul\ndate: 2023-11-05 13:00\ntags: [İ, ı, I]\n---\n\n# Istanbul\n\n## Istanbul\n",
    ),
];

fn tree(order: impl Iterator<Item = usize>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for at in order {
        let (path, text) = POSTS[at];
        let path = folder.path().join("content").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let settings =
        "content = \"content\"\nlangs = [\"en\", \"ko\", \"ja\"]\ntimezone = \"America/New_York\"\n";
    std::fs::write(folder.path().join("idempost.toml"), settings).unwrap();
    folder
}

fn idempost(folder: &Path, env: &[(&str, &str)], arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_idempost"))
        .env_clear()
        .envs(env.iter().copied())
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

/// The plan of a first run: every id, hash and whole document. What names the folder is left out.
fn planned(folder: &Path, env: &[(&str, &str)], from: &Path) -> Value {
    let config = folder.join("idempost.toml");
    let arguments = ["explain", "--all", "--format", "ndjson", "--config", config.to_str().unwrap()];
    let done = idempost(from, env, &arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let lines = String::from_utf8(done.stdout).unwrap();
    let objects: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), POSTS.len());
    assert!(objects.iter().all(|object| object["id"].is_string()), "{lines}");
    Value::from(objects)
}

/// Every stored document of a fresh ingest.
fn stored(folder: &Path, env: &[(&str, &str)]) -> Value {
    let done = idempost(folder, env, &["ingest", "--store", "sqlite:out.db", "--format", "json"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let ended: Value = serde_json::from_slice(&done.stdout).unwrap();
    ended["changes"].clone()
}

#[test]
fn zone_locale_folder_times_order_and_git_do_not_matter() {
    let plain = tree(0..POSTS.len());
    let wanted = planned(plain.path(), &[], plain.path());
    let changes = stored(plain.path(), &[]);
    for zone in ["Asia/Seoul", "America/New_York", "Pacific/Apia"] {
        for locale in ["C", "tr_TR.UTF-8", "ko_KR.UTF-8"] {
            let env = [("TZ", zone), ("LANG", locale), ("LC_ALL", locale)];
            let other = tree((0..POSTS.len()).rev());
            assert_eq!(planned(other.path(), &env, Path::new("/")), wanted, "{zone} {locale}");
            assert_eq!(stored(other.path(), &env), changes, "{zone} {locale}");
        }
    }
    let checkout = tree(0..POSTS.len());
    let git = Command::new("git").arg("init").arg("--quiet").current_dir(checkout.path()).status().unwrap();
    assert!(git.success());
    for (path, _) in POSTS {
        let file =
            std::fs::File::options().append(true).open(checkout.path().join("content").join(path)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(915_148_800)).unwrap();
    }
    assert_eq!(planned(checkout.path(), &[], &checkout.path().join("content/b")), wanted);
    // The control: the configured zone does matter.
    let settings = std::fs::read_to_string(checkout.path().join("idempost.toml")).unwrap();
    std::fs::write(checkout.path().join("idempost.toml"), settings.replace("America/New_York", "Asia/Seoul"))
        .unwrap();
    assert_ne!(planned(checkout.path(), &[], checkout.path()), wanted);
}

/// Checks one file within a gigabyte of address space; returns what was said of it.
fn check(path: &str, text: &[u8]) -> (Value, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("content").join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    let good = "---\ntitle: Good\ndate: 2024-01-02\n---\n\nText.\n";
    std::fs::write(folder.path().join("content/good.md"), good).unwrap();
    let script = format!(
        "ulimit -v 1500000; exec {} check --content content --format json",
        env!("CARGO_BIN_EXE_idempost")
    );
    let begun = std::time::Instant::now();
    let done =
        Command::new("sh").args(["-c", &script]).env_clear().current_dir(folder.path()).output().unwrap();
    let told: Value = serde_json::from_slice(&done.stdout)
        .unwrap_or_else(|_| panic!("{path}: {}", String::from_utf8_lossy(&done.stderr)));
    assert_eq!(told["summary"]["posts"], 1, "the other file goes in: {told}");
    (told, begun.elapsed())
}

fn refused(path: &str, text: &[u8], code: &str, limit: &str) {
    let (told, took) = check(path, text);
    let one = &told["diagnostics"][0];
    assert_eq!(one["code"], code, "{told}");
    assert_eq!(one["file"], path, "{told}");
    let said = format!("{} {}", one["message"], one["help"]);
    assert!(said.contains(limit), "the limit {limit} is named: {said}");
    assert!(took < Duration::from_secs(20), "{path}: {took:?}");
}

fn post(front: &str, body: &str) -> Vec<u8> {
    format!("---\ntitle: Big\ndate: 2024-01-02\n{front}---\n\n{body}\n").into_bytes()
}

#[test]
fn one_more_than_each_limit_is_refused_by_name() {
    let mut big = post("", "");
    big.resize(8 * 1024 * 1024 + 1, b'x');
    refused("big.md", &big, "file-too-large", "8388608");
    let long = format!("note: {}\n", "y".repeat(256 * 1024));
    refused("front.md", &post(&long, "Text."), "front-matter-too-big", "256 KiB");
    let nested = format!("deep: {}1{}\n", "[".repeat(33), "]".repeat(33));
    refused("nested.md", &post(&nested, "Text."), "nesting-too-deep", "32");
    let slug = format!("slug: {}\n", "s".repeat(201));
    refused("slug.md", &post(&slug, "Text."), "slug", "200");
    let folders = format!("{}deep.md", "d/".repeat(65));
    let (told, _) = check(&folders, &post("", "Text."));
    let said = told["diagnostics"][0]["message"].as_str().unwrap();
    assert!(said.contains("64"), "the depth is named: {told}");
}

#[test]
fn an_alias_bomb_is_refused_at_once() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let items = vec![before; 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    refused("bomb.md", &post(&bomb, "Text."), "too-many-aliases", "alias");
}
