//! Pauses within a batch: what an operation must wait for between two iterations and does not mean. Their time, and what
//! they used, is no part of the batch.

use std::cell::Cell;
use std::rc::Rc;

use crate::clock::Clock;
use crate::watch::Usage;

/// The pauses of one loop; its clones count together.
#[derive(Clone, Debug)]
pub struct Pauses {
    clock: Clock,
    taken: Rc<Cell<Paused>>,
}

/// What the pauses of a batch took together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Paused {
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

    /// What they took since this was asked last.
    pub(crate) fn take(&self) -> Paused {
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
