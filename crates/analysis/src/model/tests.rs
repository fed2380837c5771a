//! The solutions against each other and against published figures.

mod asked;
mod closed;
mod exact;
mod fitted;
mod simulated;

/// Every figure of a solution.
fn figures(it: &super::SteadyState) -> [f64; 16] {
    super::prediction::FIGURES.map(|(read, _)| read(it))
}
