//! What git knows of the content root: which of its files differ from a commit.
//!
//! Begin at [`Checkout::open`]. The `git` program is asked, since it alone knows every form of its own
//! store; it gets no `GIT_*` variable (a hook's would name another index), may not prompt, writes no
//! index, and has a time limit. What a person typed never stands where an option could: a REF is
//! resolved to an object's id first, and only the id goes on. Names come with NUL between them, so that
//! nothing in a name is read as syntax.
//!
//! Nothing here decides what is planned; [`Changed`] only tells which paths may differ. Where git cannot
//! say (a folder that is a repository of its own, a changed ignore file) it tells more, never less.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::error::{Exit, Failure};

/// How long one git command may take.
pub const GIT_TIMEOUT: Duration = Duration::from_mins(2);
/// Most bytes that are read of one git command's answer.
pub const GIT_ANSWER_BYTES_MAX: u64 = 256 << 20;
/// Characters of git's complaint that are told.
const COMPLAINT_CHARS_MAX: usize = 400;
/// Mode of a submodule in a tree.
const SUBMODULE_MODE: &str = "160000";
/// Files that decide what is walked below their folder.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".idempostignore"];

/// A content root inside a git work tree.
#[derive(Debug, Clone)]
pub struct Checkout {
    root: PathBuf,
    shown: String,
    timeout: Duration,
}

/// What differs between a commit and the files as they lie there now. All paths are below the content
/// root, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Files that are new, edited or gone; of a rename both names.
    pub files: BTreeSet<String>,
    /// Folders about whose files git says nothing: all of them may differ. The empty text is the root.
    pub folders: BTreeSet<String>,
    /// (old name, new name) of the files that git takes for renamed, in order of the new name.
    pub renamed: Vec<(String, String)>,
}

impl Changed {
    /// Whether a file may differ.
    pub fn holds(&self, file: &str) -> bool {
        self.files.contains(file) || self.folders.iter().any(|folder| is_below(folder, file))
    }
}

