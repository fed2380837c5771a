//! Units as types, and the only place where a quantity becomes text.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A duration in nanoseconds. It may be negative after a subtraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

/// The lower end of an interval: null in a file if there is none, minus infinity in memory.
pub(crate) mod open_below {
    use crate::units::Nanoseconds;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(end: &Nanoseconds, to: S) -> Result<S::Ok, S::Error> {
        Some(end.0).filter(|end| end.is_finite()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanoseconds, D::Error> {
        Ok(Nanoseconds(Option::deserialize(from)?.unwrap_or(f64::NEG_INFINITY)))
    }
}

/// The upper end of an interval: null in a file if there is none, infinity in memory.
pub(crate) mod open_above {
    use crate::units::Nanoseconds;
    pub(crate) use crate::units::open_below::serialize;
    use serde::{Deserialize, Deserializer};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanoseconds, D::Error> {
        Ok(Nanoseconds(Option::deserialize(from)?.unwrap_or(f64::INFINITY)))
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Three significant digits without an exponent: `0.0123`, `1.23`, `12.3`, `123`, `1230`.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    // Rounding can carry into a new digit: 9.996 would print as 10.00.
    if digits > 0 && text.parse::<f64>().is_ok_and(|v| v != 0.0 && (2 - v.abs().log10().floor() as i32) < digits as i32)
    {
        return format!("{value:.*}", digits - 1);
    }
    text
}

/// A value with the largest of the given (factor, unit) steps that leaves at least one before the point.
fn scaled(value: f64, steps: &[(f64, &str)]) -> String {
    // Half a unit in the fourth digit below a step already prints as the step.
    let step = steps.iter().rev().find(|(factor, _)| value.abs() >= factor * 0.9995).unwrap_or(&steps[0]);
    format!("{} {}", significant(value / step.0), step.1)
}

impl fmt::Display for Nanoseconds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&scaled(self.0, &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")]))
    }
}

impl fmt::Display for Bytes {
    /// Exact in the largest binary unit that divides the count: `64 B`, `4 KiB`, `1536 B`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let unit = if self.0 == 0 { 0 } else { (self.0.trailing_zeros() as usize / 10).min(units.len() - 1) };
        out.pad(&format!("{} {}", self.0 >> (10 * unit), units[unit]))
    }
}

/// Bytes that need not be whole kibibytes, in a binary unit with three digits: `500 B`, `1.46 KiB`.
pub fn binary(bytes: f64) -> String {
    if bytes < 1024.0 {
        return format!("{bytes:.0} B");
    }
    scaled(bytes, &[(1024.0, "KiB"), (1_048_576.0, "MiB"), (1_073_741_824.0, "GiB"), (1_099_511_627_776.0, "TiB")])
}

/// A number of anything, with a decimal prefix: `1.23 MB/s`, `10.7 k`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Amount(pub f64);

impl Amount {
    /// The number of these units: `B/s` gives `1.23 MB/s`, nothing gives `1.23 M`.
    pub fn of(self, unit: &str) -> String {
        let prefixed = scaled(self.0, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")]);
        // A unit per second has no prefix of its own: `10.7 k/s`.
        (prefixed + unit).trim_end().into()
    }
}

/// Operations per second: `10.7 M`, `733`.
pub fn rate(cost: Nanoseconds) -> String {
    if cost.0 <= 0.0 { "-".into() } else { Amount(1e9 / cost.0).of("") }
}

/// Payload rate in bits per second for `bytes` moved in `cost`: `1.42 Gbit/s`.
pub fn payload_rate(bytes: Bytes, cost: Nanoseconds) -> String {
    if cost.0 <= 0.0 { "-".into() } else { Amount(bytes.0 as f64 * 8e9 / cost.0).of("bit/s") }
}

/// A size with a binary unit, `4K`, `64 KiB`, `1m`, in bytes. A bare number is not a size, because it may be a count.
pub fn bytes_of(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// A time such as `1.2ms`, `0.3 ns`, `38 us`, in ns, and the uncertainty of its digits to either side: half a unit of
/// the last one. `None` if the text is no time, or the time is negative or longer than a century.
pub fn time_of(text: &str) -> Option<(Nanoseconds, Nanoseconds)> {
    const CENTURY: f64 = 3.2e18;
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = match unit.trim_start() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 6e10,
        "h" => 3.6e12,
        _ => return None,
    };
    let decimals = number.split_once('.').map_or(0, |(_, digits)| digits.len());
    let open = 0.5 * 0.1_f64.powi(i32::try_from(decimals).ok()?);
    let time = number.parse::<f64>().ok()? * unit;
    (time <= CENTURY).then_some((Nanoseconds(time), Nanoseconds(open * unit)))
}

/// A share or relative width: `0.31 %`, `4.2 %`, `29 %`.
pub fn percent(share: f64) -> String {
    // Less than is shown has no sign.
    let value = if share.abs() < 5e-5 { share.abs() * 100.0 } else { share * 100.0 };
    match value.abs() {
        v if v < 0.995 => format!("{value:.2} %"),
        v if v < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
    }
}

/// `2 to 3`; where both ends read alike, that alone.
pub fn range(low: impl ToString, high: impl ToString) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high { low } else { format!("{low} to {high}") }
}

/// Half the width of an interval as a share of its figure: `0.31 %`. One that is wider than its figure shows nothing more than
/// that: `> 100 %`.
pub fn relative_width(share: f64) -> String {
    if share > 1.0 { "> 100 %".into() } else { percent(share) }
}

/// A number of things, with the plural where it is due: `1 round`, `2 rounds`, `1 158 entries`.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    let count = if count < 1000 { count.to_string() } else { grouped(count as f64) };
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o'])) {
        Some(stem) => format!("{count} {stem}ies"),
        None if noun.ends_with(['s', 'x']) || noun.ends_with("ch") => format!("{count} {noun}es"),
        None => format!("{count} {noun}s"),
    }
}

