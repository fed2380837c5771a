//! `howslow compare --json`. The keys `ratio` and `verdict` are those of the second run; `against` has every run's.

mod against;
mod gate;
mod missing;

use analysis::compare::{
    ComparedLevels, Comparison, ComparisonRow, DifferingFact, Joint, Mean, differences, families, overall,
};
use analysis::factors::Factor;
use analysis::statistics::Interval;
use record::{Cost, CountedIn, Doubt, Estimate, Point, Run};
use serde::Serialize;

pub use against::ComparedAgainst;
pub use gate::ComparedGate;
use missing::{OnlyIn, OtherVersions};

use super::factors::FactorsDocument;
use super::figure::{all, finite};
use crate::compare::Shown;
use crate::compare::levels::compared_levels;

/// Runs beside each other, the first as the base.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompareDocument<'a> {
    /// The runs.
    pub runs: Vec<ComparedRun<'a>>,
    /// What costs are compared in: `ns`, `cycles`, or `by_row`.
    pub unit: &'static str,
    /// The runs' clocks; null where they are not of a kind.
    pub clock: Option<ComparedClocks<'a>>,
    /// The noise between the base and each other run.
    pub noise: Vec<ComparedNoise>,
    /// How machines and settings differ.
    pub differences: Vec<DifferingFact>,
    /// The costs.
    pub rows: Vec<ComparedRow<'a>>,
    /// The geometric means of families.
    pub families: Vec<ComparedMeans<'a>>,
    /// The geometric mean of all costs.
    pub overall: ComparedMeans<'a>,
    /// Costs that are not compared because their operations have other versions.
    pub versions: Vec<OtherVersions<'a>>,
    /// Of each run, the base first: the costs that stand in no row.
    pub only_in: Vec<OnlyIn<'a>>,
    /// With `--fail-on`: which costs fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<ComparedGate<'a>>,
    /// With a mix: each other run's ratio to the base in factors.
    #[serde(flatten)]
    pub split: Option<ComparedSplit>,
}

/// Each other run's ratio to the base in factors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedSplit {
    /// The factors of the second run.
    pub factors: Option<Vec<Factor>>,
    /// What they leave unexplained of the second run.
    pub unexplained: Option<Interval>,
    /// Every other run's.
    pub split: Vec<FactorsDocument>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRun<'a> {
    /// As it was named.
    pub name: &'a str,
    /// Its id.
    pub id: &'a str,
    /// When it started.
    pub started: &'a str,
    /// The version of howslow that measured; empty for a book.
    pub howslow: &'a str,
    /// What its figures are exact in.
    pub counted_in: CountedIn,
    /// What it showed against itself.
    pub band: Option<f64>,
}

/// The runs' clocks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedClocks<'a> {
    /// One core cycle of each run in ns.
    pub cycle_ns: &'a [f64],
    /// The second run's over the base's.
    pub ratio: Option<f64>,
    /// Every other run's over the base's.
    pub against: Vec<f64>,
}

/// What a difference between two runs must exceed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedNoise {
    /// The least share that was asked for.
    pub threshold: f64,
    /// The margin within which costs are the same.
    pub margin: f64,
    /// Costs that are judged together.
    pub judged: usize,
    /// How many times the reach of its interval a difference must exceed for a change.
    pub reaches: f64,
    /// The seconds between the two runs, in which memory may have drifted.
    pub seconds_apart: f64,
    /// The difference between the shares of all CPUs that other programs took during the two runs.
    pub loads_apart: f64,
}

/// A cost in every run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedRow<'a> {
    /// The operation's id in the base.
    pub operation: &'a str,
    /// Its point in the base.
    pub at: &'a Point,
    /// Its family.
    pub family: &'a str,
    /// What the values are in: `ns` or `cycles`.
    pub unit: &'static str,
    /// The cost in each run; null where a run lacks it.
    pub values: Vec<Option<ComparedCost<'a>>>,
    /// The second run's ratio to the base.
    pub ratio: Option<Interval>,
    /// The verdict on it: `faster`, `slower`, `same` or `inconclusive`; null where the second run lacks the cost.
    pub verdict: Option<&'static str>,
    /// Every other run's ratio and verdict; null where a run lacks the cost.
    pub against: Vec<Option<ComparedAgainst>>,
    /// The levels of the cost beside those in every other run; null where neither has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub levels: Vec<Option<ComparedLevels<'a>>>,
}

/// A cost in one run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedCost<'a> {
    /// The operation's id.
    pub operation: &'a str,
    /// Its point.
    pub at: &'a Point,
    /// The figure.
    pub value: Option<f64>,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// Which estimate it is.
    pub estimate: Estimate,
    /// The operation's version.
    pub version: u32,
    /// Its doubts.
    pub doubts: &'a [Doubt],
}

/// The geometric mean of a family's ratios, or of all.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ComparedMeans<'a> {
    /// The family.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<&'a str>,
    /// That of the second run.
    #[serde(flatten)]
    pub first: Option<Mean>,
    /// That of every other run.
    pub against: Vec<Mean>,
}

