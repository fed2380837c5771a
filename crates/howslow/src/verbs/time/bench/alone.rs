//! One bench program: each benchmark is measured, kept and shown as every operation is.

use std::path::Path;

use catalogue::bench::{ALLOCATED, ALLOCATIONS, BYTES, BenchOptions, EMPTY, ITEMS, KEPT, benchmark};
use catalogue::command::Cpus;
use operation::{Item, TermOf, term};
use record::units::{grouped, rate};
use record::{Bytes, Cost, Estimate, Nanoseconds, Point, Skip, printable};

use super::others::Harness;
use super::selection::{PATIENCE, none, selected, unknown};
use crate::output::{self, Misuse, Outcome, print_note};
use crate::session::{self, Wanted};
use crate::verbs::time::args::TimeArgs;

/// The heading of the page's benchmarks.
const BENCHMARKS: &str = "benchmarks";

/// Seconds for each benchmark, if the command line has no budget.
const EACH: f64 = 2.0;

/// The least time in all: a run looks around first.
const LEAST: f64 = 4.0;

/// More than this in all needs a budget of the user's own.
const MOST: f64 = 300.0;

pub(super) fn alone(program: &Path, args: &TimeArgs) -> anyhow::Result<Outcome> {
    let harness = Harness::of(program).ok_or_else(|| unknown(program))?;
    if harness != Harness::Own {
        let why = format!("a program of {} times itself; give an old and a new one to compare them", harness.name());
        return Err(Misuse(why).into());
    }
    let patience = args.patience.unwrap_or(PATIENCE);
    let listed = instruments::bench::listed(program, patience).map_err(Misuse)?;
    let names = selected(listed, &args.bench);
    if names.is_empty() {
        return Err(none(program).into());
    }
    let budget_s = (EACH * (names.len() + 1) as f64).clamp(LEAST, MOST);
    let quoted = if args.waits { Estimate::Typical } else { Estimate::Quiet };
    let running = BenchOptions { patience, quoted, cpus: if args.all_cpus { Cpus::All } else { Cpus::One } };
    let empty = benchmark(program, EMPTY, running, &[]);
    // The loop of the program is a part of every benchmark.
    let terms: &[TermOf] = Box::leak(Box::new([term(1.0, empty.id)]));
    let operation = |name: &String| benchmark(program, name, running, terms);
    let all = names.iter().map(operation).chain([empty]);
    let items = all.map(|operation| Item { operation, point: Point::default() }).collect();
    let wanted = Wanted { items, patterns: names.clone(), full: false, paired: 0, budget_s };
    let mut measured = session::measure(wanted, &args.measure)?;
    let run = &mut measured.run;
    for cost in &mut run.costs {
        if names.contains(&cost.operation) || cost.operation == EMPTY {
            cost.group = BENCHMARKS.into();
        }
    }
    let is_named = |skip: &Skip| names.contains(&skip.operation);
    let nothing = !run.costs.iter().any(|cost| names.contains(&cost.operation)) && measured.interrupted.is_none();
    let notes = notes(&run.costs);
    let outcome = session::print_compared(measured, &args.measure, (None, ""), &is_named)?;
    if nothing {
        anyhow::bail!("no benchmark could be timed; the page says why");
    }
    if !args.measure.json && !args.measure.csv {
        output::print_page(&notes)?;
    }
    print_note(&format!("to compare it with another build: --against REVISION ({})", output::shown(program)));
    Ok(outcome)
}

/// What iterations process in a second and allocate, one line a benchmark that says it.
fn notes(costs: &[Cost]) -> String {
    let mut text = String::new();
    for cost in costs {
        let tally = |name: &str| cost.tallies.get(name).copied().filter(|count| *count > 0.0);
        let second = |count: f64| rate(Nanoseconds(cost.quoted().0 / count));
        let counted = |name: &str, what: &str| tally(name).map(|count| format!("{} {what}", grouped(count)));
        let size = |name: &str, what: &str| tally(name).map(|bytes| format!("{} {what}", Bytes(bytes.round() as u64)));
        let parts = [
            tally(BYTES).map(|count| format!("{}B a second", second(count))),
            tally(ITEMS).map(|count| format!("{} items a second", second(count))),
            counted(ALLOCATIONS, "allocations an iteration"),
            size(ALLOCATED, "allocated"),
            size(KEPT, "never given back"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            text += &format!("  {}: {}\n", printable(&cost.operation), parts.join(", "));
        }
    }
    text
}
