//! Memory shared by both tasks: a message is copied in and out, and the partner finds it by polling a word, or sleeps on
//! the word (a futex) until it is woken.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering};

use operation::{Failure, Operation, Setting, repeat, term};

use super::{ALIGNED, ENDS, NEAR_OR_FAR, OFFSET, SELF, SIZE, SIZE_OF_TWO, TRIP, between, not_answered, there_and_back};
use crate::kit::library::sched_yield;
use crate::kit::{
    Block, Channel, Handshake, OURS, Shared, THEIRS, await_turn, handles, let_fall_asleep, pass_turn, pausing,
};

pub(crate) const OPERATIONS: &[Operation] = &[
    // Copying in and out, without notifying another task.
    SELF.id("shared.self")
        .summary("copy a message into shared memory and out again, one task; to another address than it came from")
        .axes(&[SIZE, OFFSET])
        .prepare(|setting| {
            let received = Block::behind(APART / 2 + setting.number("offset")? as usize, setting.size()?);
            Ok(between(Shared::new(BlockBoard::new())?, Block::new(setting.size()?), received))
        }),
    // Neither task sleeps. On one CPU each yields to the other instead of polling.
    TRIP.named(
        "shared.spin.roundtrip",
        "a message to a partner process through shared memory, each polling a word for its turn, and the answer",
    )
    .axes(&[NEAR_OR_FAR, ENDS])
    .moves(there_and_back)
    .explained_by(&[term(2.0, "shared.self").same(&["size"]).at(ALIGNED)])
    .prepare(|setting: &Setting| {
        let [board, before, after] = handles(Shared::new(BlockBoard::new())?);
        let cpu = setting.partner_cpu()?;
        let watch = if cpu == setting.cpu() { give_way } else { std::hint::spin_loop };
        let mut block = Block::new(setting.size()?);
        let mut theirs = block.clone();
        let partner = setting.partner(cpu, || board.play(&mut theirs, watch))?;
        let last = block.len() - 1;
        let turns = repeat(move || {
            let _alive = &partner;
            let expected = block[last].wrapping_add(1);
            board.put(&block);
            board.turn.store(THEIRS, Ordering::Release);
            while board.turn.load(Ordering::Acquire) != OURS {
                watch();
            }
            board.take(&mut block);
            if block[last] == expected { Ok(()) } else { not_answered() }
        });
        Ok(turns.before(move |_| before.batch.begin()).verify(move |_| after.batch.end()))
    }),
    // Both tasks sleep until it is their turn.
    TRIP.named(
        "shared.futex.roundtrip",
        "a message to a partner process through shared memory, each asleep on a futex until its turn, and the \
            answer",
    )
    .axes(&[NEAR_OR_FAR, SIZE_OF_TWO])
    .moves(there_and_back)
    .explained_by(&[
        term(1.0, "futex.roundtrip").same(&["distance"]),
        term(2.0, "shared.self").same(&["size"]).at(ALIGNED),
    ])
    .prepare(|setting: &Setting| {
        let board = Shared::new(BlockBoard::new())?;
        let mut block = Block::new(setting.size()?);
        let last = block.len() - 1;
        let mut theirs = block.clone();
        let partner = setting.repeating_partner(setting.partner_cpu()?, || {
            await_turn(&board.turn, THEIRS)?;
            board.answer(&mut theirs);
            pass_turn(&board.turn, OURS).map(drop)
        })?;
        let apart = setting.partner_cpu()? != setting.cpu();
        Ok(pausing(move |waits| {
            let _alive = &partner;
            let expected = block[last].wrapping_add(1);
            board.put(&block);
            let woken = pass_turn(&board.turn, THEIRS)?;
            await_turn(&board.turn, OURS)?;
            if woken == 0 && apart {
                let_fall_asleep(waits);
            }
            board.take(&mut block);
            if block[last] == expected { Ok(()) } else { not_answered() }
        }))
    }),
];

const ROOM: usize = 65536;

/// What both tasks share. The block belongs to the task whose turn it is.
#[repr(C)]
struct BlockBoard {
    turn: AtomicU32,
    /// During it, a polling partner polls.
    batch: Handshake,
    block: SharedBlock,
}

/// The place of the block within its page (messages begin at a page boundary). It is far enough that no load of a small
/// copy has the low twelve address bits of a recent store, for which it would wait (see `memory.copy`).
const APART: usize = 2048;

/// Follows less than [`APART`] bytes, and begins at that multiple.
#[repr(align(2048))]
struct SharedBlock(UnsafeCell<[u8; ROOM]>);

// SAFETY: only the task that has the turn accesses the block, and the turn is passed on by release and acquire.
unsafe impl Sync for BlockBoard {}

impl BlockBoard {
    fn new() -> BlockBoard {
        BlockBoard {
            turn: AtomicU32::new(OURS),
            batch: Handshake::default(),
            block: SharedBlock(UnsafeCell::new([0; ROOM])),
        }
    }

    /// Copies a message in. Only the task whose turn it is may call this.
    #[inline]
    fn put(&self, block: &[u8]) {
        let length = block.len().min(ROOM);
        // SAFETY: the caller has the turn, and the board's block is at least that long.
        unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), self.block.0.get().cast(), length) };
    }

    /// Copies a message out. Only the task whose turn it is may call this.
    #[inline]
    fn take(&self, block: &mut [u8]) {
        let length = block.len().min(ROOM);
        // SAFETY: the caller has the turn, and the board's block is at least that long.
        unsafe { std::ptr::copy_nonoverlapping(self.block.0.get().cast(), block.as_mut_ptr(), length) };
    }

    /// Takes the message, increments its last byte, and puts it back.
    #[inline]
    fn answer(&self, block: &mut [u8]) {
        self.take(block);
        if let Some(last) = block.last_mut() {
            *last = last.wrapping_add(1);
        }
        self.put(block);
    }

    /// The polling partner's part: an answer to every message.
    fn play(&self, block: &mut [u8], watch: fn()) -> Result<(), Failure> {
        loop {
            self.batch.take_part();
            if self.turn.load(Ordering::Acquire) == THEIRS {
                self.answer(block);
                self.turn.store(OURS, Ordering::Release);
            }
            watch();
        }
    }
}

impl Channel for Shared<BlockBoard> {
    #[inline]
    fn send(&self, block: &[u8]) -> Result<(), Failure> {
        self.put(block);
        Ok(())
    }

    #[inline]
    fn receive(&self, block: &mut [u8]) -> Result<(), Failure> {
        self.take(block);
        Ok(())
    }
}

fn give_way() {
    sched_yield();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shared_block_lies_apart_from_the_messages_and_carries_them() {
        let board = Shared::new(BlockBoard::new()).expect("memory");
        assert_eq!(board.block.0.get() as usize % 4096, APART);
        let (mut sent, mut received) = (Block::new(ROOM), Block::behind(APART / 2, ROOM));
        sent.iter_mut().zip(0_u8..=250).for_each(|(byte, value)| *byte = value);
        sent[ROOM - 1] = 9;
        board.put(&sent);
        board.take(&mut received);
        assert_eq!(*sent, *received);
    }
}
