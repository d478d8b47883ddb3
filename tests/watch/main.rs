//! `watch`, as an editor and its user meet it: saves of every kind, bursts, a broken save, somebody else in the
//! store, a root and a server that go away, and the end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout
)]

#[path = "../common/mod.rs"]
mod common;
mod saves;
mod scene;
mod troubles;
