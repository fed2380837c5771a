//! What was measured of a terminal: plain data, and the figures that follow from it.

pub mod pseudo;

use serde::Serialize;

use crate::form::{As, Form};
use crate::statistics::{Interval, sorted};
use crate::tails::{enclosing, median_interval};

/// The terminal that howslow was run in.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OwnTerminal {
    /// What `TERM` says; empty if it says nothing.
    pub term: String,
    /// Its rows.
    pub rows: u16,
    /// Its columns.
    pub columns: u16,
    /// The programs between howslow and the user's screen, as far as the environment tells.
    pub between: Vec<Between>,
    /// True if its size changed in the meantime.
    pub resized: bool,
    /// True if the time ran out before every payload was sent often enough for an interval.
    pub short: bool,
    /// From a question to its answer.
    #[serde(with = "As::<LatencyQuantiles>")]
    pub latency: Latency,
    /// Payloads, in the order in which they were sent.
    #[serde(with = "As::<Vec<ParsedRates>>")]
    pub payloads: Vec<Parsed>,
}

/// A program between a terminal's program and the user's screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Between {
    /// Its name.
    pub name: &'static str,
    /// What it means for the figures.
    pub meaning: &'static str,
}

impl Between {
    /// tmux, which parses the output itself.
    pub const TMUX: Between = Between {
        name: "tmux",
        meaning: "tmux parses the output and answers itself: the figures are those of tmux, not of the terminal around it",
    };
    /// GNU screen, which parses the output itself.
    pub const SCREEN: Between = Between {
        name: "screen",
        meaning: "screen parses the output and answers itself: the figures are those of screen, not of the terminal around it",
    };
    pub const SSH: Between =
        Between { name: "ssh", meaning: "the session came over ssh: rates and times include the network" };
}

/// One kind of output, sent repeatedly.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    pub name: &'static str,
    pub about: &'static str,
    /// The bytes of one payload.
    pub bytes: u64,
    /// Each time that one was sent.
    pub passes: Vec<Pass>,
}

/// One payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Until the terminal had accepted the last byte, in seconds: all that a writer sees.
    pub written_s: f64,
    /// Until the terminal had answered the question that followed the last byte, in seconds.
    pub parsed_s: f64,
}

impl Parsed {
    /// Bytes a second until the answer: the median, with the interval that holds it in 95 of 100 cases.
    pub fn rate(&self) -> Option<Interval> {
        self.rates(|pass| pass.parsed_s)
    }

    /// Bytes a second until the last write returned.
    pub fn written_rate(&self) -> Option<Interval> {
        self.rates(|pass| pass.written_s)
    }

    fn rates(&self, time: impl Fn(&Pass) -> f64) -> Option<Interval> {
        median_interval(self.passes.iter().map(|pass| self.bytes as f64 / time(pass)))
    }
}

/// Times of one kind, in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latency {
    /// In ascending order.
    ns: Vec<f64>,
}

/// The quantiles that are reported. At least one sample must lie beyond each; with fewer than ten it is no more than a hint.
pub const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

impl Latency {
    /// From samples in any order, in ns.
    pub fn new(ns: impl IntoIterator<Item = f64>) -> Latency {
        Latency { ns: sorted(ns) }
    }

    /// How many samples there are.
    pub fn samples(&self) -> usize {
        self.ns.len()
    }

    /// The time that this share of the samples does not exceed, an order statistic: the smallest sample with at least
    /// that share at or below it. `None` where no sample lies beyond it, so that it would only be the largest one.
    pub fn at(&self, share: f64) -> Option<f64> {
        let rank = (share * self.ns.len() as f64).ceil() as usize;
        self.ns.get(rank.checked_sub(1)?).copied().filter(|_| rank < self.ns.len())
    }

    /// The 95 % interval of that time, distribution-free: by order statistics. `None` where there are too few samples.
    pub fn interval(&self, share: f64) -> Option<(f64, f64)> {
        enclosing(&self.ns, share)
    }
}

