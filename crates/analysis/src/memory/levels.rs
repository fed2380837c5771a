//! The levels of memory, found in the curve of random loads by working set, beside the caches that the machine
//! declares.

use record::{Bytes, Cost, Doubt, Run};
use serde::Serialize;

use super::costs::{costs, working_set};
use crate::derived::net;
use crate::form::{As, TimeFigure};
use crate::statistics::Interval;
use crate::sums::doubts_of;

/// A load at one working set.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Bytes of the working set.
    pub set: u64,
    /// The load, ns.
    pub latency: Interval,
    /// The load in core cycles.
    pub cycles: f64,
    pub doubts: Vec<Doubt>,
}

/// A range of working sets over which a load takes about the same time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// `L1`, `L2`, `L3`, `memory`; `level 1` if the machine declares no caches.
    #[serde(rename = "level")]
    pub name: String,
    /// Its smallest working set, bytes.
    #[serde(rename = "from_bytes")]
    pub from: u64,
    /// The largest, bytes.
    #[serde(rename = "to_bytes")]
    pub to: u64,
    /// The load in its middle.
    #[serde(rename = "load", with = "As::<TimeFigure>")]
    pub latency: Interval,
    /// The same in core cycles.
    pub cycles: f64,
    /// Its declared size, bytes.
    #[serde(rename = "declared_bytes")]
    pub declared: Option<u64>,
    /// The doubts of the load in its middle.
    pub doubts: Vec<Doubt>,
}

/// The levels found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Levels {
    /// The curve they were found in, smallest set first.
    #[serde(skip)]
    pub curve: Vec<Step>,
    /// The levels, nearest first.
    #[serde(rename = "levels")]
    pub found: Vec<Level>,
    /// Differences between the curve and the declared sizes, in sentences.
    pub disagreements: Vec<String>,
}

/// Within a level, a load may take this factor more per doubling of the working set. The parts served by the level
/// before and by the next level change that much, and more only near an edge.
const FLAT: f64 = 1.15;

/// The levels that the run's random loads show; empty without them.
pub fn levels(run: &Run) -> Levels {
    let curve = curve(run);
    let plateaus = plateaus(&curve);
    let declared = declared(run);
    let mut found: Vec<Level> = Vec::new();
    for (place, steps) in plateaus.iter().enumerate() {
        let (first, last) = (&steps[0], &steps[steps.len() - 1]);
        let middle = &steps[steps.len() / 2];
        let holding = declared.iter().find(|(_, size)| middle.set <= *size);
        let taken = |name: &str| found.iter().any(|level: &Level| level.name == name);
        let (name, size) = match holding {
            _ if declared.is_empty() => (format!("level {}", place + 1), None),
            Some((name, size)) if !taken(name) => (name.clone(), Some(*size)),
            Some((name, _)) => (format!("beyond {name}"), None),
            None if taken("memory") => (format!("memory {}", place + 1), None),
            None => ("memory".into(), None),
        };
        let (latency, cycles) = (middle.latency, middle.cycles);
        let doubts = middle.doubts.clone();
        found.push(Level { name, from: first.set, to: last.set, latency, cycles, declared: size, doubts });
    }
    let disagreements = disagreements(&curve, &found, &declared);
    Levels { curve, found, disagreements }
}

impl Levels {
    /// The level of a working set, or the two levels that it lies between; empty if no levels were found.
    pub fn name_of(&self, set: u64) -> String {
        let Some(place) = self.found.iter().position(|level| set <= level.to) else {
            return self.found.last().map_or_else(String::new, |last| last.name.clone());
        };
        let level = &self.found[place];
        match place.checked_sub(1).map(|before| &self.found[before]) {
            Some(before) if set < level.from && !self.declares(before, set) => {
                format!("{} to {}", before.name, level.name)
            }
            Some(before) if set < level.from => before.name.clone(),
            _ => level.name.clone(),
        }
    }

    /// True if a level's declared size alone contains the set, because the curve has no step there.
    fn declares(&self, level: &Level, set: u64) -> bool {
        let measured = self.curve.iter().any(|step| step.set > level.to && step.set <= set);
        !measured && level.declared.is_some_and(|size| set <= size)
    }
}

fn curve(run: &Run) -> Vec<Step> {
    let step = |cost: &Cost| {
        Some(Step { set: working_set(cost)?, latency: net(cost), cycles: cost.cycles, doubts: doubts_of(cost) })
    };
    let mut curve: Vec<Step> = costs(run, "memory.load").filter_map(step).collect();
    curve.sort_by_key(|step| step.set);
    curve.dedup_by_key(|step| step.set);
    curve
}

/// The data caches that the machine declares, smallest first.
fn declared(run: &Run) -> Vec<(String, u64)> {
    let data = run.machine.cpu.caches.iter().filter(|cache| cache.kind != "instruction" && cache.size.0 > 0);
    let mut caches: Vec<(String, u64)> = data.map(|cache| (format!("L{}", cache.level), cache.size.0)).collect();
    caches.sort_by_key(|(_, size)| *size);
    caches.dedup_by(|one, other| one.0 == other.0);
    caches
}

