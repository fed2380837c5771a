//! A word of shared memory that says whose turn it is, and on which the other task sleeps.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::{Failure, Pauses};
use rustix::io::Errno;

use crate::kit::library::futex::{Flags, wait, wake};

pub(crate) const OURS: u32 = 0;
pub(crate) const THEIRS: u32 = 1;

/// Passes the turn and wakes the sleepers. Returns how many were woken.
#[inline(always)]
pub(crate) fn pass_turn(turn: &AtomicU32, whose: u32) -> Result<usize, Failure> {
    turn.store(whose, Ordering::Release);
    Ok(wake(turn, Flags::empty(), 1)?)
}

/// Sleeps until the turn is `whose`. There are only two tasks, so until then the word holds the other's number.
#[inline(always)]
pub(crate) fn await_turn(turn: &AtomicU32, whose: u32) -> Result<(), Failure> {
    while turn.load(Ordering::Acquire) != whose {
        match wait(turn, Flags::empty(), OURS + THEIRS - whose, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Gives a partner that was awake on another CPU the few microseconds it needs to go to sleep, as a pause outside the
/// batch. Otherwise two tasks that were once awake together would stay so, at a twentieth of the cost, and it would be
/// chance which of the two kinds a batch is.
#[cold]
pub(crate) fn let_fall_asleep(pauses: &Pauses) {
    pauses.pause(|| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(5) {
            std::hint::spin_loop();
        }
    });
}
