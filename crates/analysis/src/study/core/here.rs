//! The place of the paper's experiments on this machine: scripted users with less and more memory (its section 2), and with a second
//! CPU (its section 3).
//!
//! A run that measured them has costs of its own for them. Their ids belong into [`parts`], and the pairs that test a sentence into the
//! constants below, which the claims use. Until then the page says that they are not measured here.

use crate::derived::Part;
use crate::study::claims::Pair;

/// Every cost of this machine that the study uses.
pub(super) fn parts() -> Vec<&'static Part> {
    Vec::new()
}

/// An interaction with less memory against one with more: page faults, processor time, response.
pub(super) const MEMORY_FAULTS: &[Pair] = &[];
pub(super) const MEMORY_CPU: &[Pair] = &[];
pub(super) const MEMORY_RESPONSE: &[Pair] = &[];
/// The time between page faults, and multiprogramming idle.
pub(super) const MEMORY_BETWEEN: &[Pair] = &[];
pub(super) const MEMORY_IDLE: &[Pair] = &[];
/// An interaction with a second CPU: processor time, response.
pub(super) const CPUS_CPU: &[Pair] = &[];
pub(super) const CPUS_RESPONSE: &[Pair] = &[];
