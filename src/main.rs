//! The thin binary: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    ExitCode::from(idempost::app::main(std::env::args_os(), &env).code())
}
