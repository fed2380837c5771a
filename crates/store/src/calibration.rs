//! Calibration kept between runs: the best speed that an undisturbed core has shown, by machine.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::runs::Store;

/// Core cycles per independent add that a processor can plausibly have: sixteen a cycle to ten cycles each.
const PLAUSIBLE_WIDTH: RangeInclusive<f64> = 0.06..=10.0;
/// After this many runs in a row that came nowhere near the best speed, it is dropped: it is not this machine's.
const MOST_MISSES: u32 = 3;

/// The file in the data folder.
const FILE: &str = "known.json";
/// No list of machines is longer.
const MOST_BYTES: u64 = 4 << 20;

/// The best speed that one machine has shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestSpeed {
    /// Core cycles per independent add on an undisturbed core.
    pub width_cycles: f64,
    /// Runs in a row that came nowhere near it.
    #[serde(default)]
    pub misses: u32,
}

/// The best speeds of all machines; a missing or damaged file counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// By machine: processor signature and host name.
    #[serde(default)]
    machines: BTreeMap<String, BestSpeed>,
}

impl Calibration {
    /// Reads the calibration. Leaves out what is missing, damaged or implausible.
    pub fn load(store: &Store) -> Calibration {
        let mut calibration: Calibration = store.read_data(Path::new(FILE), MOST_BYTES).unwrap_or_default();
        calibration.machines.retain(|_, best| PLAUSIBLE_WIDTH.contains(&best.width_cycles));
        calibration
    }

    pub fn of(&self, machine: &str) -> Option<BestSpeed> {
        self.machines.get(machine).copied()
    }

    /// Keeps what a run saw on this machine. An implausible value changes nothing.
    pub fn learn(&mut self, machine: &str, width_cycles: f64) {
        if PLAUSIBLE_WIDTH.contains(&width_cycles) {
            self.machines.insert(machine.into(), BestSpeed { width_cycles, misses: 0 });
        }
    }

    /// Counts a run that came nowhere near the best speed of this machine. Drops the best speed after some such runs.
    pub fn miss(&mut self, machine: &str) {
        let Some(best) = self.machines.get_mut(machine) else { return };
        best.misses = best.misses.saturating_add(1);
        if best.misses >= MOST_MISSES {
            self.machines.remove(machine);
        }
    }

    /// Writes it, whole or not at all. Fails if a folder or file cannot be written.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        store.write_data(Path::new(FILE), &text)
    }
}
