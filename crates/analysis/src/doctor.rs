//! What makes results noisy or missing on a machine, and what to do about it. It uses only its input, and howslow
//! itself changes nothing.

mod finding;
mod hardware;
mod odd;
mod rights;
mod system;

use record::{Machine, Noise, Present};

use crate::reference::Place;

use finding::Findings;

pub use finding::{Finding, Severity};
pub use odd::odd;

/// The facts that affect the results here: first noise, then missing results, then notes.
pub fn examine(machine: &Machine, noise: Option<&Noise>, now: &Present) -> Vec<Finding> {
    let mut findings = Findings::default();
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
    let mut findings = findings.0;
    findings.sort_by_key(|finding| finding.severity);
    let place = Place::of(machine);
    findings.into_iter().map(|finding| finding.worded_for(place)).collect()
}

#[cfg(test)]
mod tests;
