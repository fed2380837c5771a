//! Costs held against reference machines: what is odd here, why that is likely, and what to try. A reference machine is a
//! whole machine that howslow measured, in the form of a run; which ones there are is the caller's business.

mod anonymous;
mod contributed;
mod facts;
mod held;
mod knowledge;
mod oddities;
mod remedy;
mod verdict;

pub use anonymous::{NAMELESS, anonymous, without_paths};
pub use contributed::{Contribution, ContributionError, contribute};
pub use facts::{Facts, dear_mitigations};
pub(crate) use facts::{IN_MEMORY, SERVED, dear_clock_source};
pub use held::{Direction, Held, NotHeld, hold};
pub use knowledge::likely_cause_of_waking;
pub use oddities::{OddCost, Oddity, ReferenceVerdict, judge};
pub use remedy::{Place, Remedy};
pub use verdict::sentences;

#[cfg(test)]
mod tests;
