//! Calls on the kernel itself: modules, tracing, filters, logs.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
