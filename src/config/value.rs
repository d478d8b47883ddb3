//! The small languages inside values: times (`10m`, `100ms..10s`), sizes (`8MiB`), limits (`10%`).
//!
//! Pure. Every error is one sentence that tells what to write.

use std::time::Duration;

/// Longest time that can be configured: ten years, in milliseconds.
pub const TIME_MILLIS_MAX: u64 = 10 * 365 * 86_400_000;

/// Reads a time: whole numbers with `ms`, `s`, `m`, `h` or `d`, one or several (`1h30m`).
pub fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write a number with ms, s, m, h or d, for example 30s");
    let mut rest = text.trim();
    let mut millis: u64 = 0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let (number, after) = leading_number(rest).ok_or_else(wrong)?;
        let unit_len = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (unit, tail) = after.split_at(unit_len);
        let factor = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(wrong()),
        };
        millis = number.checked_mul(factor).and_then(|part| millis.checked_add(part)).ok_or_else(wrong)?;
        rest = tail.trim_start();
    }
    if millis == 0 {
        return Err(format!("`{text}` is no time at all: write at least 1ms"));
    }
    if millis > TIME_MILLIS_MAX {
        return Err(format!("`{text}` is longer than ten years"));
    }
    Ok(Duration::from_millis(millis))
}

/// Reads a range of times, `100ms..10s`.
pub fn time_range(text: &str) -> Result<(Duration, Duration), String> {
    let (low, high) = text
        .split_once("..")
        .ok_or_else(|| format!("`{text}` is no range of times: write, for example, 100ms..10s"))?;
    let (low, high) = (time(low)?, time(high)?);
    if low > high {
        return Err(format!("`{text}` ends before it begins"));
    }
    Ok((low, high))
}

/// Writes a time in its shortest exact form.
pub fn time_text(time: Duration) -> String {
    let millis = time.as_millis();
    for (unit, factor) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
        if millis >= factor && millis.is_multiple_of(factor) {
            return format!("{}{unit}", millis / factor);
        }
    }
    format!("{millis}ms")
}

/// Reads a size in bytes: a whole number alone or with `B`, `KB`, `KiB`, `MB`, `MiB`, `GB`, `GiB`.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size: write, for example, 8MiB");
    let (number, unit) = leading_number(text.trim()).ok_or_else(wrong)?;
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" => 1 << 30,
        _ => return Err(wrong()),
    };
    number.checked_mul(factor).ok_or_else(wrong)
}

/// Writes a size in its shortest exact form.
pub fn size_text(bytes: u64) -> String {
    for (unit, factor) in [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("{}{unit}", bytes / factor);
        }
    }
    format!("{bytes}B")
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// How many posts may be archived at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneLimit {
    /// A share of the live posts in percent; never fewer than [`PRUNE_POSTS_ALWAYS`] posts.
    Percent(u8),
    /// A number of posts.
    Posts(u64),
}

/// However small the share is, so many posts may always be archived.
pub const PRUNE_POSTS_ALWAYS: u64 = 5;

impl PruneLimit {
    /// Reads `10%` or a whole number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is no limit: write a number of posts, or a share such as 10%");
        match text.strip_suffix('%') {
            Some(percent) => match percent.trim_end().parse::<u8>() {
                Ok(percent) if percent <= 100 => Ok(PruneLimit::Percent(percent)),
                _ => Err(wrong()),
            },
            None => text.parse().map(PruneLimit::Posts).map_err(|_| wrong()),
        }
    }

    /// The greatest number of posts that may be archived, of `live` live ones.
    pub fn posts(self, live: u64) -> u64 {
        match self {
            PruneLimit::Percent(percent) => {
                (live.saturating_mul(u64::from(percent)) / 100).max(PRUNE_POSTS_ALWAYS)
            }
            PruneLimit::Posts(posts) => posts,
        }
    }
}

impl std::fmt::Display for PruneLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PruneLimit::Percent(percent) => write!(f, "{percent}%"),
            PruneLimit::Posts(posts) => posts.fmt(f),
        }
    }
}

/// Reads `true` or `false` as variables spell them.
pub fn flag(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(format!("`{text}` is neither true nor false")),
    }
}

/// Reads a whole number from `low` to `high`.
pub fn whole(text: &str, low: u64, high: u64) -> Result<u64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|number| (low..=high).contains(number))
        .ok_or_else(|| format!("`{text}` is no whole number from {low} to {high}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        assert_eq!(time("1h30m").unwrap(), Duration::from_secs(5_400));
        assert_eq!(time_text(time("90d").unwrap()), "90d");
        assert_eq!(time_text(time("1500ms").unwrap()), "1500ms");
        assert_eq!(time_range("100ms..10s").unwrap(), (Duration::from_millis(100), Duration::from_secs(10)));
        for wrong in ["", "10", "10x", "s", "-1s", "0s", "99999999999999999999s", "4000d", "1.5s", "ten"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
        assert!(time_range("10s..1s").is_err());
        assert!(time_range("10s").is_err());
    }

    #[test]
    fn sizes_are_read_and_written() {
        assert_eq!(size("8MiB").unwrap(), 8 << 20);
        assert_eq!(size("12").unwrap(), 12);
        assert_eq!(size_text(8 << 20), "8MiB");
        assert_eq!(size_text(1_500), "1500B");
        for wrong in ["", "MiB", "8 mebi", "-1", "1.5MiB", "99999999999GiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_never_goes_below_five_posts() {
        let tenth = PruneLimit::parse("10%").unwrap();
        assert_eq!(tenth.posts(0), 5);
        assert_eq!(tenth.posts(59), 5);
        assert_eq!(tenth.posts(200), 20);
        assert_eq!(PruneLimit::parse("3").unwrap().posts(200), 3);
        for wrong in ["", "%", "101%", "-1", "1.5", "ten"] {
            assert!(PruneLimit::parse(wrong).is_err(), "{wrong}");
        }
    }
}
