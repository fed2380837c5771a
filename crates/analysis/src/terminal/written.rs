//! What documents say of terminals: figures instead of samples.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::pseudo::Flow;
use super::{Latency, Parsed, QUANTILES};
use crate::form::Form;
use crate::statistics::Interval;

/// Times of one kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct LatencyQuantiles {
    /// How many times were taken.
    samples: usize,
    /// Their quantiles.
    quantiles: Vec<Quantile>,
}

/// A quantile of times.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct ParsedRates {
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
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct Rate {
    /// The median in bytes a second.
    bytes_per_second: f64,
    /// Lower end of its 95 % interval; of all values where there are fewer than six.
    low: f64,
    /// Upper end.
    high: f64,
}

/// Output through a path.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct FlowRates {
    /// What it passes: `raw`, `processed`, `script`, `tcp`, `ssh`, `pipe`, `file`.
    path: String,
    /// Bytes of each write.
    write_bytes: u64,
    /// Bytes a second that the program should write; null for as many as possible.
    asked: Option<f64>,
    /// Bytes a second that came out.
    bytes_per_second: f64,
    /// Bytes for each second of processor time.
    bytes_per_cpu_second: f64,
    /// Time in s.
    elapsed_s: f64,
    /// Processor time of all tasks in s.
    tasks_s: f64,
    /// Processor time of the kernel's own threads in s.
    kernel_threads_s: f64,
    /// The share of one CPU that is left; negative if more than one was used.
    cpu_left: f64,
    /// Whether the rate asked for was reached.
    reached: bool,
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
        let rate = |it: Interval| Rate { bytes_per_second: it.value, low: it.low, high: it.high };
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

impl Form<Flow> for FlowRates {
    fn of(flow: &Flow) -> FlowRates {
        FlowRates {
            path: flow.path.clone(),
            write_bytes: flow.size,
            asked: flow.asked,
            bytes_per_second: flow.rate(),
            bytes_per_cpu_second: flow.rate_per_cpu(),
            elapsed_s: flow.elapsed_s,
            tasks_s: flow.used.tasks_s,
            kernel_threads_s: flow.used.kernel_threads_s,
            cpu_left: flow.left(),
            reached: flow.reached(),
        }
    }
}
