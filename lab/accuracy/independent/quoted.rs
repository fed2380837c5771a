//! What howslow quotes against loops by hand in processes of their own, before and after each of its runs: what a user
//! gets, but as far from the loops as the core was disturbed meanwhile.

use std::time::Duration;

use analysis::statistics::{median, quantile, sorted};
use record::units::percent;
use record::{Estimate, Run};

use super::entry::Entry;
use super::harness::{Batch, Taken, alone_in_child, empty};
use crate::Extent;
use crate::tool::{self, Howslow};

const WINDOWS: u32 = 3;
const BUDGET: u32 = 1;
/// Processes that time the loop in a window, before and after the instrument's run.
const CHILDREN: usize = 3;
/// How far above the best share of all its batches a quiet batch may be.
const TOLERANCE: f64 = 0.05;
/// Quiet batches that a process tells a figure by at least.
const FEWEST: usize = 3;

/// What the windows said of one operation.
#[derive(Default)]
struct Beside {
    /// The instrument's figure of each window.
    ours: Vec<f64>,
    /// The loop's: each process's median.
    by_hand: Vec<f64>,
    in_cycles: bool,
    doubts: Vec<String>,
}

/// What holds for all operations.
pub(super) struct Quoted<'a> {
    howslow: &'a Howslow,
    windows: u32,
    budget: Duration,
    cpus: Vec<u32>,
    /// Cycles of the loop around each work.
    turn: f64,
    /// The share that checks show on a core that is ours alone.
    alone: f64,
}

/// The loop around each work in cycles, measured as everything here, and what the best checks show meanwhile.
fn turn_of_loop(cpus: &[u32]) -> (Option<f64>, f64) {
    let mut all = Vec::new();
    for cpu in cpus.iter().cycle().take(2 * CHILDREN) {
        if let Taken::Batches(batches) = alone_in_child(*cpu, &empty) {
            all.extend(batches);
        }
    }
    let alone = best_share(&all);
    (quiet_median(&all, alone, true), alone)
}

/// A low quantile: not the least, because whatever delays a chain makes the adds beside it look cheap.
fn best_share(batches: &[Batch]) -> f64 {
    quantile(&sorted(batches.iter().map(|batch| batch.share)), 0.05).unwrap_or(f64::INFINITY)
}

fn quiet_median(batches: &[Batch], best: f64, in_cycles: bool) -> Option<f64> {
    // A chain of adds that was delayed makes the core look emptier than empty.
    let alone = best * (1.0 - TOLERANCE)..=best * (1.0 + TOLERANCE);
    let quiet = batches.iter().filter(|batch| best.is_infinite() || alone.contains(&batch.share));
    let figures: Vec<f64> = quiet.map(|batch| if in_cycles { batch.cycles() } else { batch.ns }).collect();
    if figures.len() < FEWEST { None } else { median(figures) }
}

impl Quoted<'_> {
    pub(super) fn new<'a>(howslow: &'a Howslow, extent: &Extent, cpus: &[u32]) -> Quoted<'a> {
        let (turn, alone) = turn_of_loop(cpus);
        println!("a turn of the loop by hand: {} cycles", turn.map_or("-".into(), |turn| format!("{turn:.3}")));
        let (windows, budget) = (extent.times(WINDOWS), extent.budget(BUDGET));
        Quoted { howslow, windows, budget, cpus: cpus.to_vec(), turn: turn.unwrap_or(1.0), alone }
    }

    /// What howslow quotes over the loop by hand, in words.
    ///
    /// # Errors
    /// When either cannot be had.
    pub(super) fn ratio(&self, entry: &Entry) -> anyhow::Result<String> {
        Ok(said(&self.beside(entry)?))
    }

    fn beside(&self, entry: &Entry) -> anyhow::Result<Beside> {
        let mut it = Beside::default();
        let mut children = Vec::new();
        let mut run_children = |number: u32| -> anyhow::Result<()> {
            for child in 0..CHILDREN {
                let cpu = self.cpus[(child + number as usize) % self.cpus.len()];
                match alone_in_child(cpu, &entry.make) {
                    Taken::Batches(batches) => children.push(batches),
                    Taken::Failed(why) => anyhow::bail!("by hand: {why}"),
                }
            }
            Ok(())
        };
        let (mut waits, mut subtracted) = (false, false);
        for window in 0..self.windows {
            run_children(window)?;
            let run = self.howslow.run(&[&entry.name()], Some(self.budget))?;
            let cost = cost(&run, entry)?;
            waits = cost.headline == Estimate::Typical;
            it.in_cycles = cost.follows_clock && !waits;
            subtracted = cost.terms.iter().any(|term| term.operation == "loop.empty");
            it.ours.push(if it.in_cycles { cost.cycles } else { cost.quoted().0 });
            it.doubts.extend(cost.doubts.iter().map(ToString::to_string));
            run_children(window + 1)?;
        }
        // What waits is quoted by all its batches, and so it is here.
        let best = if waits { f64::INFINITY } else { self.alone };
        let cycle = median(children.iter().flatten().map(|batch| batch.cycle)).unwrap_or(1.0);
        let turn = if it.in_cycles { self.turn } else { self.turn * cycle };
        let less = if subtracted { entry.turns * turn } else { 0.0 };
        let medians = children.iter().filter_map(|batches| quiet_median(batches, best, it.in_cycles));
        it.by_hand = medians.map(|figure| figure - less).collect();
        Ok(it)
    }
}

/// The cost that the entry is about, at its own point.
fn cost<'a>(run: &'a Run, entry: &Entry) -> anyhow::Result<&'a record::Cost> {
    let found = run.costs.iter().filter(|cost| cost.operation == entry.id).collect::<Vec<_>>();
    match found.as_slice() {
        [one] => Ok(one),
        [] => tool::cost(run, entry.id),
        several => anyhow::bail!("{} costs are meant by {}: name one point", several.len(), entry.name()),
    }
}

fn said(it: &Beside) -> String {
    let [ours, by_hand] = [&it.ours, &it.by_hand].map(|values| median(values.iter().copied()));
    let (Some(ours), Some(by_hand)) = (ours, by_hand) else { return "no batch of the loop was quiet".into() };
    let range = |values: &[f64]| {
        let values = sorted(values.iter().copied());
        let middle = quantile(&values, 0.5).unwrap_or(f64::NAN);
        percent((values.last().unwrap_or(&middle) - values.first().unwrap_or(&middle)) / middle)
    };
    let mut doubts = it.doubts.clone();
    doubts.sort();
    doubts.dedup();
    format!(
        "quoted {ours:.3}, by hand {by_hand:.3} {}: {:.3} (ranges {}, {}){}",
        if it.in_cycles { "cycles" } else { "ns" },
        ours / by_hand,
        range(&it.ours),
        range(&it.by_hand),
        if doubts.is_empty() { String::new() } else { format!(" doubts: {}", doubts.join("; ")) },
    )
}
