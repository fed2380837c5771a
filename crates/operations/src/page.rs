//! The family `page`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
