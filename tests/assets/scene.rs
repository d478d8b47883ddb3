//! A tree, a store, an asset store, and the program between them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use bson::Document;
use idempost::apply::assets::row::Row;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Side, Store};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::common::objects;
use crate::common::server::{self, database_name};
use crate::proxy::Proxy;

/// Which asset store a test is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Folder,
    S3,
}

pub struct Scene {
    pub folder: TempDir,
    pub kind: Kind,
    pub uri: String,
    pub proxy: Proxy,
    prefix: String,
}

#[derive(Debug)]
pub struct Ended {
    pub exit: Option<i32>,
    pub json: Value,
    pub stderr: String,
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

/// The smallest thing that is a PNG by its bytes, and like no other.
pub fn png(text: &str) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl Scene {
    pub fn new(kind: Kind) -> Self {
        Self::with_claim(kind, "2s")
    }

    /// With another length of claims.
    pub fn with_claim(kind: Kind, claim: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("idempost-assets-").tempdir().unwrap();
        std::fs::create_dir(folder.path().join("content")).unwrap();
        let prefix = database_name();
        let store = match kind {
            Kind::Folder => "file:objects".to_owned(),
            Kind::S3 => format!("s3://assets/{prefix}"),
        };
        let settings = format!(
            "content = \"content\"\nsource = \"assets\"\nlangs = [\"en\"]\n[assets]\nstore = \"{store}\"\n\
             public_url = \"https://cdn.test/a\"\nclaim = \"{claim}\"\n[retry]\nbackoff = \"5ms..200ms\"\n\
             [limits]\nhistory = 0\n"
        );
        std::fs::write(folder.path().join("idempost.toml"), settings).unwrap();
        let uri = server::proxied().uri(&database_name());
        let proxy = Proxy::start(&objects::shared().address());
        Scene { folder, kind, uri, proxy, prefix }
    }

    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.content().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub fn content(&self) -> PathBuf {
        self.folder.path().join("content")
    }

    /// A post that shows these files.
    pub fn post(&self, name: &str, shows: &[&str]) {
        let mut text = format!("---\ntitle: {name}\ndate: 2024-03-01T08:00:00Z\n---\n\nText of {name}.\n");
        for path in shows {
            write!(text, "\n![picture]({path})\n").unwrap();
        }
        self.write(&format!("{name}.md"), text.as_bytes());
    }

    /// `count` posts, each with three pictures of its own.
    pub fn gallery(&self, count: usize) {
        for at in 0..count {
            let names: Vec<String> = (0..3).map(|picture| format!("p{at}-{picture}.png")).collect();
            for name in &names {
                self.write(name, &png(name));
            }
            let shows: Vec<&str> = names.iter().map(String::as_str).collect();
            self.post(&format!("post-{at}"), &shows);
        }
    }

    pub fn command(&self, verb: &[&str], flags: &[&str]) -> Command {
        self.command_at(&self.uri, verb, flags)
    }

    pub fn command_at(&self, uri: &str, verb: &[&str], flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_idempost"));
        command
            .env_clear()
            .env("AWS_ACCESS_KEY_ID", "test-key")
            .env("AWS_SECRET_ACCESS_KEY", "test-secret")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ENDPOINT", self.proxy.endpoint())
            .env("AWS_ALLOW_HTTP", "true")
            .current_dir(self.folder.path())
            .args(verb)
            .args(["--store", uri, "--format", "json"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, verb: &[&str], flags: &[&str]) -> Ended {
        self.command(verb, flags).output().unwrap().into()
    }

    pub fn ingest(&self, flags: &[&str]) -> Ended {
        self.run(&["ingest"], flags)
    }

    /// Ingests, and it works.
    pub fn ingest_well(&self, flags: &[&str]) -> Ended {
        let ended = self.ingest(flags);
        assert_eq!(ended.exit, Some(0), "{} {}", ended.json["failed"], ended.stderr);
        ended
    }

    pub fn spawn(&self, uri: &str) -> Child {
        self.command_at(uri, &["ingest"], &[]).spawn().unwrap()
    }

    /// An object as a reader gets it.
    pub fn object(&self, name: &str) -> Option<Vec<u8>> {
        match self.kind {
            Kind::Folder => std::fs::read(self.folder.path().join("objects").join(name)).ok(),
            Kind::S3 => objects::shared().get(&self.key(name)).map(|reply| reply.body),
        }
    }

    pub fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.prefix)
    }

    /// Deletes an object by hand.
    pub fn lose(&self, name: &str) {
        match self.kind {
            Kind::Folder => std::fs::remove_file(self.folder.path().join("objects").join(name)).unwrap(),
            Kind::S3 => objects::shared().delete(&self.key(name)),
        }
    }

    /// Objects that were made, by whatever counts them: requests, or the files that lie there.
    pub fn uploads(&self) -> usize {
        match self.kind {
            Kind::Folder => std::fs::read_dir(self.folder.path().join("objects")).map_or(0, Iterator::count),
            Kind::S3 => self.proxy.uploads(),
        }
    }

    pub fn with_store<T: Send>(&self, work: impl AsyncFnOnce(&MongoStore) -> T + Send) -> T {
        let uri = self.uri.clone();
        std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        let store = MongoStore::open(&uri, MongoOptions::default()).unwrap();
                        store.connect().await.unwrap();
                        store.ensure_ready().await.unwrap();
                        work(&store).await
                    })
                })
                .join()
                .unwrap()
        })
    }

    pub fn documents(&self) -> Vec<Document> {
        self.with_store(async |store| {
            let ids: Vec<String> = store.heads().await.unwrap().into_iter().map(|head| head.id).collect();
            store.documents(&ids).await.unwrap()
        })
    }

    pub fn rows(&self) -> Vec<Row> {
        let rows = self.with_store(async |store| store.rows(Side::Assets, &Document::new()).await.unwrap());
        rows.iter().map(|row| Row::from_document(row).unwrap()).collect()
    }

    /// Changes every row by hand.
    pub fn change_rows(&self, change: impl Fn(&mut Row) + Sync) {
        let rows = self.rows();
        self.with_store(async |store| {
            for row in &rows {
                let mut next = row.next(row.state, row.claim.clone());
                change(&mut next);
                assert!(store.row_replace(Side::Assets, row.version, &next.to_document()).await.unwrap());
            }
        });
    }

    /// Makes every row look as if it was last asked for four hours earlier.
    pub fn age(&self) {
        self.change_rows(|row| row.used_at -= 4 * 3_600_000);
    }

    /// Every post that readers see has all its objects, and each is what its name says.
    pub fn assert_no_post_without_its_pictures(&self, what: &str) -> usize {
        let mut shown = 0;
        for document in self.documents().iter().filter(|one| one.get_str("status").unwrap() == "active") {
            shown += 1;
            for asset in document.get_array("assets").into_iter().flatten() {
                let asset = asset.as_document().unwrap();
                let (url, sha) = (asset.get_str("url").unwrap(), asset.get_str("sha256").unwrap());
                let name = url.rsplit('/').next().unwrap();
                let bytes = self.object(name);
                let Some(bytes) = bytes else {
                    panic!("{what}: {} is shown without {name}", document.get_str("slug").unwrap());
                };
                assert_eq!(sha256(&bytes), sha, "{what}: {name}");
            }
        }
        shown
    }

    /// The next plan finds nothing to do.
    pub fn assert_settled(&self, what: &str) {
        let next = self.run(&["diff"], &["--exit-code"]);
        assert_eq!(next.exit, Some(0), "{what}: {} {}", next.json["changes"], next.stderr);
    }
}
