//! How the partner learns of a message: asleep in the receiving call, in `poll` or `epoll_wait`, interrupted by a signal,
//! by a completion of io_uring, or started for the message and ended after it.

use std::os::fd::AsRawFd;

use io_uring::{opcode, types};
use libc::c_int;
use operation::{Axis, Failure, Loop, Operation, Setting, partner, pin, repeat, term, word, words};
use rustix::event::{PollFd, PollFlags, epoll};
use rustix::net::SocketType;

use super::{NEAR_OR_FAR, TRIP, not_answered, socket};
use crate::kit::library::{epoll_add, epoll_wait, poll};
use crate::kit::{Channel, End, Mask, fork, submit, wait_for};

/// How the partner is woken, in the paper's words: receive or stop, an event flag, the logical or of flags, an AST, I/O
/// completion, and send and request with receive or exit.
const WOKEN: Axis = word("woken", words!["blocking", "poll", "epoll", "signal", "ring", "start"]);

/// Requests that a partner's ring has space for. It makes one at a time.
const ENTRIES: u32 = 8;

/// Only the same CPU: on another CPU this partner is woken like a partner at a pipe.
const NEAR: Axis = partner("distance", words!["same"]);

/// The paper's messages of 256 words, for the kinds of partners that it sends them to. A partner asleep in the receiving
/// call is `pipe.roundtrip` at this size.
const WOKEN_BY_BLOCK: Axis = word("woken", words!["poll", "signal", "start"]);

/// Messages are of 13 words.
const BYTES: usize = 26;

/// Messages are of 256 words.
const BLOCK_BYTES: usize = 512;

/// The defaults. A partner that learns of a message from something else than the message has to receive until there is no
/// more, as the paper's partners do.
const BY: Operation = TRIP
    .aliases(&["SDAT/RCVD flag", "SDAT/RCVD AST", "SDAT/RCST", "SDRC/RCVX"])
    .axes(&[NEAR_OR_FAR, WOKEN])
    .moves(|_| 2 * BYTES as u64);

pub(crate) const OPERATIONS: &[Operation] = &[
    BY.named(
        "pipe.woken",
        "26 bytes through a pipe to a partner woken in various ways, and the answer; if woken by poll, epoll, \
            signal or start, it receives twice, the second time to find that there is no other",
    )
    .explained_by(&[term(1.0, "pipe.roundtrip").at(&[("size", super::RSX)]).same(&["distance"])])
    .prepare(|setting| woken::<BYTES>(setting, End::pipes()?)),
    BY.named(
        "pipe.woken.block",
        "512 bytes through a pipe to a partner woken in various ways, and the answer; the partner receives \
            twice, the second time to find that there is no other",
    )
    .aliases(&["VSDA/VRCD flag", "VSDA/VRCD AST", "VSRC/VRCX"])
    .axes(&[NEAR, WOKEN_BY_BLOCK])
    .moves(|_| 2 * BLOCK_BYTES as u64)
    .explained_by(&[term(1.0, "pipe.roundtrip").at(&[("size", super::BLOCK)]).same(&["distance"])])
    .prepare(|setting| woken::<BLOCK_BYTES>(setting, End::pipes()?)),
    BY.named(
        "unix.woken",
        "26 bytes through a Unix stream socket to a partner woken in various ways, and the answer; if woken by \
            poll, epoll, signal or start, it receives twice, the second time to find that there is no other",
    )
    .axes(&[NEAR, WOKEN])
    .explained_by(&[term(1.0, "unix.roundtrip").at(&[("size", super::RSX)]).same(&["distance"])])
    .prepare(|setting| woken::<BYTES>(setting, socket::pair(SocketType::STREAM)?)),
    BY.named(
        "udp.woken",
        "26 bytes through UDP to a partner woken in various ways, and the answer; if woken by poll, epoll, \
            signal or start, it receives twice, the second time to find that there is no other",
    )
    .axes(&[NEAR, WOKEN])
    .explained_by(&[term(1.0, "udp.roundtrip").at(&[("size", super::RSX)]).same(&["distance"])])
    .prepare(|setting| woken::<BYTES>(setting, socket::udp()?)),
];

/// A round trip with a partner that is woken as the setting says.
fn woken<const N: usize>(setting: &Setting, (ours, theirs): (End, End)) -> Result<Loop, Failure> {
    let how = setting.word("woken")?;
    if !matches!(how, "blocking" | "ring") {
        theirs.never_wait()?;
    }
    if how == "ring" {
        // A refusal here is a skip; a partner could not report it.
        drop(crate::kit::ring(ENTRIES)?);
    }
    if how == "start" {
        return started::<N>(setting, ours, theirs);
    }
    let partner = setting.partner(setting.partner_cpu()?, || {
        ours.close_inherited();
        match how {
            "poll" => by_poll::<N>(&theirs),
            "epoll" => by_epoll::<N>(&theirs),
            "signal" => by_signal::<N>(&theirs),
            "ring" => by_ring::<N>(&theirs),
            _ => by_blocking::<N>(&theirs),
        }
    })?;
    // After this copy is closed only the partner holds its end, so that its death ends the read here.
    drop(theirs);
    let mut block = [0; N];
    Ok(repeat(move || {
        let _alive = &partner;
        exchange(&ours, &mut block, || Ok(()))
    }))
}

