//! The family `memory`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
