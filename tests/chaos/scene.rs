//! A tree, a store, and the program between them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use bson::Document;
use idempost::store::Store;
use idempost::store::document::content_of;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::sqlite::SqliteStore;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::server::{Shared, blocking, database_name, proxied};
use crate::proxy::Proxy;

/// The server of these tests: one that this binary shares, or the one that `IDEMPOST_TEST_URI` names, where a proxy
/// can stand in front of that. The tests in `server.rs` kill theirs, and start it themselves.
pub fn shared() -> &'static Shared {
    proxied()
}

/// A proxy in front of [`shared`], and the URIs of a new database through it and past it.
pub async fn behind_a_proxy() -> (Proxy, String, String) {
    let address = tokio::task::spawn_blocking(|| shared().address().unwrap()).await.unwrap();
    let proxy = Proxy::start(&address).await;
    let database = database_name();
    let through = shared().uri_through(&proxy.address(), &database);
    (proxy, through, shared().uri(&database))
}

/// Which store a test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Mongo,
    Sqlite,
}

pub struct Scene {
    folder: TempDir,
    pub uri: String,
}

/// One process that ended.
#[derive(Debug)]
pub struct Ended {
    pub exit: Option<i32>,
    pub json: Value,
    pub stderr: String,
}

impl Ended {
    pub fn applied(&self, action: &str) -> u64 {
        self.json["applied"][action].as_u64().unwrap_or(0)
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Ended {
            exit: output.status.code(),
            json: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Scene {
    pub fn new(kind: Kind) -> Self {
        let folder = tempfile::Builder::new().prefix("idempost-chaos-").tempdir().unwrap();
        let uri = match kind {
            Kind::Mongo => shared().uri(&database_name()),
            Kind::Sqlite => format!("sqlite:{}", folder.path().join("posts.db").display()),
        };
        Self::at(folder, uri)
    }

    pub fn with_uri(uri: String) -> Self {
        Self::at(tempfile::Builder::new().prefix("idempost-chaos-").tempdir().unwrap(), uri)
    }

    fn at(folder: TempDir, uri: String) -> Self {
        let scene = Scene { folder, uri };
        std::fs::create_dir(scene.content()).unwrap();
        let settings = "content = \"content\"\nsource = \"chaos\"\nlangs = [\"en\"]\n[assets]\nstore = \"file:assets\"\n\
                        public_url = \"/assets\"\nclaim = \"1s\"\n[retry]\nbackoff = \"5ms..200ms\"\n";
        std::fs::write(scene.folder.path().join("idempost.toml"), settings).unwrap();
        scene
    }

    pub fn content(&self) -> PathBuf {
        self.folder.path().join("content")
    }

    /// Writes `count` posts whose text says `edition`; every fifth shows a picture if `pictures`.
    pub fn write(&self, count: usize, edition: &str, pictures: bool) {
        for at in 0..count {
            let mut text = format!(
                "---\ntitle: Log entry {at}\ndate: 2024-03-{:02}T08:00:00Z\ntags: [harbour, log]\n---\n\nEntry {at}, {edition}.\n",
                at % 28 + 1
            );
            if pictures && at % 5 == 0 {
                write!(text, "\n![chart](chart-{at}.svg)\n").unwrap();
                let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><!-- {at} {edition} --></svg>");
                std::fs::write(self.content().join(format!("chart-{at}.svg")), svg).unwrap();
            }
            std::fs::write(self.content().join(format!("entry-{at:03}.md")), text).unwrap();
        }
    }

    pub fn command(&self, verb: &str, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempost"));
        command
            .env_clear()
            .current_dir(self.folder.path())
            .args([verb, "--store", &self.uri, "--format", "json"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a verb with its own arguments to its end, or kills it at its write number `at` to the store: before
    /// the server had it, or (`after`) once it had. `false`: the run ended first.
    pub async fn killed_at_write(&self, verb: &str, args: &[&str], at: usize, after: bool) -> bool {
        let address = tokio::task::spawn_blocking(|| shared().address().unwrap()).await.unwrap();
        let proxy = Proxy::start(&address).await;
        let database = self.uri.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
        let through = shared().uri_through(&proxy.address(), &database);
        let stopped = proxy.stop_at_write(at, after);
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempost"));
        command.env_clear().current_dir(self.folder.path()).arg(verb).args(args).args(["--store", &through]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        stopped.kill(&mut child).is_none()
    }

    pub fn run(&self, verb: &str, flags: &[&str]) -> Ended {
        self.command(verb, flags).output().unwrap().into()
    }

    pub fn ingest(&self, flags: &[&str]) -> Ended {
        self.run("ingest", flags)
    }

    pub fn spawn(&self, flags: &[&str]) -> Child {
        self.command("ingest", flags).spawn().unwrap()
    }

    /// Every stored post by id: its reader-facing fields and its status.
    pub fn stored(&self) -> BTreeMap<String, Document> {
        stored(&self.uri)
    }

    /// The store holds exactly what a clean run of the same tree leaves, nothing is in publication, and the
    /// next plan finds nothing to do.
    pub fn assert_as_clean(&self, what: &str) {
        let clean = Scene::new(Kind::Sqlite);
        copy(&self.content(), &clean.content());
        let ended = clean.ingest(&[]);
        assert_eq!(ended.exit, Some(0), "{what}: the clean run: {}", ended.stderr);
        let (ours, wanted) = (self.stored(), clean.stored());
        assert_eq!(ours.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{what}: ids");
        for (id, document) in &wanted {
            assert_eq!(&ours[id], document, "{what}: {id}");
        }
        self.assert_settled(what);
    }

    /// The next plan finds nothing to do.
    pub fn assert_settled(&self, what: &str) {
        let next = self.run("diff", &["--exit-code"]);
        assert_eq!(next.exit, Some(0), "{what}: the next plan: {} {}", next.json["changes"], next.stderr);
        let summary = &next.json["summary"];
        assert_eq!(summary["unchanged"], summary["posts"], "{what}: {summary}");
    }
}

pub fn stored(uri: &str) -> BTreeMap<String, Document> {
    let uri = uri.to_owned();
    blocking(async move {
        let store: Box<dyn Store> = match uri.strip_prefix("sqlite:") {
            Some(path) => Box::new(SqliteStore::open(path).unwrap()),
            None => Box::new(MongoStore::open(&uri, MongoOptions::default()).unwrap()),
        };
        store.connect().await.unwrap();
        let ids: Vec<String> = store.heads().await.unwrap().into_iter().map(|head| head.id).collect();
        let mut out = BTreeMap::new();
        for document in store.documents(&ids).await.unwrap() {
            let mut fields = content_of(&document);
            fields.insert("status", document.get_str("status").unwrap());
            out.insert(document.get_str("_id").unwrap().to_owned(), fields);
        }
        out
    })
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
