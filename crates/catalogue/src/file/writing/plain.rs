//! Writers with one call per record: `write`, `pwrite`, the same with direct access, or with space allocated first.

use operation::{Failure, Operation};
use rustix::fs::{FallocateFlags, OFlags, SeekFrom};
use rustix::io::Errno;

use super::content::Content;
use super::pass::writing;
use super::target::{WrittenFile, refused, wrote};
use super::{ANY, ANY_POINTS, DIRECT_POINTS, FILE, RECORD, SYNC, WRITE, is_usual_sync};
use crate::file::reading::order::VisitPlan;
use crate::kit::library::{fallocate, pwrite, seek, write};

pub(crate) const OPERATIONS: &[Operation] = &[
    WRITE
        .id("write.write")
        .summary("write a file record by record: write, with lseek before each unless the order is sequential")
        .axes(ANY)
        .has_point(ANY_POINTS)
        .prepare(|setting| {
            writing(setting, OFlags::empty(), |target| {
                let (file, plan) = (target.open()?, target.plan);
                let mut content = Content::new(plan.record as usize);
                Ok(move |pass| {
                    seek(&file, SeekFrom::Start(0))?;
                    each_record(plan, &mut content, pass, |record, offset| {
                        if !plan.is_sequential() {
                            seek(&file, SeekFrom::Start(offset))?;
                        }
                        write(&file, record)
                    })
                })
            })
        }),
    WRITE
        .named("write.pwrite", "write a file record by record: pwrite")
        .axes(ANY)
        .has_point(ANY_POINTS)
        .prepare(|setting| writing(setting, OFlags::empty(), by_pwrite)),
    // The space is allocated at once, and the writes only fill it.
    WRITE
        .named("write.fallocate", "allocate a new file by fallocate, then write it record by record: pwrite")
        .axes(&[SYNC, RECORD, FILE])
        .has_point(|point| ANY_POINTS(point) && is_usual_sync(point))
        .version(3)
        .prepare(|setting| {
            writing(setting, OFlags::empty(), |target| {
                let (file, plan) = (target.open()?, target.plan);
                let mut content = Content::new(plan.record as usize);
                Ok(move |pass| {
                    fallocate(&file, FallocateFlags::empty(), 0, plan.length).map_err(|error| match error {
                        Errno::OPNOTSUPP | Errno::NOSYS => Failure::skip(
                            "this file system does not allocate space in advance",
                            "a file system with fallocate",
                        ),
                        error => refused(error, plan.length),
                    })?;
                    each_record(plan, &mut content, pass, |record, offset| pwrite(&file, record, offset))
                })
            })
        }),
    // Bypasses the page cache.
    WRITE
        .named("write.direct", "write a file record by record: pwrite bypassing the page cache (O_DIRECT)")
        .axes(ANY)
        .has_point(DIRECT_POINTS)
        .prepare(|setting| writing(setting, OFlags::DIRECT, by_pwrite)),
];

fn by_pwrite(target: &WrittenFile) -> Result<impl FnMut(u64) -> Result<(), Failure> + use<>, Failure> {
    let (file, plan) = (target.open()?, target.plan);
    let mut content = Content::new(plan.record as usize);
    Ok(move |pass| each_record(plan, &mut content, pass, |record, offset| pwrite(&file, record, offset)))
}

/// Writes each record by `put`, which returns the number of bytes written.
#[inline(always)]
pub(super) fn each_record(
    plan: VisitPlan,
    content: &mut Content,
    pass: u64,
    mut put: impl FnMut(&[u8], u64) -> Result<usize, Errno>,
) -> Result<(), Failure> {
    for offset in plan.offsets() {
        let record = &content.record(WrittenFile::number(plan, pass, offset))[..plan.length_at(offset)];
        let written = put(record, offset).map_err(|error| refused(error, plan.length))?;
        wrote(record.len(), written, offset)?;
    }
    Ok(())
}
