//! Findings about the costs of a run of this machine: those that are odd beside the reference machines.

use super::finding::{Finding, Severity};
use crate::reference::{Oddity, Place, ReferenceVerdict};

/// What is odd about the newest run, each with its likely reason and what to try.
pub fn odd(verdict: &ReferenceVerdict<'_>, place: Place) -> Vec<Finding> {
    let finding = |oddity: &Oddity<'_>| {
        let claim = oddity.claim();
        let reason = oddity.reason.as_ref().map(|reason| format!("; likely: {reason}")).unwrap_or_default();
        let remedy = oddity.remedy.map(|remedy| remedy.text(place)).unwrap_or_default();
        Finding::new(Severity::Odd, claim + &reason, remedy)
    };
    verdict.odd.iter().map(finding).collect()
}
