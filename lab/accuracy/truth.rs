//! Whether the figures are right: a system call against a loop written by hand, instructions against their latencies.

use analysis::statistics::median;
use record::Nanoseconds;

use crate::Extent;
use crate::assembly::Assembly;
use crate::tool::{self, Howslow};

const PAIRS: u32 = 10;
const BUDGET: u32 = 2;
const OPERATIONS: [&str; 4] =
    ["syscall.getppid", "instruction.add.latency", "instruction.multiply.latency", "loop.empty"];

/// What one pair says: howslow's figure over the loop's, and the operations in cycles.
#[derive(Default)]
struct Pairs {
    to_median: Vec<f64>,
    to_minimum: Vec<f64>,
    in_cycles: Vec<f64>,
    cycles: [Vec<f64>; 4],
}

pub(crate) fn truth(howslow: &Howslow, extent: &Extent) -> anyhow::Result<()> {
    let (times, budget) = (extent.times(PAIRS), extent.budget(BUDGET));
    println!(
        "{times} pairs: howslow, then the loop written by hand; about {:.0} s",
        times as f32 * 2.0 * budget.as_secs_f32()
    );
    let assembly = Assembly::new(system::machine::describe().cpu.usable)?;
    let mut pairs = Pairs::default();
    println!("getppid         howslow             loop: median, minimum                      howslow / loop");
    for _ in 0..times {
        let run = howslow.run(&OPERATIONS, Some(budget))?;
        for (operation, cycles) in OPERATIONS.iter().zip(&mut pairs.cycles) {
            cycles.push(tool::cost(&run, operation)?.cycles);
        }
        let cost = tool::cost(&run, OPERATIONS[0])?;
        let ours = cost.quoted();
        let Some(by_hand) = assembly.take(budget)? else {
            println!("  {ours:>14}   no core was ours alone for a batch of the loop: the pair says nothing");
            continue;
        };
        let (typical, least) = (ours.0 / by_hand.median_ns, ours.0 / by_hand.minimum_ns);
        let in_cycles = cost.cycles / by_hand.cycles;
        println!(
            "  {ours:>14} {:7.1} cycles   {} {} {:7.1} cycles {:4} batches   {typical:.4} median {least:.4} minimum {in_cycles:.4} cycles",
            cost.cycles,
            Nanoseconds(by_hand.median_ns),
            Nanoseconds(by_hand.minimum_ns),
            by_hand.cycles,
            by_hand.batches,
        );
        pairs.to_median.push(typical);
        pairs.to_minimum.push(least);
        pairs.in_cycles.push(in_cycles);
    }
    conclude(&pairs);
    Ok(())
}

fn conclude(pairs: &Pairs) {
    let middle = |values: &[f64]| median(values.iter().copied()).unwrap_or(f64::NAN);
    println!(
        "howslow / loop, median of {} pairs: {:.4} to its median, {:.4} to its minimum, {:.4} in cycles",
        pairs.to_median.len(),
        middle(&pairs.to_median),
        middle(&pairs.to_minimum),
        middle(&pairs.in_cycles),
    );
    for (operation, cycles) in OPERATIONS.iter().zip(&pairs.cycles) {
        let (least, most) = cycles.iter().fold((f64::MAX, f64::MIN), |(low, high), c| (low.min(*c), high.max(*c)));
        println!("{operation:<22} {:8.3} cycles, from {least:.3} to {most:.3}", middle(cycles));
    }
}
