//! How much each kind of work slows each other kind. A load is one of howslow's own operations, repeated by a process of
//! its own until it has to stop. [`Loads`] are loads beside any measurement; [`matrix()`] measures every pair.
#![forbid(unsafe_code)]

mod company;
mod error;
mod kind;
mod load;
mod loads;
mod matrix;
mod plan;
mod worker;

pub use error::InterferenceError;
pub use kind::{KINDS, Kind};
pub use load::{Cpus, Load};
pub use loads::Loads;
pub use matrix::matrix;
pub use plan::{Request, together_name};
