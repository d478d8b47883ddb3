//! The store's URI: a secret that prints itself without its password, and which of several is taken.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::diagnostic::nearest;

/// The store where nothing names one, outside CI.
pub const DEFAULT_STORE: &str = "sqlite:idempost.db";

/// Schemes that are known.
const SCHEMES: [&str; 3] = ["mongodb", "mongodb+srv", "sqlite"];

/// Options of a MongoDB URI whose values are secret, in lower case.
const SECRET_OPTIONS: [&str; 3] =
    ["authmechanismproperties", "tlscertificatekeyfilepassword", "sslclientcertificatekeypassword"];

/// What stands behind a URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// `mongodb://` and `mongodb+srv://`.
    Mongo,
    /// `sqlite:`.
    Sqlite,
}

/// A store's URI. `Debug` and `Display` never show a password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUri {
    text: String,
    kind: StoreKind,
    sqlite_path: Option<PathBuf>,
}

impl StoreUri {
    /// Reads a URI; a relative SQLite path is relative to `base`. The error is (message, help) and holds
    /// no password.
    pub fn parse(text: &str, base: &Path) -> Result<Self, (String, String)> {
        let text = text.trim();
        let help = || "write mongodb://HOST/DATABASE, mongodb+srv://HOST/DATABASE or sqlite:PATH".to_owned();
        let Some((scheme, rest)) = text.split_once(':') else {
            let help = if Path::new(text).extension().is_some_and(|end| end == "db" || end == "sqlite") {
                format!("a SQLite file is written sqlite:{text}")
            } else {
                help()
            };
            return Err((format!("`{}` is no URI of a store", redact_uri(text)), help));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "mongodb" | "mongodb+srv" => {
                if !rest.starts_with("//") || rest.trim_start_matches('/').is_empty() {
                    return Err((format!("`{}` names no host", redact_uri(text)), help()));
                }
                Ok(StoreUri { text: text.to_owned(), kind: StoreKind::Mongo, sqlite_path: None })
            }
            "sqlite" => {
                let path = rest.strip_prefix("//").unwrap_or(rest);
                if path.is_empty() {
                    return Err((format!("`{text}` names no file"), "write sqlite:PATH".to_owned()));
                }
                if path == ":memory:" {
                    return Err((
                        "`sqlite::memory:` would forget everything at the end of the run".to_owned(),
                        "write sqlite:PATH; to look without writing there is `idempost check`".to_owned(),
                    ));
                }
                Ok(StoreUri {
                    text: format!("sqlite:{path}"),
                    kind: StoreKind::Sqlite,
                    sqlite_path: Some(base.join(path)),
                })
            }
            other => {
                let help =
                    nearest(other, SCHEMES).map_or_else(help, |known| format!("did you mean {known}:?"));
                Err((format!("`{}` is of no store that is known", redact_uri(text)), help))
            }
        }
    }

    /// What stands behind it.
    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// The URI with its password, for the driver alone.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The SQLite file.
    pub fn sqlite_path(&self) -> Option<&Path> {
        self.sqlite_path.as_deref()
    }

    /// Whether a password stands in it.
    pub fn has_password(&self) -> bool {
        self.kind == StoreKind::Mongo && redact_uri(&self.text) != self.text
    }

    /// The database that it names; for SQLite the file's stem.
    pub fn database(&self) -> Option<String> {
        match self.kind {
            StoreKind::Sqlite => {
                let stem = self.sqlite_path.as_deref()?.file_stem()?;
                Some(stem.to_string_lossy().into_owned())
            }
            StoreKind::Mongo => mongo_database(&self.text),
        }
    }
}

impl fmt::Display for StoreUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact_uri(&self.text))
    }
}

impl fmt::Debug for StoreUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreUri({self})")
    }
}