impl<'a> CompareDocument<'a> {
    /// The document; `splits` are there if a mix was named.
    pub fn of(
        comparison: &'a Comparison<'a>,
        names: &'a [String],
        shown: Shown,
        splits: Option<Vec<FactorsDocument>>,
    ) -> CompareDocument<'a> {
        let rows = comparison.rows.iter().filter(|row| shown == Shown::All || row.changed());
        let families = families(comparison).into_iter();
        CompareDocument {
            runs: comparison.runs.iter().zip(names).map(|(run, name)| ComparedRun::of(run, name)).collect(),
            unit: comparison.unit.map_or("by_row", CountedIn::unit),
            clock: clocks(comparison),
            noise: all(&comparison.noise),
            differences: differences(comparison.runs),
            rows: rows.map(|row| ComparedRow::of(comparison, row)).collect(),
            families: families.map(|family| ComparedMeans::of(Some(family.name), family.means)).collect(),
            overall: ComparedMeans::of(None, overall(comparison)),
            versions: all(&comparison.versions),
            only_in: OnlyIn::all(comparison, names),
            gate: None,
            split: splits.map(ComparedSplit::of),
        }
    }
}

impl ComparedSplit {
    fn of(split: Vec<FactorsDocument>) -> ComparedSplit {
        let first = split.first();
        ComparedSplit {
            factors: first.map(|first| first.of.families.clone()),
            unexplained: first.and_then(|first| first.of.unexplained),
            split,
        }
    }
}

fn clocks<'a>(comparison: &'a Comparison<'a>) -> Option<ComparedClocks<'a>> {
    let clocks = comparison.clocks.as_ref()?;
    let against: Vec<f64> = clocks.ratios().collect();
    Some(ComparedClocks { cycle_ns: &clocks.cycle_ns, ratio: against.first().copied(), against })
}

impl<'a> ComparedRun<'a> {
    fn of(run: &'a Run, name: &'a str) -> ComparedRun<'a> {
        ComparedRun {
            name,
            id: &run.id,
            started: &run.started,
            howslow: &run.howslow,
            counted_in: run.counted_in,
            band: run.noise.band.as_ref().map(|band| band.difference),
        }
    }
}

impl From<&Joint> for ComparedNoise {
    fn from(joint: &Joint) -> ComparedNoise {
        ComparedNoise {
            threshold: joint.threshold,
            margin: joint.margin,
            judged: joint.judged,
            reaches: joint.reaches(),
            seconds_apart: joint.conditions.seconds_apart,
            loads_apart: joint.conditions.loads_apart,
        }
    }
}

impl<'a> ComparedRow<'a> {
    fn of(comparison: &Comparison<'a>, row: &'a ComparisonRow<'a>) -> ComparedRow<'a> {
        let others = row.others.iter().map(|other| other.as_ref().map(|(cost, _)| *cost));
        let costs = std::iter::once(Some(row.base)).chain(others);
        let values =
            costs.enumerate().map(|(place, cost)| cost.map(|cost| ComparedCost::of(comparison, place, row.unit, cost)));
        let against = row.others.iter().map(|other| other.as_ref().map(|(_, against)| ComparedAgainst::from(against)));
        let against: Vec<Option<ComparedAgainst>> = against.collect();
        let first = against.first().and_then(Option::as_ref);
        ComparedRow {
            operation: &row.base.operation,
            at: &row.base.at,
            family: row.family(),
            unit: row.unit.unit(),
            values: values.collect(),
            ratio: first.and_then(|first| first.ratio),
            verdict: first.map(|first| first.verdict),
            against,
            levels: levels_of(row),
        }
    }
}

/// The levels of a row's costs; empty if it has none.
fn levels_of<'a>(row: &'a ComparisonRow<'a>) -> Vec<Option<ComparedLevels<'a>>> {
    let levels: Vec<Option<ComparedLevels<'_>>> = compared_levels(row).map(|(_, levels)| levels).collect();
    if levels.iter().any(Option::is_some) { levels } else { Vec::new() }
}

impl<'a> ComparedCost<'a> {
    fn of(comparison: &Comparison<'_>, place: usize, unit: CountedIn, cost: &'a Cost) -> ComparedCost<'a> {
        let figure = comparison.figure(place, cost, unit).interval();
        ComparedCost {
            operation: &cost.operation,
            at: &cost.at,
            value: figure.and_then(|interval| finite(interval.value)),
            low: figure.and_then(|interval| finite(interval.low)),
            high: figure.and_then(|interval| finite(interval.high)),
            estimate: cost.headline,
            version: cost.version,
            doubts: &cost.doubts,
        }
    }
}

impl<'a> ComparedMeans<'a> {
    fn of(family: Option<&'a str>, against: Vec<Mean>) -> ComparedMeans<'a> {
        ComparedMeans { family, first: against.first().cloned(), against }
    }
}
