//! A run's view of its machine's memory: levels, translation, bandwidth, and the miss rate at which memory limits the
//! speed.

mod demand;
mod levels;

use record::{Cost, Doubt, Run};

pub use demand::{Demand, Limit, VAX, VAX_RATE, limits};
pub use levels::{Level, Levels, Step, levels};

use crate::derived::net;
use crate::statistics::{Interval, ratio, weighted_sum};
use crate::sums::{doubts_of, join};

/// A run's view of memory. A list is empty if the run lacks its costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The levels, and where they differ from the declared caches.
    pub levels: Levels,
    /// What address translation adds to a random load, by working set or by pages.
    pub translation: Vec<Translation>,
    /// The rate of passes over memory, by operation and working set.
    pub bandwidth: Vec<Bandwidth>,
    /// The time of a random load while another CPU keeps memory busy.
    pub loaded: Vec<Loaded>,
    /// The arithmetic of demand, if latency and bandwidth of the last level are known.
    pub demand: Option<Demand>,
    /// The miss rates above which memory limits the speed, by instructions per cycle.
    pub limits: Vec<Limit>,
}

/// The cost of address translation.
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The cost in base pages, as typed.
    pub name: String,
    /// Its point as shown in a table.
    pub at: String,
    /// In base pages, ns.
    pub base: Interval,
    /// The same in huge pages, ns.
    pub huge: Interval,
    /// The same number of lines packed together, ns, if that was measured.
    pub packed: Option<Interval>,
    /// The cost of translation, ns: base pages minus the same lines packed together, else minus huge pages.
    pub share: Interval,
    /// The doubts of all of these costs.
    pub doubts: Vec<Doubt>,
}

/// The rate at which an operation passes over memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    /// The operation's id.
    pub operation: String,
    /// Bytes of each CPU's working set.
    pub set: u64,
    /// The level of the set.
    pub level: String,
    /// The number of working CPUs.
    pub cpus: u64,
    /// Bytes per ns (GB/s), of all CPUs together.
    pub rate: Interval,
    /// The rate divided by that of one CPU.
    pub scaling: Option<Interval>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// A random load beside another CPU's work.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The other CPU's work.
    pub load: String,
    /// Bytes of the working set.
    pub set: u64,
    /// The load, ns.
    pub latency: Interval,
    /// The latency divided by that beside an idle CPU.
    pub slowdown: Option<Interval>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// A run's view of memory; `None` if it has no such costs.
pub fn memory(run: &Run) -> Option<Memory> {
    let levels = levels(run);
    let bandwidth = bandwidth(run, &levels);
    let demand = Demand::of(run, &levels, &bandwidth);
    let limits = demand.as_ref().map(|demand| limits(run, demand)).unwrap_or_default();
    let memory = Memory { translation: translation(run), loaded: loaded(run), levels, bandwidth, demand, limits };
    let says = !memory.levels.curve.is_empty() || !memory.bandwidth.is_empty() || !memory.translation.is_empty();
    (says || !memory.loaded.is_empty()).then_some(memory)
}

/// The doubts of these costs, each once.
fn doubts<'a>(costs: impl IntoIterator<Item = Option<&'a Cost>>) -> Vec<Doubt> {
    let mut all = Vec::new();
    for cost in costs.into_iter().flatten() {
        join(&mut all, doubts_of(cost));
    }
    all
}

/// True if a cost is distinguishable from zero.
fn told(cost: &&Cost) -> bool {
    cost.net_ns.low.0 > 0.0 && cost.quoted().0 > 0.0 && cost.net_ns.high.0.is_finite()
}

/// The costs of an operation that are distinguishable from zero, by working set and by all other axes.
fn costs<'a>(run: &'a Run, operation: &'a str) -> impl Iterator<Item = &'a Cost> {
    run.costs.iter().filter(move |cost| cost.operation == operation).filter(told)
}

/// Bytes of the working set. The oldest runs call it `size`.
fn set(cost: &Cost) -> Option<u64> {
    cost.at.number("set").or_else(|| cost.at.number("size"))
}

