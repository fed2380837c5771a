//! What is remembered between runs: the best that each machine has shown in its speed checks.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, write_whole};

/// Core cycles per independent add that a processor can plausibly have: sixteen a cycle to ten cycles each.
const PLAUSIBLE_WIDTH: RangeInclusive<f64> = 0.06..=10.0;
/// Nanoseconds that a cycle can plausibly take: 10 GHz to 10 MHz.
const PLAUSIBLE_CYCLE: RangeInclusive<f64> = 0.1..=100.0;

/// The best one machine has shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Core cycles per independent add.
    pub width_cycles: f64,
    /// One core cycle in ns.
    pub cycle_ns: f64,
}

impl Shown {
    fn is_plausible(&self) -> bool {
        PLAUSIBLE_WIDTH.contains(&self.width_cycles) && PLAUSIBLE_CYCLE.contains(&self.cycle_ns)
    }
}

/// What is remembered between runs; missing or damaged memory is an empty one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// By machine: processor signature and host name.
    #[serde(default)]
    machines: BTreeMap<String, Shown>,
}

impl Known {
    /// Reads what is remembered; whatever is missing, damaged or implausible is left out.
    pub fn load(store: &Store) -> Known {
        let text = std::fs::read(store.known_file()).unwrap_or_default();
        let mut known: Known = serde_json::from_slice(&text).unwrap_or_default();
        known.machines.retain(|_, shown| shown.is_plausible());
        known
    }

    /// The best that this machine has shown.
    pub fn of(&self, machine: &str) -> Option<Shown> {
        self.machines.get(machine).copied()
    }

    /// Remembers what a run showed of this machine. An implausible value changes nothing.
    pub fn learn(&mut self, machine: &str, shown: Shown) {
        if shown.is_plausible() {
            self.machines.insert(machine.into(), shown);
        }
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// A folder or file that cannot be written.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        write_whole(&store.known_file(), &text)
    }
}
