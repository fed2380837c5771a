//! The points of the readers in the study, and the time of one read.

use std::sync::LazyLock;

use record::{Nanoseconds, Run};

use crate::derived::{Part, net};
use crate::study::data::StudyData;

/// Bytes of the paper's files: 89,867 records of 256 bytes, and 7,040 of 80.
pub(super) const LARGE_BYTES: u64 = 89_867 * 256;
pub(super) const SMALL_BYTES: u64 = 7_040 * 80;
/// A file of the size of NL.PUB.SYS, in today's record size.
pub(super) const MIDDLE_BYTES: u64 = 16 << 20;
/// The size of a page, there and here.
pub(super) const PAGE: f64 = 4096.0;

/// The words, tables and sentences of the paper.
pub(super) static DATA: LazyLock<StudyData> = LazyLock::new(|| StudyData::of(include_str!("../mpe.toml")));

/// Pages read one after another from random places in a file, past the page cache: nothing is read ahead, and each read
/// waits for the device.
pub(super) static ONE_READ: LazyLock<Part> =
    LazyLock::new(|| DATA.part("read.direct@file=16777216,record=4096,state=cold,order=random"));

/// The time of one read of a page in ns.
pub(super) fn one_read(run: &Run) -> Option<f64> {
    let reads = MIDDLE_BYTES as f64 / PAGE;
    ONE_READ.find(run).map(|cost| net(cost).value / reads).filter(|time| *time > 0.0)
}

/// The paper's inference: waiting, in reads of this time. A pass that overlapped its waiting with work waited for none.
pub(super) fn inferred(waited: Nanoseconds, one: f64) -> f64 {
    waited.0.max(0.0) / one
}
