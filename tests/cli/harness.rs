//! Runs the program in a scratch folder and tells what it printed.

use std::path::Path;
use std::process::Command;

/// A scratch folder in which the program is run.
pub struct Scratch {
    folder: tempfile::TempDir,
}

/// What a run of the program printed, redacted, and its exit code.
pub struct Told {
    /// The exit code.
    pub exit: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Scratch {
    /// An empty folder.
    pub fn new() -> Self {
        Scratch { folder: tempfile::tempdir().unwrap() }
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders above it.
    #[must_use]
    pub fn with(self, file: &str, text: &str) -> Self {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// Runs the program with nothing in its environment.
    pub fn run(&self, args: &[&str]) -> Told {
        self.run_with(args, &[])
    }

    /// Runs the program with these variables alone.
    pub fn run_with(&self, args: &[&str], env: &[(&str, &str)]) -> Told {
        let output = Command::new(env!("CARGO_BIN_EXE_idempost"))
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .envs(env.iter().copied())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        Told {
            exit: output.status.code().unwrap(),
            out: self.redacted(&output.stdout),
            err: self.redacted(&output.stderr),
        }
    }

    fn redacted(&self, bytes: &[u8]) -> String {
        let real = std::fs::canonicalize(self.path()).unwrap();
        String::from_utf8(bytes.to_vec())
            .unwrap()
            .replace(&*real.to_string_lossy(), "[DIR]")
            .replace(&*self.path().to_string_lossy(), "[DIR]")
            .replace(env!("CARGO_PKG_VERSION"), "[VERSION]")
            .replace("idempost.exe", "idempost")
    }
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- standard output\n{}--- standard error\n{}", self.exit, self.out, self.err)
    }
}
