//! The ratio of two machines split into factors: `howslow predict --factors --json`, and a part of `howslow compare --json`.

use analysis::factors::{Cause, Factor, Factors};
use record::Doubt;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

use super::figure::{RatioFigure, all, finite, ratio};

/// The ratio of two machines on a mix, split into factors.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FactorsDocument {
    /// The factors; their product is the predicted ratio.
    pub factors: Vec<FactorOf>,
    /// The ratio that the mix predicts.
    pub predicted: RatioFigure,
    /// The ratio measured; null where it was not.
    pub measured: Option<RatioFigure>,
    /// The measured ratio over the predicted one.
    pub unexplained: Option<RatioFigure>,
    /// How many times the users of the first machine the second one serves.
    pub users: Option<f64>,
    /// How many times as long a unit of work takes on the second machine.
    pub cost_per_unit: Option<f64>,
}

/// The factor that one family of operations, or the clock, is responsible for.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FactorOf {
    /// `family` or `clock`.
    pub cause: &'static str,
    /// The family.
    pub family: String,
    /// The factor.
    pub factor: f64,
    /// Its lower end.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The part of it that other counts make, where two mixes are compared.
    pub counts: Option<RatioFigure>,
    /// The part of it that other prices make, where two mixes are compared.
    pub prices: Option<RatioFigure>,
    /// The doubts of its costs.
    pub doubts: Vec<Doubt>,
}

/// What `howslow predict --factors` splits.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PredictFactors {
    /// The split.
    #[serde(flatten)]
    pub split: FactorsDocument,
    /// The ids of the two runs.
    pub runs: Vec<String>,
    /// The names of the two mixes.
    pub mixes: Vec<String>,
}

impl From<&Factors> for FactorsDocument {
    fn from(it: &Factors) -> FactorsDocument {
        let whole = it.measured.as_ref().unwrap_or(&it.predicted);
        FactorsDocument {
            factors: all(&it.families),
            predicted: RatioFigure::from(&it.predicted),
            measured: ratio(it.measured.as_ref()),
            unexplained: ratio(it.unexplained.as_ref()),
            users: finite(1.0 / whole.value),
            cost_per_unit: finite(whole.value),
        }
    }
}

impl From<&Factor> for FactorOf {
    fn from(of: &Factor) -> FactorOf {
        FactorOf {
            cause: match of.cause {
                Cause::Family => "family",
                Cause::Clock => "clock",
            },
            family: of.family.clone(),
            factor: of.factor.value,
            low: finite(of.factor.low),
            high: finite(of.factor.high),
            counts: ratio(of.counts.as_ref()),
            prices: ratio(of.prices.as_ref()),
            doubts: of.doubts.clone(),
        }
    }
}
