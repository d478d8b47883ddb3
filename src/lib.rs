//! idempost makes a MongoDB collection say exactly what a tree of markdown posts says.
//!
//! The stages a post passes through, in reading order. A stage knows only the stages before it:
//!
//! 1. [`diagnostic`], [`error`]: what is said when something is wrong, and the exit code.
//! 2. [`source`]: walk a content root into sorted files; nothing is lost.
//! 3. [`post`]: the bytes of one file become a [`post::Post`] or diagnostics.
//! 4. [`identity`]: the derived id, and the digests, specified byte by byte.
//! 5. [`catalog`]: all posts together: duplicates, clashes, links.
//! 6. [`store`]: the port, the stored shape, and the adapters.
//! 7. [`plan`]: a pure function from catalog and observed heads to a plan.
//! 8. [`apply`]: the executor; it has nothing left to decide.
//! 9. [`report`]: events and their renderers.
//! 10. [`config`], [`cli`], [`app`]: what was typed, what it means, and the verbs.
//!
//! What never happens: nothing before [`apply`] writes; [`post`], [`identity`], [`catalog`] and
//! [`plan`] read no clock, no environment and no file; adapters never know each other; nothing
//! retries but [`apply`].
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod app;
pub mod apply;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod diagnostic;
pub mod error;
pub mod identity;
pub mod plan;
pub mod post;
pub mod report;
pub mod source;
pub mod store;
