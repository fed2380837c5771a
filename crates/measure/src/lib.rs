//! How a cost is taken: clock, speed check, batches, rounds in fresh processes, doubts. Names no operation.

mod failure;
pub mod machine;
mod operation;
mod repeat;
mod setting;

pub use failure::Failure;
pub use operation::{Axis, Choice, Need, Operation, TermOf, count, size, term, word};
pub use repeat::{Loop, opaque, repeat};
pub use setting::{Partner, Setting, pin};
