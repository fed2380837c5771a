//! Many machines: classes of alike ones, how far the nodes of a class lie apart, and which nodes are slow in what.
//!
//! Input is a [`Table`]: rows of node, run, cost and figure, however they were read. [`found`] does the rest: it sorts nodes
//! into [`Class`]es, splits the scatter of every cost ([`Scatter`]), tests every node in every family of costs, and names
//! likely causes. docs/FLEET.md gives the method and what was measured of it.

mod cause;
mod class;
mod composite;
mod effects;
mod found;
mod judge;
mod options;
mod parts;
mod population;
mod robust;
mod slow;
mod table;
mod tail;

#[cfg(test)]
mod tests;

pub use class::Class;
pub use effects::{Effect, Scatter};
pub use found::{ClassFound, CostSpread, FamilySpread, Found, LackingNode, found};
pub use options::{CLOCK, ENOUGH_NODES, FleetOptions};
pub use parts::{MachinePart, Parts};
pub use population::Population;
pub use slow::{CauseKind, Doubted, SlowCause, SlowCost, SlowFamily, SlowNode};
pub use table::{CostKey, RunFacts, RunFigure, RunKey, Table, weakening_kind};
