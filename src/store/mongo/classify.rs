//! From what went wrong to how it is answered: one table from engine, place and signal to a class.
//!
//! The rows are read from the top, the first that fits decides; what fits none has an unknown outcome.
//! Nothing here sends, waits or repeats.

use std::time::Duration;

use bson::{Bson, Document};
use mongodb::error::{Error, ErrorKind, RETRYABLE_ERROR, SYSTEM_OVERLOADED_ERROR};

use super::super::document::integer;
use super::super::{Class, Fault};
use super::profile::Profile;
use super::redact::Redactor;

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

/// Everything that a fault is made from, as a reply or one entry of it tells.
pub struct Told<'a> {
    /// The engine.
    pub profile: Profile,
    /// Where.
    pub place: Place,
    /// Whether the command could not have been done in part.
    pub alone: bool,
    /// The document that has `code`, `errmsg`, `errorLabels`, `baseBackoffMS`.
    pub document: &'a Document,
}

/// The longest message that is passed on, in characters.
const MESSAGE_CHARS_MAX: usize = 800;

/// A fault from an error that the engine told.
pub fn told(told: &Told<'_>, redactor: &Redactor) -> Fault {
    let document = told.document;
    let code = code_of(document.get("code"));
    let labels = match document.get("errorLabels") {
        Some(Bson::Array(labels)) => labels.iter().filter_map(Bson::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let text = document.get_str("errmsg").unwrap_or("the engine gave no reason");
    let seen = Seen { code, labels, wire: None };
    let class = classify(told.profile, told.place, told.alone, &seen);
    let named = match (code, document.get_str("codeName")) {
        (Some(code), Ok(name)) if !name.is_empty() => format!("{text} (code {code} {name})"),
        (Some(code), _) => format!("{text} (code {code})"),
        (None, _) => text.to_owned(),
    };
    let mut fault = Fault::new(class, message(&named, redactor));
    fault.code = code;
    fault.help = help(told.profile, told.place, class, code, text);
    fault.retry_after = retry_after(document, text);
    fault
}

/// A fault from an error of the driver. `writes` is how many statements the command had; 0 and 1 could not
/// have been done in part.
pub fn driver(profile: Profile, place: Place, writes: usize, error: &Error, redactor: &Redactor) -> Fault {
    let alone = writes <= 1;
    // The whole reply tells more than the driver's struct, and is there also where the struct could not be read.
    if let Some(reply) = error.server_response()
        && let Ok(document) = Document::try_from(reply.as_ref())
        && (document.contains_key("code") || document.contains_key("errmsg"))
        && document.get("ok").is_none_or(|ok| integer(Some(ok)) != Some(1))
    {
        return told(&Told { profile, place, alone, document: &document }, redactor);
    }
    let wire = wire_of(error);
    let place = match wire {
        Wire::Selection
        | Wire::Establish
        | Wire::Incompatible
        | Wire::Dns
        | Wire::Tls
        | Wire::Authentication
        | Wire::Shutdown => Place::Connect,
        _ => place,
    };
    let code = match &*error.kind {
        ErrorKind::Command(command) => Some(command.code),
        _ => None,
    };
    let labels: Vec<String> = error.labels().iter().cloned().collect();
    let seen = Seen { code, labels, wire: Some(wire) };
    let class = classify(profile, place, alone, &seen);
    let text = wire_text(wire, error);
    let mut fault = Fault::new(class, message(&text, redactor));
    fault.code = code;
    fault.help = wire_help(wire, &text);
    fault.retry_after = error.base_backoff();
    fault
}

/// A fault for a command without a reply within its deadline.
pub fn deadline(profile: Profile, place: Place, limit: Duration) -> Fault {
    let seen = Seen { wire: Some(Wire::Deadline), ..Seen::default() };
    Fault::new(classify(profile, place, true, &seen), format!("no reply within {}", seconds(limit)))
        .help("the engine or the way to it is stuck; `--command-timeout` sets how long a command may take")
}

fn seconds(limit: Duration) -> String {
    if limit.subsec_millis() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis())
    }
}

/// A code of any numeric type, if it fits.
pub(super) fn code_of(value: Option<&Bson>) -> Option<i32> {
    match value {
        Some(Bson::DateTime(_)) | None => None,
        value => integer(value).and_then(|code| i32::try_from(code).ok()),
    }
}

fn wire_of(error: &Error) -> Wire {
    match &*error.kind {
        ErrorKind::ServerSelection { message, .. } if message.contains("wire version") => Wire::Incompatible,
        ErrorKind::ServerSelection { .. } => Wire::Selection,
        ErrorKind::IncompatibleServer { .. } => Wire::Incompatible,
        ErrorKind::DnsResolve { .. } => Wire::Dns,
        ErrorKind::InvalidTlsConfig { .. } => Wire::Tls,
        ErrorKind::Authentication { .. } => Wire::Authentication,
        ErrorKind::InvalidArgument { .. } | ErrorKind::SessionsNotSupported | ErrorKind::Bson(_) => {
            Wire::Argument
        }
        ErrorKind::Shutdown => Wire::Shutdown,
        // The driver sets this label on errors of connecting, TLS and the first hello, and on no others.
        ErrorKind::Io(_) if error.contains_label(SYSTEM_OVERLOADED_ERROR) => Wire::Establish,
        ErrorKind::Io(_) => Wire::Broken,
        ErrorKind::ConnectionPoolCleared { .. } => Wire::PoolCleared,
        ErrorKind::InvalidResponse { .. } => Wire::BadReply,
        _ => Wire::Other,
    }
}

