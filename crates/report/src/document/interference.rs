//! `howslow interference --json`: how much each kind of work slows each other kind.

use analysis::interference::{Interference, LoadsPrediction, Together};
use analysis::statistics::Interval;
use record::Machine;
use serde::Serialize;

/// How much each kind of work slows each other kind.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InterferenceDocument<'a> {
    /// Where it was measured.
    pub machine: &'a Machine,
    /// What was measured.
    #[serde(flatten)]
    pub found: &'a Interference,
    /// What the cells with one load predict of those with several.
    pub together: Vec<InterferenceTogether<'a>>,
}

/// Several loads at once: predicted and measured.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InterferenceTogether<'a> {
    /// The kind that is slowed.
    pub victim: &'a str,
    /// What runs beside it.
    pub beside: Vec<&'a str>,
    /// What was measured.
    pub measured: Interval,
    /// The product of the slow-downs by each load alone.
    pub product: f64,
    /// 1 and the sum of what each load alone adds.
    pub sum: f64,
    /// How far the product is from what was measured, as a share of it.
    pub product_error: f64,
    /// The same of the sum.
    pub sum_error: f64,
}

impl<'a> InterferenceDocument<'a> {
    pub fn of(found: &'a Interference, machine: &'a Machine) -> InterferenceDocument<'a> {
        InterferenceDocument { machine, found, together: found.together().iter().map(together).collect() }
    }
}

fn together<'a>(together: &Together<'a>) -> InterferenceTogether<'a> {
    let LoadsPrediction { product, sum } = together.prediction;
    let error = |predicted: f64| LoadsPrediction::error(predicted, together.measured.value);
    InterferenceTogether {
        victim: &together.cell.victim,
        beside: together.cell.beside.iter().map(|load| load.kind.as_str()).collect(),
        measured: together.measured,
        product,
        sum,
        product_error: error(product),
        sum_error: error(sum),
    }
}
