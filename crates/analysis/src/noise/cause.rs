//! What time is charged to.

use serde::Serialize;

use crate::statistics::median;

/// The name of what nothing explains.
pub(super) const NOTHING_KNOWN: &str = "unexplained (hypervisor, SMI)";
const STEAL: &str = "steal (the hypervisor ran something else)";

/// What time is charged to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct NoiseCause {
    /// Its name.
    pub name: String,
    /// How often it came in a second; null where only time is known.
    pub per_second: Option<f64>,
    /// The share of the watched time that it took.
    pub share: f64,
    /// What it takes each time, in ns: the median, or what the counts say.
    #[serde(rename = "each_ns")]
    pub each: Option<f64>,
    /// The most that it took in one gap, in ns, if gaps are known one by one.
    #[serde(rename = "longest_ns")]
    pub longest: Option<f64>,
}

/// A cause with these times, of a time that was watched, in ns.
pub(super) fn single(name: &str, times: &[f64], of: f64) -> NoiseCause {
    NoiseCause {
        name: name.into(),
        per_second: Some(times.len() as f64 / of * 1e9),
        share: times.iter().sum::<f64>() / of,
        each: median(times.iter().copied()),
        longest: times.iter().copied().max_by(f64::total_cmp),
    }
}

/// What nothing explains, and the part of it that the hypervisor reports as stolen.
pub(super) fn with_steal(rest: NoiseCause, steal: Option<f64>) -> Vec<NoiseCause> {
    let stolen = steal.unwrap_or(0.0).min(rest.share);
    let mut causes = Vec::new();
    if stolen > 0.0 {
        causes.push(NoiseCause { name: STEAL.into(), share: stolen, ..NoiseCause::default() });
    }
    if rest.share > stolen {
        causes.push(NoiseCause { share: rest.share - stolen, ..rest });
    }
    causes
}
