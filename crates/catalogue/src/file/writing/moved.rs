//! A writer that moves its memory into a pipe, and the pipe's pages into the file.

use operation::Operation;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags, pipe_with};

use super::content::Content;
use super::pass::writing;
use super::plain::each_record;
use super::{ANY_POINTS, FILE, OVER, RECORD, SYNC, WRITE, is_usual_sync};
use crate::kit::channel::widened;
use crate::kit::library::{splice, vmsplice};

pub(crate) const OPERATIONS: &[Operation] = &[WRITE
    .named(
        "write.splice",
        "write a file record by record from a pipe: vmsplice of the record into it, splice of it into the file",
    )
    .version(4)
    .axes(&[OVER, SYNC, RECORD, FILE])
    .has_point(|point| ANY_POINTS(point) && is_usual_sync(point))
    .prepare(|setting| {
        writing(setting, OFlags::empty(), |target| {
            let (file, plan) = (target.open()?, target.plan);
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
            widened(&writer, plan.record as usize)?;
            let mut content = Content::new(plan.record as usize);
            Ok(move |pass| {
                each_record(plan, &mut content, pass, |record, offset| {
                    let (mut given, mut place) = (0, offset);
                    while given < record.len() {
                        let rest = [IoSliceRaw::from_slice(&record[given..])];
                        // SAFETY: the pages are not changed before the splice below has copied them out of the pipe.
                        let mut inside = unsafe { vmsplice(&writer, &rest, SpliceFlags::empty()) }?;
                        given += inside;
                        while inside > 0 {
                            match splice(&reader, None, &file, Some(&mut place), inside, SpliceFlags::empty())? {
                                0 => return Err(Errno::PIPE),
                                moved => inside -= moved,
                            }
                        }
                    }
                    Ok(given)
                })
            })
        })
    })];
