//! The pipeline: everything besides the source that shapes a document, as one comparable text.
//!
//! Text: `<schema>.<renderer>-<digest>`; the first two are whole numbers that only ever grow, the
//! digest is the first 16 hex digits of SHA-256 over the fingerprint of the renderer and the options,
//! each as its length in bytes (eight bytes, big endian) and its UTF-8. Two pipelines are ordered by
//! the two numbers alone: a tool must not re-stamp what a newer one wrote, or a laptop and a CI job
//! would undo each other for ever.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::catalog::links::LinkPolicy;
use crate::post::{Rules, render};
use crate::store::document::SCHEMA_VERSION;

/// Grows with every release whose renderer, sanitiser or derived fields may give other bytes for the
/// same source.
pub const RENDERER_VERSION: u32 = 1;

/// A pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    order: (u32, u32),
    digest: String,
}

impl Pipeline {
    /// The pipeline of this tool under these options.
    pub fn of(rules: &Rules, links: &LinkPolicy) -> Self {
        let fields: Vec<String> =
            rules.field_names.iter().map(|(field, names)| format!("{field}={}", names.join(","))).collect();
        let parts = [
            render::fingerprint(&rules.render),
            rules.url_pattern.clone(),
            rules.timezone_name.clone(),
            format!("{:?}", rules.preset),
            fields.join(";"),
            links.public_url.clone().unwrap_or_default(),
        ];
        let mut hasher = Sha256::new();
        for part in &parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        let digest: String = hex::encode(hasher.finalize()).chars().take(16).collect();
        Pipeline { order: (SCHEMA_VERSION, RENDERER_VERSION), digest }
    }

    /// Whether a stored pipeline was written by a newer tool. Text that is no pipeline is old.
    pub fn is_older_than(&self, stored: &str) -> bool {
        Self::order_of(stored).is_some_and(|order| order > self.order)
    }

    fn order_of(text: &str) -> Option<(u32, u32)> {
        let (order, _) = text.split_once('-')?;
        let (schema, renderer) = order.split_once('.')?;
        Some((schema.parse().ok()?, renderer.parse().ok()?))
    }

    /// A pipeline with a chosen order, for tests.
    #[doc(hidden)]
    pub fn fixed(schema: u32, renderer: u32) -> Self {
        Pipeline { order: (schema, renderer), digest: "0".repeat(16) }
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}-{}", self.order.0, self.order.1, self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_numbers_not_by_text() {
        let ours = Pipeline::fixed(2, 9);
        assert!(ours.is_older_than("2.10-abc"));
        assert!(ours.is_older_than("10.0-abc"));
        assert!(!ours.is_older_than("2.9-fff"));
        assert!(!ours.is_older_than("1.99-fff"));
        assert!(!ours.is_older_than("made by hand"));
    }
}
