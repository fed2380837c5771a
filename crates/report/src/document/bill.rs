//! `howslow bill --json`: what was counted, what it costs, and what of the charge it explains.

use analysis::bill::{Bill, BillRow, Habit, MeasuredCalls, place_of};
use record::Observation;
use serde::Serialize;

use super::figure::TimeFigure;
use crate::bill::BillView;

/// A bill.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BillDocument<'a> {
    /// What was counted.
    pub seen: &'a Observation,
    /// The id of the run whose costs are the prices.
    pub run: Option<&'a str>,
    /// The state whose prices were taken: `quiet` or `typical`.
    pub by: &'static str,
    /// The lines, the dearest first.
    pub rows: &'a [BillRow],
    /// The processor time that the lines explain, with what counting cost.
    pub explained: TimeFigure,
    /// What they would explain if all names and files were one that stays in the caches, and if each were another, in ns.
    pub explained_range_ns: Option<[f64; 2]>,
    /// What is explained as a share of what was charged.
    pub explained_share: Option<f64>,
    /// The charged time that the bill is held against, in ns.
    pub charged_ns: Option<f64>,
    /// True if that is the time in the kernel alone, false if it is all processor time.
    pub kernel_alone: Option<bool>,
    /// What the kernel's samples leave open of it, 95 times in 100, in ns; null if it is all processor time.
    pub charged_range_ns: Option<[f64; 2]>,
    /// What was measured in the program itself; null without samples.
    pub measured: Option<BillMeasured>,
    /// What was charged less what is explained, in ns.
    pub residual_ns: Option<f64>,
    /// What could be saved, the largest first.
    pub findings: Vec<BillFinding<'a>>,
    /// Operations of which the run has no cost.
    pub lacking: &'a [String],
    /// Where prices came from beside the run, and what would measure those that are lacking.
    pub remedy: Option<&'a str>,
}

/// A habit that costs time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BillFinding<'a> {
    /// What it is, and what it would save.
    #[serde(flatten)]
    pub habit: &'a Habit,
    /// The most in ms per second that was watched.
    pub saves_ms_per_second: Option<f64>,
    /// The function of the program that made most of these calls, with its file and line; null without stacks.
    pub place: Option<String>,
}

/// The measured side of a bill.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BillMeasured {
    /// What was measured, and how far the prices are from it.
    #[serde(flatten)]
    pub calls: MeasuredCalls,
    /// Calls and page faults over what was charged without counting: the least, the most likely, and the most.
    pub closes: Option<[f64; 3]>,
}

impl<'a> BillDocument<'a> {
    /// The document of a bill.
    pub fn of(view: &'a BillView<'a>) -> BillDocument<'a> {
        let bill: &Bill = view.bill;
        let measured = bill.measured.map(|calls| {
            let closes = bill.charged.and_then(|charged| calls.closes(&charged, bill.counting_ns));
            BillMeasured { calls, closes: closes.map(|closes| [closes.low, closes.value, closes.high]) }
        });
        BillDocument {
            seen: view.seen,
            run: view.run.map(|run| run.id.as_str()),
            by: view.state.word(),
            rows: &bill.rows,
            explained: TimeFigure::from(&bill.explained),
            explained_range_ns: bill.range_ns,
            explained_share: bill.explained_share(),
            charged_ns: bill.charged.map(|charged| charged.ns),
            kernel_alone: bill.charged.map(|charged| charged.kernel_alone),
            charged_range_ns: bill.charged.and_then(|charged| charged.range_ns),
            measured,
            residual_ns: bill.residual_ns(),
            findings: bill.findings.iter().map(|found| finding(found, view.seen)).collect(),
            lacking: view.lacking,
            remedy: view.remedy,
        }
    }
}

fn finding<'a>(found: &'a Habit, seen: &Observation) -> BillFinding<'a> {
    let elapsed_ns = seen.elapsed_ns;
    let rate = found.saves_ns.filter(|_| elapsed_ns > 0.0).map(|[_, most]| most / elapsed_ns * 1e3);
    let place = place_of(seen, &found.calls).map(|place| place.function);
    BillFinding { habit: found, saves_ms_per_second: rate, place }
}
