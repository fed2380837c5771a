//! The default values of an operation's block, the two terms that most operations contain (the loop, and one kernel entry), and
//! axes of several families.

use operation::{Axis, Operation, TermOf, cpus, numbers, partner, term, words};

/// The defaults of an operation: a call, quoted by its quiet figure, with the empty loop as its baseline.
pub(crate) const BASE: Operation = Operation::DEFAULT.terms(EMPTY_LOOP);

/// One iteration of the loop around every operation.
pub(crate) const EMPTY_LOOP: &[TermOf] = &[term(1.0, "loop.empty")];

/// One entry into the kernel and the return.
pub(crate) const ENTRY: &[TermOf] = &[term(1.0, "syscall.getppid")];

/// A partner on another CPU.
pub(crate) const OTHER: Axis = partner("distance", words!["other"]);

/// How many CPUs do the same, ours included.
pub(crate) const CPUS: Axis = cpus("cpus", numbers![1, 2, 4, 8]);

/// The bytes that fit the private caches of a core. Larger ones lie in the shared cache or beyond, depending on the other users of that
/// cache.
pub(crate) const NEAR: u64 = 512 << 10;

/// The version of an operation whose work a C library does: musl's does it in another way than glibc's. Its copy of 512 bytes took
/// 11.2 ns where that of glibc took 2.0, and it maps a stack for each thread.
pub(crate) const fn by_c_library(version: u32) -> u32 {
    if cfg!(target_env = "musl") { 100 + version } else { version }
}
