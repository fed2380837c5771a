//! What the figure of a cost rests on: what was known of its rounds, and the levels that its batches lie on.

use serde::{Deserialize, Serialize};

use crate::units::Nanoseconds;

/// What the interval of a headline figure rests on besides the samples. All on the log scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Basis {
    /// Rounds that gave the figure.
    pub rounds: u32,
    /// Rounds of earlier runs of this build, kernel and machine that the scatter comes from; 0: the default.
    pub earlier_rounds: u32,
    /// The scatter of rounds that was expected.
    pub scatter: f64,
    /// How far disturbed rounds were expected above undisturbed ones.
    pub slow_down: f64,
    /// The standard deviation of that.
    pub slow_down_deviation: f64,
}

/// The two ends of an interval, 95 % unless its field says otherwise, in the figure's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ends {
    /// The lower one.
    pub low: f64,
    /// The upper one.
    pub high: f64,
}

/// One of several crisp values that a cost has on an undisturbed core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// The cost there, net.
    pub ns: Nanoseconds,
    /// Its 95 % interval, in ns.
    pub interval_ns: Ends,
    /// The share of the batches that lie on it.
    pub share: f64,
    /// The 95 % interval of the share.
    pub share_interval: Ends,
}

impl Level {
    /// The mean of levels by their shares: what a call costs on average on an undisturbed core. `None` without a level.
    pub fn mean(levels: &[Level]) -> Option<Nanoseconds> {
        let shares: f64 = levels.iter().map(|level| level.share).sum();
        let sum: f64 = levels.iter().map(|level| level.ns.0 * level.share).sum();
        (shares > 0.0).then(|| Nanoseconds(sum / shares))
    }
}
