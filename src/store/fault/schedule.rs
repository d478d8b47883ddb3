//! What befalls a call: drawn from a seed, or told by a test.

use std::time::Duration;

/// How often each thing happens, each from 0 (never) to 1 (always), drawn in this order; the sum may not
/// pass 1. Without any, a store is what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultRates {
    /// [`Fate::NotSent`].
    pub not_sent: f64,
    /// [`Fate::NotApplied`].
    pub not_applied: f64,
    /// [`Fate::LostRequest`].
    pub lost_request: f64,
    /// [`Fate::LostReply`].
    pub lost_reply: f64,
    /// [`Fate::Late`].
    pub late: f64,
    /// [`Fate::Duplicate`].
    pub duplicate: f64,
    /// [`Fate::Partial`]; batches alone.
    pub partial: f64,
    /// [`Fate::NotDurable`].
    pub not_durable: f64,
    /// [`Fate::Untold`]; batches alone.
    pub untold: f64,
    /// [`Fate::Split`]; batches alone.
    pub split: f64,
    /// A read fails and says so; drawn by itself.
    pub read: f64,
    /// Shortest and longest pause before and after each call.
    pub delay: (Duration, Duration),
    /// How much later a late or repeated write lands, shortest and longest.
    pub lateness: (Duration, Duration),
}

impl FaultRates {
    /// Nothing ever happens.
    pub const CALM: FaultRates = FaultRates {
        not_sent: 0.0,
        not_applied: 0.0,
        lost_request: 0.0,
        lost_reply: 0.0,
        late: 0.0,
        duplicate: 0.0,
        partial: 0.0,
        not_durable: 0.0,
        untold: 0.0,
        split: 0.0,
        read: 0.0,
        delay: (Duration::ZERO, Duration::ZERO),
        lateness: (Duration::ZERO, Duration::ZERO),
    };

    /// Everything happens now and then: about four calls in ten that write meet something.
    pub const HOSTILE: FaultRates = FaultRates {
        not_sent: 0.02,
        not_applied: 0.03,
        lost_request: 0.05,
        lost_reply: 0.07,
        late: 0.05,
        duplicate: 0.05,
        partial: 0.05,
        not_durable: 0.02,
        untold: 0.03,
        split: 0.06,
        read: 0.03,
        delay: (Duration::from_millis(1), Duration::from_millis(40)),
        lateness: (Duration::from_millis(1), Duration::from_mins(1)),
    };
}

/// What befalls one call that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// Nothing.
    Pass,
    /// It never leaves; the caller knows.
    NotSent,
    /// The engine does nothing and says so.
    NotApplied,
    /// It is lost on the way there; the caller cannot know.
    LostRequest,
    /// It is done; the reply is lost on the way back.
    LostReply,
    /// As far as the caller can know it is lost; it is done so much later.
    Late(Duration),
    /// It is done, the caller hears of it, and so much later it is done once more.
    Duplicate(Duration),
    /// Some statements are done, then the command fails as a whole; the others are done so much later.
    Partial(Duration),
    /// As [`Fate::Partial`], and the others are lost.
    PartialLost,
    /// It is done; the reply says that it may not last.
    NotDurable,
    /// It is done; the reply tells little of each statement.
    Untold,
    /// It is done in parts and in another order, with others' writes between.
    Split,
}

impl Fate {
    /// The name by which it is counted.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Pass => "pass",
            Fate::NotSent => "not-sent",
            Fate::NotApplied => "not-applied",
            Fate::LostRequest => "lost-request",
            Fate::LostReply => "lost-reply",
            Fate::Late(_) => "late",
            Fate::Duplicate(_) => "duplicate",
            Fate::Partial(_) | Fate::PartialLost => "partial",
            Fate::NotDurable => "not-durable",
            Fate::Untold => "untold",
            Fate::Split => "split",
        }
    }
}

/// Which method of the port a call is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// `write`.
    Write,
    /// `row_insert`.
    RowInsert,
    /// `row_replace`.
    RowReplace,
    /// `row_delete`.
    RowDelete,
}

/// A call that writes, as a script sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Its method.
    pub method: Method,
    /// How many calls of the method came before through this store, from 0.
    pub number: u64,
    /// Statements of a batch, ids to delete, else 1.
    pub size: usize,
}

/// What a test tells: the fate of each call.
pub type Script = Box<dyn FnMut(Call) -> Fate + Send>;

/// Where fates come from.
pub(super) enum Source {
    Rates(FaultRates),
    Script(Script),
}

/// Everything that is drawn for one call, at once: what happens later does not change what was drawn.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub(super) fate: Fate,
    pub(super) before: Duration,
    pub(super) after: Duration,
    /// Places of a batch's statements, in the parts and the order in which they are done.
    pub(super) parts: Vec<Vec<usize>>,
    /// Pause between two parts.
    pub(super) between: Duration,
    /// Of each statement, whether its effect is told.
    pub(super) told: Vec<bool>,
}

