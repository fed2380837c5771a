//! One thing that touches the numbers, and how.

use serde::{Deserialize, Serialize};

/// How a finding touches the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Numbers will scatter or drift, or describe something else than the machine.
    Noise,
    /// Some operations or columns will be missing.
    Missing,
    /// Costs are as they are here for this reason; good to know when comparing.
    Note,
}

/// One thing that touches the numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// How it touches them.
    pub severity: Severity,
    /// What is so here, and what follows.
    pub what: String,
    /// What to do, often as a command; empty where nothing needs doing.
    pub remedy: String,
}

/// A finding of these three.
pub(super) fn say(severity: Severity, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { severity, what: what.into(), remedy: remedy.into() }
}
