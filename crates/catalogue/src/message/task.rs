//! The same calls by one task and by two tasks on the same CPU. Half the difference is a context switch, as the paper on
//! RSX-11M derives it.

use operation::{Axis, Failure, Operation, Setting, repeat, term};
use rustix::event::{PollFd, PollFlags};

use super::{SMALL, TRIP, not_answered, there_and_back};
use crate::kit::library::poll;
use crate::kit::{Block, Channel, End};

const AXES: &[Axis] = &[SMALL];

pub(crate) const OPERATIONS: &[Operation] = &[
    TRIP.named(
        "task.one",
        "all calls of task.two made by one task: twice write, wait (poll), read, and read to find that there is \
            no other",
    )
    .version(3)
    .aliases(&["S/R (1 task)"])
    .axes(AXES)
    .moves(there_and_back)
    .prepare(|setting| {
        let (ours, theirs) = ends()?;
        let mut block = Block::new(setting.size()?);
        Ok(repeat(move || {
            let expected = block[0].wrapping_add(1);
            ours.send(&block)?;
            take(&theirs, &mut block)?;
            block[0] = expected;
            theirs.send(&block)?;
            take(&ours, &mut block)?;
            if block[0] == expected { Ok(()) } else { not_answered() }
        }))
    }),
    // Two tasks that share the work, so that each message forces a switch.
    TRIP.named(
        "task.two",
        "a message to a partner process on the same CPU through a pipe, and the answer; each waits (poll), \
            reads, and reads again to find that there is no other",
    )
    .version(3)
    .aliases(&["S/R (2 task)"])
    .axes(AXES)
    .moves(there_and_back)
    .explained_by(&[term(1.0, "task.one").same(&["size"])])
    .prepare(|setting: &Setting| {
        let (ours, theirs) = ends()?;
        let mut block = Block::new(setting.size()?);
        let mut answer = block.clone();
        let partner = setting.partner(setting.cpu(), || {
            ours.close_inherited();
            loop {
                take(&theirs, &mut answer)?;
                answer[0] = answer[0].wrapping_add(1);
                theirs.send(&answer)?;
            }
        })?;
        drop(theirs);
        Ok(repeat(move || {
            let _alive = &partner;
            let expected = block[0].wrapping_add(1);
            ours.send(&block)?;
            take(&ours, &mut block)?;
            if block[0] == expected { Ok(()) } else { not_answered() }
        }))
    }),
];

/// A pair of pipes whose reads never wait.
fn ends() -> Result<(End, End), Failure> {
    let (ours, theirs) = End::pipes()?;
    ours.never_wait()?;
    theirs.never_wait()?;
    Ok((ours, theirs))
}

/// Waits for a message, receives it, and receives once more to find that there is no other, as RSX-11M's partners do.
#[inline(always)]
fn take(end: &End, block: &mut [u8]) -> Result<(), Failure> {
    poll(&mut [PollFd::new(end.receiver(), PollFlags::IN)], None)?;
    if end.receive_now(block)? && !end.receive_now(block)? { Ok(()) } else { not_answered() }
}
