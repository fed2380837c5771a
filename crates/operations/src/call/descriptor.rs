//! Calls on reading, writing, moving and watching descriptors.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
