//! User-supplied operations: a routine of a shared object, a command, and a benchmark of a bench program.

/// What to do if a routine or command hung.
pub const HUNG_REMEDY: &str = "give it more time (--patience)";

pub mod bench;
pub mod command;
pub mod routine;
mod steps;
