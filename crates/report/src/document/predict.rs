//! `howslow predict --json`: everything the page shows, and what it leaves out for width.

use analysis::mix::Lack;
use analysis::predict::{Accuracy, FamilyCost, MixPrediction, PricedLine};
use analysis::sums::sum;
use analysis::whatif::{Supposed, changed_lines, known_change};
use record::{Doubt, Mix, MixLine, Point, largest_first};
use serde::Serialize;

use super::figure::{TimeFigure, finite, time};
use crate::predict::Priced;

/// Several predictions: of several mixes, or on several runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Predictions<'a> {
    /// The predictions.
    pub predictions: &'a [PredictDocument<'a>],
}

/// What a unit of a mix's work takes on a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictDocument<'a> {
    /// The mix.
    pub mix: &'a str,
    /// What a unit of its work is.
    pub unit: &'a str,
    /// The run as it was named.
    pub on: &'a str,
    /// The run's id.
    pub run: &'a str,
    /// The state whose prices were taken: `quiet` or `typical`.
    pub by: &'static str,
    /// The prediction in ns.
    pub total_ns: Option<f64>,
    /// Its lower end, with what the mix is known to leave out, and, if that was measured on another machine, what may differ here.
    pub low_ns: Option<f64>,
    /// Its upper end, likewise.
    pub high_ns: Option<f64>,
    /// The prediction with the interval of its prices alone.
    pub prices: TimeFigure,
    /// The share that the mix leaves out where it was measured.
    pub left_out: Option<f64>,
    /// The prediction by the prices of the other state.
    pub otherwise: Option<TimeFigure>,
    /// The doubts of prices that matter.
    pub doubts: Vec<Doubt>,
    /// True if prices are lacking.
    pub at_least: bool,
    /// The lines, the dearest first.
    pub rows: Vec<PredictedRow<'a>>,
    /// The families, the dearest first.
    pub families: Vec<PredictedFamily>,
    /// What the unit was measured to take.
    pub measured: Option<TimeFigure>,
    /// The measured time less the prediction, in ns.
    pub residual_ns: Option<f64>,
    /// The same with its interval.
    pub residual: Option<TimeFigure>,
    /// The same as a share of the measured time.
    pub residual_share: Option<f64>,
    /// The part of it that a CPU works.
    pub cpu_ns: Option<f64>,
    /// The part of it that is waited.
    pub wait_ns: Option<f64>,
    /// Units a second.
    pub per_second: Option<f64>,
    /// Units a second that a CPU can do.
    pub per_second_per_cpu: Option<f64>,
    /// The lines that the run has no price for.
    pub lacking: Vec<LackingLine<'a>>,
    /// The same with what is supposed.
    pub what_if: Option<SupposedDocument<'a>>,
}

/// One line of the mix.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictedRow<'a> {
    /// The operation as the mix names it.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// The operation whose cost it is priced by; null where there is none.
    pub priced_by: Option<&'a str>,
    /// Its family.
    pub family: &'a str,
    /// How often a unit does it.
    pub times: f64,
    /// Why it is in the mix.
    pub note: Option<&'a str>,
    /// The doubts of its price.
    pub doubts: &'a [Doubt],
    /// One of it.
    pub each: Option<TimeFigure>,
    /// All of it.
    #[serde(flatten)]
    pub together: TimeFigure,
    /// Its share of the prediction.
    pub share: Option<f64>,
}

/// One family.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictedFamily {
    /// Its name.
    pub family: String,
    /// All of it.
    #[serde(flatten)]
    pub together: TimeFigure,
    /// Its share of the prediction.
    pub share: Option<f64>,
}

/// A line that the run has no price for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LackingLine<'a> {
    /// The operation as the mix names it.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// How often a unit does it.
    pub times: f64,
    /// Why the run lacks it, where it says so.
    pub reason: Option<&'a str>,
    /// The command that measures it; null where none can.
    pub command: Option<String>,
}

/// What changes with what is supposed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SupposedDocument<'a> {
    /// The changes as they were written.
    pub changes: Vec<&'a str>,
    /// The doubts of prices that matter.
    pub doubts: Vec<Doubt>,
    /// The prediction.
    pub total: TimeFigure,
    /// How it differs from the one without; null if that lacked a price that is supposed.
    pub change: TimeFigure,
    /// How many times faster it is; null where prices are lacking.
    pub speedup: Option<f64>,
    /// What the measured time would become.
    pub measured: Option<TimeFigure>,
    /// How many times faster that is.
    pub measured_speedup: Option<f64>,
    /// The lines that change.
    pub rows: Vec<SupposedRow<'a>>,
}

/// A line that changes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SupposedRow<'a> {
    /// The operation as the mix names it.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// All of it, before.
    pub before: TimeFigure,
    /// All of it, after.
    pub after: TimeFigure,
    /// The doubts of the new price.
    pub doubts: &'a [Doubt],
}

