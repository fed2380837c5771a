//! Calls on System V and POSIX queues, semaphores and shared memory.

use measure::Operation;

pub(crate) const OPERATIONS: &[Operation] = &[];
