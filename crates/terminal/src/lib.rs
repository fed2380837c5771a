//! Terminals as their users have them. [`own`] measures the terminal that howslow is run in: how fast it parses, and how long
//! it takes to answer. [`pseudo`] measures pseudo-terminals of its own under load. Prints nothing but what the terminal is measured with.
#![forbid(unsafe_code)]

mod error;
pub mod own;
pub mod pseudo;

pub use error::TerminalError;
