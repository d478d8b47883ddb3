//! Which of several stores is taken.

use super::layers::{Found, Layers, Origin, Sourced};
use super::store::{self, StoreUri};
use crate::error::Failure;

/// `--store`, else `IDEMPOST_URI` (or the file it is mounted in), else `store` in the file, else
/// `MONGODB_URI` where a database is named, else SQLite.
pub(super) fn store_uri(
    layers: &Layers<'_>,
    ci: bool,
    warnings: &mut Vec<String>,
) -> Result<Sourced<StoreUri>, Failure> {
    let found = match layers.typed("store") {
        Some(found) => Some(found),
        None => secret(layers, "IDEMPOST_URI", ci, warnings)?
            .or(secret(layers, "IDEMPOST_STORE", ci, warnings)?)
            .or_else(|| layers.in_file("store"))
            .or_else(|| mongodb_uri(layers, warnings)),
    };
    let (text, origin) = match &found {
        Some(found) => (found.text(), found.origin.clone()),
        None => (store::DEFAULT_STORE.to_owned(), Origin::Default),
    };
    let uri = StoreUri::parse(&text, &layers.base(&origin)).map_err(|(message, help)| match &found {
        Some(found) => found.wrong(message).help(help),
        None => Failure::usage(message).help(help),
    })?;
    if let (Origin::File { file, line, .. }, true) = (&origin, uri.has_password()) {
        warnings
            .push(format!("{file}:{line}: a password stands in the file; IDEMPOST_URI is a better place"));
    }
    Ok(Sourced { value: uri, origin })
}

/// A secret from a variable, or from the file that `NAME_FILE` names.
fn secret(
    layers: &Layers<'_>,
    name: &str,
    ci: bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Found>, Failure> {
    let file_name = format!("{name}_FILE");
    let direct = layers.variable(name);
    let Some(mounted) = layers.variable(&file_name) else {
        if direct.is_none() && layers.env.contains_key(name) {
            if ci {
                return Err(Failure::usage(format!("{name} is set and empty"))
                    .help("is the secret there, and may this job read it?"));
            }
            warnings.push(format!("{name} is set and empty: it counts as not set"));
        }
        return Ok(direct);
    };
    if direct.is_some() {
        return Err(Failure::usage(format!("{name} and {file_name} are both set")).help("unset one of them"));
    }
    let path = layers.cwd.join(mounted.text());
    let text = std::fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!("{file_name}: {} cannot be read: {error}", path.display()))
    })?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Failure::usage(format!("{file_name}: {} is empty", path.display())));
    }
    Ok(Some(Found::of_variable(&file_name, text)))
}

fn mongodb_uri(layers: &Layers<'_>, warnings: &mut Vec<String>) -> Option<Found> {
    let found = layers.variable("MONGODB_URI")?;
    if store::mongo_database(&found.text()).is_some() || layers.find("database").is_some() {
        return Some(found);
    }
    warnings.push("MONGODB_URI is not used: neither it nor the configuration names a database".to_owned());
    None
}
