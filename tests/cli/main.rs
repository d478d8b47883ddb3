//! The command line as a person meets it: what is printed, where, and the exit code.
//!
//! Hermetic: the environment is cleared, the working directory is a scratch folder, paths and the version
//! are redacted. [`harness`] runs the program; a file a group of verbs holds the tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod changed_since;
mod harness;
mod help;
mod hostile;
mod id;
mod posts;
mod settings;