/// Times of one kind.
#[derive(Serialize, JsonSchema)]
pub(super) struct LatencyQuantiles {
    /// How many times were taken.
    samples: usize,
    /// Their quantiles.
    quantiles: Vec<Quantile>,
}

/// A quantile of times.
#[derive(Serialize, JsonSchema)]
struct Quantile {
    /// `p50` and so on.
    name: &'static str,
    /// The time in ns; null where there are too few samples.
    ns: Option<f64>,
    /// Lower end of its 95 % interval in ns; null where there are too few samples.
    low_ns: Option<f64>,
    /// Upper end of its 95 % interval in ns.
    high_ns: Option<f64>,
}

/// One kind of output.
#[derive(Serialize, JsonSchema)]
struct ParsedRates {
    /// Its name.
    name: &'static str,
    /// What it is.
    about: &'static str,
    /// Bytes that were sent at once.
    bytes: u64,
    /// How often.
    times: usize,
    /// Bytes a second until the terminal had parsed the last one.
    parsed: Option<Rate>,
    /// Bytes a second until the last write returned.
    written: Option<Rate>,
}

/// A rate.
#[derive(Serialize, JsonSchema)]
struct Rate {
    /// The median in bytes a second.
    bytes_per_second: f64,
    /// Lower end of its 95 % interval; of all values where there are fewer than six.
    low: f64,
    /// Upper end.
    high: f64,
}

impl Form<Latency> for LatencyQuantiles {
    fn of(latency: &Latency) -> LatencyQuantiles {
        let quantiles = QUANTILES.iter().map(|&(name, share)| {
            let (low_ns, high_ns) = latency.interval(share).unzip();
            Quantile { name, ns: latency.at(share), low_ns, high_ns }
        });
        LatencyQuantiles { samples: latency.samples(), quantiles: quantiles.collect() }
    }
}

impl Form<Parsed> for ParsedRates {
    fn of(payload: &Parsed) -> ParsedRates {
        let rate =
            |interval: Interval| Rate { bytes_per_second: interval.value, low: interval.low, high: interval.high };
        ParsedRates {
            name: payload.name,
            about: payload.about,
            bytes: payload.bytes,
            times: payload.passes.len(),
            parsed: payload.rate().map(rate),
            written: payload.written_rate().map(rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples_and_refused_without_a_larger_one() {
        let hundred = Latency::new((1..=100).rev().map(f64::from));
        assert_eq!((hundred.at(0.5), hundred.at(0.9), hundred.at(0.99)), (Some(50.0), Some(90.0), Some(99.0)));
        assert_eq!(hundred.at(0.999), None);
        assert_eq!(Latency::new([1.0]).at(0.5), None);
        assert_eq!(Latency::default().at(0.5), None);
    }

    #[test]
    fn intervals_are_those_of_the_binomial() {
        // For the median of 100 the exact ranks are 40 and 61.
        let hundred = Latency::new((1..=100).map(f64::from));
        assert_eq!(hundred.interval(0.5), Some((40.0, 61.0)));
        assert_eq!(hundred.interval(0.99), None);
        let many = Latency::new((1..=10_000).map(f64::from));
        assert_eq!(many.interval(0.99), Some((9880.0, 9920.0)));
    }

    #[test]
    fn a_rate_is_the_bytes_by_the_time_that_is_meant() {
        let pass = |written_s, parsed_s| Pass { written_s, parsed_s };
        let parsed = Parsed {
            name: "plain",
            about: "",
            bytes: 1000,
            passes: vec![pass(0.1, 1.0), pass(0.2, 0.5), pass(0.4, 2.0)],
        };
        assert_eq!(parsed.rate(), Some(Interval { value: 1000.0, low: 500.0, high: 2000.0 }));
        assert_eq!(parsed.written_rate(), Some(Interval { value: 5000.0, low: 2500.0, high: 10_000.0 }));
        assert_eq!(Parsed { passes: vec![], ..parsed }.rate(), None);
    }
}
