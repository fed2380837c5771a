//! The solutions against each other and against published figures.

mod closed;
mod exact;
mod fitted;
mod questions;
mod simulated;

fn figures(state: &super::SteadyState) -> [f64; 16] {
    super::prediction::FIGURES.map(|(read, _)| read(state))
}
