//! TSID: 64 bits, of which 42 are the milliseconds since 2020-01-01T00:00:00Z and 22 are a node's number
//! and a counter. Its text is 13 characters of upper-case Crockford base32.

use rand::{Rng, RngExt};

use crate::error::Failure;

/// 2020-01-01T00:00:00Z in Unix milliseconds.
pub(super) const EPOCH_MILLIS: i64 = 1_577_836_800_000;
/// Bits of node and counter together.
pub(super) const LOW_BITS: u32 = 22;
/// Bits of the node where nothing is said.
const NODE_BITS_DEFAULT: u32 = 10;
/// Characters of the text.
pub(super) const TEXT_CHARS: usize = 13;

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Makes TSIDs of one node, each greater than the one before.
pub(super) struct TsidMaker {
    counter_bits: u32,
    node: u64,
    /// The milliseconds since 2020 of the last one, and its counter.
    last: Option<(u64, u64)>,
}

impl TsidMaker {
    /// A maker for a node; without a number, the node is chosen by chance.
    pub(super) fn new(node_bits: Option<u32>, node: Option<u32>, rng: &mut dyn Rng) -> Result<Self, Failure> {
        let node_bits = node_bits.unwrap_or(NODE_BITS_DEFAULT);
        let nodes = 1_u32 << node_bits;
        let node = match node {
            Some(node) if node >= nodes => {
                return Err(Failure::usage(format!("--node {node} does not fit into {node_bits} bits"))
                    .help(format!("from 0 to {}, or more --node-bits", nodes - 1)));
            }
            Some(node) => node,
            None => rng.random_range(0..nodes),
        };
        Ok(TsidMaker { counter_bits: LOW_BITS - node_bits, node: u64::from(node), last: None })
    }

    /// The next one. `now` is Unix milliseconds; a clock before 2020 counts as 2020. In one millisecond
    /// the counter goes up from a start chosen by chance; when it is used up, the time goes on by one.
    pub(super) fn next(&mut self, now: i64, rng: &mut dyn Rng) -> u64 {
        let now = u64::try_from(now.saturating_sub(EPOCH_MILLIS)).unwrap_or(0);
        let counters = 1_u64 << self.counter_bits;
        let (time, counter) = match self.last {
            Some((time, counter)) if now <= time && counter + 1 < counters => (time, counter + 1),
            Some((time, _)) if now <= time => (time + 1, 0),
            _ => (now, rng.random_range(0..counters)),
        };
        self.last = Some((time, counter));
        (time << LOW_BITS) | (self.node << self.counter_bits) | counter
    }
}

/// The text form.
pub(super) fn text(tsid: u64) -> String {
    (0..TEXT_CHARS)
        .rev()
        .filter_map(|place| {
            let digit = u128::from(tsid) >> (5 * place) & 31;
            ALPHABET.get(usize::try_from(digit).ok()?).map(|byte| char::from(*byte))
        })
        .collect()
}

/// Reads the text form, or a number. Thirteen digits are the text form.
pub(super) fn parse(typed: &str) -> Option<u64> {
    if typed.chars().count() != TEXT_CHARS {
        return typed.bytes().all(|byte| byte.is_ascii_digit()).then(|| typed.parse().ok())?;
    }
    let mut out: u128 = 0;
    for letter in typed.chars() {
        out = out << 5 | u128::from(digit(letter)?);
    }
    u64::try_from(out).ok()
}

/// The value of a Crockford digit; `I` and `L` are read as one, `O` as nought.
pub(super) fn digit(letter: char) -> Option<u8> {
    let letter = match letter.to_ascii_uppercase() {
        'I' | 'L' => '1',
        'O' => '0',
        other => other,
    };
    let byte = u8::try_from(letter).ok()?;
    ALPHABET.iter().position(|known| *known == byte).and_then(|at| u8::try_from(at).ok())
}
