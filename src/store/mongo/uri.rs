//! Reads a MongoDB URI: what may be in it, what is forced whatever is in it, and an error that helps for
//! what may not. Sends nothing and resolves nothing.
//!
//! The driver parses; what it would refuse with a text that quotes a piece of a password, or with one that
//! does not help, is found before.

use std::time::Duration;

use futures_util::FutureExt;
use mongodb::options::{
    AuthMechanism, ClientOptions, ConnectionString, HostInfo, ReadPreference, SelectionCriteria,
    ServerAddress,
};

use super::super::{Class, Fault};
use super::profile::Address;
use super::redact::{Redactor, userinfo_ends};

/// Idle connections are given up before a cloud's gateway drops them (Cosmos DB does after four minutes).
pub const MAX_IDLE_TIME_DEFAULT: Duration = Duration::from_mins(2);

/// Connecting, TLS and the first `hello` of one connection.
pub const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// Waiting for a server that takes writes. Shorter than an election, which the executor's retry waits out.
pub const SELECTION_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);

/// A parsed URI.
pub struct Location {
    /// As the driver reads it; holds the password.
    connection: ConnectionString,
    /// The URI without user, password, database and options.
    pub store: String,
    /// The database that it names.
    pub database: Option<String>,
    /// What detection looks at.
    pub address: Address,
    /// Takes the secrets of this URI out of texts.
    pub redactor: Redactor,
}

impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Location")
            .field("store", &self.store)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

/// Times and sizes that are ours to decide.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Deadline of one command: selecting and connecting must fit into it.
    pub command_timeout: Duration,
    /// Connections at most, where the URI has no `maxPoolSize`.
    pub pool: u32,
}

impl Location {
    /// Parses. Every fault is permanent and names no secret.
    pub fn parse(uri: &str) -> Result<Self, Fault> {
        let uri = uri.trim();
        let redactor = Redactor::of_uri(uri);
        let (scheme, rest) = uri.split_once("://").ok_or_else(|| {
            refused("the store's URI has no scheme")
                .help("write mongodb://HOST/DATABASE or mongodb+srv://HOST/DATABASE")
        })?;
        let scheme = scheme.to_ascii_lowercase();
        if scheme != "mongodb" && scheme != "mongodb+srv" {
            return Err(refused("the store's URI has a scheme other than mongodb and mongodb+srv")
                .help("write mongodb://HOST/DATABASE or mongodb+srv://HOST/DATABASE"));
        }
        refuse_unescaped(rest)?;
        check_options(rest)?;
        let unreadable = |error: mongodb::error::Error| {
            let text = redactor.text(&error.kind.to_string());
            let text = text.strip_prefix("An invalid argument was provided: ").unwrap_or(&text).to_owned();
            refused(format!("the store's URI cannot be read: {text}"))
                .help("is a character in user or password not percent-encoded?")
        };
        let connection = ConnectionString::parse(format!("{scheme}://{rest}")).map_err(unreadable)?;
        if matches!(connection.host_info, HostInfo::HostIdentifiers(_)) {
            // Options that exclude each other are found here; without SRV nothing is waited for.
            ClientOptions::parse(connection.clone())
                .into_future()
                .now_or_never()
                .transpose()
                .map_err(unreadable)?;
        }
        if connection.write_concern.as_ref().and_then(|concern| concern.w.as_ref())
            == Some(&mongodb::options::Acknowledgment::Nodes(0))
        {
            return Err(refused("w=0 in the store's URI: writes would go unconfirmed")
                .help("leave w out; writes ask for a majority"));
        }
        let (hosts, store) = hosts_of(&scheme, &connection.host_info);
        let plain = connection
            .credential
            .as_ref()
            .is_some_and(|credential| credential.mechanism == Some(AuthMechanism::Plain));
        let address = Address { hosts, plain_load_balanced: plain && connection.load_balanced == Some(true) };
        Ok(Location { database: connection.default_database.clone(), connection, store, address, redactor })
    }

