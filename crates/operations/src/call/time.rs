//! Calls on clocks, timers and scheduling.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
