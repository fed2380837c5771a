//! The family `read`: one file from beginning to end by every method, cold and warm. All methods add up what they read with
//! one routine, and the sum is checked, so that only the method differs.

mod ahead;
pub(crate) mod buffered;
pub(crate) mod mapped;
pub(crate) mod moved;
pub(crate) mod order;
mod pass;
pub(crate) mod plain;
pub(crate) mod ring;
pub(crate) mod source;
pub(crate) mod sum;
pub(crate) mod unused;
pub(crate) mod view;
pub(crate) mod work;

use operation::{Axis, Operation, TermOf, bytes, count, numbers, term, word, words};
use record::{Estimate, Point};

use crate::kit::BASE;

pub use ahead::Ahead;
pub use order::VisitPlan;
pub use source::{UserFile, unnamed, whole};
pub use sum::sum;
pub use view::MappedView;

pub use crate::kit::block::Block;

/// The cost of adding up a record that is in the cache: a part of every reader.
const THE_SUM: TermOf = term(1.0, "read.sum").same(&["record", "file"]);

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The files of the paper (`mpe`) whose experiment this repeats: 89,867 records of 256 bytes, and 7,040 of 80.
const LARGE: u64 = 89_867 * 256;
const SMALL: u64 = 7_040 * 80;

/// The state of the file when a pass begins.
const STATE: Axis = word("state", words!["cold", "warm"]);
const ORDER: Axis = word("order", words!["sequential", "reverse", "strided", "random"]).headline(words!["sequential"]);
/// Bytes requested at a time.
const RECORD: Axis =
    bytes("record", numbers![80, 256, 4 * KIB, 128 * KIB, MIB]).headline(numbers![128 * KIB]).in_steps(8, 8, 16 * MIB);
/// The same of whole blocks of a device.
const BLOCKS: Axis = RECORD.in_steps(4 * KIB, 4 * KIB, 16 * MIB);
const FILE: Axis = bytes("file", numbers![SMALL, 16 * MIB, LARGE, 256 * MIB]).headline(numbers![256 * MIB]).in_steps(
    4 * KIB,
    64 * KIB,
    1024 * MIB,
);

/// Bytes requested beyond those read.
const DISTANCE: Axis = bytes("ahead", numbers![KIB, 512 * KIB, 2 * MIB, 8 * MIB]).headline(numbers![2 * MIB]);
/// Bytes requested at a time.
const QUANTITY: Axis = bytes("quantity", numbers![4 * KIB, 512 * KIB, 2 * MIB]).headline(numbers![2 * MIB]);
/// Requests in flight.
const DEPTH: Axis = count("depth", numbers![1, 4, 16, 64]).headline(numbers![16]).within(1, 256);

/// The axes of methods with a window. Points: the usual window for every file, other windows for the large one, and for the
/// paper's files also its first window: four records ahead, one page at a time.
const AHEAD: &[Axis] = &[STATE, DISTANCE, QUANTITY, RECORD, FILE];
const AHEAD_POINTS: fn(&Point) -> bool = |point| {
    let (Some(ahead), Some(quantity)) = (point.number("ahead"), point.number("quantity")) else { return false };
    let is_paper = [Some(LARGE), Some(SMALL)].contains(&point.number("file"));
    let fits = match (ahead, quantity) {
        (KIB, quantity) => is_paper && quantity == 4 * KIB,
        (_, quantity) if quantity == 4 * KIB => false,
        window => point.number("file") == Some(256 * MIB) || window == (2 * MIB, 2 * MIB),
    };
    IN_ORDER_POINTS(point) && fits
};

/// The axes of reads that bypass the page cache. It does not matter to them whether the file is in it. Records are whole
/// blocks of the device.
const DIRECT_ANY_ORDER: &[Axis] = &[COLD, ORDER, BLOCKS, FILE];
const DIRECT_POINTS: fn(&Point) -> bool =
    |point| ANY_ORDER_POINTS(point) && point.number("record").is_some_and(|record| record.is_multiple_of(4 * KIB));
const COLD: Axis = word("state", words!["cold"]);

