//! Calls that move a file's bytes without passing them to the program. They cannot be summed, so they are counted. The null
//! device does not read them, so that only the cost of fetching them is left.

use std::os::fd::OwnedFd;

use operation::{Failure, Operation};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with};

use super::READ;
use super::order::VisitPlan;
use super::pass::{Reader, counting};
use super::source::within_limit;
use crate::kit::channel::widened;
use crate::kit::device;
use crate::kit::library::{copy_file_range, ftruncate, open, sendfile, splice};

pub(crate) const OPERATIONS: &[Operation] = &[
    READ.id("read.splice")
        .version(3)
        .summary("move a file record by record through a pipe to the null device: splice; nothing is summed")
        .prepare(|setting| {
            counting(setting, |source, plan| {
                let (file, null) = (source.open_with(OFlags::empty())?, device(c"/dev/null")?);
                let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
                widened(&writer, plan.record as usize)?;
                let move_all = SpliceFlags::MOVE;
                Ok(move || {
                    let mut place = 0_u64;
                    while place < plan.length {
                        let wanted = plan.length_at(place);
                        let mut inside =
                            some(splice(&file, Some(&mut place), &writer, None, wanted, move_all)?, place)?;
                        while inside > 0 {
                            inside -= some(splice(&reader, None, &null, None, inside, move_all)?, place)?;
                        }
                    }
                    Ok(place)
                })
            })
        }),
    READ.named("read.sendfile", "move a file record by record to the null device: sendfile; nothing is summed")
        .prepare(|setting| {
            counting(setting, |source, plan| {
                let (file, null) = (source.open_with(OFlags::empty())?, device(c"/dev/null")?);
                Ok(move || {
                    let mut place = 0_u64;
                    while place < plan.length {
                        let wanted = plan.length_at(place);
                        some(sendfile(&null, &file, Some(&mut place), wanted)?, place)?;
                    }
                    Ok(place)
                })
            })
        }),
    READ.named(
        "read.copy",
        "copy a file record by record to an empty one beside it: copy_file_range; nothing is summed, and a file \
            system that shares blocks reads none",
    )
    .prepare(|setting| {
        counting(setting, |source, plan| {
            within_limit(plan.length)?;
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
            let copy = open(setting.scratch().join("copy"), flags, Mode::RUSR | Mode::WUSR)?;
            let copier = Copier { file: source.open_with(OFlags::empty())?, copy, plan };
            copier.copy_record(0)?;
            Ok(copier)
        })
    }),
];

struct Copier {
    file: OwnedFd,
    copy: OwnedFd,
    plan: VisitPlan,
}

impl Copier {
    fn copy_record(&self, at: u64) -> Result<usize, Failure> {
        let (mut from, mut to) = (at, at);
        let length = self.plan.length_at(at);
        let moved = copy_file_range(&self.file, Some(&mut from), &self.copy, Some(&mut to), length);
        let moved = moved.map_err(|error| {
            let (reason, remedy) =
                ("no space for a copy of the file", "free some, or set TMPDIR to a folder with more");
            let other_system = "this kernel does not copy ranges between file systems";
            Failure::from(error).skip_on(&[libc::ENOSPC, libc::EDQUOT], reason, remedy).skip_on(
                &[libc::EXDEV],
                other_system,
                "set TMPDIR to a folder on the file's file system",
            )
        });
        some(moved?, at)
    }
}

impl Reader for Copier {
    fn before(&mut self) -> Result<(), Failure> {
        Ok(ftruncate(&self.copy, 0)?)
    }

    fn pass(&mut self) -> Result<u64, Failure> {
        let mut place = 0;
        while place < self.plan.length {
            place += self.copy_record(place)? as u64;
        }
        Ok(place)
    }
}

/// Fails if nothing was moved, because the loop would never end.
#[inline(always)]
fn some(moved: usize, place: u64) -> Result<usize, Failure> {
    match moved {
        0 => Err(Failure::wrong(format!("nothing was read at {place}: the file was truncated"))),
        moved => Ok(moved),
    }
}
