//! `howslow bill --json`: what was counted, what it costs, and what of the charge it explains.

use analysis::bill::{Bill, BillRow, BilledFigure, ChangeVerdict, ChangedFigure, ChangedRow, Habit, place_of};
use record::Observation;
use serde::Serialize;

use super::figure::{TimeFigure, time};
use crate::bill::{BillChangesView, BillView};

/// A bill.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillDocument<'a> {
    /// What was counted.
    pub seen: &'a Observation,
    /// The id of the run whose costs are the prices.
    pub run: Option<&'a str>,
    /// The state whose prices were taken: `quiet` or `typical`.
    pub by: &'static str,
    /// The lines, the dearest first.
    pub rows: Vec<BillLine<'a>>,
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

/// A line of a bill.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillLine<'a> {
    /// A system call, or what else costs processor time in the kernel.
    pub what: &'a str,
    /// What it is added up with.
    pub family: &'a str,
    /// How often.
    pub count: u64,
    /// Bytes moved, if it moves bytes.
    pub bytes: Option<u64>,
    /// How often it failed.
    pub failed: u64,
    /// The time of all of them; null without a price.
    pub total: Option<TimeFigure>,
    /// The part of it that a CPU works, in ns.
    pub cpu_ns: Option<f64>,
    /// How many of them the run has no price for: the times are those of the others.
    pub lacking: f64,
    /// The operations that price it.
    pub priced_by: &'a [String],
    /// The processor time of all of them as it was in this program, by samples; null without samples.
    pub measured: Option<TimeFigure>,
}

/// A habit that costs time.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillFinding<'a> {
    /// One sentence.
    pub text: &'a str,
    /// The processor time that it would save, at least and at most, in ns.
    pub saves_ns: Option<[f64; 2]>,
    /// The most in ms per second that was watched.
    pub saves_ms_per_second: Option<f64>,
    /// The most as a share of all charged processor time.
    pub share: Option<f64>,
    /// The elapsed time that it would save, at least and at most, in ns; null if it saves processor time alone.
    pub saves_elapsed_ns: Option<[f64; 2]>,
    /// The function of the program that made most of these calls, with its file and line; null without stacks.
    pub place: Option<String>,
}

/// What changed between two bills.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillChanges<'a> {
    /// What the bills are of.
    pub bills: [&'a str; 2],
    /// The unit of work: the whole command, or a call.
    pub unit: &'a str,
    /// How many units, before and after, on the mean of the repetitions.
    pub units: [f64; 2],
    /// How often each command was run.
    pub repetitions: [usize; 2],
    /// Times and counts of a unit.
    pub figures: Vec<BillFigure>,
    /// The lines that changed, the largest change of time first.
    pub rows: Vec<BillChange<'a>>,
    /// What a gate found.
    pub gate: Option<BillGateDocument>,
}

/// A time or count of a unit of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillFigure {
    /// `elapsed`, `cpu`, `user`, `kernel`, `waiting` (in ns), `calls`, `faults`, `switches`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub figure: BilledFigure,
    /// Its mean before.
    pub before: f64,
    /// Its mean after.
    pub after: f64,
    /// The lower and upper end of after over before; the intervals of all figures hold together at 95 %. Null without repetitions.
    pub ratio: Option<[f64; 2]>,
    /// `more`, `less`, `same`, `inconclusive`, `single` (one run each tells no time apart).
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub verdict: ChangeVerdict,
}

/// A line that changed.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillChange<'a> {
    /// The line.
    pub what: &'a str,
    /// How often for a unit, before and after.
    pub count: [f64; 2],
    /// Its processor time for a unit in ns, before and after: measured, else by its price; null where neither is known.
    pub cpu_ns: [Option<f64>; 2],
    /// The time off the CPU in it for a unit in ns, before and after.
    pub waited_ns: [f64; 2],
}

/// What a gate found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillGateDocument {
    /// The figures that grew by more than is allowed.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub failed: Vec<BilledFigure>,
    /// The figures without a verdict.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub unjudged: Vec<BilledFigure>,
}

