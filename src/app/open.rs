//! Picks the store that the settings name.

use std::sync::Arc;

use crate::config::Settings;
use crate::config::store::StoreKind;
use crate::error::{Exit, Failure};
use crate::store::mongo::{MongoOptions, MongoStore, profile::Profile};
use crate::store::sqlite::SqliteStore;
use crate::store::{Class, Fault, Store};

/// Opens the store. Nothing is sent yet.
pub fn open(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    let uri = settings.store()?;
    match uri.kind() {
        StoreKind::Sqlite => {
            let path = uri.sqlite_path().unwrap_or_else(|| std::path::Path::new("idempost.db"));
            let store = SqliteStore::open_collection(path, &settings.collection.value)
                .map_err(|fault| failure(&fault))?;
            Ok(Arc::new(store))
        }
        StoreKind::Mongo => Ok(Arc::new(open_mongo(settings)?)),
    }
}

/// Opens the MongoDB store, for `doctor`, which asks more than the port does.
pub fn open_mongo(settings: &Settings) -> Result<MongoStore, Failure> {
    let uri = settings.store()?;
    let engine = match settings.engine.value.as_str() {
        "auto" => None,
        name => Some(Profile::from_name(name).ok_or_else(|| {
            let known: Vec<&str> = Profile::all().map(Profile::name).collect();
            Failure::usage(format!("{name:?} is no engine ({})", settings.engine.origin))
                .help(format!("write auto, or one of {}", known.join(", ")))
        })?),
    };
    let options = MongoOptions {
        database: Some(settings.database()?),
        collection: settings.collection.value.clone(),
        engine,
        command_timeout: settings.retry.command.value,
        pool: u32::try_from(settings.limits.in_flight.value).unwrap_or(4).saturating_add(1),
    };
    MongoStore::open(uri.expose(), options).map_err(|fault| match fault.class {
        // Nothing was sent: what is wrong is what was typed.
        Class::Permanent => Failure::usage(fault.message).help(fault.help),
        _ => failure(&fault),
    })
}

/// A fault of the store as the end of a run.
pub fn failure(fault: &Fault) -> Failure {
    let exit = exit_of(fault.class);
    let help = match (exit, fault.help.is_empty()) {
        (Exit::Unreachable, true) => "nothing is lost; run again when the store answers".to_owned(),
        _ => fault.help.clone(),
    };
    Failure::new(exit, fault.message.clone()).help(help)
}

/// How a run ends that a fault of this class ended.
pub fn exit_of(class: Class) -> Exit {
    match class {
        Class::NotSent | Class::NotApplied | Class::Unknown | Class::AppliedNotDurable => Exit::Unreachable,
        Class::Conflict => Exit::Conflict,
        // A wrong password or a missing right is mended where the URI is written.
        Class::Auth => Exit::Usage,
        Class::Permanent => Exit::Failed,
    }
}