    /// The options of the client: those of the URI, and what is forced. Resolves `mongodb+srv`.
    pub async fn client_options(&self, bounds: Bounds) -> mongodb::error::Result<ClientOptions> {
        let mut options = ClientOptions::parse(self.connection.clone()).await?;
        // Nobody but the executor repeats a write. `None` would mean yes.
        options.retry_writes = Some(false);
        options.selection_criteria = Some(SelectionCriteria::ReadPreference(ReadPreference::Primary));
        options.write_concern = None;
        options.read_concern = None;
        options.max_idle_time.get_or_insert(MAX_IDLE_TIME_DEFAULT);
        options.max_pool_size.get_or_insert(bounds.pool.max(1));
        options.app_name.get_or_insert_with(|| "idempost".to_owned());
        // Both must end before the command's own deadline, which can only say "unknown".
        let selection = options.server_selection_timeout.unwrap_or(SELECTION_TIMEOUT_DEFAULT);
        options.server_selection_timeout = Some(selection.min(bounds.command_timeout / 2));
        let connect =
            options.connect_timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(CONNECT_TIMEOUT_DEFAULT);
        options.connect_timeout = Some(connect.min(bounds.command_timeout / 3));
        Ok(options)
    }
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::new(Class::Permanent, message)
}

fn hosts_of(scheme: &str, info: &HostInfo) -> (Vec<String>, String) {
    match info {
        HostInfo::HostIdentifiers(addresses) => {
            let hosts = addresses
                .iter()
                .filter_map(|address| match address {
                    ServerAddress::Tcp { host, .. } => Some(host.to_lowercase()),
                    _ => None,
                })
                .collect();
            let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
            (hosts, format!("{scheme}://{}", shown.join(",")))
        }
        HostInfo::DnsRecord(host) => (vec![host.to_lowercase()], format!("{scheme}://{host}")),
        _ => (Vec::new(), format!("{scheme}://")),
    }
}

/// Options whose value may hold an `@` of its own, in lower case (Cosmos DB writes `appName=@account@`).
const VALUES_WITH_AT: [&str; 6] = [
    "appname",
    "authmechanismproperties",
    "readpreferencetags",
    "tlscafile",
    "tlscertificatekeyfile",
    "replicaset",
];

/// Refuses a user or password with a character that ends it too early. Quotes nothing: where the password
/// ends cannot be known.
fn refuse_unescaped(rest: &str) -> Result<(), Fault> {
    let unescaped = || {
        refused("user or password in the store's URI holds a character that must be percent-encoded")
            .help("write @ as %40, : as %3A, / as %2F, ? as %3F, # as %23, [ as %5B, ] as %5D, % as %25")
    };
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = rest.get(..authority_end).unwrap_or("");
    let Some((credentials, _)) = userinfo_ends(rest) else { return Ok(()) };
    if !authority.contains('@') {
        // An `@` after the first `/` or `?`: an option's value, or the end of a password with one of these in it.
        let path_end = rest.find('?').unwrap_or(rest.len());
        let (path, query) = (rest.get(..path_end).unwrap_or(""), rest.get(path_end + 1..).unwrap_or(""));
        let in_values = query.split('&').filter(|option| option.contains('@')).all(|option| {
            option.split_once('=').is_some_and(|(key, _)| {
                !key.contains('@') && VALUES_WITH_AT.contains(&key.to_lowercase().as_str())
            })
        });
        return if path.contains('@') || !in_values { Err(unescaped()) } else { Ok(()) };
    }
    if credentials.len() > authority.len() {
        return Err(unescaped());
    }
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let wrong = |part: &str| {
        part.contains([':', '/', '?', '#', '[', ']', '@', ' '])
            || part.split('%').skip(1).any(|after| {
                !after.as_bytes().get(..2).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
            })
    };
    if wrong(user) || wrong(password) { Err(unescaped()) } else { Ok(()) }
}

