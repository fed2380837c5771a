//! Studies: one paper's experiment done again here. A study names its books, what its tables need of a run and how they
//! are filled, and which sentences of the paper are tested. Knows nothing of pages.

mod claims;
mod core;
mod data;
mod definition;
mod hardware;
mod missing;
mod mpe;
mod rsx;
mod table;
mod vax;

pub use claims::{Claim, ClaimFigure, Compared, Pair, Test, TestedClaim};
pub use data::StudyData;
pub use definition::{Paper, SlowCosts, Study, StudyAnswer, UserExperiment};
pub use table::{Cell, Column, Curve, Curves, TableAnswer};

pub static STUDIES: &[&Study] = &[&rsx::RSX, &hardware::STUDY, &mpe::STUDY, &vax::STUDY, &core::STUDY];

pub fn study(name: &str) -> Option<&'static Study> {
    STUDIES.iter().copied().find(|study| study.name == name)
}

#[cfg(test)]
mod tests;
