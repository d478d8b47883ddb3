//! Log lines on standard error, for whoever looks for a fault: `-v`, `-vv` or `IDEMPOST_LOG`.

use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;
use crate::config::layers::Environment;

/// Starts logging. Quiet unless asked for; a filter that cannot be read is as if there were none.
pub fn start(format: LogFormat, verbose: u8, env: &Environment) {
    let filter = match (env.get("IDEMPOST_LOG"), verbose) {
        (Some(filter), _) => filter.clone(),
        (None, 0 | 1) => "off".to_owned(),
        (None, 2) => "idempost=info".to_owned(),
        (None, _) => "idempost=debug".to_owned(),
    };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second start in one process (a test) keeps the first.
    let _ = match format {
        LogFormat::Text => builder.with_ansi(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
}
