//! Calls on mounts, file handles and notification.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
