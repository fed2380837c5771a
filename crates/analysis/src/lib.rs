//! Pure arithmetic on records: statistics, estimates, what follows from a run. Reads no clock, prints nothing.
#![forbid(unsafe_code)]

pub mod derived;
pub mod doctor;
pub mod estimate;
pub mod explain;
mod findings;
pub mod plausible;
pub mod prefetch;
pub mod statistics;
pub mod study;

pub use findings::findings;
