//! Messages: to oneself, and to a partner process and back, by every mechanism two tasks can talk with.

pub(crate) mod descriptor;
pub(crate) mod eventfd;
pub(crate) mod futex;
pub(crate) mod idle;
mod namespace;
pub(crate) mod pipe;
pub(crate) mod poll;
pub(crate) mod queue;
pub(crate) mod ring;
pub(crate) mod semaphore;
pub(crate) mod sending;
pub(crate) mod shared;
pub(crate) mod signalfd;
pub(crate) mod socket;
pub(crate) mod task;
pub(crate) mod vm;
pub(crate) mod waiting;
pub(crate) mod wakeup;

use operation::{Axis, Failure, Loop, Operation, Setting, Value, count, partner, repeat, size};
use record::Point;

use crate::kit::baseline::DEFAULT;
use crate::kit::block::Block;
use crate::kit::channel::Channel;

/// Where the partner runs: on our own CPU, so that each message forces a switch, or on another one, so that each
/// message wakes a CPU that may have gone idle.
/// `awake` is another CPU, where idle tasks keep both CPUs from halting: what is left of `other` when nobody has to be
/// woken from a halt.
const DISTANCE: Axis = partner("distance", &[Value::Word("same"), Value::Word("other"), Value::Word("awake")])
    .headline(&[Value::Word("same"), Value::Word("other")]);

/// The same, and every distance by itself that the machine has: another hardware thread of our core, another core of the
/// same last level of cache, of another one in the same socket, of another socket.
const DISTANCE_AND_FURTHER: Axis = partner(
    "distance",
    &[
        Value::Word("same"),
        Value::Word("other"),
        Value::Word("awake"),
        Value::Word("sibling"),
        Value::Word("core"),
        Value::Word("cache"),
        Value::Word("socket"),
    ],
)
.headline(&[Value::Word("same"), Value::Word("other")]);

/// The same, where an idle task beside the partner would show no more than it does for the mechanisms above.
const NEAR_OR_FAR: Axis = partner("distance", &[Value::Word("same"), Value::Word("other")]);

/// The message of 13 words of RSX-11M, the one of 256 words of RSX-11M-Plus, a page, and the largest that fits a pipe.
const RSX: Value<&str> = Value::Number(26);
const BLOCK: Value<&str> = Value::Number(512);
const PAGE: Value<&str> = Value::Number(4096);
const LARGE: Value<&str> = Value::Number(65536);

/// The size of each message, where every mechanism is to be compared with.
const SIZE: Axis = size(&[RSX, BLOCK, PAGE, LARGE]).headline(&[RSX]).within(1, 64 << 10);

/// The size of each message that fits one datagram or one message of a queue as large as is usually allowed.
const SIZE_OF_ONE: Axis = size(&[RSX, BLOCK, PAGE]).headline(&[RSX]).within(1, 4096);

/// The size of each message, where it is copied in another way than elsewhere.
const SIZE_OF_TWO: Axis = size(&[RSX, PAGE]).within(1, 4096);

/// The size of each message, where another mechanism that copies in the same way shows what is between.
const ENDS: Axis = size(&[RSX, LARGE]).within(1, 64 << 10);

/// Bytes that what is copied to begins behind a multiple of 64: 16 is what an allocation of a C library gives.
const OFFSET: Axis = count("offset", &[Value::Number(0), Value::Number(16)]).headline(&[Value::Number(0)]);

const ALIGNED: &[(&str, Value<&str>)] = &[("offset", Value::Number(0))];

/// The size of each message, where another mechanism with the same path of data shows the rest.
const SMALL: Axis = size(&[RSX]).within(1, 4096);

/// What all round trips are that belong to the headline run. Since version 2 messages lie where [`Block`] says.
const ROUNDTRIP: Operation = Operation { per: "round trip", version: 2, headline: true, ..DEFAULT };

/// What all other round trips are.
const EXOTIC: Operation = Operation { headline: false, ..ROUNDTRIP };

/// What all messages to oneself are: what the calls and the copies cost when nobody has to be woken. Since version 2
/// messages lie where [`Block`] says, and what is received does not lie where it was sent from.
const TO_ITSELF: Operation = Operation { per: "message", version: 2, moves: there, ..DEFAULT };

/// The payload of a message.
fn there(point: &Point) -> u64 {
    point.number("size").unwrap_or(0)
}

/// The payload of a round trip: the message and its answer.
fn there_and_back(point: &Point) -> u64 {
    2 * there(point)
}

/// Whether a point names how far the partner is.
fn is_further(point: &Point) -> bool {
    !matches!(point.word("distance"), Some("same" | "other" | "awake") | None)
}

/// What went out of step between two tasks.
fn not_answered<T>() -> Result<T, Failure> {
    Err(Failure::wrong("the answer is not to the message sent"))
}

/// Sends messages of the setting's size to oneself.
fn itself(setting: &Setting, channel: impl Channel + 'static) -> Result<Loop, Failure> {
    let (sent, received) = (channel.block(setting.size()), channel.block(setting.size()));
    Ok(between(channel, sent, received))
}

/// Sends from one place and receives at another. The last byte differs each time, so that what is received is known to
/// be what was sent.
fn between(channel: impl Channel + 'static, mut sent: Block, mut received: Block) -> Loop {
    let last = sent.len() - 1;
    repeat(move || {
        let number = sent[last].wrapping_add(1);
        sent[last] = number;
        channel.send(&sent)?;
        channel.receive(&mut received)?;
        if received[last] == number { Ok(()) } else { Err(Failure::wrong("what was received is not what was sent")) }
    })
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use rustix::param::page_size;

    use super::*;

    /// Carries one message, and remembers where it was sent from and received.
    #[derive(Default)]
    struct Slot {
        message: RefCell<Vec<u8>>,
        places: Rc<RefCell<Vec<usize>>>,
        loses: bool,
    }

    impl Channel for Slot {
        fn send(&self, block: &[u8]) -> Result<(), Failure> {
            self.places.borrow_mut().push(block.as_ptr() as usize);
            *self.message.borrow_mut() = block.to_vec();
            Ok(())
        }

        fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
            self.places.borrow_mut().push(block.as_ptr() as usize);
            if !self.loses {
                block.copy_from_slice(&self.message.borrow());
            }
            Ok(())
        }
    }

    #[test]
    fn a_message_leaves_one_page_and_comes_to_another_at_its_beginning() {
        for bytes in [26, 512, 4096, 65536] {
            let setting =
                Setting::new(Point::default().with("size", Value::Number(bytes)), std::env::temp_dir(), 0, None, 1);
            let slot = Slot::default();
            let places = Rc::clone(&slot.places);
            itself(&setting, slot).expect("a loop").perform(300).expect("messages");
            let places = places.borrow();
            assert!(places.len() == 600 && places.iter().all(|place| place.is_multiple_of(page_size())), "{bytes}");
            assert!(places.chunks(2).all(|pair| pair[0] != pair[1]), "{bytes}: one place for both");
        }
    }

    #[test]
    fn a_message_that_does_not_come_is_found_out() {
        let slot = Slot { loses: true, ..Slot::default() };
        assert!(matches!(between(slot, Block::new(26), Block::new(26)).perform(1), Err(Failure::Wrong(_))));
    }
}
