//! Descriptor passing: an open file handed to another task through a Unix socket (`SCM_RIGHTS`).

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use operation::{Failure, Operation, Setting, repeat, term};
use rustix::event::{EventfdFlags, eventfd};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, socketpair,
};

use super::{NEAR_OR_FAR, SELF, TRIP, not_answered};
use crate::kit::library::{recvmsg, sendmsg};
use crate::kit::{call, ensure, exactly};

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.id("descriptor.self")
        .summary("send a descriptor and a byte through a Unix socket, receive both, close the copy, one task")
        .version(3)
        .per("descriptor")
        .moves(|_| 1)
        .calls(&["sendmsg", "recvmsg", "close"])
        .explained_by(&[term(1.0, "unix.self").at(&[("size", super::RSX)])])
        .prepare(|_| {
            let (ours, theirs) = pair()?;
            let passed = eventfd(0, EventfdFlags::CLOEXEC)?;
            let mut number = 0_u8;
            Ok(repeat(move || {
                number = number.wrapping_add(1);
                send(&ours, passed.as_fd(), number)?;
                let (copy, received) = receive(&theirs)?;
                exactly(0, call::close(copy)?)?;
                if received == number { Ok(()) } else { not_answered() }
            }))
        }),
    TRIP.id("descriptor.pass")
        .summary("pass a descriptor to a partner process, which passes its copy back; both copies are closed")
        .version(4)
        .axes(&[NEAR_OR_FAR])
        .moves(|_| 2)
        .explained_by(&[term(2.0, "descriptor.self")])
        .prepare(|setting: &Setting| {
            let (ours, theirs) = pair()?;
            let passed = eventfd(0, EventfdFlags::CLOEXEC)?;
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                let (copy, number) = receive(&theirs)?;
                send(&theirs, copy.as_fd(), number.wrapping_add(1))?;
                exactly(0, call::close(copy)?)
            })?;
            drop(theirs);
            let mut number = 0_u8;
            Ok(repeat(move || {
                let _alive = &partner;
                number = number.wrapping_add(1);
                send(&ours, passed.as_fd(), number)?;
                let (copy, received) = receive(&ours)?;
                exactly(0, call::close(copy)?)?;
                if received == number.wrapping_add(1) { Ok(()) } else { not_answered() }
            }))
        }),
];

fn pair() -> Result<(OwnedFd, OwnedFd), Failure> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Sends a descriptor together with a byte, because a descriptor alone is not a message.
#[inline(always)]
fn send(socket: &OwnedFd, passed: BorrowedFd<'_>, number: u8) -> Result<(), Failure> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let descriptors = [passed];
    ensure(control.push(SendAncillaryMessage::ScmRights(&descriptors)), || "there is no room for a descriptor")?;
    let sent = sendmsg(socket, &[IoSlice::new(&[number])], &mut control, SendFlags::empty())?;
    ensure(sent == 1, || "only a part of a message was sent")
}

/// Receives a descriptor and its byte.
#[inline(always)]
fn receive(socket: &OwnedFd) -> Result<(OwnedFd, u8), Failure> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut number = [0];
    recvmsg(socket, &mut [IoSliceMut::new(&mut number)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let received = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let copy = received.ok_or_else(|| Failure::wrong("a message was received without its descriptor"))?;
    Ok((copy, number[0]))
}
