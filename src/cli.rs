//! What was typed; no I/O.
