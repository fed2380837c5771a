//! Pure arithmetic on records: statistics, estimates, and results computed from a run. Reads no clock, prints nothing.
//!
//! - [`statistics`], [`landing`] and [`sums`] compute medians, intervals and sums with intervals.
//! - [`estimate`] turns the samples of rounds into the figures of a cost.
//! - [`compare`], [`explain`], [`derived`], [`predict`], [`factors`] and [`study`] answer the questions of the verbs with
//!   the same names.
//!
//! ```
//! use analysis::statistics::{Interval, median, weighted_sum};
//!
//! assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
//!
//! let gross = Interval { value: 10.0, low: 7.0, high: 13.0 };
//! let baseline = Interval { value: 1.0, low: -1.0, high: 3.0 };
//! let net = weighted_sum(&[(1.0, gross), (-2.0, baseline)]);
//! assert_eq!(net, Interval { value: 8.0, low: 3.0, high: 13.0 });
//! ```
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
