//! Pure arithmetic on records: statistics, estimates, and results computed from a run. Reads no clock, prints nothing.
#![forbid(unsafe_code)]

pub mod answer;
pub mod compare;
pub mod components;
pub mod derived;
pub mod doctor;
pub mod estimate;
pub mod explain;
pub mod factors;
mod findings;
pub mod history;
pub mod landing;
pub mod memory;
pub mod mix;
pub mod modes;
pub mod plausible;
pub mod predict;
pub mod prefetch;
pub mod repeated;
pub mod statistics;
pub mod study;
pub mod sums;
pub mod typical;
pub mod whatif;

pub use findings::findings;
