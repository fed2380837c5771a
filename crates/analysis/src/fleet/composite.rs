//! The families of a class: each of its costs, and all of them together as one figure of every run.

use std::collections::BTreeMap;

use super::class::Class;
use super::effects::{CostEffects, Effect, Sample, effects};
use super::options::{CLOCK, ENOUGH_NODES};
use super::table::{CostRows, Entry, RunFacts, Table};

/// The least scatter that a cost's weight in its family is made from, so that one exact cost does not stand for all.
const LEAST_SCATTER: f64 = 0.003;
/// A run with less than this share of a family's weight shows nothing of the family.
const LEAST_SHARE: f64 = 0.3;
/// The standard error of the clock of a run: what it is measured to.
const CLOCK_ERROR: f32 = 0.001;

/// The runs of a class: for each run of the table, the place of its node in the class, if it counts.
pub(super) struct ClassRuns {
    nodes: usize,
    of_run: Vec<Option<u32>>,
}

impl ClassRuns {
    pub fn of(table: &Table, class: &Class, current: &[bool]) -> ClassRuns {
        let places: BTreeMap<u32, u32> = class.nodes.iter().copied().zip(0..).collect();
        let place = |((node, _), current): (&(u32, _), &bool)| places.get(node).copied().filter(|_| *current);
        ClassRuns { nodes: class.nodes.len(), of_run: table.runs.iter().zip(current).map(place).collect() }
    }

    /// The runs that count.
    pub fn count(&self) -> usize {
        self.of_run.iter().flatten().count()
    }

    /// The place of the node of a run in the class.
    pub fn node(&self, run: u32) -> Option<usize> {
        self.of_run.get(run as usize).copied().flatten().map(|place| place as usize)
    }

    /// The effects of the nodes, from (run, sample) pairs.
    fn effects(&self, samples: impl Iterator<Item = (u32, Sample)>) -> Option<CostEffects> {
        let mut nodes = vec![Vec::new(); self.nodes];
        for (run, sample) in samples {
            if let Some(node) = self.node(run) {
                nodes[node].push(sample);
            }
        }
        effects(&nodes)
    }
}

pub(super) struct MemberCost<'a> {
    pub rows: &'a CostRows,
    pub effects: CostEffects,
    /// By the place of the node in its class: how many in a hundred of its figures carry a doubt.
    pub doubted: Vec<u8>,
}

/// A family over the nodes of a class.
pub(super) struct Family<'a> {
    pub name: String,
    pub costs: Vec<MemberCost<'a>>,
    /// All of its costs together.
    pub whole: CostEffects,
    /// True if the slower and the faster nodes are two populations, so that nobody is slow.
    pub two: bool,
}

impl Family<'_> {
    /// The effect of a node in the whole family.
    pub fn effect(&self, node: usize) -> Option<&Effect> {
        self.whole.nodes.get(node)?.as_ref()
    }

    /// The costs that enough nodes have for a test, with the effects of this one.
    pub fn tested(&self, node: usize) -> impl Iterator<Item = (&MemberCost<'_>, &Effect)> {
        let tested = self.costs.iter().filter(|cost| cost.effects.spread.nodes >= ENOUGH_NODES);
        tested.filter_map(move |cost| Some((cost, cost.effects.nodes.get(node)?.as_ref()?)))
    }

    /// The share of a node's figures in these costs that carry a doubt.
    pub fn doubted(&self, node: usize, of: impl Fn(&MemberCost<'_>) -> bool) -> f64 {
        let chosen =
            self.costs.iter().filter(|cost| of(cost) && cost.effects.nodes.get(node).is_some_and(Option::is_some));
        let (sum, count) = chosen.fold((0.0, 0.0), |(sum, count), cost| {
            (sum + f64::from(cost.doubted.get(node).copied().unwrap_or(0)), count + 1.0)
        });
        if count > 0.0 { sum / count / 100.0 } else { 0.0 }
    }
}

