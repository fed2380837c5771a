//! Pure arithmetic on records: statistics, estimates, what follows from a run. Reads no clock, prints nothing.
//!
//! [`estimate`] makes the figures of a cost from its rounds, [`landing`] their intervals; [`derived`] costs are differences of
//! measured ones; [`compare`] sets runs beside each other, [`predict`] prices a mix, [`factors`] splits a ratio, and a
//! [`study`] does a paper's experiment again.
//!
//! ```
//! use howslow_analysis::landing::{RoundFigure, around, reach};
//!
//! let rounds = RoundFigure::alike([100.0, 101.0, 99.0, 100.5, 99.5]);
//! let interval = around(100.0, reach(&rounds));
//! assert!(interval.low < 99.0 && interval.high > 101.0);
//! ```
#![forbid(unsafe_code)]

// The derive of JSON Schemas: without the feature, one that derives nothing.
#[cfg(not(feature = "schema"))]
#[macro_use]
extern crate schema_macros;
#[cfg(feature = "schema")]
#[macro_use]
extern crate schemars;

pub mod again;
pub mod answer;
pub mod bill;
mod by_key;
pub mod change;
pub mod compare;
pub mod crossover;
pub mod derived;
pub mod doctor;
pub mod estimate;
#[cfg(test)]
mod example;
pub mod explain;
pub mod factors;
mod findings;
pub mod fleet;
pub mod form;
pub mod history;
pub mod interference;
mod kind;
pub mod landing;
pub mod levels;
pub mod load;
pub mod lockstep;
pub mod longer;
pub mod memory;
pub mod mix;
pub mod mix_changes;
pub mod model;
pub mod modes;
pub mod net;
pub mod noise;
pub mod parallel;
pub mod plausible;
pub mod posterior;
pub mod predict;
pub mod prefetch;
pub mod prior;
mod reading;
pub mod reference;
pub mod relative;
pub mod repeated;
pub mod scalability;
pub mod self_test;
mod squares;
pub mod statistics;
pub mod study;
pub mod sums;
pub mod tails;
pub mod terminal;
pub mod typical;
mod undisturbed;
pub mod watch;
pub mod whatif;

pub use by_key::{by_key, distinct};
pub use findings::{Surroundings, findings};
