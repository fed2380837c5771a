//! Messages: to oneself, and to a partner process and back, by every mechanism two tasks can talk with.

mod eventfd;
mod futex;
mod pipe;
mod socket;

use measure::{Axis, Choice, Failure, Loop, Operation, Setting, repeat, size, word};
use record::Point;

use crate::channel::End;

pub(crate) const OPERATIONS: &[Operation] =
    &[pipe::ITSELF, pipe::ROUNDTRIP, socket::UNIX, socket::TCP, socket::UDP, futex::ROUNDTRIP, eventfd::ROUNDTRIP];

/// Where the partner runs: on our own CPU, so that each message forces a switch, or on another one, so that each
/// message wakes a CPU that may have gone idle.
/// `awake` is another CPU that an idle task keeps from halting: what is left of `other` when the wake-up finds it running.
const DISTANCE: Axis = word("distance", &[Choice::Word("same"), Choice::Word("other"), Choice::Word("awake")])
    .headline(&[Choice::Word("same"), Choice::Word("other")]);

/// The size of each message. 26 bytes are the 13 words of an RSX-11M message.
const SIZE: Axis =
    size(&[Choice::Number(26), Choice::Number(512), Choice::Number(4096)]).headline(&[Choice::Number(26)]);

/// What all round trips are.
const ROUNDTRIP: Operation = Operation { per: "round trip", headline: true, ..crate::DEFAULT };

/// The payload of a round trip: the message and its answer.
fn there_and_back(point: &Point) -> u64 {
    2 * point.number("size").unwrap_or(0)
}

/// Sends messages of the setting's size over `ours` to a partner that answers over `theirs`. The partner counts the
/// first byte up, so that an answer proves that the message has been there.
fn roundtrip(setting: &Setting, ours: End, theirs: End) -> Result<Loop, Failure> {
    let mut block = vec![0; setting.size()];
    let mut answer = block.clone();
    let partner = setting.partner(setting.partner_cpu()?, || {
        ours.close_inherited();
        loop {
            theirs.receive(&mut answer)?;
            answer[0] = answer[0].wrapping_add(1);
            theirs.send(&answer)?;
        }
    })?;
    // With this copy closed, the partner alone holds its end, so that its death ends our reading.
    drop(theirs);
    Ok(repeat(move || {
        let _alive = &partner;
        let expected = block[0].wrapping_add(1);
        ours.send(&block)?;
        ours.receive(&mut block)?;
        if block[0] == expected { Ok(()) } else { Err(Failure::wrong("the answer is not to the message sent")) }
    }))
}
