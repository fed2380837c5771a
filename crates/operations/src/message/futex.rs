//! A futex: two tasks that share memory and sleep in the kernel until the other has changed a word.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Operation, Pauses, Setting, repeat};
use rustix::io::Errno;
use rustix::thread::futex::{Flags, wait, wake};

use super::{DISTANCE_AND_FURTHER, ROUNDTRIP as SHAPE, TO_ITSELF, not_answered};
use crate::shared::Shared;

pub(crate) const OURS: u32 = 0;
pub(crate) const THEIRS: u32 = 1;

/// What both tasks see.
#[derive(Default)]
struct Board {
    turn: AtomicU32,
    answers: AtomicU32,
}

/// A hand-over to nobody: the call alone.
pub(super) const ITSELF: Operation = Operation {
    id: "futex.self",
    summary: "change a word of shared memory that nobody sleeps at, wake whoever does, and change it back",
    per: "pair",
    moves: |_| 0,
    calls: &["futex"],
    prepare: |_| {
        let board = Shared::new(Board::default())?;
        Ok(repeat(move || {
            let woken = pass_turn(&board.turn, THEIRS)?;
            let theirs = board.turn.swap(OURS, Ordering::AcqRel);
            if woken == 0 && theirs == THEIRS { Ok(()) } else { not_answered() }
        }))
    },
    ..TO_ITSELF
};

/// Two hand-overs, one each way.
pub(super) const ROUNDTRIP: Operation = Operation {
    id: "futex.roundtrip",
    summary: "hand a word of shared memory to a partner process that sleeps at it, and sleep until it is handed back",
    version: 2,
    axes: &[DISTANCE_AND_FURTHER],
    prepare: |setting: &Setting| {
        let board = Shared::new(Board::default())?;
        let partner = setting.partner(setting.partner_cpu()?, || {
            loop {
                await_turn(&board.turn, THEIRS)?;
                board.answers.fetch_add(1, Ordering::Relaxed);
                pass_turn(&board.turn, OURS)?;
            }
        })?;
        let apart = setting.partner_cpu()? != setting.cpu();
        let mut answers = 0_u32;
        let pauses = Pauses::calibrated();
        let waits = pauses.clone();
        let turns = repeat(move || {
            let _alive = &partner;
            answers = answers.wrapping_add(1);
            let woken = pass_turn(&board.turn, THEIRS)?;
            await_turn(&board.turn, OURS)?;
            if woken == 0 && apart {
                let_fall_asleep(&waits);
            }
            let answered = board.answers.load(Ordering::Relaxed) == answers;
            if answered { Ok(()) } else { Err(Failure::wrong("the partner did not have its turn")) }
        });
        Ok(turns.excluding(pauses))
    },
    ..SHAPE
};

/// Gives the turn away and wakes whoever sleeps for it; returns how many did.
pub(crate) fn pass_turn(turn: &AtomicU32, whose: u32) -> Result<usize, Failure> {
    turn.store(whose, Ordering::Release);
    Ok(wake(turn, Flags::empty(), 1)?)
}

/// Sleeps until the turn is `whose`. There are two tasks, so the word is the other's until then.
pub(crate) fn await_turn(turn: &AtomicU32, whose: u32) -> Result<(), Failure> {
    while turn.load(Ordering::Acquire) != whose {
        match wait(turn, Flags::empty(), OURS + THEIRS - whose, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Gives a partner that was awake on another CPU the few microseconds it takes to go to sleep, as a pause that is no part
/// of the batch. Two tasks that have met awake once would otherwise stay so, at a twentieth of the cost, and a batch would
/// be of the one kind or the other by chance.
#[cold]
pub(crate) fn let_fall_asleep(pauses: &Pauses) {
    pauses.pause(|| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(5) {
            std::hint::spin_loop();
        }
    });
}
