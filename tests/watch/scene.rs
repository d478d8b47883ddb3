//! A tree, a store, and a watch between them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use bson::Document;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::sqlite::SqliteStore;
use idempost::store::{Side, Store};
use tempfile::TempDir;

use crate::common::server::{blocking, database_name, shared};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Scene {
    folder: TempDir,
    pub uri: String,
}

/// A watch at work.
pub struct Watch {
    child: Child,
    lines: Receiver<String>,
    told: Vec<String>,
}

pub fn post(title: &str, body: &str) -> String {
    format!("---\ntitle: {title}\ndate: 2031-03-04\n---\n\n{body}\n")
}

impl Scene {
    pub fn sqlite() -> Self {
        let folder = tempfile::Builder::new().prefix("idempost-watch-").tempdir().unwrap();
        let uri = format!("sqlite:{}", folder.path().join("posts.db").display());
        Self::at(folder, uri)
    }

    pub fn mongo() -> Self {
        Self::with_uri(shared().uri(&database_name()))
    }

    pub fn with_uri(uri: String) -> Self {
        Self::at(tempfile::Builder::new().prefix("idempost-watch-").tempdir().unwrap(), uri)
    }

    fn at(folder: TempDir, uri: String) -> Self {
        let scene = Scene { folder, uri };
        let settings = "content = \"content\"\nsource = \"desk\"\nlangs = [\"en\", \"ko\"]\ndefault_lang = \"en\"\n\
                        timezone = \"UTC\"\n[retry]\nbackoff = \"5ms..200ms\"\nattempts = 3\ncommand = \"2s\"\n";
        std::fs::write(scene.path("idempost.toml"), settings).unwrap();
        scene.write("first.md", &post("First", "One."));
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path("content").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempost"));
        command.args(args).current_dir(folder).env_clear().env("IDEMPOST_URI", &self.uri);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a watch and waits until its first run has ended.
    pub fn watch(&self, args: &[&str], env: &[(&str, &str)]) -> Watch {
        let args: Vec<&str> = ["watch"].iter().chain(args).copied().collect();
        let mut child = self.command(self.folder.path(), &args).envs(env.iter().copied()).spawn().unwrap();
        let (tell, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let tell = tell.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = tell.send(line);
                }
            });
        }
        let mut watch = Watch { child, lines, told: Vec::new() };
        let ready = if args.contains(&"ndjson") { "\"event\":\"end\"" } else { "Ctrl-C ends it" };
        watch.until(ready);
        watch
    }

    /// Runs another verb of the program in `folder` against the same store.
    pub fn run(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command(folder, args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    }

    fn store(&self) -> Box<dyn Store> {
        if let Some(path) = self.uri.strip_prefix("sqlite:") {
            return Box::new(SqliteStore::open_collection(path, "posts").unwrap());
        }
        Box::new(MongoStore::open(&self.uri, MongoOptions::default()).unwrap())
    }

    /// The stored post with this slug.
    pub fn stored(&self, slug: &str) -> Option<Document> {
        let slug = slug.to_owned();
        blocking(async {
            let store = self.store();
            store.connect().await.ok()?;
            let heads = store.heads().await.ok()?;
            let id = heads.into_iter().find(|head| head.slug == slug)?.id;
            store.documents(&[id]).await.ok()?.pop()
        })
    }

    pub fn title(&self, slug: &str) -> Option<String> {
        self.stored(slug)?.get_str("title").ok().map(str::to_owned)
    }

    /// The rows of the runs.
    pub fn runs(&self) -> Vec<Document> {
        blocking(async {
            let store = self.store();
            store.connect().await.unwrap();
            let rows = store.rows(Side::Runs, &bson::doc! { "source": "desk" }).await.unwrap();
            rows.into_iter().filter(|row| row.get_str("verb").is_ok()).collect()
        })
    }

    /// Waits until a post is stored with this title; how long that took.
    pub fn until_title(&self, slug: &str, title: &str) -> Duration {
        let started = Instant::now();
        while self.title(slug).as_deref() != Some(title) {
            assert!(started.elapsed() < PATIENCE, "{slug} is {:?} and not {title:?}", self.title(slug));
            std::thread::sleep(Duration::from_millis(5));
        }
        started.elapsed()
    }

    /// Saves as some editors do, and tells how long it took until it was stored.
    pub fn save(&self, name: &str, slug: &str, title: &str) -> Duration {
        self.write(name, &post(title, "Saved."));
        self.until_title(slug, title)
    }
}

impl Watch {
    /// Reads lines until one holds `text`.
    pub fn until(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("{text:?} was not told, but\n{}", self.told.join("\n"))
            };
            self.told.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Everything that was told so far.
    pub fn told(&mut self) -> String {
        while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(20)) {
            self.told.push(line);
        }
        self.told.join("\n")
    }

    /// Ends it with a signal; its exit code, and all that it told.
    pub fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let status = self.child.wait().unwrap();
        (status.code(), self.told())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
