//! How fast operations pass over memory, and how that scales with CPUs.

use record::{Cost, Doubt, Run};
use serde::Serialize;

use super::costs::{costs, working_set};
use super::levels::Levels;
use crate::derived::net;
use crate::statistics::{Interval, ratio};
use crate::sums::doubts_of_all;

/// How fast an operation passes over memory.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bandwidth {
    /// The operation's id.
    pub operation: String,
    /// Bytes of the working set, of each CPU.
    #[serde(rename = "set_bytes")]
    pub set: u64,
    /// The level that the set lies in.
    pub level: String,
    /// CPUs that worked.
    pub cpus: u64,
    /// Bytes per ns, which are GB/s, of all CPUs.
    #[serde(rename = "gigabytes_per_second")]
    pub rate: Interval,
    /// The rate over that of one CPU.
    #[serde(rename = "times_one_cpu")]
    pub scaling: Option<Interval>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// The operations that pass over memory in order.
const PASSES: [&str; 9] = [
    "memory.read", "memory.write", "memory.clear", "memory.copy", "memory.write.streaming", "memory.copy.streaming",
    "memory.read.cpus", "memory.write.cpus", "memory.copy.cpus",
];

/// How fast memory is passed over, by operation and working set.
pub(super) fn bandwidth(run: &Run, levels: &Levels) -> Vec<Bandwidth> {
    let mut all = Vec::new();
    for operation in PASSES {
        let mut found: Vec<Bandwidth> =
            costs(run, operation).filter_map(|cost| one_bandwidth(run, cost, levels)).collect();
        found.sort_by_key(|bandwidth| (bandwidth.set, bandwidth.cpus));
        all.extend(found);
    }
    all
}

fn one_bandwidth(run: &Run, cost: &Cost, levels: &Levels) -> Option<Bandwidth> {
    let set = working_set(cost)?;
    // A copy of `size` bytes works on twice as many.
    let works_on = if cost.operation == "memory.copy" { 2 * set } else { set };
    let bytes = cost.bytes.0 as f64;
    if bytes == 0.0 {
        return None;
    }
    let ns = net(cost);
    let rate = ns.under(bytes);
    let cpus = cost.at.number("cpus").unwrap_or(1);
    let alone =
        costs(run, &cost.operation).find(|other| other.at.number("cpus") == Some(1) && working_set(other) == Some(set));
    // Twice the payload in the same time is twice the rate.
    let alone = alone.filter(|_| cpus > 1);
    let scaling = alone.and_then(|alone| {
        let times = ratio(net(alone), ns)?;
        Some(times.times(bytes / alone.bytes.0 as f64))
    });
    Some(Bandwidth {
        operation: cost.operation.clone(),
        set: works_on,
        level: levels.name_of(works_on),
        cpus,
        rate,
        scaling: scaling.filter(|scaling| scaling.value.is_finite()),
        doubts: doubts_of_all([Some(cost), alone].into_iter().flatten()),
    })
}
