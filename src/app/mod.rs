//! One file a verb. Picks the store, owns clock, chance and signals; no rule of the domain lives here.

pub mod assets;
pub mod by_hand;
pub mod check;
pub mod commands;
pub mod completions;
pub mod config;
pub mod diff;
pub mod doctor;
pub mod explain;
pub mod export;
pub mod files;
pub mod gather;
pub mod host;
pub mod id;
pub mod ingest;
pub mod init;
pub mod log;
pub mod observe;
pub mod open;
pub mod operation;
pub mod output;
pub mod pager;
pub mod runs;
pub mod saved;
pub mod schema;
pub mod subject;
pub mod summary;
pub mod sweep;
pub mod undo;
pub mod verify;
pub mod watch;

pub use commands::main;
