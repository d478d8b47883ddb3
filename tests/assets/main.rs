//! Assets from a tree to where readers find them: real processes of the program, a real server of posts,
//! and as asset store a folder and a real S3 behind a proxy that counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "a test that meets something unforeseen fails"
)]

#[path = "../common/mod.rs"]
mod common;
mod crashes;
#[path = "../faults/proxy.rs"]
#[allow(dead_code, reason = "each target uses a part of the proxy")]
mod mongo_proxy;
mod proxy;
mod races;
mod scene;
mod suite;
mod sweep;