fn translation(run: &Run) -> Vec<Translation> {
    let by_set = costs(run, "memory.load.paged").filter_map(|base| {
        let huge = costs(run, "memory.load").find(|huge| huge.at == base.at)?;
        Some((base, huge, set(base)?))
    });
    let by_pages = costs(run, "memory.translate").filter(|cost| cost.at.word("in") == Some("base"));
    let by_pages = by_pages.filter_map(|base| {
        let pages = base.at.number("pages")?;
        let is_twin = |huge: &&Cost| huge.at.word("in") == Some("huge") && huge.at.number("pages") == Some(pages);
        Some((base, costs(run, "memory.translate").find(is_twin)?, pages))
    });
    let mut pairs: Vec<_> = by_set.collect();
    pairs.sort_by_key(|(.., size)| *size);
    let mut in_pages: Vec<_> = by_pages.collect();
    in_pages.sort_by_key(|(.., pages)| *pages);
    let all = pairs.into_iter().chain(in_pages);
    all.map(|(base, huge, size)| {
        let at = match base.at.number("pages") {
            Some(_) => format!("one line in each of {size} pages"),
            None => base.at.values(),
        };
        let beside = base.at.number("pages").and_then(|pages| packed(run, pages));
        let packed = beside.map(net);
        let share = weighted_sum(&[(1.0, net(base)), (-1.0, packed.unwrap_or(net(huge)))]);
        let doubts = doubts([Some(base), Some(huge), beside]);
        Translation { name: base.name(), at, base: net(base), huge: net(huge), packed, share, doubts }
    })
    .collect()
}

/// A load from this many lines that lie side by side.
fn packed(run: &Run, lines: u64) -> Option<&Cost> {
    let line = run.machine.cpu.caches.iter().find_map(|cache| cache.line).map_or(64, u64::from);
    costs(run, "memory.load").find(|cost| set(cost) == Some(lines * line))
}

/// The operations that pass sequentially over memory.
const PASSES: [&str; 9] = [
    "memory.read",
    "memory.write",
    "memory.clear",
    "memory.copy",
    "memory.write.streaming",
    "memory.copy.streaming",
    "memory.read.cpus",
    "memory.write.cpus",
    "memory.copy.cpus",
];

fn bandwidth(run: &Run, levels: &Levels) -> Vec<Bandwidth> {
    let mut all = Vec::new();
    for operation in PASSES {
        let mut found: Vec<Bandwidth> =
            costs(run, operation).filter_map(|cost| one_bandwidth(run, cost, levels)).collect();
        found.sort_by_key(|it| (it.set, it.cpus));
        all.extend(found);
    }
    all
}

fn one_bandwidth(run: &Run, cost: &Cost, levels: &Levels) -> Option<Bandwidth> {
    let set = set(cost)?;
    // A copy of `size` bytes uses twice as many.
    let works_on = if cost.operation == "memory.copy" { 2 * set } else { set };
    let bytes = cost.bytes.0 as f64;
    if bytes == 0.0 {
        return None;
    }
    let ns = net(cost);
    let rate = Interval { value: bytes / ns.value, low: bytes / ns.high, high: bytes / ns.low };
    let cpus = cost.at.number("cpus").unwrap_or(1);
    let alone =
        costs(run, &cost.operation).find(|other| other.at.number("cpus") == Some(1) && self::set(other) == Some(set));
    // Twice the payload in the same time is twice the rate.
    let alone = alone.filter(|_| cpus > 1);
    let scaling = alone.and_then(|alone| {
        let times = ratio(net(alone), ns)?;
        let more = bytes / alone.bytes.0 as f64;
        Some(Interval { value: times.value * more, low: times.low * more, high: times.high * more })
    });
    Some(Bandwidth {
        operation: cost.operation.clone(),
        set: works_on,
        level: levels.name_of(works_on),
        cpus,
        rate,
        scaling: scaling.filter(|scaling| scaling.value.is_finite()),
        doubts: doubts([Some(cost), alone]),
    })
}

fn loaded(run: &Run) -> Vec<Loaded> {
    let of = |cost: &Cost| {
        let load = cost.at.word("load")?;
        let set = set(cost)?;
        let is_idle = |other: &&Cost| other.at.word("load") == Some("idle") && self::set(other) == Some(set);
        let idle = costs(run, "memory.load.loaded").find(is_idle).filter(|_| load != "idle");
        let slowdown = idle.and_then(|idle| ratio(net(cost), net(idle)));
        Some(Loaded { load: load.into(), set, latency: net(cost), slowdown, doubts: doubts([Some(cost), idle]) })
    };
    costs(run, "memory.load.loaded").filter_map(of).collect()
}