/// The ranges of neighbours that differ little per doubling. A single step between two rises is part of the rise. At
/// either end it is a level that is only partly visible.
fn plateaus(curve: &[Step]) -> Vec<&[Step]> {
    let is_flat = |one: &Step, other: &Step| {
        let doublings = (other.set as f64 / one.set as f64).log2();
        (other.latency.value / one.latency.value).powf(1.0 / doublings) <= FLAT
    };
    let runs: Vec<&[Step]> = curve.chunk_by(is_flat).collect();
    let last = runs.len().saturating_sub(1);
    let kept = runs.iter().enumerate().filter(|(place, run)| run.len() > 1 || *place == 0 || *place == last);
    kept.map(|(_, run)| *run).collect()
}

fn disagreements(curve: &[Step], found: &[Level], declared: &[(String, u64)]) -> Vec<String> {
    let (Some(smallest), Some(largest)) = (curve.first(), curve.last()) else { return Vec::new() };
    let mut said = Vec::new();
    let mut before = 0;
    for (name, size) in declared {
        let looked_at = curve.iter().filter(|step| step.set > before && step.set <= *size).count() > 1;
        before = *size;
        let declares = format!("{name} is declared to hold {}", Bytes(*size));
        let Some(level) = found.iter().find(|level| level.name == *name) else {
            if looked_at && smallest.set < *size && largest.set > *size {
                said.push(format!("{declares}, but loads show no level there"));
            }
            continue;
        };
        let next = curve.iter().find(|step| step.set > level.to);
        if level.to > *size {
            said.push(format!("{declares}, but loads are as fast up to {}", Bytes(level.to)));
        } else if let Some(next) = next.filter(|next| next.set < *size) {
            said.push(format!(
                "{declares}, but loads are slower from {} on: others use it too, or a part of it is ours only",
                Bytes(next.set)
            ));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{self, unified};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// A run with these load times, on a machine that declares these caches.
    fn run(curve: &[(u64, f64)], caches: &[(u32, u64)]) -> Run {
        let mut run = example::with_costs(curve.iter().map(|&(set, ns)| {
            let cost = example::cost(&format!("memory.load@set={set}"), ns, ns * 0.01);
            Cost { cycles: ns * 4.0, ..cost }
        }));
        run.machine.cpu.caches = caches.iter().map(|&(level, size)| unified(level, size)).collect();
        run
    }

    /// A rented Granite Rapids, as measured.
    const RENTED: [(u64, f64); 12] = [
        (4 * KIB, 1.29),
        (16 * KIB, 1.29),
        (64 * KIB, 4.11),
        (256 * KIB, 4.13),
        (MIB, 5.27),
        (2 * MIB, 18.9),
        (4 * MIB, 84.8),
        (8 * MIB, 112.0),
        (16 * MIB, 134.0),
        (32 * MIB, 141.0),
        (64 * MIB, 148.0),
        (256 * MIB, 200.0),
    ];

    #[test]
    fn plateaus_are_named_by_the_caches_declared() {
        let levels = levels(&run(&RENTED, &[(1, 48 * KIB), (2, 2 * MIB), (3, 480 * MIB)]));
        let found: Vec<_> =
            levels.found.iter().map(|level| (level.name.as_str(), level.from, level.to, level.latency.value)).collect();
        assert_eq!(
            found,
            [
                ("L1", 4 * KIB, 16 * KIB, 1.29),
                ("L2", 64 * KIB, MIB, 4.13),
                ("L3", 16 * MIB, 64 * MIB, 141.0),
                ("beyond L3", 256 * MIB, 256 * MIB, 200.0)
            ]
        );
        assert_eq!(
            levels.disagreements,
            ["L3 is declared to hold 480 MiB, but loads are slower from 256 MiB on: others use it too, or a part of \
              it is ours only"]
        );
        assert_eq!(levels.name_of(8 * KIB), "L1");
        assert_eq!(levels.name_of(32 * KIB), "L1");
        assert_eq!(levels.name_of(4 * MIB), "L2 to L3");
        assert_eq!(levels.name_of(512 * MIB), "beyond L3");
    }

    #[test]
    fn a_machine_that_declares_nothing_still_has_levels() {
        let levels = levels(&run(&RENTED, &[]));
        let names: Vec<&str> = levels.found.iter().map(|level| level.name.as_str()).collect();
        assert_eq!(names, ["level 1", "level 2", "level 3", "level 4"]);
        assert!(levels.disagreements.is_empty());
    }

    #[test]
    fn a_cache_that_holds_more_or_shows_nothing_is_reported() {
        let small = levels(&run(&RENTED, &[(1, 48 * KIB), (2, 512 * KIB), (3, 32 * MIB)]));
        assert_eq!(
            small.disagreements,
            [
                "L2 is declared to hold 512 KiB, but loads are as fast up to 1 MiB",
                "L3 is declared to hold 32 MiB, but loads are as fast up to 64 MiB"
            ]
        );
        let flat = [(4 * KIB, 2.0), (16 * KIB, 2.0), (64 * KIB, 2.0), (256 * KIB, 2.0), (MIB, 9.0)];
        let missing = levels(&run(&flat, &[(1, 20 * KIB), (2, 512 * KIB)]));
        assert_eq!(missing.disagreements, ["L1 is declared to hold 20 KiB, but loads show no level there"]);
    }

    #[test]
    fn a_run_without_loads_has_no_levels() {
        let none = levels(&run(&[], &[(1, 48 * KIB)]));
        assert_eq!(none, Levels::default());
        assert_eq!(none.name_of(MIB), "");
    }
}
