//! The ratio of two machines split into factors: `howslow predict --factors --json`, and a part of `howslow compare --json`.

use analysis::factors::Factors;
use analysis::mix_changes::MixChanges;
use serde::Serialize;

use super::figure::finite;

/// The ratio of two machines on a mix, split into factors.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FactorsDocument {
    /// The ratio and its factors.
    #[serde(flatten)]
    pub of: Factors,
    /// How many times the users of the first machine the second one serves.
    pub users: Option<f64>,
    /// How many times as long a unit of work takes on the second machine.
    pub cost_per_unit: Option<f64>,
    /// What changed for one mix; null for two.
    pub changes: Option<MixChanges>,
}

/// What `howslow predict --factors` splits.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictFactors {
    /// The split.
    #[serde(flatten)]
    pub split: FactorsDocument,
    /// The ids of the two runs.
    pub runs: Vec<String>,
    /// The names of the two mixes.
    pub mixes: Vec<String>,
}

impl FactorsDocument {
    /// The document of a split.
    pub fn of(of: Factors, changes: Option<MixChanges>) -> FactorsDocument {
        let whole = of.measured.unwrap_or(of.predicted).value;
        FactorsDocument { of, users: finite(1.0 / whole), cost_per_unit: finite(whole), changes }
    }
}
