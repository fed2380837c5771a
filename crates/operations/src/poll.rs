//! The family `poll`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
