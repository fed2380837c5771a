//! The solutions against each other and against published figures.

mod asked;
mod closed;
mod exact;
mod fitted;
mod simulated;
