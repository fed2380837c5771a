//! Messages from one io_uring to another: a completion posted by another task's request (`IORING_OP_MSG_RING`).

use std::os::fd::{AsRawFd, RawFd};

use io_uring::{IoUring, Probe, opcode, squeue, types};
use operation::{Failure, Operation, Setting, repeat, term};

use super::{NEAR_OR_FAR, SELF, TRIP, not_answered};
use crate::kit::submit;

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.named("ring.self", "send a message from an io_uring to itself and take its completion, one task")
        .version(3)
        .moves(|_| 8)
        .explained_by(&[term(1.0, "async.read.ring").at(&[("batch", operation::Value::Number(1))])])
        .prepare(|_| {
            let mut ring = ring()?;
            let itself = ring.as_raw_fd();
            let mut number = 0_u64;
            Ok(repeat(move || {
                number += 1;
                send(&mut ring, itself, number)?;
                if receive(&mut ring)? == number { Ok(()) } else { not_answered() }
            }))
        }),
    // One ring for each task; each call sends a message and waits for the next one.
    TRIP.id("ring.message")
        .summary("a message of a word from an io_uring to a partner process's, and the answer, one call each")
        .version(3)
        .axes(&[NEAR_OR_FAR])
        .moves(|_| 16)
        .explained_by(&[term(2.0, "ring.self")])
        .prepare(|setting: &Setting| {
            let mut ours = ring()?;
            let mut theirs = ring()?;
            let (our_number, their_number) = (ours.as_raw_fd(), theirs.as_raw_fd());
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                let number = receive(&mut theirs)?;
                send(&mut theirs, our_number, number + 1)
            })?;
            let mut number = 0_u64;
            Ok(repeat(move || {
                // The partner uses its ring, and this task's copy must stay open as long as messages are sent to it.
                let _alive = (&partner, &theirs);
                number += 1;
                send(&mut ours, their_number, number)?;
                if receive(&mut ours)? == number + 1 { Ok(()) } else { not_answered() }
            }))
        }),
];

/// Marks completions of the sending itself, which occur only if it failed.
const NOT_SENT: u64 = u64::MAX;

/// A ring that can send messages.
fn ring() -> Result<IoUring, Failure> {
    let ring = crate::kit::ring(8)?;
    let mut probe = Probe::new();
    ring.submitter().register_probe(&mut probe)?;
    if !probe.is_supported(opcode::MsgRingData::CODE) || !ring.params().is_feature_skip_cqe_on_success() {
        return Err(Failure::skip("io_uring of this kernel cannot send messages", "Linux 5.18 or newer"));
    }
    Ok(ring)
}

/// Prepares a message to another ring. The next call sends it.
#[inline(always)]
fn send(ring: &mut IoUring, to: RawFd, number: u64) -> Result<(), Failure> {
    let message = opcode::MsgRingData::new(types::Fd(to), 0, number, None).build();
    let message = message.flags(squeue::Flags::SKIP_SUCCESS).user_data(NOT_SENT);
    // SAFETY: a message refers to no memory.
    unsafe { ring.submission().push(&message) }.map_err(|_| Failure::wrong("the ring is full"))
}

/// Sends the prepared message and waits for the next one.
#[inline(always)]
fn receive(ring: &mut IoUring) -> Result<u64, Failure> {
    submit(ring, 1)?;
    let completion = ring.completion().next().ok_or_else(|| Failure::wrong("there is no completion"))?;
    match completion.user_data() {
        NOT_SENT => Err(Failure::Errno { errno: -completion.result() }),
        number => Ok(number),
    }
}
