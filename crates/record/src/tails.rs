//! The distribution of single iterations: percentiles, each with an interval that assumes no distribution.

use serde::{Deserialize, Serialize};

/// When the requests of a run with `--arrivals` come.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arrivals {
    /// How many a second, on average.
    pub per_second: f64,
    /// True if they come at random moments (Poisson), false if at equal distances.
    pub poisson: bool,
}

/// What was asked for with `--tails`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tailing {
    /// When iterations are asked for; absent if each follows the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
}

/// One percentile. Its figures are absent if there are too few samples for an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// From 0 to 1: 0.999 is p99.9.
    pub share: f64,
    /// The time that this share of the samples does not exceed, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// Lower end of its 95 % interval, in ns: an order statistic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_ns: Option<f64>,
    /// Upper end of its 95 % interval, in ns: an order statistic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high_ns: Option<f64>,
}

/// One distribution of times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tail {
    /// How many were timed.
    pub samples: u64,
    /// p50, p90, p99, p99.9, p99.99.
    pub percentiles: Vec<Percentile>,
    /// The longest, in ns.
    pub longest_ns: f64,
    /// Times in ns, to three digits, and how often each occurred.
    pub histogram: Vec<(f64, u64)>,
}

/// The tails of a cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tails {
    /// Why single iterations could not be timed; the rest is then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    /// What reading the clock takes, in ns. It is subtracted from each time.
    #[serde(default)]
    pub clock_ns: f64,
    /// From the begin of an iteration to its end.
    #[serde(default)]
    pub service: Tail,
    /// From the moment an iteration was asked for to its end, waiting included; absent without `--arrivals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Tail>,
    /// Iterations that were asked for and not served, because the operation is slower than they arrive. The figures of
    /// `response` are then absent: they would grow with the time measured.
    #[serde(default)]
    pub unserved: u64,
}
