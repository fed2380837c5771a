//! Pauses within a batch: time that an operation must wait between two iterations and that is not part of its cost.
//! Their time and usage are subtracted from the batch.

use std::cell::Cell;
use std::rc::Rc;

use crate::clock::Clock;
use crate::stopwatch::Took;
use crate::usage::Usage;

/// The pauses of one loop. Clones count together.
#[derive(Clone, Debug)]
pub struct Pauses {
    clock: Clock,
    /// Their sum. Each includes the clock reading that ends it.
    taken: Rc<Cell<Took>>,
}

impl Pauses {
    /// No pauses yet. The clock knows the cost of its readings.
    pub fn calibrated() -> Pauses {
        Pauses { clock: Clock::plain(), taken: Rc::default() }
    }

    /// Runs `wait` outside the batch. Returns how long it took, in ns.
    pub fn pause(&self, wait: impl FnOnce()) -> f64 {
        let start = self.clock.now();
        let used = Usage::of_this_process();
        wait();
        let usage = Usage::of_this_process().since(used);
        let elapsed = self.clock.now() - start;
        let before = self.taken.get();
        self.taken.set(Took { elapsed: before.elapsed + elapsed + self.clock.cost, usage: before.usage.plus(usage) });
        elapsed
    }

    /// Runs `work`, which is part of the batch only if it returns true. Returns that value. The processor time of
    /// excluded work stays in the batch, because reading it would take longer than the work. Fails as `work` does.
    pub fn counts_if<E>(&self, work: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        let start = self.clock.now();
        let counts = work()?;
        // The clock reading is excluded in either case.
        let mut taken = self.taken.get();
        taken.elapsed += self.clock.cost + if counts { 0.0 } else { self.clock.now() - start };
        self.taken.set(taken);
        Ok(counts)
    }

    /// The sum of the pauses since the last call.
    pub fn take(&self) -> Took {
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
        let reported = clone.pause(|| spin(long)) + pauses.pause(|| spin(short));
        let paused = pauses.take();
        assert!(paused.elapsed >= 22e6 && paused.elapsed >= reported, "{paused:?}, {reported}");
        assert!(paused.usage.user + paused.usage.system > 0.0, "{paused:?}");
        assert_eq!(clone.take(), Took::default());
    }
}
