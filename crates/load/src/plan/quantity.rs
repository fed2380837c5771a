//! Quantities of a plan: times, sizes, rates, each written with its unit.

use serde::Deserialize;

/// A time in seconds, written as `1.5s`, `200ms`, `2min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Time(pub f64);

/// A number of bytes, written as `48MiB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Size(pub u64);

/// A limit of memory: `48MiB`, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Memory(pub Option<u64>);

/// How interactions arrive: `closed`, or a rate such as `5/s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub enum Arrivals {
    /// Each user thinks, asks, and waits for the answer.
    #[default]
    Closed,
    /// So many a second, at random.
    Open(f64),
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Time, String> {
        let read = record::units::time_of(&text).map(|(time, _)| time.0 / 1e9);
        read.filter(|seconds| *seconds <= 7.0 * 86_400.0).map(Time).ok_or_else(|| {
            format!("{text:?} is no time; say one of at most a week with its unit, such as 500ms or 20s")
        })
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Size, String> {
        /// The memory of no machine.
        const MOST: u64 = 1 << 50;
        let read = record::units::bytes_of(text.trim()).filter(|bytes| *bytes <= MOST);
        read.map(Size).ok_or_else(|| format!("{text:?} is no size; say one with its unit, such as 48MiB"))
    }
}

impl TryFrom<String> for Memory {
    type Error = String;

    fn try_from(text: String) -> Result<Memory, String> {
        if text.trim() == "none" {
            return Ok(Memory(None));
        }
        let size = Size::try_from(text.clone()).ok().filter(|size| size.0 >= 1 << 20);
        size.map(|size| Memory(Some(size.0)))
            .ok_or_else(|| format!("{text:?} is no limit of memory; say at least 1MiB, such as 48MiB, or none"))
    }
}

impl TryFrom<String> for Arrivals {
    type Error = String;

    fn try_from(text: String) -> Result<Arrivals, String> {
        if text.trim() == "closed" {
            return Ok(Arrivals::Closed);
        }
        let rate = text.trim().strip_suffix("/s").and_then(|rate| rate.trim().parse::<f64>().ok());
        rate.filter(|rate| (0.01..=10_000.0).contains(rate))
            .map(Arrivals::Open)
            .ok_or_else(|| format!("{text:?} says no arrivals; say closed, or a rate from 0.01/s to 10000/s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_units() {
        assert_eq!(Time::try_from("1.5s".to_string()), Ok(Time(1.5)));
        assert_eq!(Size::try_from(" 48MiB".to_string()), Ok(Size(48 << 20)));
        assert_eq!(Memory::try_from("none".to_string()), Ok(Memory(None)));
        assert_eq!(Arrivals::try_from("5/s".to_string()), Ok(Arrivals::Open(5.0)));
        for nonsense in ["", "5", "-1s", "1e99s", "nan", "9999999h"] {
            assert!(Time::try_from(nonsense.to_string()).is_err(), "{nonsense}");
            assert!(Size::try_from(nonsense.to_string()).is_err(), "{nonsense}");
            assert!(Memory::try_from(nonsense.to_string()).is_err(), "{nonsense}");
            assert!(Arrivals::try_from(nonsense.to_string()).is_err(), "{nonsense}");
        }
        assert!(Memory::try_from("4KiB".to_string()).is_err());
        assert!(Arrivals::try_from("0/s".to_string()).is_err());
    }
}
