//! Messages: to oneself, and to a partner process and back, by every mechanism two tasks can talk with.

mod descriptor;
mod eventfd;
pub(crate) mod futex;
mod namespace;
mod pipe;
mod queue;
mod ring;
mod semaphore;
mod shared;
mod signalfd;
mod socket;
mod task;
mod vm;
mod woken;

use measure::{Axis, Choice, Failure, Loop, Operation, Setting, repeat, size, word};
use record::Point;

use crate::channel::Channel;

pub(crate) const OPERATIONS: &[Operation] = &[
    pipe::ITSELF,
    pipe::ROUNDTRIP,
    pipe::FIFO_ITSELF,
    pipe::FIFO,
    socket::UNIX_ITSELF,
    socket::UNIX,
    socket::DATAGRAM_ITSELF,
    socket::DATAGRAM,
    socket::SEQPACKET_ITSELF,
    socket::SEQPACKET,
    socket::NAMED_STREAM_ITSELF,
    socket::NAMED_STREAM,
    socket::NAMED_DATAGRAM_ITSELF,
    socket::NAMED_DATAGRAM,
    socket::TCP_ITSELF,
    socket::TCP,
    socket::NAGLE_ITSELF,
    socket::NAGLE,
    socket::UDP_ITSELF,
    socket::UDP,
    queue::POSIX_ITSELF,
    queue::POSIX,
    queue::SYSTEM_V_ITSELF,
    queue::SYSTEM_V,
    shared::ITSELF,
    shared::SPIN,
    shared::FUTEX,
    vm::ITSELF,
    vm::READ,
    vm::WRITE,
    vm::ROUNDTRIP,
    futex::ITSELF,
    futex::ROUNDTRIP,
    semaphore::POSIX_ITSELF,
    semaphore::POSIX,
    semaphore::SYSTEM_V_ITSELF,
    semaphore::SYSTEM_V,
    eventfd::ITSELF,
    eventfd::ROUNDTRIP,
    signalfd::ITSELF,
    signalfd::ROUNDTRIP,
    ring::ITSELF,
    ring::ROUNDTRIP,
    descriptor::ITSELF,
    descriptor::PASS,
    woken::PIPE,
    woken::PIPE_BLOCK,
    woken::UNIX,
    woken::UDP,
    task::ONE,
    task::TWO,
];

/// Where the partner runs: on our own CPU, so that each message forces a switch, or on another one, so that each
/// message wakes a CPU that may have gone idle.
/// `awake` is another CPU that an idle task keeps from halting: what is left of `other` when the wake-up finds it running.
const DISTANCE: Axis = word("distance", &[Choice::Word("same"), Choice::Word("other"), Choice::Word("awake")])
    .headline(&[Choice::Word("same"), Choice::Word("other")]);

/// The same, where an idle task beside the partner would show no more than it does for the mechanisms above.
const NEAR_OR_FAR: Axis = word("distance", &[Choice::Word("same"), Choice::Word("other")]);

/// The message of 13 words of RSX-11M, the one of 256 words of RSX-11M-Plus, a page, and the largest that fits a pipe.
const RSX: Choice = Choice::Number(26);
const BLOCK: Choice = Choice::Number(512);
const PAGE: Choice = Choice::Number(4096);
const LARGE: Choice = Choice::Number(65536);

/// The size of each message, where every mechanism is to be compared with.
const SIZE: Axis = size(&[RSX, BLOCK, PAGE, LARGE]).headline(&[RSX]);

/// The size of each message that fits one datagram or one message of a queue as large as is usually allowed.
const SIZE_OF_ONE: Axis = size(&[RSX, BLOCK, PAGE]).headline(&[RSX]);

/// The size of each message, where it is copied in another way than elsewhere.
const SIZE_OF_TWO: Axis = size(&[RSX, PAGE]);

/// The size of each message, where another mechanism that copies in the same way shows what is between.
const ENDS: Axis = size(&[RSX, LARGE]);

/// The size of each message, where another mechanism with the same path of data shows the rest.
const SMALL: Axis = size(&[RSX]);

/// What all round trips are that belong to the headline run.
const ROUNDTRIP: Operation = Operation { per: "round trip", headline: true, ..crate::DEFAULT };

/// What all other round trips are.
const EXOTIC: Operation = Operation { headline: false, ..ROUNDTRIP };

/// What all messages to oneself are: what the calls and the copies cost when nobody has to be woken.
const TO_ITSELF: Operation = Operation { per: "message", moves: there, ..crate::DEFAULT };

/// The payload of a message.
fn there(point: &Point) -> u64 {
    point.number("size").unwrap_or(0)
}

/// The payload of a round trip: the message and its answer.
fn there_and_back(point: &Point) -> u64 {
    2 * there(point)
}

/// What went out of step between two tasks.
fn not_answered<T>() -> Result<T, Failure> {
    Err(Failure::wrong("the answer is not to the message sent"))
}

/// Sends messages of the setting's size to oneself. The last byte differs each time, so that what is received is
/// known to be what was sent.
fn itself(setting: &Setting, channel: impl Channel + 'static) -> Result<Loop, Failure> {
    let mut block = channel.block(setting.size());
    let last = block.len() - 1;
    Ok(repeat(move || {
        let sent = block[last].wrapping_add(1);
        block[last] = sent;
        channel.send(&block)?;
        block[last] = !sent;
        channel.receive(&mut block)?;
        if block[last] == sent { Ok(()) } else { Err(Failure::wrong("what was received is not what was sent")) }
    }))
}

/// Sends messages of the setting's size over `ours` to a partner that answers over `theirs`. The partner counts the
/// last byte up, so that an answer proves that the whole message has been there.
fn roundtrip<C: Channel + 'static>(setting: &Setting, ours: C, theirs: C) -> Result<Loop, Failure> {
    let mut block = ours.block(setting.size());
    let last = block.len() - 1;
    let mut answer = block.clone();
    let partner = setting.partner(setting.partner_cpu()?, || {
        ours.close_inherited();
        loop {
            theirs.receive(&mut answer)?;
            answer[last] = answer[last].wrapping_add(1);
            theirs.send(&answer)?;
        }
    })?;
    // With this copy closed, the partner alone holds its end, so that its death ends our reading.
    drop(theirs);
    Ok(repeat(move || {
        let _alive = &partner;
        let expected = block[last].wrapping_add(1);
        ours.send(&block)?;
        ours.receive(&mut block)?;
        if block[last] == expected { Ok(()) } else { not_answered() }
    }))
}
