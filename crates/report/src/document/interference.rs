//! `howslow interference --json`: how much each kind of work slows each other kind.

use analysis::interference::{self as measured, Slowdown};
use record::{Machine, Place};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, all, finite, ratio};

/// How much each kind of work slows each other kind.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceDocument<'a> {
    /// Where it was measured.
    pub machine: &'a Machine,
    /// The CPU of the victims.
    pub cpu: u32,
    /// Passes over all cells, each with new processes.
    pub passes: u32,
    /// Seconds that it took.
    pub seconds: f64,
    /// The signal that ended it early; null if it was not ended early.
    pub interrupted: Option<i32>,
    /// The kinds of work, and the operation that stands for each.
    pub kinds: Vec<InterferenceKind<'a>>,
    /// The places where aggressors ran.
    pub places: &'a [Place],
    /// All cells: each victim beside one load, or beside several at once.
    pub cells: Vec<InterferenceCell<'a>>,
    /// What the cells with one load predict of those with several.
    pub together: Vec<InterferenceTogether<'a>>,
    /// What was not measured.
    pub skipped: Vec<InterferenceSkip<'a>>,
}

/// A kind of work.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceKind<'a> {
    /// Its name.
    pub name: &'a str,
    /// The operation and its point.
    pub operation: &'a str,
}

/// Work beside a victim.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceLoad<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// The share of the time in which it works or wants to work, 0 to 1.
    pub dose: f64,
    /// Where it runs.
    pub place: Place,
    /// What it did meanwhile, in operations per second; null if nothing was measured.
    pub per_second: Option<f64>,
}

/// A victim beside loads.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceCell<'a> {
    /// The kind that is slowed.
    pub victim: &'a str,
    /// What runs beside it.
    pub beside: Vec<InterferenceLoad<'a>>,
    /// Pairs of a stretch alone and one beside.
    pub pairs: usize,
    /// Elapsed ns per operation alone; null if nothing was measured.
    pub alone_ns: Option<f64>,
    /// Elapsed time beside over alone; null if nothing was measured.
    pub elapsed: Option<RatioFigure>,
    /// True if the slow-down can be told: its interval leaves 1 out, or is at most 5 points wide on either side.
    pub told: bool,
    /// True if that interval is more than 5 points wide on either side, so that another run may differ by more.
    pub wide: bool,
    /// Processor time beside over alone; null if it is too short to tell.
    pub cpu: Option<RatioFigure>,
}

/// Several loads at once: predicted and measured.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceTogether<'a> {
    /// The kind that is slowed.
    pub victim: &'a str,
    /// What runs beside it.
    pub beside: Vec<&'a str>,
    /// What was measured.
    pub measured: RatioFigure,
    /// The product of the slow-downs by each load alone.
    pub product: f64,
    /// 1 and the sum of what each load alone adds.
    pub sum: f64,
    /// How far the product is from what was measured, as a share of it.
    pub product_error: f64,
    /// The same of the sum.
    pub sum_error: f64,
}

/// Something not measured here.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InterferenceSkip<'a> {
    /// The kind of work or the place.
    pub what: &'a str,
    /// Why.
    pub reason: &'a str,
}

impl<'a> InterferenceDocument<'a> {
    /// The document.
    pub fn of(found: &'a measured::Interference, machine: &'a Machine) -> InterferenceDocument<'a> {
        let kinds = found.kinds.iter().map(|(name, operation)| InterferenceKind { name, operation });
        let skipped = found.skipped.iter().map(|(what, reason)| InterferenceSkip { what, reason });
        InterferenceDocument {
            machine,
            cpu: found.cpu,
            passes: found.passes,
            seconds: found.seconds,
            interrupted: found.interrupted,
            kinds: kinds.collect(),
            places: &found.places,
            cells: all(&found.cells),
            together: found.together().iter().map(together).collect(),
            skipped: skipped.collect(),
        }
    }
}

impl<'a> From<&'a measured::PairSlowdown> for InterferenceCell<'a> {
    fn from(cell: &'a measured::PairSlowdown) -> InterferenceCell<'a> {
        let slowdown = cell.slowdown.as_ref();
        let load = |(number, load): (usize, &'a measured::Load)| InterferenceLoad {
            kind: &load.kind,
            dose: load.dose,
            place: load.place,
            per_second: slowdown.and_then(|it| it.achieved.get(number).copied()).and_then(finite),
        };
        InterferenceCell {
            victim: &cell.victim,
            beside: cell.beside.iter().enumerate().map(load).collect(),
            pairs: slowdown.map_or(0, |it| it.pairs),
            alone_ns: slowdown.and_then(|it| finite(it.alone_ns)),
            elapsed: ratio(slowdown.map(|it| &it.elapsed)),
            told: slowdown.is_some_and(|it| it.told().is_some()),
            wide: slowdown.is_none_or(Slowdown::is_wide),
            cpu: ratio(slowdown.and_then(|it| it.cpu.as_ref())),
        }
    }
}

fn together<'a>(it: &measured::Together<'a>) -> InterferenceTogether<'a> {
    let measured::LoadsPrediction { product, sum } = it.prediction;
    let error = |predicted: f64| measured::LoadsPrediction::error(predicted, it.measured.value);
    InterferenceTogether {
        victim: &it.cell.victim,
        beside: it.cell.beside.iter().map(|load| load.kind.as_str()).collect(),
        measured: RatioFigure::from(&it.measured),
        product,
        sum,
        product_error: error(product),
        sum_error: error(sum),
    }
}
