//! User-supplied operations: a routine of a shared object, and a command.

pub mod command;
pub mod routine;
