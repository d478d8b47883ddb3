//! Events and their renderers.

pub mod event;
