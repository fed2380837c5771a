//! `howslow watch --json`: what changed in a machine's costs, and when.

use serde::Serialize;
use serde_json::Value;

/// What changed in a machine's costs, and when.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchDocument {
    /// The id of the newest run, which is held against the others.
    pub run: String,
    /// When it started.
    pub started: String,
    /// Its host; empty if unknown.
    pub host: String,
    /// The class of its machine.
    pub class: String,
    /// `machine` if the others are of this machine, `class` if there are too few of it and they are of its class.
    pub among: &'static str,
    /// The number of other runs.
    pub others: usize,
    /// The number of costs that were watched.
    pub costs: usize,
    /// More costs of the run that too few earlier runs have.
    pub too_few: usize,
    /// Smaller changes are not told, as a share.
    pub least: f64,
    /// True if a cost is at a new level now.
    pub changed: bool,
    /// The changes, the newest first.
    pub changes: Vec<WatchChange>,
}

/// The costs whose level changed at one run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchChange {
    /// The id of the first run of the new level.
    pub since: String,
    /// When that run started.
    pub started: String,
    /// The id of the run before it.
    pub before: String,
    /// The most runs that show one of the costs at its new level; with one, the next run may show that this one was disturbed.
    pub runs: usize,
    /// The costs.
    pub costs: Vec<WatchCost>,
    /// What else differs between the two runs.
    pub also: Vec<WatchFact>,
}

/// One cost that changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchCost {
    /// Id and point as typed on the command line.
    pub cost: String,
    /// The new level over the one before.
    pub ratio: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// True if the cost is still at this level.
    pub lasts: bool,
}

/// One fact of machine, settings or program that is not the same before and after.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchFact {
    /// Its place in the run document: `machine.kernel.release`.
    pub field: String,
    /// What it was.
    pub before: Value,
    /// What it is.
    pub after: Value,
}