/// The kind's own text: the driver's `Display` of the whole error repeats it with labels and sources.
fn wire_text(wire: Wire, error: &Error) -> String {
    let text = error.kind.to_string();
    match wire {
        Wire::Selection => selection_text(&text),
        Wire::Authentication => format!("the engine did not let us in: {text}"),
        Wire::Broken => format!("the connection broke after the command was sent: {text}"),
        _ => text,
    }
}

/// The address and the reason of each server, out of the driver's account of the whole topology.
fn selection_text(text: &str) -> String {
    let mut servers = Vec::new();
    for part in text.split("Address: ").skip(1) {
        let Some((address, rest)) = part.split_once(',') else { continue };
        let reason = rest.split_once("Error: ").map_or("no answer", |(_, error)| {
            let error = error.strip_prefix("Kind: ").unwrap_or(error);
            error.split(", labels: ").next().unwrap_or(error)
        });
        let reason = if rest.contains("Error: ") {
            reason.strip_prefix("I/O error: ").unwrap_or(reason).to_owned()
        } else {
            let kind = rest.split_once("Type: ").map_or("", |(_, kind)| kind);
            let kind: String = kind.chars().take_while(|char| char.is_alphanumeric()).collect();
            match kind.as_str() {
                "" | "Unknown" => "no answer".to_owned(),
                kind => format!("it is there as {kind}, not as one that takes writes"),
            }
        };
        servers.push(format!("{address}: {reason}"));
    }
    if servers.is_empty() {
        text.to_owned()
    } else {
        format!("no server can be reached ({})", servers.join("; "))
    }
}

fn wire_help(wire: Wire, text: &str) -> String {
    match wire {
        Wire::Selection | Wire::Establish if text.contains("refused") => {
            "is the engine running, and are host and port right?"
        }
        Wire::Selection | Wire::Establish if text.contains("certificate") || text.contains("tls") => {
            "the engine's certificate was not accepted: `tlsCAFile` in the URI names its authority"
        }
        Wire::Selection | Wire::Establish => "are host, port, `tls` and the firewall right?",
        Wire::Incompatible => "this needs MongoDB 4.4 or newer, or an engine that speaks its protocol",
        Wire::Dns => "is the host's name right? `mongodb+srv://` needs SRV records in its DNS",
        Wire::Authentication => "check user, password, `authSource` and `authMechanism`",
        _ => "",
    }
    .to_owned()
}

fn help(profile: Profile, place: Place, class: Class, code: Option<i32>, text: &str) -> String {
    let lower = text.to_lowercase();
    let text = match (place, class, code) {
        (_, Auth, Some(13)) => "the user lacks a right; `idempost doctor` lists those that are needed",
        (_, Auth, _) => "check user, password, `authSource` and `authMechanism`",
        (_, _, Some(20 | 301)) => {
            "retryable writes were asked for on this connection; they are forced off here: is a proxy adding them?"
        }
        (_, _, Some(2)) if profile == Profile::CosmosRu && lower.contains("retr") => {
            "retryable writes were asked for on this connection; they are forced off here: is a proxy adding them?"
        }
        (_, _, Some(10334 | 17280 | 17419 | 17420)) => {
            "the document is too big for this engine: split the post or shorten it"
        }
        (_, _, Some(121)) => {
            "the collection has a validator that refuses the document; `idempost schema document` prints what is stored"
        }
        (_, _, Some(61)) => {
            "the collection is sharded by a key that no filter of ours has; shard it by {slug: 1, lang: 1}"
        }
        (_, _, Some(66)) => {
            "the shard key holds a field that changes; shard the collection by {slug: 1, lang: 1}"
        }
        (Place::Index, _, Some(11000)) => {
            "two live posts share slug and language already; `idempost verify` lists them"
        }
        (Place::Index, _, Some(85 | 86)) => {
            "an index of that name or on those fields is there with other options; drop it and run again"
        }
        _ => "",
    };
    text.to_owned()
}

/// The pause a server asks for: `baseBackoffMS` of the reply, or Cosmos' `RetryAfterMs=` in the text.
fn retry_after(document: &Document, text: &str) -> Option<Duration> {
    let millis = match document.get("baseBackoffMS") {
        Some(value) => integer(Some(value)).and_then(|millis| u64::try_from(millis).ok()),
        None => None,
    };
    let millis = millis.or_else(|| {
        let (_, rest) = text.split_once("RetryAfterMs=")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })?;
    Some(Duration::from_millis(millis.min(RETRY_AFTER_MILLIS_MAX)))
}

/// A server may ask for a pause, not for an hour.
const RETRY_AFTER_MILLIS_MAX: u64 = 60_000;

fn message(text: &str, redactor: &Redactor) -> String {
    let text = redactor.text(text);
    if text.chars().count() <= MESSAGE_CHARS_MAX {
        return text;
    }
    let mut cut: String = text.chars().take(MESSAGE_CHARS_MAX).collect();
    cut.push('…');
    cut
}
