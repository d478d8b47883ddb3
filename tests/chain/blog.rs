//! A small blog in a scratch folder, and the program run on it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::stored::{Server, Sqlite, Stored};

/// No run takes so long; one that does hangs.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The files of a new blog. Every post names its slug and its translation key, so that a file may move.
const FILES: &[(&str, &str)] = &[
    (
        "apples.md",
        "---\ntitle: Keeping apples\nslug: apples\ntranslationKey: apples\nlang: en\ndate: 2031-03-04\n\
         summary: Apart from each other\nshelf: cellar\n---\n\nLay them apart.\n\n- cool\n- dark\n",
    ),
    (
        "ko/apples.md",
        "---\ntitle: 사과 두기\nslug: apples\ntranslationKey: apples\ndate: 2031-03-04 09:30\n---\n\n서로 떨어뜨려 둔다.\n",
    ),
    (
        "pears.md",
        "---\ntitle: Pears\nslug: pears\ntranslationKey: pears\ndate: 2031-03-05T08:00:00Z\ntags: [fruit]\n---\n\n\
         See [apples](apples.md).\n",
    ),
    (
        "plums.md",
        "+++\ntitle = \"Plums\"\nslug = \"plums\"\ntranslationKey = \"plums\"\ndate = 2031-03-06\n+++\n\nStone them.\n",
    ),
];

/// Number of posts of a new blog.
pub const POSTS: usize = FILES.len();

const CONFIG: &str = "\
content = \"content\"
langs = [\"en\", \"ko\"]
default_lang = \"en\"
timezone = \"Asia/Seoul\"
";

/// The blog and its store.
pub struct Blog {
    folder: tempfile::TempDir,
    /// What the store holds, read past the program.
    pub stored: Box<dyn Stored>,
    uri: String,
}

/// What a run printed, and its exit code.
#[derive(Debug)]
pub struct Told {
    /// The exit code.
    pub exit: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Blog {
    /// A new blog, with a SQLite file beside it.
    pub fn on_sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("posts.db");
        let uri = format!("sqlite:{}", path.display());
        Blog { folder, stored: Box::new(Sqlite::new(path)), uri }.filled()
    }

    /// A new blog, with a database of its own on the test server.
    pub fn on_server() -> Self {
        let server = Server::new();
        let uri = server.uri().to_owned();
        Blog { folder: tempfile::tempdir().unwrap(), stored: Box::new(server), uri }.filled()
    }

    fn filled(self) -> Self {
        self.configure("source = \"orchard\"\n");
        for (file, text) in FILES {
            self.write(file, text);
        }
        self
    }

    /// The scratch folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The store, as the program is told of it.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Writes the configuration, with these lines more.
    pub fn configure(&self, more: &str) {
        std::fs::write(self.folder().join("idempost.toml"), format!("{CONFIG}{more}")).unwrap();
    }

    /// Where a file of the tree lies.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder().join("content").join(file)
    }

    /// Writes a file of the tree.
    pub fn write(&self, file: &str, text: impl AsRef<[u8]>) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Replaces a text that is there once.
    pub fn edit(&self, file: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from:?} is once in {file}");
        self.write(file, text.replace(from, to));
    }

    /// Removes a file of the tree.
    pub fn remove(&self, file: &str) {
        std::fs::remove_file(self.path(file)).unwrap();
    }

    /// Moves a file of the tree.
    pub fn rename(&self, from: &str, to: &str) {
        let to = self.path(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(self.path(from), to).unwrap();
    }

    /// Gives every file another time.
    pub fn touch(&self) {
        let long_ago = SystemTime::now() - Duration::from_secs(86_400 * 365);
        for (file, _) in FILES {
            std::fs::File::options()
                .append(true)
                .open(self.path(file))
                .unwrap()
                .set_modified(long_ago)
                .unwrap();
        }
    }

    /// Runs the program in the blog's folder, on its store.
    pub fn run(&self, args: &[&str]) -> Told {
        self.run_in(self.folder(), args)
    }

    /// Runs the program in another folder.
    pub fn run_in(&self, cwd: &Path, args: &[&str]) -> Told {
        run(cwd, args, &[("IDEMPOST_URI", &self.uri)])
    }

    /// Starts the program in the blog's folder, on a store that is reached by this URI.
    pub fn spawn(&self, uri: &str, args: &[&str]) -> std::process::Child {
        std::process::Command::new(assert_cmd::cargo::cargo_bin("idempost"))
            .args(args)
            .current_dir(self.folder())
            .env_clear()
            .env("IDEMPOST_URI", uri)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Ingests and expects this exit; the run as one object.
    pub fn ingest(&self, exit: i32, args: &[&str]) -> Value {
        let all: Vec<&str> = ["ingest", "--format", "json"].iter().chain(args).copied().collect();
        let told = self.run(&all);
        assert_eq!(told.exit, exit, "{told}");
        let json = told.json();
        assert_eq!(json["exit"], exit, "{told}");
        json
    }

    /// Ingests for the first time.
    pub fn ingested(&self) {
        assert_eq!(self.ingest(0, &[])["applied"]["create"], POSTS);
    }

    /// Ingests and expects that nothing is stored otherwise than before and that the run told so; the run.
    pub fn refused(&self, exit: i32, args: &[&str]) -> Told {
        let before = self.stored.bytes();
        let watch = self.stored.watch();
        let all: Vec<&str> = ["ingest"].iter().chain(args).copied().collect();
        let told = self.run(&all);
        assert_eq!(told.exit, exit, "{told}");
        assert_eq!(watch.written(), [] as [String; 0], "{told}");
        assert_eq!(self.stored.bytes(), before, "{told}");
        told
    }
}

impl Told {
    /// Standard output as one object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// Expects texts in what a person sees.
    pub fn says(&self, texts: &[&str]) {
        for text in texts {
            assert!(self.out.contains(text) || self.err.contains(text), "{text:?} is not told:\n{self}");
        }
    }

    /// Expects that none of these is printed.
    pub fn hides(&self, texts: &[&str]) {
        for text in texts {
            assert!(!self.out.contains(text) && !self.err.contains(text), "{text:?} is told:\n{self}");
        }
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- standard output\n{}--- standard error\n{}", self.exit, self.out, self.err)
    }
}

/// Runs the program with these variables alone.
pub fn run(cwd: &Path, args: &[&str], env: &[(&str, &str)]) -> Told {
    let program = assert_cmd::cargo::cargo_bin("idempost");
    run_program(program.to_str().unwrap(), cwd, args, env)
}

/// Runs another program, which may run ours, with these variables and a `PATH`.
pub fn run_program(program: &str, cwd: &Path, args: &[&str], env: &[(&str, &str)]) -> Told {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found =
        std::env::split_paths(&path).map(|folder| folder.join(program)).filter(|path| path.is_file());
    let program = found.next().unwrap_or_else(|| panic!("{program} is needed"));
    let output = assert_cmd::Command::new(program)
        .args(args)
        .current_dir(cwd)
        .env_clear()
        .envs(env.iter().copied())
        .timeout(TIMEOUT)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Told {
        exit: output.status.code().expect("it ended by itself"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
