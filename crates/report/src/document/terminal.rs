//! `howslow terminal --json`, with and without `--pty`.

pub(super) mod pseudo;

use analysis::statistics::Interval;
use analysis::terminal::{Latency, OwnTerminal, Parsed, QUANTILES};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// The terminal that howslow was run in.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalDocument<'a> {
    /// What `TERM` says; empty if it says nothing.
    pub term: &'a str,
    /// Its rows.
    pub rows: u16,
    /// Its columns.
    pub columns: u16,
    /// Programs between howslow and the user's screen: `tmux`, `screen`, `ssh`.
    pub between: Vec<TerminalBetween>,
    /// Whether its size changed in the meantime.
    pub resized: bool,
    /// Whether the time ran out before every payload was sent often enough for an interval.
    pub short: bool,
    /// From a question (`ESC[6n`) to its answer.
    pub latency: TerminalLatency,
    /// What was sent.
    pub payloads: Vec<TerminalPayload>,
}

/// A program between howslow and the user's screen.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalBetween {
    /// Its name.
    pub name: &'static str,
    /// What it means for the figures.
    pub meaning: &'static str,
}

/// Times of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalLatency {
    /// How many times were taken.
    pub samples: usize,
    /// Their quantiles.
    pub quantiles: Vec<TerminalQuantile>,
}

/// A quantile of times.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalQuantile {
    /// `p50` and so on.
    pub name: &'static str,
    /// The time in ns; null where there are too few samples.
    pub ns: Option<f64>,
    /// Lower end of its 95 % interval in ns; null where there are too few samples.
    pub low_ns: Option<f64>,
    /// Upper end of its 95 % interval in ns.
    pub high_ns: Option<f64>,
}

/// One kind of output.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalPayload {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Bytes that were sent at once.
    pub bytes: u64,
    /// How often.
    pub times: usize,
    /// Bytes a second until the terminal had parsed the last one.
    pub parsed: Option<TerminalRate>,
    /// Bytes a second until the last write returned.
    pub written: Option<TerminalRate>,
}

/// A rate.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TerminalRate {
    /// The median in bytes a second.
    pub bytes_per_second: f64,
    /// Lower end of its 95 % interval; of all values where there are fewer than six.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<Interval> for TerminalRate {
    fn from(rate: Interval) -> TerminalRate {
        TerminalRate { bytes_per_second: rate.value, low: rate.low, high: rate.high }
    }
}

impl From<&Latency> for TerminalLatency {
    fn from(latency: &Latency) -> TerminalLatency {
        let quantiles = QUANTILES.iter().map(|&(name, share)| {
            let (low_ns, high_ns) = latency.interval(share).unzip();
            TerminalQuantile { name, ns: latency.at(share), low_ns, high_ns }
        });
        TerminalLatency { samples: latency.samples(), quantiles: quantiles.collect() }
    }
}

impl From<&Parsed> for TerminalPayload {
    fn from(payload: &Parsed) -> TerminalPayload {
        TerminalPayload {
            name: payload.name,
            about: payload.about,
            bytes: payload.bytes,
            times: payload.passes.len(),
            parsed: payload.rate().map(TerminalRate::from),
            written: payload.written_rate().map(TerminalRate::from),
        }
    }
}

impl<'a> From<&'a OwnTerminal> for TerminalDocument<'a> {
    fn from(it: &'a OwnTerminal) -> TerminalDocument<'a> {
        let between = it.between.iter().map(|it| TerminalBetween { name: it.name(), meaning: it.meaning() });
        TerminalDocument {
            term: &it.term,
            rows: it.rows,
            columns: it.columns,
            between: between.collect(),
            resized: it.resized,
            short: it.short,
            latency: TerminalLatency::from(&it.latency),
            payloads: it.payloads.iter().map(TerminalPayload::from).collect(),
        }
    }
}
