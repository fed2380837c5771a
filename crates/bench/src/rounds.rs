//! Loops around the user's code. Inputs are made and outputs are dropped outside the timed parts.

use std::hint::black_box;
use std::mem::{needs_drop, size_of};
use std::sync::{Barrier, OnceLock};
use std::time::{Duration, Instant};

use crate::allocations;

/// What the timed parts of a batch took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub elapsed: Duration,
    /// Processor time in ns, where the system gives it and one thread ran.
    pub processor: Option<u64>,
}

impl Took {
    pub const NOTHING: Took = Took { elapsed: Duration::ZERO, processor: Some(0) };

    /// Both, one after the other.
    pub fn and(self, next: Took) -> Took {
        let processor = self.processor.zip(next.processor).map(|(one, other)| one + other);
        Took { elapsed: self.elapsed + next.elapsed, processor }
    }
}

/// What a part around nothing takes: the least of many.
fn reading() -> Took {
    static COST: OnceLock<Took> = OnceLock::new();
    let least = || {
        let trains = (0..200).map(|_| {
            let start = Instant::now();
            for _ in 0..49 {
                black_box(Instant::now());
            }
            start.elapsed() / 50
        });
        let parts = (0..200).filter_map(|_| {
            let before = processor_time()?;
            black_box(Instant::now().elapsed());
            processor_time()?.checked_sub(before)
        });
        Took { elapsed: trains.min().unwrap_or_default(), processor: parts.min() }
    };
    *COST.get_or_init(least)
}

pub(crate) struct TimedPart {
    processor: Option<u64>,
    start: Instant,
}

impl TimedPart {
    pub fn begin() -> TimedPart {
        reading();
        allocations::inside(true);
        TimedPart { processor: processor_time(), start: Instant::now() }
    }

    pub fn end(self) -> Took {
        let elapsed = self.start.elapsed();
        let processor = self.processor.zip(processor_time()).map(|(before, after)| after.saturating_sub(before));
        allocations::inside(false);
        let cost = reading();
        Took {
            elapsed: elapsed.saturating_sub(cost.elapsed),
            processor: processor.zip(cost.processor).map(|(used, cost)| used.saturating_sub(cost)),
        }
    }
}

fn timed(work: impl FnOnce()) -> Took {
    let part = TimedPart::begin();
    work();
    part.end()
}

/// Outputs of a part that must be dropped: kept until the clock has been read.
pub(crate) struct Outputs<O>(Vec<O>);

impl<O> Outputs<O> {
    /// Room for this many, so that keeping them allocates nothing.
    pub fn with_room(part: usize) -> Outputs<O> {
        Outputs(Vec::with_capacity(if needs_drop::<O>() { part } else { 0 }))
    }

    #[inline(always)]
    pub fn keep(&mut self, output: O) {
        let output = black_box(output);
        if needs_drop::<O>() {
            self.0.push(output);
        }
    }
}

/// Runs `work` this often.
pub(crate) fn plain<O>(times: u64, work: &mut impl FnMut() -> O) -> Took {
    if !needs_drop::<O>() {
        return timed(|| {
            for _ in 0..times {
                black_box(black_box(&mut *work)());
            }
        });
    }
    in_parts::<O>(times, &mut |part| {
        let mut outputs = Outputs::with_room(part);
        let took = timed(|| {
            for _ in 0..part {
                outputs.keep(black_box(&mut *work)());
            }
        });
        drop(outputs);
        took
    })
}

/// Runs `work` this often, each time on an input of its own.
pub(crate) fn on_values<I, O>(times: u64, make: &mut impl FnMut() -> I, work: &mut impl FnMut(I) -> O) -> Took {
    in_parts::<(I, O)>(times, &mut |part| {
        let mut inputs: Vec<I> = (0..part).map(|_| make()).collect();
        let mut outputs = Outputs::with_room(part);
        let took = timed(|| {
            for input in black_box(&mut inputs).drain(..) {
                outputs.keep(work(input));
            }
        });
        drop((inputs, outputs));
        took
    })
}

/// The same by reference: inputs are dropped outside the timed part.
pub(crate) fn on_refs<I, O>(times: u64, make: &mut impl FnMut() -> I, work: &mut impl FnMut(&mut I) -> O) -> Took {
    in_parts::<(I, O)>(times, &mut |part| {
        let mut inputs: Vec<I> = (0..part).map(|_| make()).collect();
        let mut outputs = Outputs::with_room(part);
        let took = timed(|| {
            for input in black_box(&mut inputs) {
                outputs.keep(work(input));
            }
        });
        drop((inputs, outputs));
        took
    })
}

/// Parts whose inputs and outputs `T` stay small. What owns memory elsewhere may be of any size, so there are few of them.
pub(crate) fn in_parts<T>(times: u64, part: &mut dyn FnMut(usize) -> Took) -> Took {
    const BYTES: usize = 1 << 16;
    const MOST: usize = 4096;
    const OWNERS: usize = 64;
    let most = if needs_drop::<T>() { OWNERS } else { (BYTES / size_of::<T>().max(1)).clamp(1, MOST) };
    let (mut left, mut took) = (times, Took::NOTHING);
    while left > 0 {
        let now = left.min(most as u64);
        took = took.and(part(now as usize));
        left -= now;
    }
    took
}

/// Runs the same batch in several threads at once. Returns the elapsed time of the slowest.
pub(crate) fn threaded(threads: usize, batch: &(dyn Fn() -> Took + Sync)) -> Took {
    let barrier = Barrier::new(threads);
    let one = || {
        barrier.wait();
        batch().elapsed
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let own = one();
        let others =
            running.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // The process has one processor time for all threads.
        Took { elapsed: others.fold(own, Duration::max), processor: None }
    })
}

/// The processor time of this process in ns, where the system gives it.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn processor_time() -> Option<u64> {
    /// `CLOCK_PROCESS_CPUTIME_ID` of time.h.
    const PROCESSOR: i32 = 2;
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
    }
    let mut time = [0; 2];
    // SAFETY: on a 64-bit Linux a timespec is two 64-bit numbers.
    let status = unsafe { clock_gettime(PROCESSOR, &mut time) };
    (status == 0).then(|| time[0] as u64 * 1_000_000_000 + time[1] as u64)
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
fn processor_time() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn every_iteration_has_its_own_input_and_every_output_is_dropped() {
        struct Counted<'c>(&'c Cell<u64>);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let (made, ran, dropped) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let count = |cell: &Cell<u64>| cell.set(cell.get() + 1);
        let mut make = || {
            count(&made);
            Counted(&dropped)
        };
        on_values(130, &mut make, &mut |input| {
            count(&ran);
            input
        });
        on_refs(5, &mut make, &mut |_| count(&ran));
        assert_eq!([made.get(), ran.get(), dropped.get()], [135; 3]);
        plain(70, &mut || Counted(&dropped));
        plain(7, &mut || count(&ran));
        assert_eq!((ran.get(), dropped.get()), (142, 205));
    }

    #[test]
    fn threads_run_at_once() {
        let barrier = Barrier::new(3);
        let runs = AtomicU64::new(0);
        // It would wait for ever if the three ran one after another.
        threaded(3, &|| {
            barrier.wait();
            runs.fetch_add(1, Ordering::SeqCst);
            Took::NOTHING
        });
        assert_eq!(runs.into_inner(), 3);
    }
}
