//! What makes results noisy or missing on a machine, and what to do about it. It uses only its input, and howslow
//! itself changes nothing.

mod finding;
mod hardware;
mod rights;
mod system;

use record::{Machine, Noise, Present};

use crate::reference::{Oddity, Place, ReferenceVerdict};

use finding::Findings;

pub use finding::{Finding, Severity};

/// The facts that affect the results here: first noise, then missing results, then notes.
pub fn examine(machine: &Machine, noise: Option<&Noise>, now: &Present) -> Vec<Finding> {
    let mut findings = Findings { place: Place::of(machine), found: Vec::new() };
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
    findings.found.sort_by_key(|finding| finding.severity);
    findings.found
}

/// What is odd about the costs of the newest run beside the reference machines, each with its likely reason and what to try.
pub fn odd(verdict: &ReferenceVerdict<'_>, place: Place) -> Vec<Finding> {
    let finding = |oddity: &Oddity<'_>| {
        let reason = oddity.reason.as_ref().map(|reason| format!("; likely: {reason}")).unwrap_or_default();
        let remedy = oddity.remedy.map(|remedy| remedy.text(place)).unwrap_or_default();
        Finding { severity: Severity::Odd, what: oddity.claim() + &reason, remedy }
    };
    verdict.odd.iter().map(finding).collect()
}

#[cfg(test)]
mod tests;
