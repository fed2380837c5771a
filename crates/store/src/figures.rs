//! The figures of the newest runs of each machine, by build. A later run learns its scatter from them. They are
//! separate from the runs, which take long to read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::runs::Store;
use crate::write::write_whole;

/// The number of runs remembered for one machine. Older ones say less about its present state.
const MOST_RUNS: usize = 10;

/// The figures of one run, by cost name.
pub type OfRun = BTreeMap<String, f64>;

/// The newest runs of one machine, all of one build.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct OfMachine {
    build: String,
    runs: Vec<OfRun>,
}

/// The figures of the newest runs. A missing or damaged file counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureHistory {
    #[serde(default)]
    machines: BTreeMap<String, OfMachine>,
}

impl FigureHistory {
    /// Reads the remembered figures. Missing or damaged ones are left out.
    pub fn load(store: &Store) -> FigureHistory {
        let text = std::fs::read(store.figures_file()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// The figures of one cost in the runs of this build on this machine, oldest first. Impossible values are left out.
    pub fn of(&self, machine: &str, build: &str, cost: &str) -> Vec<f64> {
        let known = self.machines.get(machine).filter(|known| known.build == build);
        let figures = known.iter().flat_map(|known| &known.runs).filter_map(|run| run.get(cost).copied());
        figures.filter(|figure| figure.is_finite() && *figure > 0.0).collect()
    }

    /// Adds a run. Runs of another build are removed.
    pub fn add(&mut self, machine: &str, build: &str, run: OfRun) {
        let known = self.machines.entry(machine.into()).or_default();
        if known.build != build {
            *known = OfMachine { build: build.into(), runs: Vec::new() };
        }
        known.runs.push(run);
        let surplus = known.runs.len().saturating_sub(MOST_RUNS);
        known.runs.drain(..surplus);
    }

    /// Writes the figures, completely or not at all.
    ///
    /// # Errors
    /// If a folder or file cannot be written.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let text = serde_json::to_vec(self).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        write_whole(&store.figures_file(), &text)
    }
}
