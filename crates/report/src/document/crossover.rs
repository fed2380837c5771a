//! `howslow crossover --json`: whether and where one operation overtakes another.

use analysis::crossover::{Crossing, CrossoverAnswer, Side};
use analysis::statistics::Interval;
use serde::Serialize;

use super::figure::finite;
use crate::crossover::CrossoverShown;

/// Whether and where one operation overtakes another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CrossoverDocument {
    /// Both operations, with the point of their other axes.
    pub operations: [String; 2],
    /// The axis.
    pub axis: String,
    /// What is compared: `time` or `processor time`.
    pub by: String,
    /// `once`, `several`, `never` or `undecided`.
    pub answer: &'static str,
    /// The answer in words.
    pub in_words: String,
    /// The crossings; empty if there are none.
    pub crossings: Vec<CrossingFigure>,
    /// The operation that takes less where the order is known, if they never cross or that is undecided.
    pub takes_less: Option<String>,
    /// Where they would cross outside the range if the trend at its end went on.
    pub trend: Option<f64>,
    /// Both costs at each number.
    pub points: Vec<CrossoverPoint>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// A crossing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CrossingFigure {
    /// The number of the axis.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// The operation that takes less below it.
    pub below: String,
    /// The operation that takes less above it.
    pub above: String,
}

/// Both costs at a number.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CrossoverPoint {
    /// The number of the axis.
    pub at: f64,
    /// The costs in ns, in the order of the operations.
    pub costs: [CrossoverCost; 2],
}

/// A cost in ns.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CrossoverCost {
    /// The figure.
    pub ns: f64,
    /// Lower end of its 95 % interval; null if there is none.
    pub low: Option<f64>,
    /// Upper end of its 95 % interval; null if there is none.
    pub high: Option<f64>,
}

impl CrossoverDocument {
    /// The document of what was found.
    pub fn of(shown: &CrossoverShown<'_>) -> CrossoverDocument {
        let name = |side: Side| shown.names[side.index()].clone();
        let figure = |crossing: &Crossing| CrossingFigure {
            value: crossing.at.value,
            low: crossing.at.low,
            high: crossing.at.high,
            below: name(crossing.below),
            above: name(crossing.below.other()),
        };
        let (answer, crossings, takes_less, trend) = match shown.answer {
            CrossoverAnswer::Once(crossing) => ("once", vec![figure(crossing)], None, None),
            CrossoverAnswer::Several(all) => ("several", all.iter().map(figure).collect(), None, None),
            CrossoverAnswer::Never { cheaper, trend } => ("never", Vec::new(), Some(name(*cheaper)), *trend),
            CrossoverAnswer::Undecided { cheaper } => {
                ("undecided", Vec::new(), cheaper.map(|(side, _)| name(side)), None)
            }
        };
        let cost = |Interval { value: ns, low, high }| CrossoverCost { ns, low: finite(low), high: finite(high) };
        let points = shown.points.iter().map(|point| CrossoverPoint { at: point.at, costs: point.costs.map(cost) });
        CrossoverDocument {
            operations: shown.names.clone(),
            axis: shown.axis.into(),
            by: shown.by.into(),
            answer,
            in_words: shown.answer(),
            crossings,
            takes_less,
            trend,
            points: points.collect(),
            notes: shown.notes.to_vec(),
        }
    }
}
