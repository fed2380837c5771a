//! A bill with all that its page and its document show.

use analysis::bill::Bill;
use analysis::predict::MachineState;
use record::{Observation, Run};

/// Where the prices of a bill come from, if no run was named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceOrigin {
    /// In half a line; empty for a run that was named.
    pub summary: String,
    /// Each price with its run and its interval.
    pub details: Vec<String>,
}

/// A bill, and what it was made from.
pub struct BillView<'a> {
    /// What was counted.
    pub seen: &'a Observation,
    pub bill: &'a Bill,
    /// The run whose costs are the prices.
    pub run: Option<&'a Run>,
    /// The state of the prices.
    pub state: MachineState,
    /// Operations of which the run has no cost.
    pub lacking: &'a [String],
    /// Where prices came from beside the run, and what would measure those that are lacking.
    pub remedy: Option<&'a str>,
    /// Where the prices come from.
    pub origin: &'a PriceOrigin,
}