impl<'a> PredictDocument<'a> {
    /// The prediction for the run named `on`. `command` gives what measures a line that the run lacks.
    pub fn of(
        (mix, on): (&'a Mix, &'a str),
        priced: &'a Priced<'a>,
        supposed: &'a [Supposed],
        command: &dyn Fn(&MixLine) -> Option<String>,
    ) -> PredictDocument<'a> {
        let prediction = priced.prediction;
        let total = prediction.total().figure();
        let known = prediction.figure();
        let split = prediction.split();
        let per_second = |ns: f64| (ns > 0.0).then(|| 1e9 / ns);
        let residual = prediction.residual();
        PredictDocument {
            mix: &mix.name,
            unit: &mix.unit,
            on,
            run: &priced.run.id,
            by: priced.state.word(),
            total_ns: finite(total.value),
            low_ns: finite(known.low),
            high_ns: finite(known.high),
            prices: TimeFigure::from(&total),
            left_out: prediction.accuracy.map(Accuracy::left_out),
            otherwise: time(priced.otherwise.as_ref()),
            doubts: prediction.doubts(),
            at_least: !prediction.lacking.is_empty(),
            rows: rows(prediction),
            families: families(prediction),
            measured: time(prediction.measured.as_ref()),
            residual_ns: residual.and_then(|residual| finite(residual.value)),
            residual: time(residual.as_ref()),
            residual_share: residual.zip(prediction.measured).map(|(residual, whole)| residual.value / whole.value),
            cpu_ns: split.map(|split| split.cpu),
            wait_ns: split.map(|split| split.wait),
            per_second: per_second(total.value),
            per_second_per_cpu: split.and_then(|split| per_second(split.cpu)),
            lacking: prediction.lacking.iter().map(|(line, lack)| LackingLine::of(line, lack, command(line))).collect(),
            what_if: priced.supposed.as_ref().map(|after| SupposedDocument::of(prediction, after, supposed)),
        }
    }
}

fn rows(prediction: &MixPrediction) -> Vec<PredictedRow<'_>> {
    let mut rows: Vec<&PricedLine> = prediction.rows.iter().collect();
    largest_first(&mut rows, |one| one.total().figure().value);
    rows.into_iter().map(|row| PredictedRow::of(prediction, row)).collect()
}

fn families(prediction: &MixPrediction) -> Vec<PredictedFamily> {
    let mut families = prediction.families();
    largest_first(&mut families, |one| one.total.figure().value);
    let each = families.into_iter();
    each.map(|FamilyCost { family, total }| PredictedFamily {
        together: TimeFigure::from(&total.figure()),
        share: prediction.share(&total),
        family,
    })
    .collect()
}

impl<'a> PredictedRow<'a> {
    /// What is lacking has no price.
    fn of(prediction: &'a MixPrediction, row: &'a PricedLine) -> PredictedRow<'a> {
        let lacking = prediction.lacking.iter().any(|(line, _)| *line == row.line);
        PredictedRow {
            operation: &row.line.term.operation,
            at: row.by.as_ref().map_or(&row.line.term.at, |by| &by.at),
            priced_by: row.by.as_ref().map(|by| by.operation.as_str()),
            family: &row.line.family,
            times: row.line.term.times,
            note: row.line.note.as_deref(),
            doubts: &row.doubts,
            each: (!lacking).then(|| TimeFigure::from(&row.each.figure())),
            together: if lacking { TimeFigure::default() } else { TimeFigure::from(&row.total().figure()) },
            share: if lacking { None } else { prediction.share(&row.total()) },
        }
    }
}

impl<'a> LackingLine<'a> {
    fn of(line: &'a MixLine, lack: &'a Lack, command: Option<String>) -> LackingLine<'a> {
        let reason = if let Lack::Missing(reason) = lack { reason.as_deref() } else { None };
        LackingLine { operation: &line.term.operation, at: &line.term.at, times: line.term.times, reason, command }
    }
}

impl<'a> SupposedDocument<'a> {
    fn of(before: &'a MixPrediction, after: &'a MixPrediction, supposed: &'a [Supposed]) -> SupposedDocument<'a> {
        let (from, to) = (before.total().figure(), after.total().figure());
        let change = known_change(after, before).map(|change| change.figure());
        let faster = |from: f64, to: f64| (from > 0.0 && to > 0.0).then(|| from / to);
        let measured = before.measured.zip(change).map(|(whole, change)| sum([(1.0, whole), (1.0, change)]));
        let measured = measured.filter(|whole| whole.value > 0.0);
        SupposedDocument {
            changes: supposed.iter().map(|change| change.text.as_str()).collect(),
            doubts: after.doubts(),
            total: TimeFigure::from(&to),
            change: time(change.as_ref()).unwrap_or_default(),
            speedup: faster(from.value, to.value).filter(|_| before.lacking.is_empty()),
            measured: time(measured.as_ref()),
            measured_speedup: before.measured.zip(measured).and_then(|(from, to)| faster(from.value, to.value)),
            rows: changed_lines(before, after).map(|(row, changed)| SupposedRow::of(row, changed)).collect(),
        }
    }
}

impl<'a> SupposedRow<'a> {
    fn of(row: &'a PricedLine, changed: &'a PricedLine) -> SupposedRow<'a> {
        SupposedRow {
            operation: &row.line.term.operation,
            at: row.by.as_ref().map_or(&row.line.term.at, |by| &by.at),
            before: row.by.as_ref().map(|_| TimeFigure::from(&row.total().figure())).unwrap_or_default(),
            after: TimeFigure::from(&changed.total().figure()),
            doubts: &changed.doubts,
        }
    }
}
