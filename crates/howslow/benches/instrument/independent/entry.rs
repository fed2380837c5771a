//! One row of the tables: an operation, a point of it, and how to do the same by hand.

use super::harness::Made;

/// An operation at a point, and work written by hand that should take as long.
pub(super) struct Entry {
    pub id: &'static str,
    /// As after the `@` of the command line; empty for the only point.
    pub at: &'static str,
    /// How often an iteration contains a turn of the loop around it, which the instrument subtracts where it says so.
    pub turns: f64,
    pub make: fn() -> Made,
}

/// Work with a turn of the loop in each iteration.
pub(super) const fn entry(id: &'static str, at: &'static str, make: fn() -> Made) -> Entry {
    Entry { id, at, turns: 1.0, make }
}

/// Work whose loop is unrolled, or so long that its loop is nothing.
pub(super) const fn unrolled(id: &'static str, at: &'static str, make: fn() -> Made) -> Entry {
    Entry { id, at, turns: 0.0, make }
}

impl Entry {
    /// As typed on the command line.
    pub(super) fn name(&self) -> String {
        if self.at.is_empty() { self.id.into() } else { format!("{}@{}", self.id, self.at) }
    }
}

/// A family or several that belong together.
pub(super) struct Group {
    pub title: &'static str,
    pub entries: &'static [Entry],
}
