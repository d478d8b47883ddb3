//! Words, reading time and excerpts in every script.
