//! The family `clock`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
