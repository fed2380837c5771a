//! A run's view of its machine's memory: levels, translation, bandwidth, and the miss rate at which memory limits the
//! speed.

mod bandwidth;
mod costs;
mod demand;
mod levels;

use record::{Cost, Doubt, Run};
use serde::Serialize;

pub use bandwidth::Bandwidth;
pub use demand::{Demand, Limit, SharedRate, VAX, VAX_RATE};
pub use levels::{Level, Levels, Step, levels};

use bandwidth::bandwidth;
use costs::{costs, working_set};

use crate::derived::net;
use crate::form::{As, TimeFigure};
use crate::statistics::{Interval, ratio, weighted_sum};
use crate::sums::doubts_of_all;

/// A run's view of memory. A list is empty if the run lacks its costs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MemoryHierarchy {
    /// The levels, and where they differ from the declared caches.
    #[serde(flatten)]
    pub levels: Levels,
    /// What address translation adds to a random load, by working set or by pages.
    pub translation: Vec<Translation>,
    /// The rate of passes over memory, by operation and working set.
    pub bandwidth: Vec<Bandwidth>,
    /// The time of a random load while another CPU keeps memory busy.
    pub loaded: Vec<Loaded>,
    /// What misses a processor can bear; null if latency and bandwidth of the last level are not known.
    pub demand: Option<Demand>,
}

/// The cost of address translation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Translation {
    /// Id and point of the cost in base pages.
    #[serde(rename = "cost")]
    pub name: String,
    /// Its point as shown in a table.
    #[serde(skip)]
    pub at: String,
    /// In base pages.
    #[serde(rename = "base_pages", with = "As::<TimeFigure>")]
    pub base: Interval,
    /// The same in huge pages.
    #[serde(rename = "huge_pages", with = "As::<TimeFigure>")]
    pub huge: Interval,
    /// The same number of lines packed together, with table entries that share cache lines; null if that was not measured.
    #[serde(with = "As::<Option<TimeFigure>>")]
    pub packed: Option<Interval>,
    /// The cost of translation: base pages minus the same lines packed together, else minus huge pages.
    #[serde(rename = "translation", with = "As::<TimeFigure>")]
    pub share: Interval,
    /// The doubts of all of these costs.
    pub doubts: Vec<Doubt>,
}

/// A random load beside another CPU's work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Loaded {
    /// The other CPU's work.
    #[serde(rename = "other_cpu")]
    pub load: String,
    /// Bytes of the working set.
    #[serde(rename = "set_bytes")]
    pub set: u64,
    /// The load.
    #[serde(rename = "load", with = "As::<TimeFigure>")]
    pub latency: Interval,
    /// The latency divided by that beside an idle CPU.
    #[serde(rename = "times_idle")]
    pub slowdown: Option<Interval>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// A run's view of memory; `None` if it has no such costs.
pub fn memory(run: &Run) -> Option<MemoryHierarchy> {
    let levels = levels(run);
    let bandwidth = bandwidth(run, &levels);
    let demand = Demand::of(run, &levels, &bandwidth);
    let memory = MemoryHierarchy { translation: translation(run), loaded: loaded(run), levels, bandwidth, demand };
    let has_levels = !memory.levels.curve.is_empty() || !memory.bandwidth.is_empty() || !memory.translation.is_empty();
    (has_levels || !memory.loaded.is_empty()).then_some(memory)
}

fn translation(run: &Run) -> Vec<Translation> {
    let by_set = costs(run, "memory.load.paged").filter_map(|base| {
        let huge = costs(run, "memory.load").find(|huge| huge.at == base.at)?;
        Some((base, huge, working_set(base)?))
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
        let next_to = base.at.number("pages").and_then(|pages| packed(run, pages));
        let packed = next_to.map(net);
        let share = weighted_sum(&[(1.0, net(base)), (-1.0, packed.unwrap_or(net(huge)))]);
        let doubts = doubts_of_all([base, huge].into_iter().chain(next_to));
        Translation { name: base.name(), at, base: net(base), huge: net(huge), packed, share, doubts }
    })
    .collect()
}

/// A load from this many lines that lie side by side.
fn packed(run: &Run, lines: u64) -> Option<&Cost> {
    let line = run.machine.cpu.caches.iter().find_map(|cache| cache.line).map_or(64, u64::from);
    costs(run, "memory.load").find(|cost| working_set(cost) == Some(lines * line))
}

fn loaded(run: &Run) -> Vec<Loaded> {
    let one = |cost: &Cost| {
        let load = cost.at.word("load")?;
        let set = working_set(cost)?;
        let is_idle = |other: &&Cost| other.at.word("load") == Some("idle") && working_set(other) == Some(set);
        let idle = costs(run, "memory.load.loaded").find(is_idle).filter(|_| load != "idle");
        let slowdown = idle.and_then(|idle| ratio(net(cost), net(idle)));
        let doubts = doubts_of_all([cost].into_iter().chain(idle));
        Some(Loaded { load: load.into(), set, latency: net(cost), slowdown, doubts })
    };
    costs(run, "memory.load.loaded").filter_map(one).collect()
}
