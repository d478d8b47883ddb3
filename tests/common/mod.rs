//! What several test binaries share. Each takes what it needs.
#![allow(dead_code, reason = "no binary needs all of it")]

pub mod objects;
pub mod server;
