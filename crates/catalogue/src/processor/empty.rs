//! The loop around every operation, without an operation in it: the baseline of all others.

use operation::{Operation, repeat};

pub(crate) const OPERATIONS: &[Operation] = &[Operation::DEFAULT
    .named("loop.empty", "one iteration of the loop in which every operation is timed: a decrement and a branch")
    .per("turn")
    .aliases(&["NULL", "eax1/tnz"])
    .headline()
    .prepare(|_| Ok(repeat(|| Ok(()))))];