/// The singular of a regular plural: `round` of `rounds`, `entry` of `entries`.
pub fn singular(noun: &str) -> std::borrow::Cow<'_, str> {
    match noun.strip_suffix("ies") {
        Some(stem) => format!("{stem}y").into(),
        None => noun.strip_suffix('s').unwrap_or(noun).into(),
    }
}

/// A count with a thin gap between thousands: `1 158`.
pub fn grouped(value: f64) -> String {
    if value.abs() < 99.95 {
        return significant(value);
    }
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(' ');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_several() {
        let texts =
            [(1, "round"), (0, "round"), (2, "batch"), (3, "entry"), (1, "entry"), (1158, "day"), (2, "process")]
                .map(|(count, noun)| counted(count, noun));
        assert_eq!(texts, ["1 round", "0 rounds", "2 batches", "3 entries", "1 entry", "1 158 days", "2 processes"]);
        assert_eq!([singular("rounds"), singular("entries")], ["round", "entry"]);
    }

    #[test]
    fn durations_take_the_unit_that_fits() {
        let texts = [0.333, 93.14, 999.4, 999.6, 4523.0, -12.0, 1.5e7, 2e9, 0.0].map(|ns| Nanoseconds(ns).to_string());
        assert_eq!(
            texts,
            ["0.333 ns", "93.1 ns", "999 ns", "1.00 µs", "4.52 µs", "-12.0 ns", "15.0 ms", "2.00 s", "0 ns"]
        );
    }

    #[test]
    fn a_rounding_carry_keeps_three_digits() {
        assert_eq!(significant(9.996), "10.0");
        assert_eq!(significant(0.9999), "1.00");
        assert_eq!(significant(99.96), "100");
    }

    #[test]
    fn sizes_take_binary_units() {
        assert_eq!(bytes_of("4K"), Some(4096));
        assert_eq!(bytes_of("64KiB"), Some(65536));
        assert_eq!(bytes_of("64B"), Some(64));
        assert_eq!(bytes_of("1 mib"), Some(1 << 20));
        for other in ["64", "other", "", "99999999999999999999K", "18446744073709551615G", "1*"] {
            assert_eq!(bytes_of(other), None, "{other}");
        }
    }

    #[test]
    fn times_are_read_with_what_their_digits_leave_open() {
        let near = |text: &str, time: f64, open: f64| {
            let (read, left) = time_of(text).expect(text);
            assert!((read.0 - time).abs() <= 1e-12 * time && (left.0 - open).abs() <= 1e-12 * open, "{text}");
        };
        near("1.2ms", 1.2e6, 5e4);
        near("0.35 ns", 0.35, 0.005);
        near("38us", 38e3, 500.0);
        near("14 µs", 14e3, 500.0);
        near(" 2 min ", 1.2e11, 3e10);
        near("0s", 0.0, 5e8);
        for nonsense in ["", "1", "ms", "-1ms", "+1ms", "1e3ns", "nan s", "inf s", "1.2.3s", ".s", "9999999h", "1 day"]
        {
            assert_eq!(time_of(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn sizes_are_exact() {
        assert_eq!(Bytes(4096).to_string(), "4 KiB");
        assert_eq!(Bytes(1536).to_string(), "1536 B");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
        assert_eq!([500.0, 1500.0, 1_048_500.0].map(binary), ["500 B", "1.46 KiB", "1.00 MiB"]);
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!(rate(Nanoseconds(93.1)), "10.7 M");
        assert_eq!(rate(Nanoseconds(1_364_256.0)), "733");
        assert_eq!(payload_rate(Bytes(64), Nanoseconds(377.0)), "1.36 Gbit/s");
        assert_eq!(percent(0.003), "0.30 %");
        assert_eq!(percent(0.29), "29 %");
        assert_eq!([0.29, 1.0, 3749.75].map(relative_width), ["29 %", "100 %", "> 100 %"]);
        assert_eq!(grouped(1158.4), "1 158");
        assert_eq!(grouped(-1_234_567.0), "-1 234 567");
    }
}
