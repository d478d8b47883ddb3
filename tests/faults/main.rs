//! What a bad network and a dying server do to a store, on the real test server.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that meets something unforeseen fails"
)]

#[path = "../common/mod.rs"]
mod common;

mod proxy;
mod store;
