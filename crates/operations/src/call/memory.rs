//! Calls on the address space.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
