//! The exit codes and their precedence; the one error that reaches `main`.

/// How a run of the program ended. The numbers are public and documented in `docs/exit-codes.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// Failed.
    Failed,
    /// `diff --exit-code`: there are changes.
    Changes,
    /// Some posts failed, the rest are in; running again is safe.
    Partly,
    /// Invalid content; nothing was written.
    Invalid,
    /// A guard refused, a race was lost, a plan was stale, `verify` found differences.
    Conflict,
    /// A safety limit was hit.
    Limit,
    /// Usage or configuration.
    Usage,
    /// The store could not be reached in time; try again.
    Unreachable,
    /// Interrupted by Ctrl-C after a clean stop.
    Interrupted,
    /// Interrupted by SIGTERM after a clean stop.
    Terminated,
}

impl Exit {
    /// The number handed to the operating system.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Changes => 2,
            Exit::Partly => 3,
            Exit::Invalid => 4,
            Exit::Conflict => 5,
            Exit::Limit => 7,
            Exit::Usage => 64,
            Exit::Unreachable => 75,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }

    /// The exit of a stored number; one that is none of ours is a failure.
    pub fn from_code(code: i64) -> Self {
        const ALL: [Exit; 11] = [
            Exit::Done,
            Exit::Failed,
            Exit::Changes,
            Exit::Partly,
            Exit::Invalid,
            Exit::Conflict,
            Exit::Limit,
            Exit::Usage,
            Exit::Unreachable,
            Exit::Interrupted,
            Exit::Terminated,
        ];
        ALL.into_iter().find(|exit| i64::from(exit.code()) == code).unwrap_or(Exit::Failed)
    }

    /// Place in the order of precedence: the smaller one wins where several apply.
    fn rank(self) -> u8 {
        match self {
            Exit::Interrupted | Exit::Terminated => 0,
            Exit::Unreachable => 1,
            Exit::Usage => 2,
            Exit::Invalid => 3,
            Exit::Limit => 4,
            Exit::Conflict => 5,
            Exit::Partly => 6,
            Exit::Failed => 7,
            Exit::Changes => 8,
            Exit::Done => 9,
        }
    }

    /// The one of the two that is told: 130/143, 75, 64, 4, 7, 5, 3, 1, 2, 0.
    #[must_use]
    pub fn and(self, other: Exit) -> Exit {
        if other.rank() < self.rank() { other } else { self }
    }
}

/// An error told to a person: what happened, what to do, and how the program ends.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What happened; never holds a password.
    pub message: String,
    /// What to do, in one or two lines; may be empty.
    pub help: String,
}

impl Failure {
    /// A failure with its exit.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Failure { exit, message: message.into(), help: String::new() }
    }

    /// Usage or configuration is wrong (64).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// What to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
}
