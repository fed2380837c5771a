//! Fleets made on purpose: what is found in them, and what is not said of them.

mod adverse;
mod causes;
mod simulated;
mod support;
