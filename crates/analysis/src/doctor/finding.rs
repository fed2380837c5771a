//! One thing that touches the numbers, and how.

use serde::{Deserialize, Serialize};

use crate::reference::Place;

/// How a finding touches the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs lie outside the spread of the reference machines.
    Odd,
    /// Numbers will scatter or drift, or describe something else than the machine.
    Noise,
    /// Some operations or columns will be missing.
    Missing,
    /// Costs are as they are here for this reason; good to know when comparing.
    Note,
}

/// One thing that touches the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How it touches them.
    pub severity: Severity,
    /// What is so here, and what follows.
    pub what: String,
    /// What to do, often as a command; empty where nothing needs doing.
    pub remedy: String,
}

/// What is found, in the order of the search.
pub(super) struct Findings {
    pub place: Place,
    pub found: Vec<Finding>,
}

impl Findings {
    pub fn noise(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Severity::Noise, what, remedy);
    }

    pub fn missing(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Severity::Missing, what, remedy);
    }

    pub fn note(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.add(Severity::Note, what, remedy);
    }

    /// What a setting of the kernel or the hardware would change, which nobody does from within a container.
    pub fn setting(&mut self, severity: Severity, what: impl Into<String>, remedy: impl Into<String>) {
        let remedy = remedy.into();
        let remedy = match self.place {
            Place::Own => remedy,
            Place::Inside => format!("the host's setting, outside this container: {}", remedy.replace("sudo ", "")),
        };
        self.add(severity, what, remedy);
    }

    fn add(&mut self, severity: Severity, what: impl Into<String>, remedy: impl Into<String>) {
        self.found.push(Finding { severity, what: what.into(), remedy: remedy.into() });
    }
}
