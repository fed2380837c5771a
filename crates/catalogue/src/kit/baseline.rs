//! The default values of an operation's block, and the two terms that most operations contain: the loop, and one kernel
//! entry.

use operation::{Operation, TermOf, term};

/// The defaults of an operation: a call, quoted by its quiet figure, with the empty loop as its baseline.
pub(crate) const BASE: Operation = Operation::DEFAULT.terms(EMPTY_LOOP);

/// One iteration of the loop around every operation.
pub(crate) const EMPTY_LOOP: &[TermOf] = &[term(1.0, "loop.empty")];

/// One entry into the kernel and the return.
pub(crate) const ENTRY: &[TermOf] = &[term(1.0, "syscall.getppid")];