/// The axes of rings: every depth for sequential and random order, the other orders at the usual depth.
const DEEP: &[Axis] = &[STATE, DEPTH, ORDER, RECORD, FILE];
const DEEP_DIRECT: &[Axis] = &[COLD, DEPTH, ORDER, BLOCKS, FILE];
const DEEP_POINTS: fn(&Point) -> bool = |point| {
    let deep = match point.word("order") {
        Some("sequential") => point.number("file") == Some(256 * MIB) && point.number("record") == Some(128 * KIB),
        order => order == Some("random") && point.number("record") == Some(4 * KIB),
    };
    DIRECT_POINTS(point) && (deep || point.number("depth") == Some(16))
};

/// The axes of readers with a buffer, which serves small records.
const BUFFERED: &[Axis] = &[STATE, RECORD.headline(numbers![256]), FILE];
const BUFFERED_POINTS: fn(&Point) -> bool = |point| {
    let (file, record) = (point.number("file"), point.number("record"));
    let large = file == Some(256 * MIB) && [Some(256), Some(4 * KIB), Some(128 * KIB)].contains(&record);
    large || [(Some(SMALL), Some(80)), (Some(LARGE), Some(256))].contains(&(file, record))
};

/// The axes of methods for which the order matters.
const ANY_ORDER: &[Axis] = &[STATE, ORDER, RECORD, FILE];
/// The axes of methods for which the order does not matter.
const IN_ORDER: &[Axis] = &[STATE, RECORD, FILE];

/// Every record size in sequential order; the other orders with two sizes, in the large file.
const ANY_ORDER_POINTS: fn(&Point) -> bool = |point| {
    let (file, record) = (point.number("file"), point.number("record"));
    match point.word("order") {
        Some("sequential") => is_measured(point),
        // Small records out of order take one request each: seconds per pass in the large file.
        _ => [(Some(16 * MIB), Some(4 * KIB)), (Some(256 * MIB), Some(128 * KIB))].contains(&(file, record)),
    }
};

/// Only the usual record size, and the paper's.
const IN_ORDER_POINTS: fn(&Point) -> bool =
    |point| is_measured(point) && ![Some(4 * KIB), Some(MIB)].contains(&point.number("record"));

/// The paper's records belong to its files. The 16 MiB file is for users with little time, the large one for everything
/// else.
fn is_measured(point: &Point) -> bool {
    match (point.number("file"), point.number("record")) {
        (Some(SMALL), record) => record == Some(80),
        (Some(LARGE), record) => record == Some(256),
        (Some(16_777_216), record) => record == Some(128 * KIB),
        (_, record) => record >= Some(4 * KIB),
    }
}

/// The defaults of all readers: one pass over the file, which waits for a device and takes seconds to set up.
const READ: Operation = BASE
    .per("pass")
    .waits(|point| point.word("state") == Some("cold"))
    .opt_in()
    .quoted(Estimate::Typical)
    .axes(IN_ORDER)
    .has_point(IN_ORDER_POINTS)
    .follows_clock(|_| false)
    .moves(|point| point.number("file").unwrap_or(0))
    // A slow disk writes the file once at 10 MB/s and reads it at the same speed.
    .patience(120.0);

#[cfg(test)]
mod tests {
    use operation::Value::Number;
    use std::collections::BTreeSet;

    use operation::Setting;

    use super::*;

    fn operations() -> impl Iterator<Item = &'static Operation> {
        crate::kit::trial::of_family("read")
    }

    /// Every method does its work in every state, order and record size, on a small file.
    #[test]
    fn every_reader_reads_the_whole_file() {
        let scratch = tempfile::tempdir().expect("a folder");
        let other_cpu = crate::kit::trial::other_cpu();
        for operation in operations() {
            let small = |point: Point| point.with("file", Number(MIB));
            let points: BTreeSet<Point> = operation.points(false).into_iter().map(small).collect();
            for point in points {
                let setting = Setting::new(point.clone(), scratch.path().into(), 0, other_cpu, 1);
                crate::kit::trial::perform_in(&setting, operation);
                let doubts = setting.doubts().raised();
                assert!(doubts.is_empty(), "{}{point}: {doubts:?}", operation.id);
            }
        }
    }

    #[test]
    fn points_are_few() {
        for operation in operations().chain(crate::kit::trial::of_family("write")) {
            let (usual, all) = (operation.points(true), operation.points(false));
            assert!((1..=2).contains(&usual.len()) && all.len() <= 40, "{}: {}", operation.id, all.len());
        }
    }
}
