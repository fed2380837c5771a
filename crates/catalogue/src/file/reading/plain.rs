//! Readers with one call per record: `read`, `pread`, `preadv2`, and the same with advice or with direct access.

use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

use operation::{Failure, Loop, Operation, Setting, term};
use rustix::fs::{Advice, OFlags, SeekFrom};
use rustix::io::{Errno, IoSliceMut, ReadWriteFlags};

use super::ahead::Ahead;
use super::order::VisitPlan;
use super::pass::{Reader, summing};
use super::source::{SourceFile, whole};
use super::sum::{Take, sum};
use super::{AHEAD, AHEAD_POINTS, ANY_ORDER, ANY_ORDER_POINTS, DIRECT_ANY_ORDER, DIRECT_POINTS, READ, THE_SUM};
use crate::file::residence;
use crate::kit::library::{fadvise, pread, preadv2, read, seek};
use crate::kit::{Block, call, exactly};

pub(crate) const OPERATIONS: &[Operation] = &[
    BY_READ,
    READ.named("read.pread", "read a file record by record and add it up: pread")
        .aliases(&["FreadDir"])
        .axes(ANY_ORDER)
        .has_point(ANY_ORDER_POINTS)
        .prepare(|setting| summing(setting, |source, plan| Ok(by_pread(source.open_with(OFlags::empty())?, plan)))),
    // What is already in memory comes without waiting; only the rest is read in the usual way.
    READ.named(
        "read.preadv2",
        "read a file record by record and add it up: preadv2 that does not wait (RWF_NOWAIT), and pread where \
            it would have to",
    )
    .prepare(|setting| {
        let (at_once, waited) = (setting.tally("at once"), setting.tally("waited"));
        summing(setting, |source, plan| {
            let file = source.open_with(OFlags::empty())?;
            match preadv2(&file, &mut [IoSliceMut::new(&mut [0; 8])], 0, ReadWriteFlags::NOWAIT) {
                Ok(_) | Err(Errno::AGAIN) => {}
                Err(Errno::OPNOTSUPP) => {
                    return Err(Failure::skip(
                        "this file system has no reads that never wait (RWF_NOWAIT)",
                        "set TMPDIR to a folder of ext4, XFS or Btrfs",
                    ));
                }
                Err(error) => return Err(error.into()),
            }
            let mut block = Block::new(plan.record as usize);
            Ok(move || {
                let (mut ready, mut blocked) = (0, 0);
                let total = each_record(plan, &mut block, |record, offset| {
                    let mut place = [IoSliceMut::new(record)];
                    match preadv2(&file, &mut place, offset, ReadWriteFlags::NOWAIT) {
                        Ok(got) if got == record.len() => {
                            ready += 1;
                            Ok(got)
                        }
                        Ok(got) => {
                            blocked += 1;
                            Ok(got + pread(&file, &mut record[got..], offset + got as u64)?)
                        }
                        Err(Errno::AGAIN) => {
                            blocked += 1;
                            Ok(pread(&file, record, offset)?)
                        }
                        Err(error) => Err(error.into()),
                    }
                })?;
                at_once.pass(ready);
                waited.pass(blocked);
                Ok(total)
            })
        })
    }),
    READ.named("read.readahead", "read a file record by record and add it up: pread, with readahead ahead by a window")
        .aliases(&["FreadDir & FreadSeek"])
        .calls(&["readahead"])
        .axes(AHEAD)
        .has_point(AHEAD_POINTS)
        .prepare(|setting| {
            with_window(setting, |file, offset, length| exactly(0, call::readahead(file, offset, length)?))
        }),
    READ.id("read.fadvise.sequential")
        .summary("read a file record by record and add it up: pread after posix_fadvise SEQUENTIAL")
        .prepare(|setting| {
            summing(setting, |source, plan| {
                let file = source.open_with(OFlags::empty())?;
                fadvise(&file, 0, None, Advice::Sequential)?;
                Ok(by_pread(file, plan))
            })
        }),
    READ.id("read.fadvise.ahead")
        .summary("read a file record by record and add it up: pread, with posix_fadvise WILLNEED ahead by a window")
        .aliases(&["FreadDir & FreadSeek"])
        .axes(AHEAD)
        .has_point(AHEAD_POINTS)
        .prepare(|setting| {
            with_window(setting, |file, offset, length| {
                Ok(fadvise(file, offset, NonZeroU64::new(length as u64), Advice::WillNeed)?)
            })
        }),
    DIRECT,
    // The device needs one memory address, not one for each page.
    DIRECT
        .id("read.direct.huge")
        .summary("read a file record by record and add it up: pread bypassing the page cache into memory of huge pages")
        .explained_by(&[term(1.0, "read.direct").same(&["state", "order", "record", "file"])])
        .prepare(|setting| {
            let block = Block::huge(setting.number("record")? as usize)?;
            summing(setting, |source, plan| past_the_cache(source, plan, (block, sum)))
        }),
];

