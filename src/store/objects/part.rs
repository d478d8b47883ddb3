//! A file read part by part, its digest taken on the way. What is in memory is one part.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::post::links::Asset;
use crate::store::{Class, Fault};

/// A file that is being read.
pub(super) struct Reading {
    file: File,
    hasher: Sha256,
    bytes: u64,
    bytes_max: u64,
}

impl Reading {
    pub(super) fn new(file: File, asset: &Asset) -> Self {
        Reading { file, hasher: Sha256::new(), bytes: 0, bytes_max: asset.bytes }
    }

    /// The next part, of `bytes` bytes unless it is the last; empty at the end. Never reads past what the
    /// asset was when it was planned: a file that grows is another one.
    pub(super) async fn next(mut self, bytes: usize) -> Result<(Self, Vec<u8>), Fault> {
        let read = move || -> io::Result<(Self, Vec<u8>)> {
            let left = self.bytes_max.saturating_sub(self.bytes).saturating_add(1);
            let wanted = left.min(bytes as u64);
            let mut part = Vec::with_capacity(usize::try_from(wanted).unwrap_or(bytes));
            (&mut self.file).take(wanted).read_to_end(&mut part)?;
            self.hasher.update(&part);
            self.bytes = self.bytes.saturating_add(part.len() as u64);
            Ok((self, part))
        };
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(error)) => Err(Fault::new(Class::Permanent, format!("the asset cannot be read: {error}"))),
            Err(error) => {
                Err(Fault::new(Class::Unknown, format!("reading the asset was broken off: {error}")))
            }
        }
    }

    /// That what was read is the asset that was planned.
    pub(super) fn check(self, asset: &Asset) -> Result<(), Fault> {
        let digest = hex::encode(self.hasher.finalize());
        if digest == asset.sha256 && self.bytes == asset.bytes {
            return Ok(());
        }
        Err(Fault::new(Class::Permanent, format!("{} changed while it was being ingested", asset.path))
            .help("run again"))
    }
}
