//! `howslow explain --json`.

use analysis::derived::{Derived, EntryShare};
use analysis::explain::Explanation;
use analysis::levels::CostLevels;
use analysis::memory::MemoryHierarchy;
use serde::Serialize;

use super::reference::{CostHeld, OddCosts};

/// What the costs of a run consist of.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainDocument<'a> {
    /// Costs that are differences of others.
    pub derived: &'a [Derived],
    /// How much of each system call is entering and leaving the kernel.
    pub entry_shares: &'a [EntryShare],
    /// Costs, part by part.
    pub explained: &'a [Explanation],
    /// What the run says of memory; null where it says nothing.
    pub memory: Option<&'a MemoryHierarchy>,
    /// What is odd beside the reference machines.
    pub odd: Vec<OddCosts>,
    /// The levels of the costs that have some.
    pub levels: Vec<CostLevels<'a>>,
}

/// The costs that were asked for, part by part.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CostsExplained<'a> {
    /// The costs.
    pub explained: &'a [Explanation],
    /// The same costs beside the reference machines that have them.
    pub references: Vec<CostHeld>,
    /// The levels of those that have some.
    pub levels: Vec<CostLevels<'a>>,
}
