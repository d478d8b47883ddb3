//! The transition table.
