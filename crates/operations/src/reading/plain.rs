//! Readers that call for each record: `read`, `pread`, `preadv2`, and the same with advice or past the page cache.

use measure::{Failure, Operation};
use rustix::fs::{OFlags, SeekFrom, seek};
use rustix::io::{pread, read};

use super::order::Plan;
use super::pass::summing;
use super::source::{Block, whole};
use super::sum::sum;
use super::{ANY_ORDER, ANY_ORDER_POINTS, READ};

pub(super) const BY_READ: Operation = Operation {
    id: "read.read",
    summary: "read a file record by record and add it up: read, with lseek before each where the order is another",
    like: &["Fread"],
    axes: ANY_ORDER,
    has_point: ANY_ORDER_POINTS,
    prepare: |setting| {
        summing(setting, |source, plan| {
            let file = source.open_with(OFlags::empty())?;
            let mut block = Block::new(plan.record as usize);
            Ok(move || {
                seek(&file, SeekFrom::Start(0))?;
                let mut total = 0_u64;
                for offset in plan.offsets() {
                    if !plan.is_sequential() {
                        seek(&file, SeekFrom::Start(offset))?;
                    }
                    let record = &mut block.bytes()[..plan.length_at(offset)];
                    whole(record.len(), read(&file, &mut *record)?, offset)?;
                    total = total.wrapping_add(sum(record));
                }
                Ok(total)
            })
        })
    },
    ..READ
};

pub(super) const BY_PREAD: Operation = Operation {
    id: "read.pread",
    summary: "read a file record by record and add it up: pread",
    like: &["FreadDir"],
    axes: ANY_ORDER,
    has_point: ANY_ORDER_POINTS,
    prepare: |setting| {
        summing(setting, |source, plan| {
            let file = source.open_with(OFlags::empty())?;
            let mut block = Block::new(plan.record as usize);
            Ok(move || each_record(plan, &mut block, |record, offset| Ok(pread(&file, record, offset)?)))
        })
    },
    ..READ
};

/// Reads each record by `get`, which returns how many bytes came, and returns the sum of all.
#[inline(always)]
pub(super) fn each_record(
    plan: Plan,
    block: &mut Block,
    mut get: impl FnMut(&mut [u8], u64) -> Result<usize, Failure>,
) -> Result<u64, Failure> {
    let mut total = 0_u64;
    for offset in plan.offsets() {
        let record = &mut block.bytes()[..plan.length_at(offset)];
        whole(record.len(), get(record, offset)?, offset)?;
        total = total.wrapping_add(sum(record));
    }
    Ok(total)
}
