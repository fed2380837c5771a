//! Pages of every kind, as they are printed.

mod charts;
mod comparing;
mod explaining;
mod pages;
mod predicting;
mod support;
