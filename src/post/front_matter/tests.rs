//! Blocks of every format.