pub(super) const BY_READ: Operation = READ
    .named(
        "read.read",
        "read a file record by record and add it up: read, with lseek before each unless the order is sequential",
    )
    .aliases(&["Fread"])
    .axes(ANY_ORDER)
    .has_point(ANY_ORDER_POINTS)
    .explained_by(&[term(1.0, "read.read.unused").same(&["state", "order", "record", "file"]), THE_SUM])
    .prepare(|setting| summing(setting, |source, plan| by_read(source, plan, sum)));

/// Bypasses the page cache, so that it does not matter whether the file is in it.
pub(super) const DIRECT: Operation = READ
    .named("read.direct", "read a file record by record and add it up: pread bypassing the page cache (O_DIRECT)")
    .axes(DIRECT_ANY_ORDER)
    .has_point(DIRECT_POINTS)
    .explained_by(&[term(1.0, "read.direct.unused").same(&["state", "order", "record", "file"]), THE_SUM])
    .prepare(|setting| {
        let block = Block::new(setting.number("record")? as usize);
        summing(setting, |source, plan| past_the_cache(source, plan, (block, sum)))
    });

/// Calls `read` for each record and passes the record to `take`.
pub(super) fn by_read(source: &SourceFile, plan: VisitPlan, take: Take) -> Result<impl Reader + use<>, Failure> {
    let file = source.open_with(OFlags::empty())?;
    let mut block = Block::new(plan.record as usize);
    Ok(move || {
        seek(&file, SeekFrom::Start(0))?;
        each_record_into(plan, &mut block, take, |record, offset| {
            if !plan.is_sequential() {
                seek(&file, SeekFrom::Start(offset))?;
            }
            Ok(read(&file, record)?)
        })
    })
}

fn by_pread(file: OwnedFd, plan: VisitPlan) -> impl Reader {
    let mut block = Block::new(plan.record as usize);
    move || each_record(plan, &mut block, |record, offset| Ok(pread(&file, record, offset)?))
}

/// Reads each record by `get`, which returns the number of bytes read. Returns the sum of all.
#[inline(always)]
pub(super) fn each_record(
    plan: VisitPlan,
    block: &mut Block,
    get: impl FnMut(&mut [u8], u64) -> Result<usize, Failure>,
) -> Result<u64, Failure> {
    each_record_into(plan, block, sum, get)
}

/// The same, but passes each record to `take`.
#[inline(always)]
fn each_record_into(
    plan: VisitPlan,
    block: &mut Block,
    take: Take,
    mut get: impl FnMut(&mut [u8], u64) -> Result<usize, Failure>,
) -> Result<u64, Failure> {
    let mut total = 0_u64;
    for offset in plan.offsets() {
        let record = &mut block.bytes()[..plan.length_at(offset)];
        whole(record.len(), get(record, offset)?, offset)?;
        total = total.wrapping_add(take(record));
    }
    Ok(total)
}

/// Calls `pread` with direct access for each record, into this block, and passes the record to `take`.
pub(super) fn past_the_cache(
    source: &SourceFile,
    plan: VisitPlan,
    (mut block, take): (Block, Take),
) -> Result<impl Reader + use<>, Failure> {
    let file = direct(source, plan)?;
    Ok(move || {
        let mut total = 0_u64;
        for offset in plan.offsets() {
            // Always a whole record, which the end of the file truncates, because lengths must be whole blocks.
            let record = &mut *block.bytes();
            let length = plan.length_at(offset);
            whole(length, pread(&file, &mut *record, offset)?, offset)?;
            total = total.wrapping_add(take(&record[..length]));
        }
        Ok(total)
    })
}

/// The file, open for direct reads. Skips if its file system has no direct reads, or none of this length.
pub(super) fn direct(source: &SourceFile, plan: VisitPlan) -> Result<OwnedFd, Failure> {
    let refused = |error: Errno| {
        Failure::from(error).skip_on(
            &[libc::EINVAL, libc::EOPNOTSUPP],
            format!("this file system has no direct reads of {} bytes", plan.record),
            "a file on a disk, and records of whole blocks (4 KiB)",
        )
    };
    let file = source.open_with(OFlags::DIRECT).map_err(refused)?;
    let mut block = Block::new(plan.record as usize);
    residence::on_a_device(&source.file)?;
    residence::is_past_memory(&source.file, || pread(&file, block.bytes(), 0).map_err(refused).map(drop))?;
    Ok(file)
}

/// `pread` of each record, after `request` has requested the window.
fn with_window(
    setting: &Setting,
    request: impl Fn(&OwnedFd, u64, usize) -> Result<(), Failure> + 'static,
) -> Result<Loop, Failure> {
    summing(setting, |source, plan| {
        let file = source.open_with(OFlags::empty())?;
        let mut block = Block::new(plan.record as usize);
        let mut window = Ahead::of(setting, plan.length)?;
        // A refusal occurs here, before anything is timed.
        request(&file, 0, rustix::param::page_size())?;
        Ok(move || {
            window.restart();
            each_record(plan, &mut block, |record, offset| {
                window.reach(offset, |start, length| request(&file, start, length))?;
                Ok(pread(&file, record, offset)?)
            })
        })
    })
}
