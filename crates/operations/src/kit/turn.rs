//! A word of shared memory that says whose turn it is, and at which the other task sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Pauses};
use rustix::io::Errno;
use rustix::thread::futex::{Flags, wait, wake};

pub(crate) const OURS: u32 = 0;
pub(crate) const THEIRS: u32 = 1;

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
