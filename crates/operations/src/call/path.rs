//! Calls on files by name, their attributes and folders.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