/// The options that the driver knows, as it is built here.
const KNOWN_OPTIONS: [&str; 37] = [
    "appName",
    "authMechanism",
    "authMechanismProperties",
    "authSource",
    "connectTimeoutMS",
    "directConnection",
    "enableOverloadRetargeting",
    "heartbeatFrequencyMS",
    "journal",
    "loadBalanced",
    "localThresholdMS",
    "maxAdaptiveRetries",
    "maxConnecting",
    "maxIdleTimeMS",
    "maxPoolSize",
    "maxStalenessSeconds",
    "minPoolSize",
    "readConcernLevel",
    "readPreference",
    "readPreferenceTags",
    "replicaSet",
    "retryReads",
    "retryWrites",
    "serverMonitoringMode",
    "serverSelectionTimeoutMS",
    "srvMaxHosts",
    "srvServiceName",
    "ssl",
    "tls",
    "tlsAllowInvalidCertificates",
    "tlsCAFile",
    "tlsCertificateKeyFile",
    "tlsInsecure",
    "uuidRepresentation",
    "w",
    "waitQueueTimeoutMS",
    "wTimeoutMS",
];

/// Options that other drivers have and this one has not, in lower case, with what to do.
const FOREIGN_OPTIONS: [(&str, &str); 6] = [
    ("sockettimeoutms", "leave it out; `--command-timeout` bounds every command"),
    ("timeoutms", "leave it out; `--command-timeout` bounds every command"),
    ("compressors", "leave it out; connections are not compressed"),
    ("zlibcompressionlevel", "leave it out; connections are not compressed"),
    ("wtimeout", "leave it out; every write asks for a majority within a part of `--command-timeout`"),
    ("tlscertificatekeyfilepassword", "decrypt the key file; a password for it is not supported"),
];

fn check_options(rest: &str) -> Result<(), Fault> {
    let after = userinfo_ends(rest).filter(|_| authority_has_at(rest)).map_or(rest, |(_, after)| after);
    let Some((_, query)) = after.split_once('?') else { return Ok(()) };
    let mut seen: Vec<String> = Vec::new();
    for option in query.split('&').filter(|option| !option.is_empty()) {
        let Some((key, value)) = option.split_once('=') else {
            return Err(refused("an option in the store's URI is not written KEY=VALUE"));
        };
        let lower = key.to_lowercase();
        if let Some((_, help)) = FOREIGN_OPTIONS.iter().find(|(name, _)| *name == lower) {
            return Err(
                refused(format!("{key} in the store's URI is not supported by the driver")).help(*help)
            );
        }
        let Some(known) = KNOWN_OPTIONS.iter().find(|name| name.eq_ignore_ascii_case(key)) else {
            return Err(unknown_option(key));
        };
        if seen.contains(&lower) && lower != "readpreferencetags" {
            return Err(refused(format!("{known} stands twice in the store's URI")));
        }
        if lower == "retrywrites" && value != "true" && value != "false" {
            return Err(refused("retryWrites in the store's URI is neither true nor false")
                .help("write retryWrites=false in lower case, or leave it out: it is always off here"));
        }
        seen.push(lower);
    }
    Ok(())
}

fn authority_has_at(rest: &str) -> bool {
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    rest.get(..end).is_some_and(|authority| authority.contains('@'))
}

/// A key is shown only if it looks like one.
fn unknown_option(key: &str) -> Fault {
    if key.is_empty() || key.len() > 40 || !key.chars().all(|char| char.is_ascii_alphanumeric()) {
        return refused("the store's URI has an option that is not known");
    }
    let fault = refused(format!("the store's URI has an option that is not known: {key}"));
    let lower = key.to_lowercase();
    let nearest = KNOWN_OPTIONS
        .iter()
        .map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= known.len() / 3)
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((_, known)) => fault.help(format!("did you mean {known}?")),
        None => fault,
    }
}
