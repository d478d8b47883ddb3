//! Flags, environment and file become settings, each with its origin.
