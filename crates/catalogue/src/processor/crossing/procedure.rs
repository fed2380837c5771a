//! Crossings within a program: to a procedure, to one that saves all registers it must, and through a shared object's
//! linkage table.

use operation::{Operation, Value, count, numbers, term};

use super::{ARGUMENTS, CROSSING, text, words};

pub(crate) const OPERATIONS: &[Operation] = &[
    CROSSING
        .id("crossing.procedure")
        .summary("call a procedure of this program, which adds up its arguments, and return from it")
        .axes(&[ARGUMENTS])
        .terms(text::OF_A_TURN)
        .prepare(|setting| text::procedure(words(setting), setting.number("arguments")?)),
    CROSSING
        .named(
            "crossing.sequence",
            "call a procedure that saves every register it owes its caller, uses a frame of 256 bytes, restores and \
            returns",
        )
        .terms(text::OF_A_TURN)
        .explained_by(&[term(1.0, "crossing.procedure").at(&[("arguments", Value::Number(1))])])
        .at_least(&["crossing.procedure"])
        .prepare(|setting| Ok(text::sequence(words(setting)))),
    // The stub is that of the processor's ABI, so that a program without a dynamic linker measures the same instructions. A
    // program whose calls are all bound at its start does no other work at a call.
    CROSSING
        .id("crossing.shared")
        .summary("call a procedure as in a shared object: through a stub that jumps through a table of addresses")
        .axes(&[count("arguments", numbers![0, 2, 3, 6])])
        .terms(text::OF_A_TURN)
        .explained_by(&[term(1.0, "crossing.procedure").same(&["arguments"])])
        .at_least(&["crossing.procedure"])
        .prepare(|setting| text::shared(words(setting), setting.number("arguments")?)),
];

#[cfg(test)]
mod tests {
    use record::{Point, Value};

    use operation::Failure;

    use super::super::{answer, kernel};
    use super::*;

    #[test]
    fn every_crossing_brings_its_arguments_over_and_the_answer_back() {
        crate::kit::trial::of_family("crossing").for_each(crate::kit::trial::perform);
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
        for operation in [&OPERATIONS[0], &OPERATIONS[2], &kernel::OPERATIONS[0]] {
            let point = Point::default().with("arguments", Value::Number(7));
            assert!(matches!(crate::kit::trial::prepare(operation, point), Err(Failure::Wrong(_))), "{}", operation.id);
        }
    }
}
