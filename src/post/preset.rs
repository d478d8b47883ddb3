//! What the site generators do differently by default.

/// A site generator whose tree is ingested with no edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// A folder of markdown files.
    #[default]
    Plain,
    /// Hugo.
    Hugo,
    /// Zola.
    Zola,
    /// Jekyll.
    Jekyll,
    /// Astro.
    Astro,
    /// Docusaurus.
    Docusaurus,
    /// Eleventy.
    Eleventy,
}
