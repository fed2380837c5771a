//! What most operations are, and the terms that most of them contain: the loop around them, and one entry of the kernel.

use operation::{Operation, TermOf, term};

/// What most operations are: a call, quoted by its quiet figure, with the empty loop as its baseline.
pub(crate) const DEFAULT: Operation = Operation { terms: EMPTY_LOOP, ..Operation::DEFAULT };

/// One iteration of the loop around every operation.
pub(crate) const EMPTY_LOOP: &[TermOf] = &[term(1.0, "loop.empty")];

/// Entering the kernel and leaving it again, once.
pub(crate) const ENTRY: &[TermOf] = &[term(1.0, "syscall.getppid")];
