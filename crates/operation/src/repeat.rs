//! The loop that an operation returns: it repeats the work a given number of times.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::pauses::Pauses;
use crate::stopwatch::Took;

/// What does the iterations of a batch. As a `dyn FnMut` each loop would be compiled twice, because the table of a closure also
/// holds its call by value.
trait Run {
    fn run(&mut self, times: u64) -> Result<Option<Took>, Failure>;
}

impl<F: FnMut(u64) -> Result<Option<Took>, Failure>> Run for F {
    fn run(&mut self, times: u64) -> Result<Option<Took>, Failure> {
        self(times)
    }
}

/// What happens before or after a batch.
trait Around {
    fn step(&mut self, times: u64) -> Result<(), Failure>;
}

impl<F: FnMut(u64) -> Result<(), Failure>> Around for F {
    fn step(&mut self, times: u64) -> Result<(), Failure> {
        self(times)
    }
}

/// An operation's loop, with the steps that must happen around a batch, outside the timing.
pub struct Loop {
    run: Box<dyn Run>,
    before: Option<Box<dyn Around>>,
    verify: Option<Box<dyn Around>>,
    each: u64,
    most: u64,
    batches: u32,
    warm: bool,
    pauses: Option<Pauses>,
    /// Whether another process times it.
    reported: bool,
}

impl Loop {
    /// A loop written by the operation: `run(times)` does `times` iterations. Prefer [`repeat`].
    pub fn new(mut run: impl FnMut(u64) -> Result<(), Failure> + 'static) -> Loop {
        Loop::of(Box::new(move |times| run(times).map(|()| None)))
    }

    /// A loop whose iterations run in another process, which times them itself with a [`Stopwatch`]. `run(times)`
    /// returns what the batch took and used there, so the request and the answer are excluded.
    ///
    /// [`Stopwatch`]: crate::stopwatch::Stopwatch
    pub fn self_timed(mut run: impl FnMut(u64) -> Result<Took, Failure> + 'static) -> Loop {
        Loop { reported: true, ..Loop::of(Box::new(move |times| run(times).map(Some))) }
    }

    /// A loop that may time its batches itself: `run(times)` returns what a batch took, or `None` where all of its time
    /// counts.
    pub fn reporting(run: impl FnMut(u64) -> Result<Option<Took>, Failure> + 'static) -> Loop {
        Loop::of(Box::new(run))
    }

    // Compiled once, and not for each operation, as what is set in it.
    #[inline(never)]
    fn of(run: Box<dyn Run>) -> Loop {
        Loop {
            run,
            before: None,
            verify: None,
            each: 1,
            most: u64::MAX,
            batches: u32::MAX,
            warm: false,
            pauses: None,
            reported: false,
        }
    }

    /// One iteration performs the operation `each` times (an unrolled loop). Costs are divided by it.
    #[inline(never)]
    pub fn unrolled(self, each: u64) -> Loop {
        Loop { each, ..self }
    }

    /// Limits the iterations of a batch, because state builds up in it.
    #[inline(never)]
    pub fn at_most(self, most: u64) -> Loop {
        Loop { most: most.max(1), ..self }
    }

    /// Limits the batches of a round, because the machine remembers what they did.
    #[inline(never)]
    pub fn batches(self, batches: u32) -> Loop {
        Loop { batches: batches.max(1), ..self }
    }

    /// Skips the warm-up: an iteration is far longer than a batch, and nothing in a round warms it up. Rounds run it
    /// only to time it.
    #[inline(never)]
    pub fn skip_warmup(self) -> Loop {
        Loop { warm: true, ..self }
    }

    /// Excludes these pauses of its iterations from the time of a batch.
    #[inline(never)]
    pub fn excluding(self, pauses: Pauses) -> Loop {
        Loop { pauses: Some(pauses), ..self }
    }

    /// Runs `before` before every batch, outside the timing, with the batch's count.
    pub fn before(self, before: impl FnMut(u64) -> Result<(), Failure> + 'static) -> Loop {
        self.with_before(Box::new(before))
    }

