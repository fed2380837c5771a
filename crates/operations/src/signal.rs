//! The family `signal`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
