//! Calls on sockets.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
