//! The thin binary: parse, run, exit code.

fn main() {}
