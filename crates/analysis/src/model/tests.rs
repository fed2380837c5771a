//! The solutions against each other and against published figures.

mod exact;
mod simulated;
