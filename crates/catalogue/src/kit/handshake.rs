//! A partner that works beside this task during a batch and sleeps between batches, or it would run during the checks of the clock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use operation::Failure;

use crate::kit::check::ensure;
use crate::kit::library::{futex, sched_yield};

/// The time limit for a partner to begin or to stop. It has ended if it takes longer.
const PATIENCE: Duration = Duration::from_secs(8);

/// Whether the partner should take part, and whether it does. For shared memory.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Handshake {
    playing: AtomicU32,
    takes_part: AtomicU32,
}

impl Handshake {
    /// Wakes the partner for a batch, and waits until it takes part: its wake-up is not part of the batch.
    pub(crate) fn begin(&self) -> Result<(), Failure> {
        self.announce(1)
    }

    /// Lets the partner sleep, and waits until it has stopped.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        self.announce(0)
    }

    fn announce(&self, playing: u32) -> Result<(), Failure> {
        self.playing.store(playing, Ordering::Release);
        futex::wake(&self.playing, futex::Flags::empty(), 1)?;
        let start = Instant::now();
        while self.takes_part.load(Ordering::Acquire) != playing {
            ensure(start.elapsed() <= PATIENCE, || "the partner does not answer in time")?;
            sched_yield();
        }
        Ok(())
    }

    /// The partner's side, before each turn of its work: sleeps between batches.
    #[inline(always)]
    pub(crate) fn take_part(&self) {
        while self.playing.load(Ordering::Acquire) == 0 {
            self.takes_part.store(0, Ordering::Release);
            // The sleep may end for any reason; the word says whether to continue.
            let _ = futex::wait(&self.playing, futex::Flags::empty(), 0, None);
        }
        self.takes_part.store(1, Ordering::Release);
    }
}
