//! What will make numbers noisy or missing on a machine, each with what to do about it. Looks only at what it is given;
//! howslow itself changes none of it.

mod hardware;
mod rights;
mod system;

use record::{Machine, Noise, Present};
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

/// What touches the numbers here: what makes noise first, then what is missing, then what is good to know.
pub fn examine(machine: &Machine, noise: Option<&Noise>, now: &Present) -> Vec<Finding> {
    let mut findings = Vec::new();
    hardware::neighbours(machine, noise, &mut findings);
    hardware::others(machine, noise, now, &mut findings);
    hardware::frequency(machine, now, &mut findings);
    hardware::clock(machine, &mut findings);
    system::memory(machine, now, &mut findings);
    system::limits(machine, now, &mut findings);
    hardware::counters(machine, now, &mut findings);
    rights::rights(machine, now, &mut findings);
    system::files(now, &mut findings);
    system::kernel(machine, now, &mut findings);
    findings.sort_by_key(|finding| finding.severity);
    findings
}

fn say(severity: Severity, what: impl Into<String>, remedy: impl Into<String>) -> Finding {
    Finding { severity, what: what.into(), remedy: remedy.into() }
}

#[cfg(test)]
mod tests;
