//! Pages of every kind, as they are printed.

mod charts;
mod comparing;
mod explaining;
mod fleet_report;
mod html;
mod interference;
mod pages;
mod scaling;
mod support;
