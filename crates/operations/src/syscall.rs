//! The family `syscall`.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