/// The clocks of all runs as the rows of a cost: the time of a cycle in ns.
pub(super) fn clock_rows(table: &Table) -> CostRows {
    let entry = |(run, (_, facts)): (usize, &(u32, RunFacts))| {
        let ghz = facts.clock_ghz.filter(|ghz| ghz.is_finite() && *ghz > 0.0)?;
        Some(Entry { run: run as u32, log: -ghz.ln() as f32, error: CLOCK_ERROR, doubt: 0 })
    };
    let entries = table.runs.iter().enumerate().filter_map(entry).collect();
    CostRows { operation: CLOCK.into(), name: "core clock".into(), entries }
}

/// The families of a class, in alphabetical order, the clock first.
pub(super) fn families<'a>(table: &'a Table, clock: &'a CostRows, runs: &ClassRuns) -> Vec<Family<'a>> {
    let mut by_name: BTreeMap<&str, Vec<&'a CostRows>> = BTreeMap::new();
    for cost in &table.costs {
        by_name.entry(cost.family()).or_default().push(cost);
    }
    let clock = std::iter::once((CLOCK, vec![clock]));
    clock.chain(by_name).filter_map(|(name, costs)| family(name, &costs, runs)).collect()
}

fn family<'a>(name: &str, costs: &[&'a CostRows], runs: &ClassRuns) -> Option<Family<'a>> {
    let member = |cost: &&'a CostRows| {
        let sample = |entry: &Entry| {
            (entry.run, Sample { log: f64::from(entry.log), error: f64::from(entry.error), lacking: 1.0 })
        };
        let effects = runs.effects(cost.entries.iter().map(sample))?;
        Some(MemberCost { rows: cost, effects, doubted: doubted(cost, runs) })
    };
    let costs: Vec<MemberCost<'a>> = costs.iter().filter_map(member).collect();
    let whole = match costs.as_slice() {
        [] => return None,
        [one] => one.effects.clone(),
        several => whole(several, runs)?,
    };
    Some(Family { name: name.into(), costs, whole, two: false })
}

fn doubted(cost: &CostRows, runs: &ClassRuns) -> Vec<u8> {
    let mut counts = vec![(0_u32, 0_u32); runs.nodes];
    for entry in &cost.entries {
        if let Some(node) = runs.node(entry.run) {
            counts[node].0 += u32::from(entry.doubt > 0);
            counts[node].1 += 1;
        }
    }
    counts.iter().map(|(some, all)| (100 * some / (*all).max(1)) as u8).collect()
}

/// What a run shows of a family: sums over its costs.
#[derive(Clone, Copy, Default)]
struct FamilySums {
    weight: f64,
    logs: f64,
    errors: f64,
    known_weight: f64,
}

/// All costs of a family as one: the mean of the logarithms over the class's median of each cost, weighted by what each scatters
/// between nodes.
fn whole(costs: &[MemberCost<'_>], runs: &ClassRuns) -> Option<CostEffects> {
    let weight = |cost: &MemberCost<'_>| 1.0 / (cost.effects.deviation.powi(2) + LEAST_SCATTER.powi(2));
    let all: f64 = costs.iter().map(weight).sum();
    let mut sums = vec![FamilySums::default(); runs.of_run.len()];
    for cost in costs {
        let (weight, middle) = (weight(cost), cost.effects.spread.middle);
        for entry in &cost.rows.entries {
            let sum = &mut sums[entry.run as usize];
            sum.weight += weight;
            sum.logs += weight * (f64::from(entry.log) - middle);
            if !entry.error.is_nan() {
                sum.errors += (weight * f64::from(entry.error)).powi(2);
                sum.known_weight += weight;
            }
        }
    }
    let sample = |(run, sum): (usize, &FamilySums)| {
        let error = if sum.known_weight > 0.0 { sum.errors.sqrt() / sum.known_weight } else { f64::NAN };
        let sample = Sample { log: sum.logs / sum.weight, error, lacking: (all / sum.weight).max(1.0) };
        (sum.weight >= LEAST_SHARE * all).then_some((run as u32, sample))
    };
    runs.effects(sums.iter().enumerate().filter_map(sample))
}
