//! The formats against the programs that read them, and the results of other tools as runs.

mod exported;
mod imported;
mod readers;
mod support;