/// A round trip with a partner that exists for one message.
fn started<const N: usize>(setting: &Setting, ours: End, theirs: End) -> Result<Loop, Failure> {
    let cpu = setting.partner_cpu()?;
    let apart = cpu != setting.cpu();
    let mut block = [0; N];
    Ok(repeat(move || {
        let child = exchange(&ours, &mut block, || {
            fork(|| {
                let there = if apart { pin(cpu) } else { Ok(()) };
                c_int::from(there.and_then(|()| answer::<N>(&theirs)).is_err())
            })
        })?;
        wait_for(child)
    }))
}

/// Sends a message, calls `wake` to have it answered, and checks the answer. Returns what `wake` does.
#[inline]
fn exchange<const N: usize, T>(
    ours: &End,
    block: &mut [u8; N],
    wake: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let expected = block[0].wrapping_add(1);
    ours.send(block)?;
    let woken = wake()?;
    ours.receive(block)?;
    if block[0] == expected { Ok(woken) } else { not_answered() }
}

/// Receives until there is no more, and answers the last message. There may be none, if the wake-up was for a message that
/// was already received.
#[inline]
fn answer<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let mut block = [0; N];
    let mut any = false;
    while theirs.receive_now(&mut block)? {
        any = true;
    }
    if any { reply(theirs, &mut block) } else { Ok(()) }
}

#[inline]
fn reply<const N: usize>(theirs: &End, block: &mut [u8; N]) -> Result<(), Failure> {
    block[0] = block[0].wrapping_add(1);
    theirs.send(block)
}

/// A partner asleep in the receiving call, which is both the wait and the receipt.
fn by_blocking<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let mut block = [0; N];
    loop {
        theirs.receive(&mut block)?;
        reply(theirs, &mut block)?;
    }
}

fn by_poll<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let mut waits = [PollFd::new(theirs.receiver(), PollFlags::IN)];
    loop {
        poll(&mut waits, None)?;
        answer::<N>(theirs)?;
    }
}

fn by_epoll<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll_add(&set, theirs.receiver())?;
    let nothing = epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
    let mut events = [nothing; 64];
    loop {
        epoll_wait(&set, &mut events, None)?;
        answer::<N>(theirs)?;
    }
}

/// A partner asleep until any signal. The kernel sends one when a message arrives (O_ASYNC), and its handler runs.
fn by_signal<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let signals = Mask::hold_off(libc::SIGIO)?;
    let descriptor = theirs.receiver().as_raw_fd();
    let process = std::process::id() as c_int;
    for (command, value) in [(libc::F_SETOWN, process), (libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK)] {
        // SAFETY: passes no memory.
        if unsafe { libc::fcntl(descriptor, command, value) } != 0 {
            return Err(Failure::last_os_error());
        }
    }
    loop {
        // Also before the first sleep, because a message may have arrived before the signals were requested.
        answer::<N>(theirs)?;
        signals.sleep();
    }
}

/// A partner asleep until a read by io_uring completes. The completion says that the message is in its buffer.
fn by_ring<const N: usize>(theirs: &End) -> Result<(), Failure> {
    let mut ring = crate::kit::ring(ENTRIES)?;
    let mut block = [0; N];
    loop {
        let read = opcode::Read::new(types::Fd(theirs.receiver().as_raw_fd()), block.as_mut_ptr(), N as u32);
        // The position for files without one: as `read` does it.
        let read = read.offset(u64::MAX).build();
        // SAFETY: the block outlives the read, whose completion is awaited here.
        unsafe { ring.submission().push(&read) }.map_err(|_| Failure::wrong("the ring is full"))?;
        submit(&mut ring, 1)?;
        match ring.completion().next().map(|completion| completion.result()) {
            Some(length) if length == N as i32 => reply(theirs, &mut block)?,
            Some(errno) if errno < 0 => return Err(Failure::Errno { errno: -errno }),
            _ => return Err(Failure::wrong("only a part of a message was received, or nothing")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partner_answers_a_whole_message_of_its_size_and_no_other() {
        let (ours, theirs) = End::pipes().expect("pipes");
        theirs.never_wait().expect("a pipe can be told not to wait");
        let mut block = [7; BLOCK_BYTES];
        let answered = exchange(&ours, &mut block, || answer::<BLOCK_BYTES>(&theirs));
        assert!(answered.is_ok() && block[0] == 8 && block[1..].iter().all(|&byte| byte == 7));
        assert!(answer::<BLOCK_BYTES>(&theirs).is_ok(), "nothing there is no message");
        ours.send(&[7; BYTES]).expect("sent");
        assert!(answer::<BLOCK_BYTES>(&theirs).is_err(), "13 words are no message of 256");
    }
}
