//! What a batch took where another process did it: that process times it, and tells. Knows nothing of how it tells.

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::usage::Usage;

/// What a batch took the process that did it: elapsed time, processor time, faults and switches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// In ns, without the cost of reading the clock.
    pub elapsed: f64,
    /// That process's own.
    pub usage: Usage,
}

/// Times batches in a process that works for a round. Its clock goes as fast as the round's, its readings may cost more.
pub struct Stopwatch(Clock);

impl Stopwatch {
    /// A stopwatch that knows what its readings cost.
    pub fn calibrated() -> Stopwatch {
        Stopwatch(Clock::plain())
    }

    /// Does `work`: what it took this process, and what it returned.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (Took, T) {
        let used = Usage::of_this_process();
        let start = self.0.now();
        let result = work();
        let elapsed = self.0.now() - start - self.0.cost;
        (Took { elapsed, usage: Usage::of_this_process().since(used) }, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_and_nothing_before_it_is_told() {
        let stopwatch = Stopwatch::calibrated();
        let pages = |count: usize| vec![1_u8; count << 12].iter().map(|byte| usize::from(*byte)).sum::<usize>();
        pages(4000);
        let (took, sum) = stopwatch.time(|| pages(1000));
        assert_eq!(sum, 1000 << 12);
        assert!(took.elapsed > 0.0, "{took:?}");
        // Memory new from the kernel is touched for the first time, here not for the first time in this process.
        let since_begin = Usage::of_this_process().minor_faults;
        assert!(took.usage.minor_faults >= 1.0 && took.usage.minor_faults < since_begin, "{took:?}, {since_begin}");
    }
}