    /// Runs `verify` after every batch, outside the timing, to check that the work was done.
    pub fn verify(self, verify: impl FnMut(u64) -> Result<(), Failure> + 'static) -> Loop {
        self.with_verify(Box::new(verify))
    }

    #[inline(never)]
    fn with_before(self, before: Box<dyn Around>) -> Loop {
        Loop { before: Some(before), ..self }
    }

    #[inline(never)]
    fn with_verify(self, verify: Box<dyn Around>) -> Loop {
        Loop { verify: Some(verify), ..self }
    }

    /// Runs the steps before a batch of `times` iterations. They are not part of the batch. Fails as the operation
    /// does.
    pub fn prepare_batch(&mut self, times: u64) -> Result<(), Failure> {
        self.before.as_mut().map_or(Ok(()), |before| before.step(times))
    }

    /// Runs a batch. Returns what it took if another process did it and reported.
    pub fn run_batch(&mut self, times: u64) -> Result<Option<Took>, Failure> {
        self.run.run(times)
    }

    /// Checks the work of a batch of `times` iterations. Fails if the batch did not do its work.
    pub fn verify_batch(&mut self, times: u64) -> Result<(), Failure> {
        self.verify.as_mut().map_or(Ok(()), |verify| verify.step(times))
    }

    /// True if a step must happen before each batch.
    pub fn has_step_before(&self) -> bool {
        self.before.is_some()
    }

    /// True if another process times its batches.
    pub fn is_self_timed(&self) -> bool {
        self.reported
    }

    /// The sum of the pauses since the last call.
    pub fn paused(&self) -> Took {
        self.pauses.as_ref().map(Pauses::take).unwrap_or_default()
    }

    pub fn operations_per_iteration(&self) -> u64 {
        self.each
    }

    /// The maximum number of batches in one round.
    pub fn most_batches(&self) -> u32 {
        self.batches
    }

    /// True if the loop needs no warm-up.
    pub fn skips_warmup(&self) -> bool {
        self.warm
    }

    /// The maximum number of iterations in one batch.
    pub fn most_iterations(&self) -> u64 {
        self.most
    }

    /// Does `times` iterations with all steps around them, untimed. For tests that check what an operation does. Fails
    /// as the operation does.
    pub fn perform(&mut self, times: u64) -> Result<(), Failure> {
        self.timed(times).map(|_| ())
    }

    /// The same as [`Loop::perform`]. Returns the time of the iterations alone, by the plain clock. For benches that
    /// compare a loop with another one. Fails as the operation does.
    pub fn timed(&mut self, times: u64) -> Result<Duration, Failure> {
        let times = times.min(self.most);
        self.prepare_batch(times)?;
        self.paused();
        let start = Instant::now();
        let reported = self.run_batch(times)?;
        let took = start.elapsed().saturating_sub(Duration::from_nanos(self.paused().elapsed as u64));
        self.verify_batch(times)?;
        Ok(reported.map_or(took, |reported| Duration::from_nanos(reported.elapsed.max(0.0) as u64)))
    }
}

/// Repeats `body`. The loop costs one decrement and one branch per iteration. The fence keeps the optimizer from
/// deleting, merging or hoisting iterations.
#[inline(always)]
pub fn repeat(mut body: impl FnMut() -> Result<(), Failure> + 'static) -> Loop {
    Loop::new(move |times| {
        for _ in 0..times {
            body()?;
            fence();
        }
        Ok(())
    })
}

/// Makes the optimizer assume that all memory may have changed. It emits no instruction.
#[inline(always)]
fn fence() {
    // SAFETY: the empty text executes nothing; leaving out `nomem` is what makes it a fence.
    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) }
}

/// Makes a call and returns, as a function of a C library does.
#[inline(never)]
pub fn in_a_function<T>(call: impl FnOnce() -> T) -> T {
    call()
}

/// Hides a value from the optimizer, at the cost of one register.
#[inline(always)]
pub fn opaque(mut value: u64) -> u64 {
    // SAFETY: the empty text executes nothing and leaves the register as it was.
    unsafe { std::arch::asm!("/* {0} */", inout(reg) value, options(nomem, nostack, preserves_flags)) }
    value
}
