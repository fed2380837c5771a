//! What may be requested, and what everything here agrees on.

use super::parts::MachinePart;
use crate::change::{ALARMS, LEAST};

/// The family of a run's own clock: not a cost, but tested as one.
pub const CLOCK: &str = "clock speed";

/// With fewer nodes than this in a class, no node is called slow: the spread of so few shows nothing of the rest.
pub const ENOUGH_NODES: usize = 6;

#[derive(Clone, Debug, PartialEq)]
pub struct FleetOptions {
    /// The share of false ones that is allowed among what is called slow.
    pub false_share: f64,
    /// A node is called slow only by at least this share.
    pub at_least: f64,
    /// The parts that make a class; empty for the rule in [`Class`](super::Class).
    pub by: Vec<MachinePart>,
}

impl Default for FleetOptions {
    fn default() -> FleetOptions {
        FleetOptions { false_share: ALARMS, at_least: LEAST, by: Vec::new() }
    }
}
