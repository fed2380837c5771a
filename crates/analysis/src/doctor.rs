//! What will make numbers noisy or missing on a machine, each with what to do about it. Looks only at what it is given;
//! howslow itself changes none of it.

mod finding;
mod hardware;
mod rights;
mod system;

use record::{Machine, Noise, Present};

pub use finding::{Finding, Severity};

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

#[cfg(test)]
mod tests;
