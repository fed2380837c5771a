//! Predictions, factors and explanations, by figures known and by laws.

mod explain;
mod mixes;
mod support;
mod sure;
