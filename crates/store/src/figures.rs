//! What the newest runs of each machine leave to later ones: how the rounds of each cost scattered. It is separate from the runs,
//! which take long to read.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::prior::{Prior, Trace, learn};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::runs::Store;

/// The file in the data folder.
const FILE: &str = "figures.json";

/// The number of runs remembered for one machine. Older ones show less of its present state.
const MOST_RUNS: usize = 10;

/// A longer file is not read. The machines that measured longest ago go before it is.
const MOST_BYTES: u64 = 64 << 20;

/// The traces of one run, by cost name.
pub type OfRun = BTreeMap<String, Trace>;

/// What runs must have in common to learn from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunKind {
    /// Fingerprint of the program.
    pub build: String,
    /// The kernel: release and version.
    pub kernel: String,
    /// Its command line and mitigations.
    pub boot: String,
}

/// The newest runs of one machine, all of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct OfMachine {
    kind: RunKind,
    runs: Vec<OfRun>,
    /// Greater than that of each machine whose last run is older.
    #[serde(default)]
    last: u64,
}

/// The traces of the newest runs. A missing or damaged file counts as empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureHistory {
    #[serde(default)]
    machines: BTreeMap<String, OfMachine>,
    /// True if the file could not be read.
    #[serde(skip)]
    damaged: bool,
}

/// Earlier runs of one machine and kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Earlier<'a> {
    runs: &'a [OfRun],
    /// Why those that there are show nothing of this one, if so: `2 earlier runs are of another kernel`.
    pub unused: Option<String>,
}

impl Earlier<'_> {
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// What they show of a cost, beyond what is usual.
    pub fn prior(&self, cost: &str, usual: Prior) -> Prior {
        learn(self.runs.iter().filter_map(|run| run.get(cost)), usual)
    }
}

impl FigureHistory {
    pub fn load(store: &Store) -> FigureHistory {
        let damaged = store.folder.join(FILE).exists();
        let known = store.read_data(Path::new(FILE), MOST_BYTES);
        known.unwrap_or(FigureHistory { damaged, ..FigureHistory::default() })
    }

    /// The runs that show something of a run of this kind on this machine.
    pub fn of(&self, machine: &str, kind: &RunKind) -> Earlier<'_> {
        let Some(known) = self.machines.get(machine).filter(|known| !known.runs.is_empty()) else {
            let unused = self.damaged.then(|| "what earlier runs left cannot be read".into());
            return Earlier { runs: &[], unused };
        };
        let other = match known.kind {
            _ if known.kind == *kind => return Earlier { runs: &known.runs, unused: None },
            _ if known.kind.build != kind.build => "build of howslow",
            _ if known.kind.kernel != kind.kernel => "kernel",
            _ => "boot option or mitigation",
        };
        let (count, are) = match known.runs.len() {
            1 => (1, "run is"),
            more => (more, "runs are"),
        };
        Earlier { runs: &[], unused: Some(format!("{count} earlier {are} of another {other}")) }
    }

    /// Adds a run. Runs of another kind are removed.
    pub fn add(&mut self, machine: &str, kind: &RunKind, run: OfRun) {
        let last = self.machines.values().map(|known| known.last).max().unwrap_or(0).saturating_add(1);
        let known = self.machines.entry(machine.into()).or_default();
        if known.kind != *kind {
            *known = OfMachine { kind: kind.clone(), ..OfMachine::default() };
        }
        known.last = last;
        known.runs.push(run);
        let surplus = known.runs.len().saturating_sub(MOST_RUNS);
        known.runs.drain(..surplus);
    }

    /// Writes what is remembered, completely or not at all. Fails if a folder or file cannot be written.
    pub fn save(&mut self, store: &Store) -> Result<(), StoreError> {
        let text = self.text(MOST_BYTES).map_err(|error| StoreError::Unwritable(error.to_string()))?;
        store.write_data(Path::new(FILE), &text)
    }

    /// The document, without the machines that measured longest ago if it would be longer.
    fn text(&mut self, most: u64) -> serde_json::Result<Vec<u8>> {
        loop {
            let text = serde_json::to_vec(self)?;
            let oldest = self.machines.iter().min_by_key(|(_, known)| known.last).map(|(name, _)| name.clone());
            match oldest.filter(|_| text.len() as u64 > most && self.machines.len() > 1) {
                Some(oldest) => self.machines.remove(&oldest),
                None => return Ok(text),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_that_measured_longest_ago_go_first() {
        let mut known = FigureHistory::default();
        for machine in ["zen", "alder", "zen", "golden"] {
            known.add(machine, &RunKind::default(), OfRun::from([("x".repeat(100), Trace::default())]));
        }
        let whole = known.text(MOST_BYTES).expect("JSON").len() as u64;
        known.text(whole - 1).expect("JSON");
        assert_eq!(known.machines.keys().collect::<Vec<_>>(), ["golden", "zen"]);
        known.text(0).expect("JSON");
        assert_eq!(known.machines.keys().collect::<Vec<_>>(), ["golden"], "the newest stays");
    }
}
