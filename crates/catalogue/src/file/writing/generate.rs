//! The work of all writers that is not writing: generating the data.

use std::cell::RefCell;

use operation::{Axis, Failure, Loop, Operation, Setting, bytes, numbers};
use record::Estimate;

use super::content::Content;
use super::{DEPTH, FILE, KIB, MIB, WRITE};
use crate::kit::{ensure, handles};

/// Every record size of the writers.
const RECORD: Axis = bytes("record", numbers![256, 4 * KIB, 128 * KIB, MIB]).headline(numbers![256, 128 * KIB]);

pub(crate) const OPERATIONS: &[Operation] = &[
    // A term of every writer: it has those of their axes that it depends on.
    WRITE
        .id("write.generate")
        .summary("generate the records in this many buffers, up to the number of bytes of the file; nothing is written")
        .version(1)
        .axes(&[DEPTH, RECORD, FILE])
        .quoted(Estimate::Quiet)
        .waits(|_| false)
        .terms(crate::kit::baseline::EMPTY_LOOP)
        .prepare(|setting| making(setting, |content, number| _ = std::hint::black_box(content.record(number)))),
];

struct Making {
    places: Vec<Content>,
    passes: u64,
}

/// The loop of passes in which `make` generates each record. After each batch the latest records are checked.
fn making(setting: &Setting, make: impl Fn(&mut Content, u64) + 'static) -> Result<Loop, Failure> {
    let record = setting.number("record")?.max(1);
    let records = setting.number("file")?.div_ceil(record);
    let depth = setting.number("depth")?.clamp(1, records.max(1));
    let places = (0..depth).map(|_| Content::new(record as usize)).collect();
    let [making, made] = handles(RefCell::new(Making { places, passes: 0 }));
    let passes = Loop::new(move |times| {
        let Making { places, passes } = &mut *making.borrow_mut();
        for _ in 0..times {
            *passes += 1;
            for number in 0..records {
                make(&mut places[(number % depth) as usize], *passes * records + number);
            }
        }
        Ok(())
    });
    Ok(passes.verify(move |_| {
        let Making { places, passes } = &mut *made.borrow_mut();
        let mut wanted = Content::new(record as usize);
        for number in records - depth..records {
            ensure(
                places[(number % depth) as usize].made() == wanted.record(*passes * records + number),
                || "a record is not the expected one",
            )?;
        }
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use operation::Value::Number;
    use record::Point;

    use super::*;

    fn setting(depth: u64) -> Setting {
        let numbers = [("depth", depth), ("record", 4096), ("file", 1 << 20)];
        let point = Point(numbers.map(|(axis, number)| (axis.into(), Number(number))).into());
        Setting::new(point, std::env::temp_dir(), 0, None, 1)
    }

    #[test]
    fn every_record_is_made() {
        for depth in [1, 16] {
            let mut passes = making(&setting(depth), |content, number| _ = content.record(number)).expect("the axes");
            assert_eq!([1, 3, 2].into_iter().try_for_each(|times| passes.perform(times)), Ok(()));
            let mut lazy =
                making(&setting(depth), |content, number| _ = content.record(number % 256)).expect("the axes");
            assert!(matches!(lazy.perform(2), Err(Failure::Wrong(_))), "{depth}");
        }
    }
}