/// Draws fates. The same seed and the same calls give the same fates, in every version.
pub(super) struct Schedule {
    source: Source,
    random: SplitMix,
}

impl Schedule {
    pub(super) fn new(source: Source, seed: u64) -> Self {
        Schedule { source, random: SplitMix(seed) }
    }

    /// For a call that writes.
    pub(super) fn write(&mut self, call: Call) -> Drawn {
        let fate = self.fate(call);
        let mut places: Vec<usize> = (0..call.size).collect();
        let parts = match fate {
            Fate::Split | Fate::Partial(_) | Fate::PartialLost => {
                self.shuffle(&mut places);
                let rest = places.split_off(self.below(call.size));
                vec![places, rest]
            }
            _ => vec![places],
        };
        Drawn {
            fate,
            before: self.delay(),
            after: self.delay(),
            parts,
            between: self.delay(),
            told: (0..call.size).map(|_| fate != Fate::Untold || self.below(2) == 0).collect(),
        }
    }

    /// For a call that reads: the pauses, and whether it fails.
    pub(super) fn read(&mut self) -> (Duration, Duration, bool) {
        let (before, after) = (self.delay(), self.delay());
        let fails = match &self.source {
            Source::Rates(rates) => {
                let rate = rates.read;
                self.unit() < rate
            }
            Source::Script(_) => false,
        };
        (before, after, fails)
    }

    fn fate(&mut self, call: Call) -> Fate {
        let rates = match &mut self.source {
            Source::Script(script) => return script(call),
            Source::Rates(rates) => rates.clone(),
        };
        let draw = self.unit();
        let late = self.between(rates.lateness);
        let lost = self.below(2) == 0;
        let batch = call.method == Method::Write;
        let partial = if lost { Fate::PartialLost } else { Fate::Partial(late) };
        let mut edge = 0.0;
        for (rate, fate) in [
            (rates.not_sent, Fate::NotSent),
            (rates.not_applied, Fate::NotApplied),
            (rates.lost_request, Fate::LostRequest),
            (rates.lost_reply, Fate::LostReply),
            (rates.late, Fate::Late(late)),
            (rates.duplicate, Fate::Duplicate(late)),
            (rates.not_durable, Fate::NotDurable),
            (if batch { rates.partial } else { 0.0 }, partial),
            (if batch { rates.untold } else { 0.0 }, Fate::Untold),
            (if batch { rates.split } else { 0.0 }, Fate::Split),
        ] {
            edge += rate;
            if draw < edge {
                return fate;
            }
        }
        Fate::Pass
    }

    fn delay(&mut self) -> Duration {
        match &self.source {
            Source::Rates(rates) => {
                let range = rates.delay;
                self.between(range)
            }
            Source::Script(_) => Duration::ZERO,
        }
    }

    fn between(&mut self, (shortest, longest): (Duration, Duration)) -> Duration {
        shortest + longest.saturating_sub(shortest).mul_f64(self.unit())
    }

    fn shuffle(&mut self, places: &mut [usize]) {
        for at in (1..places.len()).rev() {
            let other = self.below(at + 1);
            places.swap(at, other);
        }
    }

    /// From 0 to `bound` - 1; 0 for a bound of 0.
    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.random.next() % bound).unwrap_or(0)
    }

    /// From 0 to 1, 1 excluded.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    fn unit(&mut self) -> f64 {
        (self.random.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): a seed that is written down keeps its meaning for ever, which no
/// library promises of its generators.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_its_known_numbers() {
        let mut random = SplitMix(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn rates_are_met() {
        let mut schedule = Schedule::new(Source::Rates(FaultRates::HOSTILE), 7);
        let call = Call { method: Method::Write, number: 0, size: 10 };
        let fates: Vec<Fate> = (0..10_000).map(|_| schedule.write(call).fate).collect();
        let share = |name: &str| {
            let count = u32::try_from(fates.iter().filter(|fate| fate.name() == name).count()).unwrap();
            f64::from(count) / 10_000.0
        };
        assert!((share("lost-reply") - 0.07).abs() < 0.01, "{}", share("lost-reply"));
        assert!((share("partial") - 0.05).abs() < 0.01, "{}", share("partial"));
        assert!((share("pass") - 0.57).abs() < 0.02, "{}", share("pass"));
    }

    #[test]
    fn rows_meet_no_fate_of_batches() {
        let mut schedule = Schedule::new(Source::Rates(FaultRates::HOSTILE), 7);
        let call = Call { method: Method::RowInsert, number: 0, size: 1 };
        for _ in 0..2_000 {
            let fate = schedule.write(call).fate;
            assert!(!matches!(fate.name(), "partial" | "untold" | "split"), "{fate:?}");
        }
    }
}
