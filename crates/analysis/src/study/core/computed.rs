//! What follows from the paper's figures: its shares and counts in the form of costs, and what the model makes of them.
//!
//! A share of the CPU stands as milliseconds of each second, and a page fault as one millisecond, so that they can be compared as
//! costs are.

use record::{Cost, Figures};

use super::runs::{DETAILED, PAIRS, RUNS, between, cost, fact, interactions};
use crate::model::depth;
use crate::statistics::Interval;
use crate::study::definition::Paper;

/// Nanoseconds of a percent: ten milliseconds of each second.
const PERCENT: f64 = 1e7;
const MS: f64 = 1e6;
/// How near a prediction is said to be: in percent of the CPU's time.
const NEAR: f64 = 2.5;

/// The run that the page wait is fitted on.
pub(super) const FITTED: &str = "mpm97";

pub(super) fn costs(paper: &Paper) -> Vec<Cost> {
    let Some(pattern) = paper.run.costs.first() else { return Vec::new() };
    let made = |operation: String, figure: Interval| {
        let figures = Figures::given(figure.value, figure.low, figure.high);
        Cost {
            operation,
            summary: "computed from printed figures".into(),
            net_ns: figures,
            gross_ns: figures,
            ..pattern.clone()
        }
    };
    let mut all = Vec::new();
    for run in &RUNS {
        let faults = Interval::exactly(fact(paper, run.name, "faults") * MS);
        all.push(made(format!("core.{}.faults", run.name), faults));
    }
    for run in DETAILED {
        for (what, of) in [("idle", "idle multiprogramming"), ("drum", "drum"), ("disk", "disk")] {
            all.push(made(format!("core.{run}.{what}"), percent(fact(paper, run, of)).times(PERCENT)));
        }
    }
    for (less, more, system, _) in PAIRS {
        let explained = explained(paper, less, more, system);
        all.extend(explained.map(|explained| made(format!("core.explained.{system}"), explained)));
    }
    for (name, runs) in [("core.model.miss.384", ["mpm98", "mpm102"].as_slice()), ("core.model.miss.256", &["mpm103"])]
    {
        all.extend(worst(paper, runs).map(|miss| made(name.into(), miss.times(PERCENT))));
    }
    all.push(made("core.model.near".into(), Interval::exactly(NEAR * PERCENT)));
    all
}

/// A whole percentage, as exact as its digits.
fn percent(value: f64) -> Interval {
    Interval::around(value, 0.5)
}

/// Processor time of the whole script for the page faults that more memory saved, in ns.
fn explained(paper: &Paper, less: &str, more: &str, system: &str) -> Option<Interval> {
    let saved = fact(paper, less, "faults") - fact(paper, more, "faults");
    Some(paper.cost(&format!("core.handling.{system}"))?.times(saved))
}

/// Processor time of an interaction that page faults explain, and that which was saved, in ms; faults saved for an interaction.
pub(super) fn decrease(paper: &Paper, less: &str, more: &str, system: &str) -> Option<(f64, f64, f64)> {
    let each = interactions(paper);
    let saved = (cost(paper, less, "cpu")?.value - cost(paper, more, "cpu")?.value) / each / MS;
    let faults = (fact(paper, less, "faults") - fact(paper, more, "faults")) / each;
    Some((explained(paper, less, more, system)?.value / each / MS, saved, faults))
}

/// The share of time in which three processes are eligible: all but what is idle for want of them.
pub(super) fn full(paper: &Paper, run: &str) -> f64 {
    1.0 - (fact(paper, run, "idle non-multiprogramming") + fact(paper, run, "idle zero")) / 100.0
}

/// The page wait in ms that gives the multiprogramming idle of the fitted run, with what the rounding of its figures leaves open.
pub(super) fn page_wait(paper: &Paper) -> Option<Interval> {
    let between = between(paper, FITTED)?;
    let idle = percent(fact(paper, FITTED, "idle multiprogramming")).times(0.01);
    let full = full(paper, FITTED);
    // More idle, and longer times between faults for the same idle, both mean a longer wait.
    let at = |of: fn(&Interval) -> f64| depth::page_wait(&between.each_ref().map(of), of(&idle), full);
    Some(Interval {
        value: at(|interval| interval.value)?,
        low: at(|interval| interval.low)?,
        high: at(|interval| interval.high)?,
    })
}

/// Multiprogramming idle of a run that the model predicts with this page wait in ms, as a share.
pub(super) fn predicted(paper: &Paper, run: &str, page_wait: f64) -> Option<f64> {
    let between = between(paper, run)?.map(|interval| interval.value);
    Some(depth::multiprogramming_idle(&between, page_wait, full(paper, run)))
}

/// By how many points the prediction of a run misses, without its sign, with what rounding leaves open.
fn miss(paper: &Paper, run: &str) -> Option<Interval> {
    let wait = page_wait(paper)?;
    let between = between(paper, run)?;
    let measured = percent(fact(paper, run, "idle multiprogramming"));
    let full = full(paper, run);
    let idle =
        |of: fn(&Interval) -> f64, wait| depth::multiprogramming_idle(&between.each_ref().map(of), wait, full) * 100.0;
    // Less idle with a shorter wait and longer times between faults.
    let (low, high) = (idle(|interval| interval.high, wait.low), idle(|interval| interval.low, wait.high));
    let value = (idle(|interval| interval.value, wait.value) - measured.value).abs();
    let (apart, most) =
        ((low - measured.high).max(measured.low - high), (high - measured.low).max(measured.high - low));
    Some(Interval { value, low: apart.max(0.0), high: most })
}

/// The largest miss of these runs.
fn worst(paper: &Paper, runs: &[&str]) -> Option<Interval> {
    let misses = runs.iter().map(|run| miss(paper, run)).collect::<Option<Vec<_>>>()?;
    let most = |of: fn(&Interval) -> f64| misses.iter().map(of).fold(0.0, f64::max);
    Some(Interval {
        value: most(|interval| interval.value),
        low: most(|interval| interval.low),
        high: most(|interval| interval.high),
    })
}
