//! The family `switch`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
