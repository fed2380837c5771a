//! What the released howslow does not contain: engines, and the analysis of variance of the accuracy benches.
#![forbid(unsafe_code)]

pub mod components;
pub mod sqlite;
pub mod webassembly;

/// Installs the engines, so that the operations `mode.*` and `keyed.*` are measured in all their modes.
pub fn install() {
    catalogue::engines::install(catalogue::engines::Engines {
        webassembly: webassembly::program,
        sqlite: sqlite::keyed,
    });
}
