//! Crossings: from one procedure to another and back, through a ladder of boundaries: none, a shared object's linkage
//! table, kernel code in user memory, the kernel, a signal, another process. Each passes arguments and uses them.

pub(crate) mod kernel;
pub(crate) mod procedure;
pub(crate) mod process;
pub(crate) mod signal;
mod text;
pub(crate) mod vdso;

use operation::{Axis, Failure, Loop, Operation, Setting, count, numbers};

use crate::kit::{BASE, ensure};

/// The most words that cross: as many as a system call takes.
const MOST: usize = 6;

/// The number of words that cross, where each number needs another instruction sequence or another call.
const ARGUMENTS: Axis = count("arguments", numbers![0, 1, 2, 3, 4, 5, 6]);

/// The number of words that cross, where the numbers between show nothing new.
const FEW_ARGUMENTS: Axis = count("arguments", numbers![0, 3, 6]);

const CROSSING: Operation = BASE.per("crossing");

/// The words that cross: different ones in every round, and small enough that no sum of a batch overflows.
fn words(setting: &Setting) -> [u64; MOST] {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    std::array::from_fn(|_| random.u64(1..1 << 16))
}

/// The answer of every procedure of the ladder to its first `count` words: one more than their sum.
fn answer(words: &[u64; MOST], count: usize) -> u64 {
    1 + words[..count].iter().sum::<u64>()
}

/// Fails unless the answers add up to this sum.
fn added_up(wanted: u64, sum: u64) -> Result<(), Failure> {
    ensure(sum == wanted, || format!("the answers add up to {sum} instead of {wanted}"))
}

/// The error for a number of arguments that the axis does not have.
fn no_such_count(count: u64) -> Result<Loop, Failure> {
    Err(Failure::wrong(format!("nothing here takes {count} arguments")))
}
