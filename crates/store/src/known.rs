//! What is remembered of this machine between runs: the best width each processor model has shown.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, write_whole};

/// Core cycles per independent add that a processor can plausibly have: sixteen a cycle to ten cycles each.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.06..=10.0;

/// What is remembered between runs; missing or damaged memory is an empty one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// CPU signature to the best width it has shown, in core cycles per independent add.
    #[serde(default)]
    best_width_cycles: BTreeMap<String, f64>,
}

impl Known {
    /// Reads what is remembered; whatever is missing, damaged or implausible is left out.
    pub fn load(store: &Store) -> Known {
        let text = std::fs::read(store.known_file()).unwrap_or_default();
        let mut known: Known = serde_json::from_slice(&text).unwrap_or_default();
        known.best_width_cycles.retain(|_, width| PLAUSIBLE.contains(width));
        known
    }

    /// The best width that processors of this signature have shown.
    pub fn best_width_cycles(&self, signature: &str) -> Option<f64> {
        self.best_width_cycles.get(signature).copied()
    }

    /// Remembers what a run showed, for this signature. An implausible value changes nothing.
    pub fn learn(&mut self, signature: &str, width: f64) {
        if !signature.is_empty() && PLAUSIBLE.contains(&width) {
            self.best_width_cycles.insert(signature.into(), width);
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