/// The database named in the path of a MongoDB URI, percent-decoded.
pub fn mongo_database(uri: &str) -> Option<String> {
    let (_, rest) = uri.split_once("://")?;
    let rest = rest.rsplit_once('@').map_or(rest, |(_, after)| after);
    let before_options = rest.split('?').next().unwrap_or(rest);
    let (_, name) = before_options.split_once('/')?;
    let name = percent_encoding::percent_decode_str(name).decode_utf8().ok()?;
    (!name.is_empty()).then(|| name.into_owned())
}

/// The URI without its password and without secret options. What stands before the last `@` is taken
/// for user and password, so that a password with `/`, `?` or `@` in it is covered too.
pub fn redact_uri(uri: &str) -> String {
    let (scheme, rest) = match uri.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), uri),
    };
    if scheme.is_empty() && rest.starts_with("sqlite:") {
        return uri.to_owned();
    }
    let (user, host) = match rest.rsplit_once('@') {
        Some((credentials, host)) => match credentials.split_once(':') {
            Some((user, _)) => (format!("{user}:***@"), host),
            None => (format!("{credentials}@"), host),
        },
        None => (String::new(), rest),
    };
    let host = match host.split_once('?') {
        Some((before, options)) => format!("{before}?{}", redact_options(options)),
        None => host.to_owned(),
    };
    format!("{scheme}{user}{host}")
}

fn redact_options(options: &str) -> String {
    let shown: Vec<String> = options
        .split('&')
        .map(|option| match option.split_once('=') {
            Some((name, _)) if SECRET_OPTIONS.contains(&name.to_ascii_lowercase().as_str()) => {
                format!("{name}=***")
            }
            _ => option.to_owned(),
        })
        .collect();
    shown.join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let base = Path::new("/blog");
        for uri in [
            "mongodb://ann:s3cret@db.example.com/blog?replicaSet=rs0",
            "mongodb+srv://ann:s3cret%40x@db.example.com",
            "mongodb://ann:s3cret/with?odd@signs@db.example.com/blog",
            "mongodb://ann@db.example.com/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret",
            "MongoDB://ann:s3cret@db.example.com/blog",
        ] {
            let store = StoreUri::parse(uri, base).unwrap();
            assert!(store.has_password(), "{uri}");
            assert!(!format!("{store} {store:?}").contains("s3cret"), "{store}");
            assert_eq!(store.expose(), uri);
        }
        for wrong in
            ["ann:s3cret@db.example.com", "mongo://ann:s3cret@db.example.com/blog", "postgres://a:s3cret@b"]
        {
            let (message, help) = StoreUri::parse(wrong, base).unwrap_err();
            assert!(!format!("{message}{help}").contains("s3cret"), "{message}");
        }
    }

    #[test]
    fn a_database_is_found_in_the_uri() {
        assert_eq!(mongo_database("mongodb://a:b@h1:27017,h2/blog?x=y"), Some("blog".to_owned()));
        assert_eq!(mongo_database("mongodb://h/my%20blog"), Some("my blog".to_owned()));
        assert_eq!(mongo_database("mongodb://h"), None);
        assert_eq!(mongo_database("mongodb://h/?authSource=admin"), None);
        let store = StoreUri::parse("sqlite:data/idempost.db", Path::new("/blog")).unwrap();
        assert_eq!(store.database(), Some("idempost".to_owned()));
        assert_eq!(store.sqlite_path(), Some(Path::new("/blog/data/idempost.db")));
    }

    #[test]
    fn what_is_no_uri_says_what_to_write() {
        let base = Path::new("/blog");
        assert_eq!(
            StoreUri::parse("idempost.db", base).unwrap_err().1,
            "a SQLite file is written sqlite:idempost.db"
        );
        assert_eq!(StoreUri::parse("sqlit:x.db", base).unwrap_err().1, "did you mean sqlite:?");
        assert!(StoreUri::parse("mongodb://", base).is_err());
        assert!(StoreUri::parse("sqlite:", base).is_err());
        assert!(StoreUri::parse("", base).is_err());
    }
}
