//! What one configuration is driven with.

use analysis::load::{Configuration, FaultCost};
use measure::Signals;

use super::script::Script;
use crate::plan::Plan;
use crate::site::{Device, Group};

/// Everything that one configuration is driven with.
pub struct Setting<'a> {
    pub configuration: &'a Configuration,
    pub script: &'a Script,
    pub plan: &'a Plan,
    pub group: &'a Group,
    pub device: Option<&'a Device>,
    pub cpus: &'a [u32],
    pub fault: FaultCost,
    pub seed: u64,
    pub signals: &'a Signals,
}
