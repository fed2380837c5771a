//! Crossings: from a procedure to another and back, on one ladder of walls between them: none, a shared object's linkage
//! table, the kernel's code in user memory, the kernel, a signal, another process. Arguments are passed and used at
//! each.

mod kernel;
mod process;
mod signal;
mod text;
mod vdso;

use operation::{Axis, Failure, Loop, Operation, Setting, Value, count, term};

use crate::DEFAULT;

pub(crate) const OPERATIONS: &[Operation] =
    &[PROCEDURE, SEQUENCE, SHARED, vdso::VDSO, kernel::CALL, signal::SIGNAL, process::PROCESS];

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

const PROCEDURE: Operation = Operation {
    id: "crossing.procedure",
    summary: "call a procedure of this program, which adds its arguments up, and return from it",
    axes: &[ARGUMENTS],
    terms: text::OF_A_TURN,
    prepare: |setting| text::procedure(words(setting), setting.number("arguments")),
    ..CROSSING
};

/// The stub is that of the processor's ABI, so that a program without a dynamic linker measures the same instructions;
/// and a program whose calls are all bound at its start has no other work at a call.
const SHARED: Operation = Operation {
    id: "crossing.shared",
    summary: "call a procedure as one of a shared object is: by a stub that jumps by a table of addresses",
    axes: &[count("arguments", &[Value::Number(0), Value::Number(2), Value::Number(3), Value::Number(6)])],
    terms: text::OF_A_TURN,
    explained_by: &[term(1.0, "crossing.procedure").same(&["arguments"])],
    at_least: &["crossing.procedure"],
    prepare: |setting| text::shared(words(setting), setting.number("arguments")),
    ..CROSSING
};

const SEQUENCE: Operation = Operation {
    id: "crossing.sequence",
    summary: "call a procedure that saves every register it owes its caller, uses a frame of 256 bytes, restores and returns",
    terms: text::OF_A_TURN,
    explained_by: &[term(1.0, "crossing.procedure").at(&[("arguments", Value::Number(1))])],
    at_least: &["crossing.procedure"],
    prepare: |setting| Ok(text::sequence(words(setting))),
    ..CROSSING
};

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

#[cfg(test)]
mod tests {
    use record::{Point, Value};

    use super::*;

    #[test]
    fn every_crossing_brings_its_arguments_over_and_the_answer_back() {
        crate::trial::perform_all(OPERATIONS);
    }

    #[test]
    fn an_answer_to_other_arguments_is_found_out() {
        let words = [1, 2, 3, 4, 5, 6];
        assert_eq!((answer(&words, 0), answer(&words, 3), answer(&words, 6)), (1, 7, 22));
        let mut wrong = text::turns(words, 2, |words| text::howslow_procedure_one(words[0]));
        assert!(matches!(wrong.perform(1), Err(Failure::Wrong(_))));
    }

    #[test]
    fn a_count_that_no_axis_has_is_refused() {
        for operation in [PROCEDURE, SHARED, kernel::CALL] {
            let point = Point::default().with("arguments", Value::Number(7));
            assert!(matches!(crate::trial::prepare(&operation, point), Err(Failure::Wrong(_))), "{}", operation.id);
        }
    }
}
