//! The solutions against each other and against published figures.

mod asked;
mod exact;
mod fitted;
mod simulated;
