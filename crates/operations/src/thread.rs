//! The family `thread`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
