//! A long result on a terminal goes through the reader's pager. It is started with the first byte of the
//! result, so that a bar or a question before it stands on the bare terminal.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::cli::ViewFlags;
use crate::config::layers::Environment;
use crate::report::Stream;

/// What is run where nobody names another.
const DEFAULT_PAGER: &str = "less";
/// `less` ends by itself where the result fits on the screen (F), shows colours (R), and leaves what it showed (X).
const LESS: &str = "FRX";

/// Standard output, through a pager where the verb shows a plan and nobody said otherwise. Only asked
/// for a terminal.
pub fn stream(view: Option<&ViewFlags>, env: &Environment) -> Stream {
    match view.filter(|view| !view.no_pager).and_then(|_| named(env)) {
        Some(command) => Box::new(Pager { command, less: env.get("LESS").is_none(), state: State::Waiting }),
        None => Box::new(io::stdout()),
    }
}

/// The pager's command: `IDEMPOST_PAGER`, else `PAGER`, else `less`. An empty one and `cat` are none.
fn named(env: &Environment) -> Option<String> {
    if env.get("TERM").is_some_and(|term| term == "dumb") {
        return None;
    }
    let command = env.get("IDEMPOST_PAGER").or_else(|| env.get("PAGER"));
    let command = command.map_or(DEFAULT_PAGER, |command| command.trim());
    (!command.is_empty() && command != "cat").then(|| command.to_owned())
}

struct Pager {
    command: String,
    /// Nobody told `less` how to behave.
    less: bool,
    state: State,
}

enum State {
    Waiting,
    Running(Child, ChildStdin),
    /// It could not be started: the result is shown without it.
    Without,
}

impl Pager {
    fn start(&self) -> Option<(Child, ChildStdin)> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command).stdin(Stdio::piped());
        if self.less {
            command.env("LESS", LESS);
        }
        let mut child = command.spawn().ok()?;
        let stdin = child.stdin.take()?;
        Some((child, stdin))
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.state, State::Waiting) && !bytes.is_empty() {
            self.state = match self.start() {
                Some((child, stdin)) => State::Running(child, stdin),
                None => State::Without,
            };
        }
        match &mut self.state {
            State::Running(_, stdin) => stdin.write(bytes),
            _ => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.state {
            State::Running(_, stdin) => stdin.flush(),
            _ => io::stdout().flush(),
        }
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        if let State::Running(mut child, stdin) = std::mem::replace(&mut self.state, State::Without) {
            drop(stdin);
            // The terminal is the pager's until its reader has seen enough.
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readers_own_pager_wins() {
        let env = |pairs: &[(&str, &str)]| -> Environment {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let told = |pairs: &[(&str, &str)]| named(&env(pairs));
        assert_eq!(told(&[]).as_deref(), Some("less"));
        assert_eq!(told(&[("PAGER", "more")]).as_deref(), Some("more"));
        assert_eq!(told(&[("PAGER", "more"), ("IDEMPOST_PAGER", "less -S")]).as_deref(), Some("less -S"));
        assert_eq!(told(&[("PAGER", "more"), ("IDEMPOST_PAGER", "")]), None);
        assert_eq!(told(&[("PAGER", "cat")]), None);
        assert_eq!(told(&[("TERM", "dumb")]), None);
    }
}
