//! The program as it is used: a tree is ingested, edited and ingested again, on SQLite and on a server, and
//! whatever a person or a machine does wrong is refused without a trace in the store.
//!
//! Everything goes through the binary with a cleared environment; what it did is read from the store by
//! other means. Each test of [`on_both_stores`] runs on both. Begin at [`blog`] and [`stored`].
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

#[path = "../common/mod.rs"]
mod common;

mod blog;
#[path = "../faults/proxy.rs"]
#[allow(dead_code, reason = "each target uses a part of the proxy")]
mod proxy;
mod stored;

/// Makes of each function, which takes a [`blog::Blog`], a test on SQLite and one on a server.
macro_rules! on_both_stores {
    ($($name:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $name() {
                super::$name(&crate::blog::Blog::on_sqlite());
            })*
        }
        mod server {
            $(#[test]
            fn $name() {
                super::$name(&crate::blog::Blog::on_server());
            })*
        }
    };
}

mod bad_files;
mod bad_stores;
mod by_hand;
mod edits;
mod equal;
mod explained;
mod export;
mod kills;
mod lifecycle;
mod operations;
mod plans;
mod refusals;
mod rounds;
mod sources;
mod undo;
mod verify;
