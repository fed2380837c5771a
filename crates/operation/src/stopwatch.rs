//! Times a batch in another process: that process measures it and reports. Knows nothing of how the report travels.

use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::usage::Usage;

/// What a batch took in the process that ran it: elapsed time, processor time, faults and switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// In ns, without the cost of clock readings.
    pub elapsed: f64,
    pub usage: Usage,
}

/// Times batches in a process that works for a round. Its clock runs at the same rate as the round's; its readings may
/// cost more.
pub struct Stopwatch(Clock);

impl Stopwatch {
    /// A stopwatch that knows the cost of its readings.
    pub fn calibrated() -> Stopwatch {
        Stopwatch(Clock::plain())
    }

    /// Runs `work`. Returns what it took this process, and its result.
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
    fn the_work_and_nothing_before_it_is_timed() {
        let stopwatch = Stopwatch::calibrated();
        let pages = |count: usize| vec![1_u8; count << 12].iter().map(|byte| usize::from(*byte)).sum::<usize>();
        pages(4000);
        let (took, sum) = stopwatch.time(|| pages(1000));
        assert_eq!(sum, 1000 << 12);
        assert!(took.elapsed > 0.0, "{took:?}");
        // New memory faults at its first touch. The process has touched other memory before, so its total is larger.
        let since_begin = Usage::of_this_process().minor_faults;
        assert!(took.usage.minor_faults >= 1.0 && took.usage.minor_faults < since_begin, "{took:?}, {since_begin}");
    }
}
