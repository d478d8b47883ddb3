//! Makes faults: reads what an engine or the driver says of an error, asks the table for its class, and finds
//! words for it. No text leaves here unredacted.

use std::time::Duration;

use bson::{Bson, Document};
use mongodb::error::{Error, ErrorKind, SYSTEM_OVERLOADED_ERROR};

use super::super::document::integer;
use super::super::{Class, Fault};
use super::classify::{Place, Seen, Wire, classify};
use super::profile::Profile;
use super::redact::Redactor;

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
        Wire::Dns => {
            let text = text.strip_prefix("An error occurred during DNS resolution: ").unwrap_or(&text);
            format!("the store's host cannot be resolved: {text}")
        }
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
    if !servers.is_empty() {
        return format!("no server can be reached ({})", servers.join("; "));
    }
    // A server of another set is dropped from the account.
    match text.split_once("Set Name: ") {
        Some((_, set)) => {
            let set = set.split([',', ' ', '}']).next().unwrap_or_default();
            format!("no server that can be reached belongs to the replica set {set}")
        }
        None => text.to_owned(),
    }
}

fn wire_help(wire: Wire, text: &str) -> String {
    match wire {
        Wire::Selection | Wire::Establish if text.contains("refused") => {
            "is the engine running, and are host and port right?"
        }
        Wire::Selection | Wire::Establish if text.contains("lookup address") => "is the host's name right?",
        Wire::Selection | Wire::Establish if text.contains("replica set") => {
            "does `replicaSet` in the URI name the set that the server belongs to?"
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
        (_, Class::Auth, Some(13)) => "the user lacks a right; `idempost doctor` lists those that are needed",
        (_, Class::Auth, _) => "check user, password, `authSource` and `authMechanism`",
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
