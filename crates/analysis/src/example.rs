//! For tests: the example run, and costs made from one of its own.

use std::sync::LazyLock;

use record::{Bytes, Cache, Cost, Figures, Point, Round, Run, Skip, Term};

use crate::again::recompute;
use crate::prior::Prior;

static EXAMPLE: LazyLock<Run> = LazyLock::new(|| {
    record::run_from_bytes(include_bytes!("../../record/tests/data/example-run.json")).expect("a run")
});

pub(crate) fn run() -> Run {
    EXAMPLE.clone()
}

/// The example run with these costs instead of its own.
pub(crate) fn with_costs(costs: impl IntoIterator<Item = Cost>) -> Run {
    Run { costs: costs.into_iter().collect(), ..run() }
}

/// A cache of this level and size in bytes.
pub(crate) fn unified(level: u32, size: u64) -> Cache {
    Cache { level, kind: "unified".into(), size: Bytes(size), ..Cache::default() }
}

pub(crate) fn skip(operation: &str, reason: &str) -> Skip {
    Skip { operation: operation.into(), at: Point::default(), reason: reason.into(), remedy: String::new() }
}

pub(crate) fn term(times: f64, operation: &str) -> Term {
    Term { times, operation: operation.into(), at: Point::default() }
}

/// An undisturbed round whose batches took these times, at a cycle of 1 ns.
pub(crate) fn round(ns: &[f64]) -> Round {
    Round {
        order: 0,
        cpu: 0,
        times: 1,
        ns: ns.to_vec(),
        cycle_ns: vec![1.0; ns.len()],
        width: vec![1.0; ns.len()],
        quiet: vec![true; ns.len()],
        survey: Some(true),
        launcher: 0,
        cpu_ns: None,
        wait_ns: None,
        queued_ns: None,
        lost: None,
    }
}

/// A run of one cost, whose rounds of ten batches took these times and were undisturbed or not.
pub(crate) fn of_rounds(times: &[f64], quiet: bool) -> Run {
    let mut run = run();
    run.costs.retain(|cost| cost.operation == "syscall.getppid");
    let cost = &mut run.costs[0];
    cost.terms.clear();
    let cycle_ns = vec![run.noise.cycle_ns; 10];
    let one = |ns: &f64| Round { cycle_ns: cycle_ns.clone(), quiet: vec![quiet; 10], ..round(&[*ns; 10]) };
    cost.rounds = times.iter().map(one).collect();
    recompute(&mut run, &|_| Prior::DEFAULT);
    run
}

/// A cost by its name, such as `pipe.self@size=26`, with its figure and half its interval.
pub(crate) fn cost(name: &str, value: f64, half: f64) -> Cost {
    let (operation, at) = name.split_once('@').unwrap_or((name, ""));
    Cost {
        operation: operation.into(),
        at: Point::of_text(at),
        net_ns: Figures::given(value, value - half, value + half),
        doubts: Vec::new(),
        explained_by: Vec::new(),
        rounds: Vec::new(),
        ..EXAMPLE.costs[0].clone()
    }
}
