//! Crossings: from a procedure to another and back, on one ladder of walls between them: none, a shared object's linkage
//! table, the kernel's code in user memory, the kernel, a signal, another process. Arguments are passed and used at
//! each.

pub(crate) mod kernel;
pub(crate) mod procedure;
pub(crate) mod process;
pub(crate) mod signal;
mod text;
pub(crate) mod vdso;

use operation::{Axis, Failure, Loop, Operation, Setting, Value, count};

use crate::kit::baseline::DEFAULT;

/// Words at most that cross: as many as a system call takes.
const MOST: usize = 6;

/// How many words cross, where each count is another instruction sequence or another call.
const ARGUMENTS: Axis = count(
    "arguments",
    &[
        Value::Number(0),
        Value::Number(1),
        Value::Number(2),
        Value::Number(3),
        Value::Number(4),
        Value::Number(5),
        Value::Number(6),
    ],
);

/// How many words cross, where the counts between add nothing to what the ends and the middle show.
const FEW_ARGUMENTS: Axis = count("arguments", &[Value::Number(0), Value::Number(3), Value::Number(6)]);

/// What all of them are.
const CROSSING: Operation = Operation { per: "crossing", ..DEFAULT };

/// The words that cross: different ones in every round, and small enough that no sum of a batch's overflows.
fn words(setting: &Setting) -> [u64; MOST] {
    let mut random = fastrand::Rng::with_seed(setting.seed());
    std::array::from_fn(|_| random.u64(1..1 << 16))
}

/// What every procedure of the ladder answers to its first `count` words: one more than their sum.
fn answer(words: &[u64; MOST], count: usize) -> u64 {
    1 + words[..count].iter().sum::<u64>()
}

/// Fails unless so many crossings, with so many words each, have added up to what they must.
fn added_up(wanted: u64, sum: u64) -> Result<(), Failure> {
    if sum == wanted { Ok(()) } else { Err(Failure::wrong(format!("the answers add up to {sum} instead of {wanted}"))) }
}

/// A number of arguments that the axis does not have.
fn no_such_count(count: u64) -> Result<Loop, Failure> {
    Err(Failure::wrong(format!("nothing here takes {count} arguments")))
}
