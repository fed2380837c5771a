//! User-supplied operations: a routine of a shared object, and a command.

/// What to do if a routine or command hung.
pub const HUNG_REMEDY: &str = "give it more time (--patience)";

pub mod command;
pub mod routine;
