//! The family `instruction`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
