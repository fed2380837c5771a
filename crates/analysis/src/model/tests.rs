//! The solutions against each other and against published figures.

mod closed;
mod exact;
mod fitted;
mod questions;
mod simulated;

fn figures(state: &super::SteadyState) -> [f64; 16] {
    super::prediction::FIGURES.map(|figure| *figure(&mut state.clone()))
}
