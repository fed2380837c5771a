//! Messages to the same task, and to a partner process and back, by every mechanism with which two tasks can communicate.

pub(crate) mod descriptor;
pub(crate) mod eventfd;
pub(crate) mod futex;
pub(crate) mod idle;
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

use operation::{Axis, Failure, Loop, Operation, Setting, Value, count, numbers, partner, repeat, size, words};
use record::Point;

use crate::kit::{BASE, Block, Channel, End, ensure};

/// Where the partner runs. `same`: on this task's CPU, so that each message forces a switch. `other`: on another CPU, which
/// each message wakes and which may have gone idle. `awake`: on another CPU, where idle tasks keep both CPUs from halting;
/// it shows what is left of `other` if no CPU must be woken from a halt.
const DISTANCE: Axis = partner("distance", words!["same", "other", "awake"]).headline(words!["same", "other"]);

/// The same, and every distance that the machine has as a separate value: another hardware thread of this core, another
/// core with the same last-level cache, another last-level cache in the same socket, another socket.
const DISTANCE_AND_FURTHER: Axis =
    partner("distance", words!["same", "other", "awake", "sibling", "core", "cache", "socket"])
        .headline(words!["same", "other"]);

/// The same without `awake`, where an idle task beside the partner would show no more than it does for the mechanisms
/// above.
const NEAR_OR_FAR: Axis = partner("distance", words!["same", "other"]);

/// Sizes: the message of 13 words of RSX-11M, the one of 256 words of RSX-11M-Plus, a page, and the largest that fits a
/// pipe.
const RSX: Value<&str> = Value::Number(26);
const BLOCK: Value<&str> = Value::Number(512);
const PAGE: Value<&str> = Value::Number(4096);
const LARGE: Value<&str> = Value::Number(65536);

/// The size of each message, for mechanisms that all others are compared with.
const SIZE: Axis = size(&[RSX, BLOCK, PAGE, LARGE]).headline(&[RSX]).within(1, 64 << 10);

/// The size of each message that fits one datagram, or one message of a queue with the usual limits.
const SIZE_OF_ONE: Axis = size(&[RSX, BLOCK, PAGE]).headline(&[RSX]).within(1, 4096);

/// The size of each message, for mechanisms that copy in another way than the others.
const SIZE_OF_TWO: Axis = size(&[RSX, PAGE]).within(1, 4096);

/// The size of each message, where another mechanism that copies in the same way shows the sizes between.
const ENDS: Axis = size(&[RSX, LARGE]).within(1, 64 << 10);

/// The destination of a copy begins this number of bytes behind a multiple of 64. The allocator of a C library gives 16.
const OFFSET: Axis = count("offset", numbers![0, 16]).headline(numbers![0]);

const ALIGNED: &[(&str, Value<&str>)] = &[("offset", Value::Number(0))];

/// The size of each message, where another mechanism with the same data path shows the other sizes.
const SMALL: Axis = size(&[RSX]).within(1, 4096);

/// Defaults of the round trips that belong to the headline run.
const ROUNDTRIP: Operation = TRIP.headline();

/// Defaults of all other round trips. Since version 2 messages lie where [`Block`] says.
const TRIP: Operation = BASE.per("round trip").version(2);

/// Defaults of all messages to the same task: what the calls and the copies cost if no task must be woken. Since version 2
/// messages lie where [`Block`] says, and a message is received at another address than it was sent from.
const SELF: Operation = BASE.per("message").version(2).moves(there);

/// The payload of a message.
fn there(point: &Point) -> u64 {
    point.number("size").unwrap_or(0)
}

/// The payload of a round trip: the message and its answer.
fn there_and_back(point: &Point) -> u64 {
    2 * there(point)
}

/// True if a point says how far away the partner is.
fn is_further(point: &Point) -> bool {
    !matches!(point.word("distance"), Some("same" | "other" | "awake") | None)
}

/// The error for two tasks that are out of step.
fn not_answered<T>() -> Result<T, Failure> {
    Err(Failure::wrong("the answer does not match the message sent"))
}

/// Sends messages of the setting's size to the same task.
fn itself(setting: &Setting, channel: impl Channel + 'static) -> Result<Loop, Failure> {
    let (sent, received) = (channel.block(setting.size()?), channel.block(setting.size()?));
    Ok(between(channel, sent, received))
}

/// Sends from one buffer and receives in another. The last byte differs each time, which proves that the received message
/// is the one sent.
fn between(channel: impl Channel + 'static, mut sent: Block, mut received: Block) -> Loop {
    let last = sent.len() - 1;
    repeat(move || {
        let number = sent[last].wrapping_add(1);
        sent[last] = number;
        channel.send(&sent)?;
        channel.receive(&mut received)?;
        ensure(received[last] == number, || "what was received is not what was sent")
    })
}

/// The same through the first of these ends and out of the second.
fn through(setting: &Setting, (ours, theirs): (End, End)) -> Result<Loop, Failure> {
    itself(setting, End::joined(ours, theirs))
}

/// Sends messages of the setting's size over `ours` to a partner that answers over `theirs`. The partner increments the
/// last byte, so an answer proves that the whole message arrived.
fn roundtrip<C: Channel + 'static>(setting: &Setting, (ours, theirs): (C, C)) -> Result<Loop, Failure> {
    let mut block = ours.block(setting.size()?);
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
    // After this copy is closed only the partner holds its end, so that its death ends the read here.
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

    /// Carries one message, and records the addresses it was sent from and received at.
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
