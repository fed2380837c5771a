//! Pauses within a batch: what an operation must wait for between two iterations and does not mean. Their time, and what
//! they used, is no part of the batch.

use std::cell::Cell;
use std::rc::Rc;

use crate::clock::Clock;
use crate::usage::Usage;

/// The pauses of one loop; its clones count together.
#[derive(Clone, Debug)]
pub struct Pauses {
    clock: Clock,
    taken: Rc<Cell<Paused>>,
}

/// What the pauses of a batch took together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Paused {
    /// In ns, each with the reading of the clock that ends it.
    pub elapsed: f64,
    /// This process's own.
    pub usage: Usage,
}

impl Pauses {
    /// None so far, by a clock that knows what its readings cost.
    pub fn calibrated() -> Pauses {
        Pauses { clock: Clock::plain(), taken: Rc::default() }
    }

    /// Does what is no part of the batch; how long it took, in ns.
    pub fn pause(&self, wait: impl FnOnce()) -> f64 {
        let start = self.clock.now();
        let used = Usage::of_this_process();
        wait();
        let usage = Usage::of_this_process().since(used);
        let elapsed = self.clock.now() - start;
        let before = self.taken.get();
        self.taken.set(Paused { elapsed: before.elapsed + elapsed + self.clock.cost, usage: before.usage.plus(usage) });
        elapsed
    }

    /// Does work that is part of the batch only if it returns true; whether it did. The processor time of work that is no
    /// part stays with the batch, for asking about it would take longer than the work.
    ///
    /// # Errors
    /// Those of the work.
    pub fn counts_if<E>(&self, work: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let start = self.clock.now();
        let counts = work()?;
        // The reading of the clock is no part of it either way.
        let mut taken = self.taken.get();
        taken.elapsed += self.clock.cost + if counts { 0.0 } else { self.clock.now() - start };
        self.taken.set(taken);
        Ok(counts)
    }

    /// What they took since this was asked last.
    pub fn take(&self) -> Paused {
        self.taken.take()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn spin(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {}
    }

    #[test]
    fn work_that_does_not_count_is_a_pause() {
        let pauses = Pauses::calibrated();
        let work = |counts: bool| {
            pauses.counts_if(|| {
                spin(Duration::from_millis(5));
                Ok::<bool, ()>(counts)
            })
        };
        assert_eq!(work(true), Ok(true));
        let kept = pauses.take().elapsed;
        assert!(kept < 1e6, "{kept}");
        assert_eq!(work(false), Ok(false));
        assert!(pauses.take().elapsed >= 5e6);
        assert_eq!(pauses.counts_if(|| Err::<bool, i32>(7)), Err(7));
    }

    #[test]
    fn pauses_add_up_and_are_taken_once() {
        let pauses = Pauses::calibrated();
        let clone = pauses.clone();
        let (long, short) = (Duration::from_millis(20), Duration::from_millis(2));
        let told = clone.pause(|| spin(long)) + pauses.pause(|| spin(short));
        let paused = pauses.take();
        assert!(paused.elapsed >= 22e6 && paused.elapsed >= told, "{paused:?}, {told}");
        assert!(paused.usage.user + paused.usage.system > 0.0, "{paused:?}");
        assert_eq!(clone.take(), Paused::default());
    }
}