fn is_below(folder: &str, file: &str) -> bool {
    folder.is_empty() || file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What a git command answered.
struct Answer {
    out: Vec<u8>,
    complaint: String,
    status: ExitStatus,
}

impl Checkout {
    /// The work tree around a content root; `shown` is the root as a person wrote it.
    ///
    /// # Errors
    /// Exit 64 where git is missing, or the root is in no work tree of it.
    pub fn open(root: &Path, shown: &str) -> Result<Self, Failure> {
        let checkout = Checkout { root: root.to_owned(), shown: shown.to_owned(), timeout: GIT_TIMEOUT };
        let answer = checkout.ask(&["rev-parse", "--is-inside-work-tree"])?;
        if answer.status.success() && answer.out.trim_ascii() == b"true" {
            return Ok(checkout);
        }
        let complaint = answer.complaint;
        if complaint.contains("dubious ownership") {
            return Err(Failure::usage(format!("git does not trust the repository of {shown}: {complaint}"))
                .help("allow it for this user: `git config --global --add safe.directory FOLDER`"));
        }
        Err(Failure::usage(format!("{shown} lies in no git work tree, so that nothing tells what changed"))
            .help(
                "run without --changed-since, or from a checkout (`git clone`) that holds the content root",
            ))
    }

    /// The id of the object that REF names.
    ///
    /// # Errors
    /// Exit 64 where there is none, with what to do in a shallow clone.
    pub fn resolve(&self, reference: &str) -> Result<String, Failure> {
        let plain =
            !reference.is_empty() && !reference.starts_with('-') && !reference.chars().any(char::is_control);
        if !plain {
            return Err(Failure::usage(format!("{reference:?} is no name of a commit"))
                .help("write a branch, a tag or a commit, for example --changed-since origin/main"));
        }
        let tree = format!("{reference}^{{tree}}");
        let answer = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &tree])?;
        let id = String::from_utf8_lossy(answer.out.trim_ascii()).into_owned();
        if answer.status.success() && !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(id);
        }
        let failure = Failure::usage(format!("git knows no commit {reference:?}"));
        if self.is_shallow()? {
            return Err(Failure::usage(format!(
                "git knows no commit {reference:?}: this is a shallow clone, which lacks the older ones"
            ))
            .help(format!(
                "fetch it: `git fetch --depth=1 origin {reference}`, or all of the past: `fetch-depth: 0` of \
                 actions/checkout, `GIT_DEPTH: 0` in GitLab CI, `git fetch --unshallow`"
            )));
        }
        Err(failure.help(
            "look with `git log` or `git branch -a`; a branch of the server is named with it, as in origin/main",
        ))
    }

    /// Whether the clone lacks a part of the past.
    pub fn is_shallow(&self) -> Result<bool, Failure> {
        Ok(self.ask(&["rev-parse", "--is-shallow-repository"])?.out.trim_ascii() == b"true")
    }

    /// What differs between REF and the files as they lie there, uncommitted and untracked ones among
    /// them. It is REF's own state that is compared, not the place where the branches parted: what the
    /// store holds is what REF said, so that every difference from REF has to be planned.
    ///
    /// # Errors
    /// As [`Checkout::resolve`]; exit 1 where git fails at its work.
    pub fn changed_since(&self, reference: &str) -> Result<Changed, Failure> {
        let id = self.resolve(reference)?;
        let tracked = self.answer(&[
            "diff",
            "--raw",
            "-z",
            "--no-abbrev",
            "-M",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
            "--relative",
            &id,
            "--",
            ".",
        ])?;
        // What git ignores may be a post all the same: the walk has rules of its own.
        let untracked = self.answer(&["ls-files", "--others", "-z", "--", "."])?;
        let mut changed = Changed::default();
        read_raw(&tracked, &mut changed);
        for name in untracked.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name);
            match name.strip_suffix('/') {
                Some(folder) => changed.folders.insert(folder.to_owned()),
                None => changed.files.insert(name.into_owned()),
            };
        }
        widen(&mut changed);
        Ok(changed)
    }

    /// Whether one file, anywhere in the work tree, differs from REF. A file outside of it is nobody's.
    pub fn differs(&self, reference: &str, file: &Path) -> Result<bool, Failure> {
        let id = self.resolve(reference)?;
        let file = file.as_os_str().to_string_lossy().into_owned();
        let answer =
            self.ask(&["--literal-pathspecs", "diff", "--quiet", "--no-ext-diff", &id, "--", &file])?;
        Ok(answer.status.code() == Some(1))
    }

    /// The answer of a command that has to work.
    fn answer(&self, args: &[&str]) -> Result<Vec<u8>, Failure> {
        let answer = self.ask(args)?;
        if answer.status.success() {
            return Ok(answer.out);
        }
        let what = args.iter().find(|arg| !arg.starts_with('-')).unwrap_or(&"");
        Err(Failure::new(Exit::Failed, format!("git {what} failed in {}: {}", self.shown, answer.complaint)))
    }

    fn ask(&self, args: &[&str]) -> Result<Answer, Failure> {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .arg("--no-optional-locks")
            .args(["-c", "core.fsmonitor=false", "-c", "core.quotePath=false"])
            .args(args)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if self.root.is_dir() => {
                Failure::usage("--changed-since needs git, and there is no `git` on the PATH")
                    .help("install git, or run without --changed-since")
            }
            _ => Failure::new(Exit::Failed, format!("git cannot be run in {}: {error}", self.shown)),
        })?;
        self.wait(child)
    }

    /// Reads both streams to their ends, so that neither fills up, and waits no longer than the limit: git
    /// has ended, or is about to, when both are closed.
    fn wait(&self, mut child: Child) -> Result<Answer, Failure> {
        let out = child.stdout.take().map(to_end);
        let told = child.stderr.take().map(to_end);
        let started = Instant::now();
        let read = |stream: Option<Receiver<Vec<u8>>>| {
            let left = self.timeout.saturating_sub(started.elapsed());
            stream.map_or(Some(Vec::new()), |stream| stream.recv_timeout(left).ok())
        };
        let failed = |what: String| Failure::new(Exit::Failed, what);
        let (Some(out), Some(told)) = (read(out), read(told)) else {
            // It may have ended meanwhile.
            let _ = child.kill();
            let _ = child.wait();
            return Err(failed(format!("git did not end within {} s", self.timeout.as_secs())));
        };
        let status = child.wait().map_err(|error| failed(format!("git cannot be waited for: {error}")))?;
        if out.len() as u64 > GIT_ANSWER_BYTES_MAX {
            return Err(failed(format!("git answered more than {} MiB", GIT_ANSWER_BYTES_MAX >> 20)));
        }
        let told = String::from_utf8_lossy(told.trim_ascii());
        Ok(Answer { out, complaint: told.chars().take(COMPLAINT_CHARS_MAX).collect(), status })
    }
}

