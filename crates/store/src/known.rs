//! What is remembered between runs: the width of an undisturbed core on each machine.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, write_whole};

/// The plausible core cycles per independent add: from sixteen adds a cycle to ten cycles for each.
const PLAUSIBLE_WIDTH: RangeInclusive<f64> = 0.06..=10.0;
/// After this many runs in a row that came nowhere near it, the remembered width is dropped: it is not this machine's.
const MOST_MISSES: u32 = 3;

/// The remembered values of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Core cycles per independent add on an undisturbed core.
    pub width_cycles: f64,
    /// Runs in a row that came nowhere near it.
    #[serde(default)]
    pub misses: u32,
}

/// What is remembered between runs. A missing or damaged file counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// By machine: processor signature and host name.
    #[serde(default)]
    machines: BTreeMap<String, Shown>,
}

impl Known {
    /// Reads the remembered values. Missing, damaged or implausible ones are left out.
    pub fn load(store: &Store) -> Known {
        let text = std::fs::read(store.known_file()).unwrap_or_default();
        let mut known: Known = serde_json::from_slice(&text).unwrap_or_default();
        known.machines.retain(|_, shown| PLAUSIBLE_WIDTH.contains(&shown.width_cycles));
        known
    }

    /// The values of this machine.
    pub fn of(&self, machine: &str) -> Option<Shown> {
        self.machines.get(machine).copied()
    }

    /// Remembers what a run saw on this machine. An implausible value changes nothing.
    pub fn learn(&mut self, machine: &str, width_cycles: f64) {
        if PLAUSIBLE_WIDTH.contains(&width_cycles) {
            self.machines.insert(machine.into(), Shown { width_cycles, misses: 0 });
        }
    }

    /// Records that a run came nowhere near the remembered width of this machine. After several such runs, forgets it.
    pub fn miss(&mut self, machine: &str) {
        let Some(shown) = self.machines.get_mut(machine) else { return };
        shown.misses = shown.misses.saturating_add(1);
        if shown.misses >= MOST_MISSES {
            self.machines.remove(machine);
        }
    }

    /// Writes the values, completely or not at all.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        write_whole(&store.known_file(), &text)
    }
}
