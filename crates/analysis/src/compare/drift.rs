//! By how much a cost may have changed by itself between the times of two runs. Rounds of one run do not show it.

use jiff::Timestamp;
use record::{Cost, Estimate, Run};

/// After this many seconds a drift goes no further.
const LONGEST: f64 = 1800.0;
/// What work beyond the core's private caches drifts by until then, 95 times in 100: over half an hour, twelve such costs moved by 1
/// to 8 %, with other tenants' use of the memory.
pub const MEMORY: f64 = 0.04;
/// The same for page faults and processes, which touch memory.
pub const PAGES: f64 = 0.02;

/// The seconds from the middle of one run to that of the other; 0 if one of them was not measured, or does not say when.
pub(super) fn seconds_apart(base: &Run, other: &Run) -> f64 {
    let middle = |run: &Run| {
        let second = |time: &str| Some(time.parse::<Timestamp>().ok()?.as_millisecond() as f64 / 1e3);
        Some((second(&run.started)? + second(&run.finished)?) / 2.0).filter(|_| !run.is_published())
    };
    middle(base).zip(middle(other)).map_or(0.0, |(one, two)| (two - one).abs())
}

/// The share of its greatest drift that a cost reaches in this time, as a random walk.
pub fn share(seconds: f64) -> f64 {
    (seconds.min(LONGEST) / LONGEST).sqrt()
}

/// By how much a cost may have drifted in this time, on the log scale.
pub(super) fn reach(cost: &Cost, seconds: f64) -> f64 {
    let most = match cost.operation.split('.').next() {
        _ if cost.headline != Estimate::Quiet || cost.cpus > 1 => 0.0,
        _ if !cost.follows_clock => MEMORY,
        Some("page" | "process") => PAGES,
        _ => 0.0,
    };
    most * share(seconds)
}