/// The measured side of a bill.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BillMeasured {
    /// The processor time of calls and page faults.
    pub calls: TimeFigure,
    /// The price of page faults that were not timed, in ns.
    pub priced_ns: f64,
    /// The sum of the absolute differences between prices and measurements, in ns.
    pub apart_ns: f64,
    /// The part of the measured time that has a price, in ns.
    pub compared_ns: f64,
    /// Both over what was charged without counting: the least, the most likely, and the most.
    pub closes: Option<[f64; 3]>,
}

impl<'a> BillDocument<'a> {
    /// The document of a bill.
    pub fn of(view: &'a BillView<'a>) -> BillDocument<'a> {
        let bill: &Bill = view.bill;
        BillDocument {
            seen: view.seen,
            run: view.run.map(|run| run.id.as_str()),
            by: view.state.word(),
            rows: bill.rows.iter().map(line).collect(),
            explained: TimeFigure::from(&bill.explained),
            explained_range_ns: bill.range_ns,
            explained_share: bill.explained_share(),
            charged_ns: bill.charged.map(|charged| charged.ns),
            kernel_alone: bill.charged.map(|charged| charged.kernel_alone),
            charged_range_ns: bill.charged.and_then(|charged| charged.range_ns),
            measured: bill.measured.map(|measured| BillMeasured {
                calls: TimeFigure::from(&measured.calls),
                priced_ns: measured.priced_ns,
                apart_ns: measured.apart_ns,
                compared_ns: measured.compared_ns,
                closes: bill
                    .charged
                    .and_then(|charged| measured.closes(&charged, bill.counting_ns))
                    .map(|closes| [closes.low, closes.value, closes.high]),
            }),
            residual_ns: bill.residual_ns(),
            findings: bill.findings.iter().map(|found| finding(found, view.seen)).collect(),
            lacking: view.lacking,
            remedy: view.remedy,
        }
    }
}

fn line(row: &BillRow) -> BillLine<'_> {
    BillLine {
        what: &row.what,
        family: &row.family,
        count: row.count,
        bytes: row.bytes,
        failed: row.failed,
        total: time(row.total.as_ref()),
        cpu_ns: row.cpu_ns,
        lacking: row.lacking,
        priced_by: &row.priced_by,
        measured: time(row.measured.as_ref()),
    }
}

fn finding<'a>(found: &'a Habit, seen: &Observation) -> BillFinding<'a> {
    let elapsed_ns = seen.elapsed_ns;
    let rate = found.saves_ns.filter(|_| elapsed_ns > 0.0).map(|[_, most]| most / elapsed_ns * 1e3);
    BillFinding {
        text: &found.text,
        saves_ns: found.saves_ns,
        saves_ms_per_second: rate,
        share: found.share,
        saves_elapsed_ns: found.saves_elapsed_ns,
        place: place_of(seen, &found.text).map(|place| place.function),
    }
}

impl<'a> BillChanges<'a> {
    /// The document of changes.
    pub fn of(view: &'a BillChangesView<'a>) -> BillChanges<'a> {
        let figure = |it: &ChangedFigure| BillFigure {
            figure: it.figure,
            before: it.before,
            after: it.after,
            ratio: it.ratio.map(|ratio| [ratio.low, ratio.high]),
            verdict: it.verdict,
        };
        let change = |row: &'a ChangedRow| BillChange {
            what: &row.what,
            count: row.lines.map(|line| line.count),
            cpu_ns: row.lines.map(|line| line.cpu_ns),
            waited_ns: row.lines.map(|line| line.waited_ns),
        };
        let names = |of: Vec<&ChangedFigure>| of.iter().map(|it| it.figure).collect();
        BillChanges {
            bills: view.bills,
            unit: view.unit,
            units: view.units,
            repetitions: view.repetitions,
            figures: view.figures.iter().map(figure).collect(),
            rows: view.rows.iter().map(change).collect(),
            gate: view.gate.as_ref().map(|gate| BillGateDocument {
                failed: names(gate.failed(view.figures)),
                unjudged: names(gate.unjudged(view.figures)),
            }),
        }
    }
}
