//! When to send again, how long to wait, when to stop. Pure: time and chance come in as values.

use std::time::Duration;

use crate::store::{Class, Fault};

/// The bounds of retrying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// A run that makes no progress for this long stops.
    pub deadline: Duration,
    /// Sends of one command that may count as attempts, the first included.
    pub attempts: u32,
    /// The first pause is between nothing and this.
    pub backoff_min: Duration,
    /// No pause is longer, but for one that the server asks for.
    pub backoff_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            deadline: Duration::from_mins(10),
            attempts: 8,
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(10),
        }
    }
}

/// The longest pause that a server may ask for and get.
pub const SERVER_HINT_MAX: Duration = Duration::from_mins(1);

/// How often a post may be planned again after a lost race.
pub const PLAN_AGAIN_MAX: u32 = 3;

impl RetryPolicy {
    /// Whether to send again after `attempt` sends (from 1) that ended in `class`, when the run made
    /// its last progress `idle` ago.
    ///
    /// An engine that says that it did nothing (throttling, write conflicts) is only bounded by time:
    /// it is alive and asks for patience. Everything else is bounded by count and by time.
    pub fn again(&self, class: Class, attempt: u32, idle: Duration) -> bool {
        match class {
            Class::Permanent | Class::Auth | Class::Conflict => false,
            Class::NotApplied => idle < self.deadline,
            Class::NotSent | Class::Unknown | Class::AppliedNotDurable => {
                attempt < self.attempts && idle < self.deadline
            }
        }
    }

    /// The pause after `attempt` sends (from 1): full jitter, `random` in `0..1`. The server's hint is
    /// a lower bound, up to [`SERVER_HINT_MAX`].
    pub fn pause(&self, attempt: u32, fault: Option<&Fault>, random: f64) -> Duration {
        let doublings = attempt.saturating_sub(1).min(20);
        let ceiling = self.backoff_min.saturating_mul(1 << doublings).min(self.backoff_max);
        let jittered = ceiling.mul_f64(random.clamp(0.0, 1.0));
        let hint = fault.and_then(|fault| fault.retry_after).unwrap_or_default().min(SERVER_HINT_MAX);
        hint.max(jittered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_cap_and_are_jittered_in_full() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.pause(1, None, 1.0), Duration::from_millis(100));
        assert_eq!(policy.pause(4, None, 1.0), Duration::from_millis(800));
        assert_eq!(policy.pause(4, None, 0.5), Duration::from_millis(400));
        assert_eq!(policy.pause(30, None, 1.0), Duration::from_secs(10));
        assert_eq!(policy.pause(9, None, 0.0), Duration::ZERO);
    }

    #[test]
    fn the_servers_hint_is_a_lower_bound_within_reason() {
        let policy = RetryPolicy::default();
        let mut fault = Fault::new(Class::NotApplied, "busy");
        fault.retry_after = Some(Duration::from_secs(3));
        assert_eq!(policy.pause(1, Some(&fault), 1.0), Duration::from_secs(3));
        assert_eq!(policy.pause(7, Some(&fault), 1.0), Duration::from_millis(6400));
        fault.retry_after = Some(Duration::from_secs(86_400));
        assert_eq!(policy.pause(1, Some(&fault), 0.0), SERVER_HINT_MAX);
    }

    #[test]
    fn budgets_are_by_class() {
        let policy = RetryPolicy::default();
        let soon = Duration::from_secs(1);
        let late = policy.deadline;
        for class in [Class::Permanent, Class::Auth, Class::Conflict] {
            assert!(!policy.again(class, 1, soon), "{class:?}");
        }
        assert!(policy.again(Class::NotApplied, 500, soon));
        assert!(!policy.again(Class::NotApplied, 1, late));
        for class in [Class::NotSent, Class::Unknown, Class::AppliedNotDurable] {
            assert!(policy.again(class, 7, soon));
            assert!(!policy.again(class, 8, soon));
            assert!(!policy.again(class, 1, late));
        }
    }
}
