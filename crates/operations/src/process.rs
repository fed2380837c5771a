//! The family `process`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
