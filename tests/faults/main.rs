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

#[allow(dead_code, reason = "each target uses a part of the proxy")]
mod proxy;
mod store;
