//! Many machines: classes of alike ones, how far the nodes of a class lie apart, and which nodes are slow in what.
//!
//! Input is a [`Table`]: rows of node, run, cost and figure, however they were read. [`found`] does the rest: it sorts nodes
//! into [`Class`]es, splits the scatter of every cost ([`Spread`]), tests every node in every family of costs, and names
//! likely causes. docs/FLEET-REPORT.md gives the method and what was measured of it.

mod cause;
mod class;
mod composite;
mod effects;
mod found;
mod judge;
mod population;
mod robust;
mod table;
mod tail;

#[cfg(test)]
mod tests;

pub use cause::{Cause, CauseKind};
pub use class::{Class, Part, Parts};
pub use effects::{Effect, Spread};
pub use found::{ClassFound, CostSpread, FamilySpread, Found, found};
pub use judge::{Doubted, SlowCost, SlowFamily, SlowNode};
pub use population::Population;
pub use table::{CostKey, Figure, RunFacts, RunKey, Table, weakening, weakening_kind};

/// The family of a run's own clock: not a cost, but tested as one.
pub const CLOCK: &str = "clock speed";

/// With fewer nodes than this in a class, no node is called slow: the spread of so few tells nothing about the rest.
pub const ENOUGH_NODES: usize = 6;

/// What may be asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The share of false ones that is allowed among what is called slow.
    pub false_share: f64,
    /// A node is called slow only by at least this share.
    pub at_least: f64,
    /// The parts that make a class; empty for the rule in [`Class`].
    pub by: Vec<Part>,
}

impl Default for Options {
    fn default() -> Options {
        Options { false_share: 0.05, at_least: 0.01, by: Vec::new() }
    }
}
