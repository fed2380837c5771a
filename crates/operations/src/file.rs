//! The family `file`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
