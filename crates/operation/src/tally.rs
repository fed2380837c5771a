//! What an operation counts of its own iterations, such as the tasks that a wake-up reached.

use std::cell::Cell;
use std::rc::Rc;

/// A count that an operation keeps of an event in each of its iterations.
#[derive(Clone, Debug)]
pub struct Tally {
    pub(crate) name: &'static str,
    /// The number of iterations, and the total count.
    pub(crate) counted: Rc<Cell<(u64, u64)>>,
}

impl Tally {
    /// Adds one more iteration with this count.
    pub fn pass(&self, count: u64) {
        self.passes(1, count);
    }

    /// Adds this many iterations with this count in all.
    pub fn passes(&self, iterations: u64, count: u64) {
        let (before, sum) = self.counted.get();
        self.counted.set((before + iterations, sum + count));
    }

    /// The mean count per iteration; `None` before the first.
    pub fn mean(&self) -> Option<f64> {
        let (iterations, sum) = self.counted.get();
        (iterations > 0).then(|| sum as f64 / iterations as f64)
    }
}
