//! How far quiet figures move while another program keeps one CPU busy, and whether the run says that one did.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use analysis::statistics::median;
use anyhow::Context;
use record::units::percent;
use record::{Doubt, Estimate, Run};

use crate::Extent;
use crate::figures::{part_under, share, spread};
use crate::tool::Howslow;

const PAIRS: u32 = 5;
const BUDGET: u32 = 13;
/// Moves above which an operation is listed.
const LISTED: f64 = 0.03;
/// Families whose operations are the work of more than one task.
const SEVERAL_TASKS: [&str; 3] = ["switch", "thread", "process"];

/// The runs on an idle machine, or on a busy one.
#[derive(Default)]
struct Side {
    runs: Vec<Run>,
}

pub(crate) fn busy(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let (times, budget) = (extent.times(PAIRS), extent.budget(BUDGET));
    let cpu = *system::machine::describe().cpu.usable.first().context("no CPU")?;
    let operations = one_task();
    println!(
        "{times} pairs of runs of {} operations, without and with a program that spins on CPU {cpu}; about {:.0} s",
        operations.len(),
        times as f32 * 2.0 * budget.as_secs_f32()
    );
    let (mut idle, mut busy) = (Side::default(), Side::default());
    for round in 0..times {
        if round % 2 == 0 {
            idle.runs.push(howslow.run(&operations, Some(budget))?);
            busy.runs.push(beside_spinning(cpu, howslow, &operations, budget)?);
        } else {
            busy.runs.push(beside_spinning(cpu, howslow, &operations, budget)?);
            idle.runs.push(howslow.run(&operations, Some(budget))?);
        }
    }
    for (title, side) in [("idle", &idle), ("busy", &busy)] {
        let others = median(side.runs.iter().map(|run| run.noise.others));
        println!(
            "{title}  others used {} of the machine's CPU time by the runs' own account; never quiet: {} of {} costs",
            share(others),
            side.never_quiet(),
            side.runs.iter().map(|run| run.costs.len()).sum::<usize>(),
        );
    }
    let (even, odd) = (idle.figures(|run| run % 2 == 0), idle.figures(|run| run % 2 == 1));
    if times > 1 {
        println!("idle runs among themselves differ by {}", spread(moves(&even, &odd).into_values().map(f64::abs)));
    }
    conclude(&idle.figures(|_| true), &busy.figures(|_| true));
    Ok(())
}

/// The ids of the headline operations that one task on one CPU performs.
fn one_task() -> Vec<&'static str> {
    let alone = |operation: &&operation::Operation| {
        operation.headline
            && operation.quoted == Estimate::Quiet
            && !SEVERAL_TASKS.contains(&operation.family())
            && operation.points(true).iter().all(|point| point.word("distance").is_none())
    };
    catalogue::all().filter(alone).map(|operation| operation.id).collect()
}

/// A run while a thread of this process, which is another program to howslow, spins.
fn beside_spinning(cpu: u32, howslow: &Howslow, operations: &[&str], budget: Duration) -> anyhow::Result<Run> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let spinning = scope.spawn(|| {
            let pinned = operation::pin(cpu);
            let mut sum = 0_u64;
            while pinned.is_ok() && !done.load(Ordering::Relaxed) {
                sum = black_box(sum.wrapping_add(1));
            }
            pinned
        });
        let run = howslow.run(operations, Some(budget));
        done.store(true, Ordering::Relaxed);
        let pinned = spinning.join().map_err(|_| anyhow::anyhow!("the spinning thread panicked"))?;
        pinned.map_err(|failure| anyhow::anyhow!("cannot spin on CPU {cpu}: {failure:?}"))?;
        run
    })
}

impl Side {
    /// Per cost on one CPU, the median of its quiet figures over the runs of these numbers.
    fn figures(&self, counts: impl Fn(usize) -> bool) -> BTreeMap<String, f64> {
        let mut quiet: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let runs = self.runs.iter().enumerate().filter(|(number, _)| counts(*number));
        for cost in runs.flat_map(|(_, run)| &run.costs).filter(|cost| cost.cpus < 2) {
            quiet.entry(cost.name()).or_default().push(cost.net_ns.quiet.0);
        }
        quiet.into_iter().filter_map(|(name, figures)| Some((name, median(figures)?))).collect()
    }

    fn never_quiet(&self) -> usize {
        let costs = self.runs.iter().flat_map(|run| &run.costs);
        costs.filter(|cost| cost.doubts.contains(&Doubt::NeverQuiet)).count()
    }
}

/// By how much of itself each figure is another on the other side.
fn moves(from: &BTreeMap<String, f64>, to: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    let positive = from.iter().filter(|(_, figure)| **figure > 0.0);
    positive.filter_map(|(name, from)| Some((name.clone(), to.get(name)? / from - 1.0))).collect()
}

fn conclude(idle: &BTreeMap<String, f64>, busy: &BTreeMap<String, f64>) {
    let mut moves: Vec<(String, f64)> = moves(idle, busy).into_iter().collect();
    moves.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let sizes: Vec<f64> = moves.iter().map(|(_, by)| by.abs()).collect();
    println!("quiet figures move by {}", spread(sizes.iter().copied()));
    println!("by less than {}: {} of them", percent(LISTED), share(part_under(LISTED, &sizes)));
    for (name, by) in moves.iter().filter(|(_, by)| by.abs() >= LISTED) {
        println!("  {name:<40} {:>8}", percent(*by));
    }
    let lost: Vec<&str> = idle.keys().filter(|name| !busy.contains_key(*name)).map(String::as_str).collect();
    if !lost.is_empty() {
        println!("not measured when busy: {}", lost.join(", "));
    }
}
