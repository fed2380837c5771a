//! Units as types, and the only place where a quantity becomes text.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration in nanoseconds; may be negative where a subtraction made it so.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Nanoseconds(pub f64);

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
        let mut value = self.0;
        let mut unit = 0;
        while value != 0 && value.is_multiple_of(1024) && unit + 1 < units.len() {
            value /= 1024;
            unit += 1;
        }
        out.pad(&format!("{value} {}", units[unit]))
    }
}

/// Operations per second: `10.7 M`, `733`.
pub fn rate(cost: Nanoseconds) -> String {
    if cost.0 <= 0.0 {
        return "-".into();
    }
    scaled(1e9 / cost.0, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")]).trim_end().into()
}

/// Payload rate in bits per second for `bytes` moved in `cost`: `1.42 Gbit/s`.
pub fn payload_rate(bytes: Bytes, cost: Nanoseconds) -> String {
    if cost.0 <= 0.0 {
        return "-".into();
    }
    let bits = bytes.0 as f64 * 8e9 / cost.0;
    scaled(bits, &[(1.0, "bit/s"), (1e3, "kbit/s"), (1e6, "Mbit/s"), (1e9, "Gbit/s"), (1e12, "Tbit/s")])
}

/// A share or relative width: `0.31 %`, `4.2 %`, `29 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        v if v < 0.995 => format!("{value:.2} %"),
        v if v < 9.95 => format!("{value:.1} %"),
        _ => format!("{value:.0} %"),
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
    fn durations_take_the_unit_that_fits() {
        let texts: Vec<String> = [0.333, 93.14, 999.4, 999.6, 4523.0, -12.0, 1.5e7, 2e9, 0.0]
            .iter()
            .map(|&ns| Nanoseconds(ns).to_string())
            .collect();
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
    fn sizes_are_exact() {
        assert_eq!(Bytes(4096).to_string(), "4 KiB");
        assert_eq!(Bytes(1536).to_string(), "1536 B");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
    }

    #[test]
    fn rates_and_shares() {
        assert_eq!(rate(Nanoseconds(93.1)), "10.7 M");
        assert_eq!(rate(Nanoseconds(1_364_256.0)), "733");
        assert_eq!(payload_rate(Bytes(64), Nanoseconds(377.0)), "1.36 Gbit/s");
        assert_eq!(percent(0.003), "0.30 %");
        assert_eq!(percent(0.29), "29 %");
        assert_eq!(grouped(1158.4), "1 158");
        assert_eq!(grouped(-1_234_567.0), "-1 234 567");
    }
}
