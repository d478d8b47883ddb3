//! What the process hands to a verb: clock, chance, signals. The only place that touches them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rand::RngExt;
use tokio_util::sync::CancellationToken;

use crate::apply::Clock;
use crate::error::Exit;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| i64::try_from(since.as_millis()).ok())
            .unwrap_or(0)
    }
}

/// What a verb gets from the process that it runs in.
#[derive(Clone)]
pub struct Host {
    /// What the time is.
    pub clock: Arc<dyn Clock>,
    /// Feeds the jitter and the run ids.
    pub seed: u64,
    /// Set by the first signal.
    pub cancel: CancellationToken,
    signal: Arc<AtomicU8>,
}

impl Host {
    /// The real one.
    pub fn system() -> Self {
        Host {
            clock: Arc::new(SystemClock),
            seed: rand::rng().random(),
            cancel: CancellationToken::new(),
            signal: Arc::new(AtomicU8::new(0)),
        }
    }

    /// Listens for Ctrl-C and SIGTERM: the first asks the run to end what is in flight, the second ends
    /// the process at once.
    pub fn listen(&self) {
        let host = self.clone();
        tokio::spawn(async move {
            let mut seen = 0_u32;
            while let Some(code) = next_signal().await {
                seen += 1;
                if seen > 1 {
                    std::process::exit(i32::from(code));
                }
                host.signal.store(code, Ordering::SeqCst);
                host.cancel.cancel();
            }
        });
    }

    /// The exit that a signal asks for, if one came.
    pub fn interrupted(&self) -> Option<Exit> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            143 => Some(Exit::Terminated),
            _ => Some(Exit::Interrupted),
        }
    }
}

#[cfg(unix)]
async fn next_signal() -> Option<u8> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).ok()?;
    let mut interrupt = signal(SignalKind::interrupt()).ok()?;
    tokio::select! {
        got = interrupt.recv() => got.map(|()| 130),
        got = terminate.recv() => got.map(|()| 143),
    }
}

#[cfg(not(unix))]
async fn next_signal() -> Option<u8> {
    tokio::signal::ctrl_c().await.ok().map(|()| 130)
}
