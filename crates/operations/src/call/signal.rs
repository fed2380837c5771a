//! Calls on signals.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
