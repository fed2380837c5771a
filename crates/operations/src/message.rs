//! The family `message`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
