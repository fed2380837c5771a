//! Calls on processes, threads and their limits.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