/// Reads a stream to its end, within the limit, on a thread of its own.
fn to_end(stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What cannot be read is missed by the command's status or by the length; a receiver that gave
        // up wants nothing.
        let _ = stream.take(GIT_ANSWER_BYTES_MAX + 1).read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    receive
}

/// Reads `git diff --raw -z`: `:MODE MODE ID ID STATUS`, a name, and of a rename a second one.
fn read_raw(answer: &[u8], changed: &mut Changed) {
    let mut fields = answer.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(header) = fields.next().filter(|header| header.starts_with(':')) {
        let parts: Vec<&str> = header.trim_start_matches(':').split(' ').collect();
        let status = parts.last().copied().unwrap_or("");
        let submodule = parts.iter().take(2).any(|mode| *mode == SUBMODULE_MODE);
        let Some(name) = fields.next() else { return };
        let second = if status.starts_with(['R', 'C']) { fields.next() } else { None };
        for name in [Some(&name), second.as_ref()].into_iter().flatten() {
            if submodule {
                changed.folders.insert(name.to_string());
            }
            changed.files.insert(name.to_string());
        }
        if let (true, Some(second)) = (status.starts_with('R'), second) {
            changed.renamed.push((name.into_owned(), second.into_owned()));
        }
    }
}

/// An ignore file that changed decides anew about everything below its folder.
fn widen(changed: &mut Changed) {
    let folders: Vec<String> = changed
        .files
        .iter()
        .filter_map(|file| {
            let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
            IGNORE_FILES.contains(&name).then(|| folder.to_owned())
        })
        .collect();
    changed.folders.extend(folders);
    changed.renamed.sort_by(|one, other| one.1.cmp(&other.1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_that_hangs_is_given_up() {
        let mut command = Command::new("sleep");
        command.arg("60").stdout(Stdio::piped()).stderr(Stdio::piped());
        let checkout =
            Checkout { root: PathBuf::from("."), shown: ".".to_owned(), timeout: Duration::from_millis(50) };
        let started = Instant::now();
        let failure = checkout.wait(command.spawn().unwrap()).err().unwrap();
        assert!(failure.message.contains("did not end"), "{failure}");
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_git_answers_is_read_whole_and_cut_short_is_no_panic() {
        let answer = b":100644 100644 a b M\0one two.md\0:100644 100644 a b R087\0old\nname\0new\0\
            :160000 160000 a b M\0lib\0:000000 100644 a b A\0sub/.gitignore\0";
        let mut changed = Changed::default();
        read_raw(answer, &mut changed);
        widen(&mut changed);
        assert!(
            ["one two.md", "old\nname", "new", "lib/x.md", "sub/a.md"].iter().all(|file| changed.holds(file))
        );
        assert!(!["library.md", "subs.md", "other"].iter().any(|file| changed.holds(file)));
        assert_eq!(changed.renamed, [("old\nname".to_owned(), "new".to_owned())]);
        for end in 0..answer.len() {
            read_raw(&answer[..end], &mut Changed::default());
        }
    }
}
