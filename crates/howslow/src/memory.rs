//! What a run says of memory, as a document.

use analysis::memory::{Demand, Limit, Memory, VAX, VAX_RATE};
use analysis::statistics::Interval;
use serde_json::{Value, json};

use crate::explain::{figure_json, ratio_json};

/// The key `memory` of `howslow explain --json`.
pub(crate) fn memory_json(memory: &Memory) -> Value {
    let levels = memory.levels.found.iter().map(|it| {
        json!({
            "level": it.name,
            "from_bytes": it.from,
            "to_bytes": it.to,
            "declared_bytes": it.declared,
            "load": figure_json(&it.latency),
            "cycles": it.cycles,
            "doubts": it.doubts,
        })
    });
    let translation = memory.translation.iter().map(|it| {
        json!({
            "cost": it.name,
            "base_pages": figure_json(&it.base),
            "huge_pages": figure_json(&it.huge),
            "packed": it.packed.as_ref().map(figure_json),
            "translation": figure_json(&it.share),
            "doubts": it.doubts,
        })
    });
    let bandwidth = memory.bandwidth.iter().map(|it| {
        json!({
            "operation": it.operation,
            "set_bytes": it.set,
            "level": it.level,
            "cpus": it.cpus,
            "gigabytes_per_second": ratio_json(&it.rate),
            "times_one_cpu": it.scaling.as_ref().map(ratio_json),
            "doubts": it.doubts,
        })
    });
    let loaded = memory.loaded.iter().map(|it| {
        json!({
            "other_cpu": it.load,
            "set_bytes": it.set,
            "load": figure_json(&it.latency),
            "times_idle": it.slowdown.as_ref().map(ratio_json),
            "doubts": it.doubts,
        })
    });
    json!({
        "levels": levels.collect::<Vec<_>>(),
        "disagreements": memory.levels.disagreements,
        "translation": translation.collect::<Vec<_>>(),
        "bandwidth": bandwidth.collect::<Vec<_>>(),
        "loaded": loaded.collect::<Vec<_>>(),
        "demand": memory.demand.as_ref().map(|demand| demand_json(demand, &memory.limits)),
    })
}

fn demand_json(demand: &Demand, limits: &[Limit]) -> Value {
    let reachable = |miss: &Interval| json!({ "miss_rate": ratio_json(miss), "reached": miss.value <= 1.0 });
    let limits = limits.iter().map(|limit| {
        json!({
            "instructions_per_cycle": limit.per_cycle,
            "instructions_per_ns": limit.rate,
            "by_bandwidth": reachable(&limit.by_bandwidth),
            "by_bandwidth_together": limit.by_bandwidth_together.as_ref().map(reachable),
            "by_latency": reachable(&limit.by_latency),
        })
    });
    json!({
        "bytes_per_instruction": demand.bytes,
        "bytes_per_access": demand.line,
        "level": demand.level,
        "doubts": demand.doubts,
        "access": figure_json(&demand.latency),
        "gigabytes_per_second": ratio_json(&demand.maximum),
        "together": demand.together.as_ref().map(|(cpus, rate)| {
            json!({ "cpus": cpus, "gigabytes_per_second": ratio_json(rate) })
        }),
        "limits": limits.collect::<Vec<_>>(),
        "hidden_by_the_vax": VAX.hidden(VAX_RATE.0, VAX_RATE.1, 0.5),
    })
}
