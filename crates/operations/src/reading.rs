//! The family `read`: one file from one end to the other by every method there is, out of memory and in it. All of
//! them add up all they read by one routine and are held to the right sum, so that they differ by the method alone.

mod order;
mod pass;
mod plain;
mod source;
mod sum;

use measure::{Axis, Choice::Number, Choice::Word, Operation, word};
use record::{Estimate, Point};

pub use source::Given;

pub(crate) const OPERATIONS: &[Operation] = &[plain::BY_READ, plain::BY_PREAD];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The files of the paper whose experiment this is (`mpe`): 89,867 records of 256 bytes, and 7,040 of 80.
const LARGE: u64 = 89_867 * 256;
const SMALL: u64 = 7_040 * 80;

/// Where the file is when a pass begins.
const STATE: Axis = word("state", &[Word("cold"), Word("warm")]);
const ORDER: Axis = Axis {
    name: "order",
    values: &[Word("sequential"), Word("reverse"), Word("strided"), Word("random")],
    headline: &[Word("sequential")],
};
/// Bytes asked for at a time.
const RECORD: Axis = Axis {
    name: "record",
    values: &[Number(80), Number(256), Number(4 * KIB), Number(128 * KIB), Number(MIB)],
    headline: &[Number(128 * KIB)],
};
/// Bytes of the file.
const FILE: Axis = Axis {
    name: "file",
    values: &[Number(SMALL), Number(16 * MIB), Number(LARGE), Number(256 * MIB)],
    headline: &[Number(256 * MIB)],
};

/// The axes of methods of which the order says much.
const ANY_ORDER: &[Axis] = &[STATE, ORDER, RECORD, FILE];
/// The axes of those of which it does not.
const IN_ORDER: &[Axis] = &[STATE, RECORD, FILE];

/// Every record size from beginning to end; the other orders by two sizes, in the large file.
const ANY_ORDER_POINTS: fn(&Point) -> bool = |point| {
    let record = point.number("record");
    match point.word("order") {
        Some("sequential") => is_measured(point),
        _ => point.number("file") == Some(256 * MIB) && [Some(4 * KIB), Some(128 * KIB)].contains(&record),
    }
};

/// The usual record size alone, and the paper's.
const IN_ORDER_POINTS: fn(&Point) -> bool =
    |point| is_measured(point) && ![Some(4 * KIB), Some(MIB)].contains(&point.number("record"));

/// The paper's records belong to its files; the middle file is for who has no time, and the large one for all else.
fn is_measured(point: &Point) -> bool {
    match (point.number("file"), point.number("record")) {
        (Some(SMALL), record) => record == Some(80),
        (Some(LARGE), record) => record == Some(256),
        (Some(16_777_216), record) => record == Some(128 * KIB),
        (_, record) => record >= Some(4 * KIB),
    }
}

/// What all of them are: one pass over the file, which waits for a device and takes seconds to set up.
const READ: Operation = Operation {
    per: "pass",
    only_by_name: true,
    quoted: Estimate::Typical,
    axes: IN_ORDER,
    has_point: IN_ORDER_POINTS,
    follows_clock: |_| false,
    moves: |point| point.number("file").unwrap_or(0),
    // A slow disk writes the file once at 10 MB/s, and reads it as slowly.
    patience: 120.0,
    ..crate::DEFAULT
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use measure::Failure;

    use super::*;

    /// Every method does its work from every state, in every order and record size, over a small file.
    #[test]
    fn every_reader_reads_the_whole_file() {
        for operation in OPERATIONS {
            let small = |point: Point| point.with("file", record::Value::Number(MIB));
            let points: BTreeSet<Point> = operation.points(false).into_iter().map(small).collect();
            for point in points {
                let done = crate::trial::prepare(operation, point.clone())
                    .and_then(|mut trial| [1, 1, 2].into_iter().try_for_each(|times| trial.looped.perform(times)));
                match done {
                    Ok(()) => {}
                    Err(Failure::Skip { reason, remedy }) => {
                        eprintln!("not tested: {}{point}: {reason}; {remedy}", operation.id);
                    }
                    Err(failure) => panic!("{}{point}: {failure}", operation.id),
                }
            }
        }
    }

    #[test]
    fn points_are_few_and_hold_the_paper_s() {
        for operation in OPERATIONS {
            let (usual, all) = (operation.points(true), operation.points(false));
            assert!((1..=2).contains(&usual.len()) && all.len() <= 40, "{}: {}", operation.id, all.len());
        }
    }
}
