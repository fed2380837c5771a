//! Calls on users, groups, namespaces and keys.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
