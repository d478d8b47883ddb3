//! The bar on standard error. It is there on a terminal alone and leaves nothing behind.

use std::cell::Cell;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar is drawn at most, in times a second.
const DRAWS_PER_SECOND_MAX: u8 = 12;

/// A bar, or none.
pub struct Progress {
    bar: Option<ProgressBar>,
    /// Whether the bar stands on the terminal: from its first step until it is cleared.
    drawn: Cell<bool>,
}

impl Progress {
    /// A bar if `shown`; nothing is drawn before the first step.
    pub fn new(shown: bool) -> Self {
        let bar = shown.then(|| {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAWS_PER_SECOND_MAX))
        });
        if let (Some(bar), Ok(style)) =
            (&bar, ProgressStyle::with_template("{msg:>8} {wide_bar} {pos}/{len} {eta}"))
        {
            bar.set_style(style);
        }
        Progress { bar, drawn: Cell::new(false) }
    }

    /// So many of all are done.
    pub fn step(&self, what: &'static str, done: usize, all: usize) {
        if let Some(bar) = &self.bar {
            if bar.message() != what {
                bar.reset();
                bar.set_message(what);
            }
            self.drawn.set(true);
            bar.set_length(u64::try_from(all).unwrap_or(u64::MAX));
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
        }
    }

    /// Writes past the bar.
    pub fn past<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) if self.drawn.get() => bar.suspend(write),
            _ => write(),
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            self.drawn.set(false);
        }
    }
}
