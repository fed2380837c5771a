//! What makes results noisy or missing on a machine, and what to do about it. It uses only its input, and howslow
//! itself changes nothing.

mod hardware;
mod rights;
mod system;

use record::{Machine, Noise, Present};
use serde::{Deserialize, Serialize};

/// How a finding affects the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Results scatter or drift, or describe something other than the machine.
    Noise,
    /// Some operations or columns are missing.
    Missing,
    /// The reason for a cost on this machine; useful for comparisons.
    Note,
}

/// One fact that affects the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// How it affects them.
    pub severity: Severity,
    /// The fact, and its consequence.
    pub what: String,
    /// What to do, often as a command; empty if nothing is needed.
    pub remedy: String,
}

/// The facts that affect the results here: first noise, then missing results, then notes.
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
