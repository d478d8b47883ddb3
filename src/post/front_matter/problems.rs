//! The problems of one block, of which a bounded number is told.
//!
//! A block of 256 KiB can hold a hundred thousand mistakes. Those past the bound are counted, and cost
//! nothing else: the sentence about one is made only where it is told.

use crate::diagnostic::Diagnostic;

/// Most problems of one block that are told.
pub(super) const PROBLEMS_MAX: usize = 50;

/// Problems as they are found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<Diagnostic>,
    more: usize,
}

impl Problems {
    /// Tells one, or counts it.
    pub(super) fn tell(&mut self, problem: impl FnOnce() -> Diagnostic) {
        if self.told.len() < PROBLEMS_MAX {
            self.told.push(problem());
        } else {
            self.more += 1;
        }
    }

    /// Adds those of a part.
    pub(super) fn append(&mut self, other: Problems) {
        self.more += other.more;
        for problem in other.told {
            self.tell(|| problem);
        }
    }

    /// Whether one with this code is told.
    pub(super) fn has(&self, code: &str) -> bool {
        self.told.iter().any(|problem| problem.code == code)
    }

    /// All of them in order of place, each place once for a code, since what an alias repeats has one place.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let Problems { mut told, more } = self;
        told.sort_by_key(|problem| problem.span.as_ref().map_or(0, |span| span.start));
        told.dedup_by(|a, b| a.code == b.code && a.span == b.span);
        if more > 0 {
            let at = told.last().and_then(|last| last.span.clone()).unwrap_or(0..0);
            let message = format!("{more} more problems of this front matter are not shown");
            told.push(
                Diagnostic::error("too-many-problems", message).at(at).help("correct the ones above first"),
            );
        }
        told
    }
}
