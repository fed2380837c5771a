//! `howslow study mpe --prefetch --json`. `howslow file advise` and `howslow file tune` print what was found as it is.

use analysis::prefetch::{THERE, Tuning, distance};
use serde::Serialize;

/// The paper's arithmetic for its machine, and the tuner on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PrefetchStudy<'a> {
    /// The paper's short name.
    paper: &'static str,
    /// The paper's arithmetic.
    there: PaperPrefetch,
    /// The sweep on this machine.
    prefetch: &'a Tuning,
}

/// The input and the result of the paper's arithmetic.
#[derive(Debug, Serialize, JsonSchema)]
struct PaperPrefetch {
    /// The time of a read in ns.
    latency_ns: f64,
    /// Bytes a second.
    consumption: f64,
    /// Bytes to request ahead.
    distance: f64,
}

impl<'a> PrefetchStudy<'a> {
    /// The document.
    pub fn of(tuning: &'a Tuning) -> PrefetchStudy<'a> {
        let (latency_ns, consumption) = THERE;
        let distance = distance(latency_ns, consumption);
        PrefetchStudy { paper: "mpe", there: PaperPrefetch { latency_ns, consumption, distance }, prefetch: tuning }
    }
}
