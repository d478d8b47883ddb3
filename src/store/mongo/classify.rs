//! From what went wrong to how it is answered: one table from engine, place and signal to a class.
//!
//! The rows are read from the top, the first that fits decides; what fits none has an unknown outcome.
//! Nothing here sends, waits or repeats.

use mongodb::error::{RETRYABLE_ERROR, SYSTEM_OVERLOADED_ERROR};

use super::super::Class;
use super::profile::Profile;

/// Where an error stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Before a command was sent: selection, connection, handshake, authentication.
    Connect,
    /// A reply with `ok: 0`, or no reply at all.
    Command,
    /// One entry of `writeErrors`.
    Statement,
    /// `writeConcernError`: the write itself is done.
    WriteConcern,
    /// Making or reading indexes and collections.
    Index,
}

/// What the driver says when there is no reply to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// No server could be selected.
    Selection,
    /// A connection could not be made: nothing of the command was sent.
    Establish,
    /// The server's protocol is too old for the driver.
    Incompatible,
    /// The name could not be resolved.
    Dns,
    /// The TLS configuration is wrong.
    Tls,
    /// User, password or mechanism were refused.
    Authentication,
    /// The driver refused the command before sending it.
    Argument,
    /// The client is shut down.
    Shutdown,
    /// The connection broke after the command was sent.
    Broken,
    /// The pool was cleared; the same text of the driver is used for commands in flight.
    PoolCleared,
    /// No reply within the command's deadline.
    Deadline,
    /// The reply cannot be read.
    BadReply,
    /// Something else.
    Other,
}

/// What a row of the table looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// One of these codes.
    Codes(&'static [i32]),
    /// All of these labels.
    Labels(&'static [&'static str]),
    /// No reply to read.
    Wire(Wire),
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Engines it is about; empty for all.
    pub engines: &'static [Profile],
    /// Where the error stood.
    pub places: &'static [Place],
    /// What it looks at.
    pub signal: Signal,
    /// It holds only if the command could not have been done in part: one statement, or a read.
    pub alone: bool,
    /// The answer.
    pub class: Class,
}

const fn rule(places: &'static [Place], signal: Signal, class: Class) -> Rule {
    Rule { engines: &[], places, signal, alone: false, class }
}

const fn alone(places: &'static [Place], signal: Signal, class: Class) -> Rule {
    Rule { engines: &[], places, signal, alone: true, class }
}

use Class::{AppliedNotDurable, Auth, Conflict, NotApplied, NotSent, Permanent, Unknown};
use Place::{Command, Connect, Index, Statement, WriteConcern};
use Signal::{Codes, Labels};

const ANYWHERE: &[Place] = &[Connect, Command, Statement, Index];

/// The label with which a server says that it did nothing.
const NO_WRITES_PERFORMED: &str = mongodb::error::NO_WRITES_PERFORMED;

/// The table.
pub const RULES: &[Rule] = &[
    // No reply.
    rule(&[Connect], Signal::Wire(Wire::Selection), NotSent),
    rule(&[Connect], Signal::Wire(Wire::Establish), NotSent),
    rule(&[Connect], Signal::Wire(Wire::Dns), NotSent),
    rule(&[Connect], Signal::Wire(Wire::Shutdown), NotSent),
    rule(&[Connect], Signal::Wire(Wire::Incompatible), Permanent),
    rule(&[Connect], Signal::Wire(Wire::Tls), Permanent),
    rule(&[Connect], Signal::Wire(Wire::Authentication), Auth),
    rule(&[Command, Index], Signal::Wire(Wire::Argument), Permanent),
    rule(&[Command, Index], Signal::Wire(Wire::Broken), Unknown),
    rule(&[Command, Index], Signal::Wire(Wire::PoolCleared), Unknown),
    rule(&[Command, Index], Signal::Wire(Wire::Deadline), Unknown),
    rule(&[Command, Index], Signal::Wire(Wire::BadReply), Unknown),
    // Labels say more than codes.
    rule(&[Command, Index], Labels(&[NO_WRITES_PERFORMED]), NotApplied),
    rule(&[Command, Index], Labels(&[SYSTEM_OVERLOADED_ERROR, RETRYABLE_ERROR]), NotApplied),
    // A write concern that was not met: the write stands, perhaps not for good.
    rule(
        &[WriteConcern],
        Codes(&[64, 91, 189, 11600, 11602, 50, 100, 10107, 13435, 13436]),
        AppliedNotDurable,
    ),
    rule(&[WriteConcern], Codes(&[2, 9, 79]), Permanent),
    // Duplicate keys. As the error of a whole command of many it does not tell what became of the rest.
    rule(&[Statement], Codes(DUPLICATE), Conflict),
    alone(&[Command], Codes(DUPLICATE), Conflict),
    rule(&[Index], Codes(DUPLICATE), Permanent),
    // Not let in, or not allowed: unauthorized, user not found, authentication failed, Atlas' own.
    rule(ANYWHERE, Codes(&[13, 11, 18, 8000]), Auth),
    // The engine did nothing, and says so. 365 comes after the server's own retries; 24 and 112 are rare on
    // mongod and usual on Firestore and the PostgreSQL engines.
    rule(&[Statement], Codes(&[16500, 462, 112, 24, 365]), NotApplied),
    alone(&[Command], Codes(&[16500, 462, 112, 24, 365, 10107, 10058, 13435, 13436, 189]), NotApplied),
    // A cursor that is gone, a snapshot that is not there yet: reads alone.
    alone(&[Command], Codes(&[43, 237, 134]), NotApplied),
    // Two processes that make the same index wait for each other.
    rule(&[Index], Codes(&[117, 112, 24, 10107, 13435, 13436, 189, 462, 16500]), NotApplied),
    // The request can never work on this engine, this collection or with this document.
    rule(ANYWHERE, Codes(PERMANENT), Permanent),
    rule(&[Index], Codes(&[85, 86, 96, 171, 197, 303]), Permanent),
    // Everything else, and by name those of which it is known: interrupted, stepped down, shut down, unreachable,
    // timed out, DocumentDB's and FerretDB's 1.
    rule(ANYWHERE, Codes(&[11600, 11602, 91, 6, 7, 89, 9001, 262, 50, 1]), Unknown),
];

const DUPLICATE: &[i32] = &[11000, 11001, 12582];

const PERMANENT: &[i32] = &[
    2, 9, 14, 15, 16, 20, 28, 40, 52, 54, 56, 57, 59, 61, 66, 67, 72, 73, 79, 85, 86, 115, 121, 238, 301,
    10334, 17280, 17419, 17420, 40415,
];

/// The class of an error.
pub fn classify(profile: Profile, place: Place, alone: bool, seen: &Seen) -> Class {
    RULES
        .iter()
        .find(|rule| {
            (rule.engines.is_empty() || rule.engines.contains(&profile))
                && rule.places.contains(&place)
                && (alone || !rule.alone)
                && seen.shows(rule.signal)
        })
        .map_or(Unknown, |rule| rule.class)
}

/// What an error shows: a code, labels, or what the driver says in place of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The engine's code.
    pub code: Option<i32>,
    /// The server's labels.
    pub labels: Vec<String>,
    /// No reply.
    pub wire: Option<Wire>,
}

impl Seen {
    fn shows(&self, signal: Signal) -> bool {
        match signal {
            Codes(codes) => self.code.is_some_and(|code| codes.contains(&code)),
            Labels(labels) => labels.iter().all(|label| self.labels.iter().any(|seen| seen == label)),
            Signal::Wire(wire) => self.wire == Some(wire),
        }
    }
}
