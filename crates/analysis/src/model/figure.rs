//! A parameter of a model: a number, and where it was measured its 95 % interval.

use serde::{Deserialize, Serialize};

use crate::statistics::Interval;

/// A parameter. In a file a plain number, or a number with its interval: `10` or `{ value = 10, low = 9, high = 11 }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Figure {
    /// The estimate.
    pub value: f64,
    /// The ends of its 95 % interval; `None` for a parameter that is exact or was given without one.
    pub interval: Option<(f64, f64)>,
}

/// How a file writes it.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    /// Exact.
    Number(f64),
    Interval {
        value: f64,
        low: f64,
        high: f64,
    },
}

impl From<Written> for Figure {
    fn from(written: Written) -> Figure {
        match written {
            Written::Number(value) => Figure::from(value),
            Written::Interval { value, low, high } => Figure { value, interval: Some((low, high)) },
        }
    }
}

impl From<Figure> for Written {
    fn from(figure: Figure) -> Written {
        match figure.interval {
            None => Written::Number(figure.value),
            Some((low, high)) => Written::Interval { value: figure.value, low, high },
        }
    }
}

impl From<f64> for Figure {
    fn from(value: f64) -> Figure {
        Figure { value, interval: None }
    }
}

impl From<Interval> for Figure {
    /// An interval that has no finite ends is left out.
    fn from(interval: Interval) -> Figure {
        let known = interval.low.is_finite() && interval.high.is_finite();
        Figure { value: interval.value, interval: known.then_some((interval.low, interval.high)) }
    }
}

impl Figure {
    /// The figure with its interval; without one, both ends are the value.
    pub fn interval(&self) -> Interval {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        Interval { value: self.value, low, high }
    }

    /// The same figure in another unit.
    pub fn times(&self, factor: f64) -> Figure {
        Figure { value: self.value * factor, interval: self.interval.map(|(low, high)| (low * factor, high * factor)) }
    }

    pub(super) fn plus(&self, more: f64) -> Figure {
        Figure { value: self.value + more, interval: self.interval.map(|(low, high)| (low + more, high + more)) }
    }

    /// True if it is a number from zero up that lies within its interval.
    pub(super) fn is_sound(&self) -> bool {
        let Interval { value, low, high } = self.interval();
        0.0 <= low && low <= value && value <= high && high.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_may_write_a_whole_number_or_an_interval() {
        let written = "[[all]]\nat = 10\n[[all]]\nat = 0.5\n[[all]]\nat = { value = 10, low = 9, high = 11 }\n";
        let mut file: toml::Table = toml::from_str(written).expect("TOML");
        let rows: Vec<std::collections::BTreeMap<String, Figure>> =
            file.remove("all").and_then(|all| all.try_into().ok()).expect("figures");
        let figures: Vec<Figure> = rows.iter().map(|row| row["at"]).collect();
        assert_eq!(figures, [10.0.into(), 0.5.into(), Figure { value: 10.0, interval: Some((9.0, 11.0)) }]);
    }
}
