//! A cost beside the base's, for programs.

use analysis::compare::{Against, RatioToBase, Verdict};
use analysis::statistics::Interval;
use serde::Serialize;

/// Why a bound is no verdict.
const BOUND: &str = "one of the two cannot be distinguished from zero, and the bound leaves open which is slower";

/// A run's cost over the base's.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ComparedAgainst {
    /// The ratio. A bound has no value, and only the end that is known.
    pub ratio: Option<Interval>,
    /// The verdict.
    pub verdict: &'static str,
    /// The probability of such a ratio by chance.
    pub chance: Option<f64>,
    /// Why nothing can be told.
    pub why: Option<String>,
}

impl From<&Against> for ComparedAgainst {
    fn from(against: &Against) -> ComparedAgainst {
        // What is not a number is written as null.
        let bound = |low, high| Some(Interval { value: f64::NAN, low, high });
        let (ratio, why) = match &against.ratio {
            RatioToBase::Times(ratio) => (Some(*ratio), ""),
            RatioToBase::AtMost(most) => (bound(f64::NAN, *most), BOUND),
            RatioToBase::AtLeast(least) => (bound(*least, f64::NAN), BOUND),
            RatioToBase::Unknown(why) => (None, why.as_str()),
        };
        let why = (against.verdict == Verdict::Unknown).then(|| why.to_string());
        ComparedAgainst { ratio, verdict: against.verdict.word(), chance: against.chance, why }
    }
}
