//! The family `write`: one file written from beginning to end by every method, new or overwritten, with every sync policy.
//! What a pass wrote is read back outside the timed region.

pub(crate) mod buffered;
mod content;
pub(crate) mod generate;
pub(crate) mod mapped;
pub(crate) mod moved;
mod pass;
pub(crate) mod plain;
pub(crate) mod ring;
mod target;

use crate::kit::BASE;
use operation::Value::Number;
use operation::{Axis, Operation, TermOf, bytes, count, numbers, term, word, words};
use record::{Estimate, Point};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// The state when a pass begins: an empty file, or one with all its blocks.
const OVER: Axis = word("over", words!["new", "old"]).headline(words!["new"]);
/// When the data must be on the device.
const SYNC: Axis =
    word("sync", words!["none", "fsync", "fdatasync", "range", "dsync"]).headline(words!["none", "fsync"]);
const ORDER: Axis = word("order", words!["sequential", "random"]).headline(words!["sequential"]);
/// Bytes per call.
const RECORD: Axis = bytes("record", numbers![4 * KIB, 128 * KIB, MIB]).headline(numbers![128 * KIB]).in_steps(
    4 * KIB,
    4 * KIB,
    16 * MIB,
);
const FILE: Axis =
    bytes("file", numbers![MIB, 64 * MIB]).headline(numbers![64 * MIB]).in_steps(4 * KIB, 64 * KIB, 1024 * MIB);
/// Requests in flight.
const DEPTH: Axis = count("depth", numbers![1, 16]).headline(numbers![16]);

const ANY: &[Axis] = &[OVER, SYNC, ORDER, RECORD, FILE];
const DEEP: &[Axis] = &[OVER, SYNC, DEPTH, ORDER, RECORD, FILE];

/// Every policy with the usual record, every record without a policy; a wait for each call only in the small file.
const ANY_POINTS: fn(&Point) -> bool = |point| {
    let (file, record, sync) = (point.number("file"), point.number("record"), point.word("sync"));
    let at_end = sync == Some("fsync") || sync == Some("msync");
    if file == Some(MIB) {
        let small = record == Some(4 * KIB) || record == Some(128 * KIB);
        return small && point.word("order") != Some("random") && (at_end || sync == Some("dsync"));
    }
    match point.word("order") {
        Some("random") => record == Some(4 * KIB) && (at_end || sync == Some("none")),
        _ => sync != Some("dsync") && (record == Some(128 * KIB) || sync == Some("none")),
    }
};

/// Direct writes leave no pages to be written later.
const DIRECT_POINTS: fn(&Point) -> bool = |point| ANY_POINTS(point) && point.word("sync") != Some("range");

/// Depths without a policy or with the usual one.
const DEEP_POINTS: fn(&Point) -> bool = |point| ANY_POINTS(point) && is_usual_sync(point);

/// The axes of writers with a buffer, which serves small records.
const BUFFERED: &[Axis] = &[
    OVER,
    word("sync", words!["none", "fsync"]),
    bytes("record", numbers![256, 4 * KIB, 128 * KIB]).headline(numbers![256]),
    FILE,
];
const BUFFERED_POINTS: fn(&Point) -> bool = |point| point.number("file") == Some(64 * MIB);

fn is_usual_sync(point: &Point) -> bool {
    matches!(point.word("sync"), Some("none" | "fsync" | "dsync"))
}

/// The terms of every pass that are not writing: an iteration of the loop, and generating the data in one buffer.
const MAKING: &[TermOf] =
    &[term(1.0, "loop.empty"), term(1.0, "write.generate").at(&[("depth", Number(1))]).same(&["record", "file"])];

/// The same with one buffer per request in flight.
const MAKING_DEEP: &[TermOf] =
    &[term(1.0, "loop.empty"), term(1.0, "write.generate").same(&["depth", "record", "file"])];

/// The defaults of all writers: one pass over the file, which waits for a device. Until version 1, generating the data
/// counted as writing.
const WRITE: Operation = BASE
    .per("pass")
    .version(2)
    .terms(MAKING)
    .waits(|_| true)
    .opt_in()
    .quoted(Estimate::Typical)
    .follows_clock(|_| false)
    .moves(|point| point.number("file").unwrap_or(0))
    // A slow disk takes 64 MiB at 5 MB/s, and each of 256 waits for a small write takes at most a tenth of a second.
    .patience(120.0);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use operation::Value::Word;
    use operation::{Failure, Setting};
    use rustix::fs::OFlags;

    use super::*;

    fn operations() -> impl Iterator<Item = &'static Operation> {
        crate::kit::trial::of_family("write")
    }

    /// Every method does its work in every state, order and record size, on a small file.
    #[test]
    fn every_writer_writes_the_whole_file() {
        let scratch = tempfile::tempdir().expect("a folder");
        for operation in operations() {
            let small = |point: Point| point.with("file", Number(MIB + 4096));
            let points: BTreeSet<Point> = operation.points(false).into_iter().map(small).collect();
            for point in points {
                let setting = Setting::new(point, scratch.path().into(), 0, None, 1);
                crate::kit::trial::perform_in(&setting, operation);
            }
        }
    }

    /// A writer that omits a record, or writes what the pass before wrote, is detected.
    #[test]
    fn writers_that_do_not_write_all_are_found_out() {
        let scratch = tempfile::tempdir().expect("a folder");
        for over in ["new", "old"] {
            let at = [("over", Word(over)), ("sync", Word("none")), ("record", Number(4096)), ("file", Number(16384))];
            let point = Point(at.map(|(axis, value)| (axis.into(), value.value())).into());
            let setting = Setting::new(point, scratch.path().into(), 0, None, 1);
            let lazy = |passes: u64, left_out: u64| {
                pass::writing(&setting, OFlags::empty(), move |target| {
                    let (file, plan) = (target.open()?, target.plan);
                    let mut content = content::Content::new(4096);
                    Ok(move |pass: u64| {
                        for offset in plan.offsets().filter(|offset| *offset != left_out) {
                            let number = target::WrittenFile::number(plan, pass.min(passes), offset);
                            rustix::io::pwrite(&file, content.record(number), offset)?;
                        }
                        Ok(())
                    })
                })
                .and_then(|mut passes| (0..3).try_for_each(|_| passes.perform(1)))
            };
            assert_eq!(lazy(u64::MAX, u64::MAX), Ok(()));
            assert!(matches!(lazy(u64::MAX, 8192), Err(Failure::Wrong(_))), "{over}: a record was left out");
            assert!(matches!(lazy(2, u64::MAX), Err(Failure::Wrong(_))), "{over}: a pass wrote the one before again");
        }
    }

    /// A method without the axis `over` is one for new files: `fallocate` does nothing for a file with all its blocks.
    #[test]
    fn a_pass_begins_with_an_empty_file_unless_the_point_requests_otherwise() {
        let scratch = tempfile::tempdir().expect("a folder");
        for operation in operations() {
            for point in operation.points(true).into_iter().filter(|_| operation.id != "write.generate") {
                let over = point.word("over").map(String::from);
                let point = point.with("file", Number(MIB)).with("sync", Word("none".into()));
                let setting = Setting::new(point, scratch.path().into(), 0, None, 1);
                let target = target::WrittenFile::of(&setting, OFlags::empty()).expect("a file");
                target.restore(false).expect("restored");
                let length = crate::file::residence::length(&target.file).expect("a length");
                assert_eq!(length, if over.as_deref() == Some("old") { MIB } else { 0 }, "{}", operation.id);
            }
        }
    }
}
