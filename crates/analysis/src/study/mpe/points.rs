//! The points of the readers in the study, and the time of one read.

use record::{FixedPoint, Nanoseconds, Run, Value};

use crate::derived::{Part, cost, net};

/// Bytes of the paper's files: 89,867 records of 256 bytes, and 7,040 of 80.
pub(super) const LARGE_BYTES: u64 = 89_867 * 256;
pub(super) const SMALL_BYTES: u64 = 7_040 * 80;
/// A file of the size of NL.PUB.SYS, in today's record size.
pub(super) const MIDDLE_BYTES: u64 = 16 << 20;
/// A file that takes long to read.
pub(super) const HUGE_BYTES: u64 = 256 << 20;
/// The size of a page, there and here.
pub(super) const PAGE: f64 = 4096.0;

const BLOCK: u64 = 128 << 10;
const WINDOW: u64 = 2 << 20;

/// A point of the readers.
macro_rules! point {
    ($file:expr, $record:expr, $state:literal $(, $axis:literal = $value:expr)*) => {
        &[
            ("file", Value::Number($file)),
            ("record", Value::Number($record)),
            ("state", Value::Word($state)),
            $(($axis, $value)),*
        ]
    };
}

/// The points of one file and state: for methods without an order, with one, with a window, and with requests in
/// flight.
pub(super) struct Points {
    pub plain: FixedPoint,
    pub in_order: FixedPoint,
    pub ahead: FixedPoint,
    pub deep: FixedPoint,
}

macro_rules! points {
    ($file:expr, $record:expr, $state:literal) => {
        Points {
            plain: point!($file, $record, $state),
            in_order: point!($file, $record, $state, "order" = Value::Word("sequential")),
            ahead: point!($file, $record, $state, "ahead" = Value::Number(WINDOW), "quantity" = Value::Number(WINDOW)),
            deep: point!($file, $record, $state, "depth" = Value::Number(16), "order" = Value::Word("sequential")),
        }
    };
}

pub(super) const LARGE: Points = points!(LARGE_BYTES, 256, "cold");
pub(super) const MIDDLE: Points = points!(MIDDLE_BYTES, BLOCK, "cold");
pub(super) const SMALL: Points = points!(SMALL_BYTES, 80, "warm");
pub(super) const HUGE_COLD: Points = points!(HUGE_BYTES, BLOCK, "cold");
pub(super) const HUGE_WARM: Points = points!(HUGE_BYTES, BLOCK, "warm");

/// The paper's first prefetching: four records ahead, which is a page at a time.
pub(super) const LARGE_NEAR: FixedPoint =
    point!(LARGE_BYTES, 256, "cold", "ahead" = Value::Number(1024), "quantity" = Value::Number(4096));
pub(super) const SMALL_NEAR: FixedPoint =
    point!(SMALL_BYTES, 80, "warm", "ahead" = Value::Number(1024), "quantity" = Value::Number(4096));

/// Pages read one after another from random places in a file, past the page cache: nothing is read ahead, and each read
/// waits for the device.
pub(super) const ONE_READ: Part =
    cost("read.direct").at(point!(MIDDLE_BYTES, 4096, "cold", "order" = Value::Word("random")));

/// The time of one read of a page in ns.
pub(super) fn one_read(run: &Run) -> Option<f64> {
    let reads = MIDDLE_BYTES as f64 / PAGE;
    ONE_READ.find(run).map(|cost| net(cost).value / reads).filter(|time| *time > 0.0)
}

/// The paper's inference: waiting, in reads of this time. A pass that overlapped its waiting with work waited for none.
pub(super) fn inferred(waited: Nanoseconds, one: f64) -> f64 {
    waited.0.max(0.0) / one
}
