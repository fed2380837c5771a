//! Operations of every family against loops written for this bench alone, from each operation's summary: own system
//! calls, own instructions, own files and partners. They share no code with the operations, nor with the instrument's way
//! of timing, so that the same mistake is not made twice. Either takes turns with the other.

#[macro_use]
mod kernel;
mod address;
mod calls;
mod computing;
mod entry;
mod files;
mod harness;
#[cfg(target_arch = "x86_64")]
mod instructions;
#[cfg(target_arch = "x86_64")]
mod memory;
mod messages;
mod partner;
mod paths;
mod ring;
mod tasks;

use std::time::Duration;

use analysis::statistics::{median, quantile, sorted};
use record::units::percent;
use record::{Estimate, Run};

use crate::Extent;
use crate::figures::{part_under, share, spread};
use crate::tool::{self, Howslow};
pub(crate) use calls::getppid;
use entry::{Entry, Group};
pub(crate) use harness::{Batch, Taken, alone_in_child};

const WINDOWS: u32 = 3;
const BUDGET: u32 = 1;
/// Processes that time the loop in a window, before and after the instrument's run.
const CHILDREN: usize = 3;
/// How far above the best share of all its batches a quiet batch may be.
const TOLERANCE: f64 = 0.05;
/// Quiet batches that a process tells a figure by at least.
const FEWEST: usize = 3;
/// What agreement is.
const AGREES: f64 = 0.03;

#[cfg(target_arch = "x86_64")]
const OF_PROCESSOR: &[Group] = &[instructions::GROUP, memory::GROUP];
#[cfg(not(target_arch = "x86_64"))]
const OF_PROCESSOR: &[Group] = &[];
const OF_KERNEL: &[Group] = &[
    calls::GROUP,
    paths::GROUP,
    address::GROUP,
    files::GROUP,
    computing::GROUP,
    messages::GROUP,
    ring::GROUP,
    tasks::GROUP,
];

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

/// What came of it.
struct Compared {
    group: &'static str,
    name: String,
    ratio: f64,
}

pub(crate) fn independent(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let (windows, budget) = (extent.times(WINDOWS), extent.budget(BUDGET));
    let cpus = machine::describe().cpu.usable;
    let groups = || OF_PROCESSOR.iter().chain(OF_KERNEL);
    let asked = |entry: &&Entry| extent.only.as_ref().is_none_or(|text| entry.name().contains(text));
    let count: usize = groups().map(|group| group.entries.iter().filter(asked).count()).sum();
    println!(
        "{count} operations, {windows} windows of howslow and {} processes by hand each; about {:.0} s",
        2 * CHILDREN,
        count as f32 * windows as f32 * (budget.as_secs_f32() + 2.0 * CHILDREN as f32 * 0.2)
    );
    if cfg!(debug_assertions) {
        println!("this bench was built without optimization: the loops by hand take longer than they should");
    }
    let scratch = tempfile::tempdir()?;
    // The loops use names relative to a folder of their own; the processes inherit it.
    let before = std::env::current_dir()?;
    std::env::set_current_dir(&scratch)?;
    let (turn, alone) = turn_of_loop(&cpus);
    let bench = Bench { windows, budget, cpus, turn: turn.unwrap_or(1.0), alone };
    println!("a turn of the loop by hand: {} cycles", turn.map_or("-".into(), |turn| format!("{turn:.3}")));
    let (mut compared, mut missing) = (Vec::new(), Vec::new());
    for group in groups() {
        if group.entries.iter().filter(asked).count() > 0 {
            println!("{:<64} {:>12} {:>12}   ratio", group.title, "howslow", "by hand");
        }
        for entry in group.entries.iter().filter(asked) {
            match bench.beside(howslow, entry) {
                Ok(it) => compared.extend(say(group, entry, &it)),
                Err(why) => missing.push(format!("{}: {why:#}", entry.name())),
            }
        }
    }
    std::env::set_current_dir(before)?;
    conclude(&compared);
    missing.iter().for_each(|line| println!("  not compared: {line}"));
    Ok(())
}

/// What holds for all operations.
struct Bench {
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
    let empty = || {
        Ok(harness::Work::calls(|| {
            std::hint::black_box(());
            true
        }))
    };
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

impl Bench {
    fn beside(&self, howslow: &Howslow, entry: &Entry) -> anyhow::Result<Beside> {
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
            let run = howslow.run(&[&entry.name()], Some(self.budget))?;
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

fn say(group: &Group, entry: &Entry, it: &Beside) -> Option<Compared> {
    let [ours, by_hand] = [&it.ours, &it.by_hand].map(|values| median(values.iter().copied()));
    let (Some(ours), Some(by_hand)) = (ours, by_hand) else {
        println!("  {:<62} no batch of the loop was quiet", entry.name());
        return None;
    };
    let ratio = ours / by_hand;
    let unit = if it.in_cycles { "cycles" } else { "ns" };
    let range = |values: &[f64]| {
        let values = sorted(values.iter().copied());
        let middle = quantile(&values, 0.5).unwrap_or(f64::NAN);
        percent((values.last().unwrap_or(&middle) - values.first().unwrap_or(&middle)) / middle)
    };
    let mut doubts = it.doubts.clone();
    doubts.sort();
    doubts.dedup();
    println!(
        "  {:<62} {ours:>12.3} {by_hand:>12.3}   {ratio:.3} {} ({unit}; ranges {}, {}){}",
        entry.name(),
        if (ratio - 1.0).abs() <= AGREES { "     " } else { "DIFFERS" },
        range(&it.ours),
        range(&it.by_hand),
        if doubts.is_empty() { String::new() } else { format!(" doubts: {}", doubts.join("; ")) },
    );
    Some(Compared { group: group.title, name: entry.name(), ratio })
}

fn conclude(compared: &[Compared]) {
    let off = |it: &&Compared| (it.ratio - 1.0).abs();
    let agreeing = |of: &[&Compared]| part_under(AGREES, &of.iter().map(off).collect::<Vec<_>>());
    let all: Vec<&Compared> = compared.iter().collect();
    println!("\nwithin {}: {} of {} operations", percent(AGREES), share(agreeing(&all)), all.len());
    println!("off by {}", spread(all.iter().map(off)));
    for group in OF_PROCESSOR.iter().chain(OF_KERNEL) {
        let of: Vec<&Compared> = all.iter().copied().filter(|it| it.group == group.title).collect();
        if !of.is_empty() {
            println!("  {:<44} {:>6} of {}", group.title, share(agreeing(&of)), of.len());
        }
    }
    let mut departures: Vec<&Compared> = all.into_iter().filter(|it| off(it) > AGREES).collect();
    departures.sort_by(|a, b| off(b).total_cmp(&off(a)));
    println!("departures");
    for it in departures {
        println!("  {:<62} {:.3}", it.name, it.ratio);
    }
}
