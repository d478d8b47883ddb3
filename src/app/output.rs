//! Writing a verb's whole output: what becomes of an error of the stream.

use std::io;

use crate::error::{Exit, Failure};

/// The result of writing. A reader that went away (`| head`) is no failure.
pub fn written(result: io::Result<()>) -> Result<Exit, Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Exit::Failed, format!("the output cannot be written: {error}")))
        }
        _ => Ok(Exit::Done),
    }
}
