//! What counts calls: programs in the kernel, or a tracer. Both report tasks.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use crate::bpf::{Counting, Losses};
use crate::task::Task;
use crate::traced::Tracer;

/// A way of counting calls that is at work.
#[derive(Debug)]
pub(crate) enum Counter {
    Bpf(Box<Counting>),
    Traced(Tracer),
}

impl Counter {
    /// The tasks that ended since the last call. A tracer knows what they used.
    pub(crate) fn ended(&mut self) -> io::Result<Vec<Task>> {
        match self {
            Counter::Bpf(counting) => counting.ended(),
            Counter::Traced(tracer) => Ok(tracer.ended()),
        }
    }

    /// The tasks that still run.
    pub(crate) fn running(&mut self) -> io::Result<Vec<Task>> {
        Ok(self.running_but(|_| false)?.0)
    }

    /// The same without the threads that are known to have been idle since the last call, and the ids of those.
    pub(crate) fn running_but(&mut self, idle: impl Fn(u32) -> bool) -> io::Result<(Vec<Task>, HashSet<u64>)> {
        match self {
            Counter::Bpf(counting) => counting.running_but(idle),
            Counter::Traced(tracer) => Ok((tracer.running(), HashSet::new())),
        }
    }

    /// Adds to ended tasks what is kept elsewhere than with them.
    pub(crate) fn add_spilled(&mut self, ended: &mut [Task]) {
        match self {
            Counter::Bpf(counting) => counting.add_spilled(ended),
            // A tracer keeps all of a task in one place.
            Counter::Traced(_) => {}
        }
    }

    /// Stops counting. What was counted can still be read. With `waits_for_ends`, the times of tasks that end now are waited for.
    pub(crate) fn detach(&mut self, waits_for_ends: bool) {
        match self {
            Counter::Bpf(counting) => counting.detach(waits_for_ends),
            Counter::Traced(tracer) => tracer.detach(),
        }
    }

    /// When it is next to be read for tasks that ended, if that matters.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.programs().and_then(Counting::due)
    }

    /// The part of the time in which calls were sampled.
    pub(crate) fn sampled_share(&self) -> f64 {
        self.programs().map_or(0.0, Counting::sampled_share)
    }

    /// What was lost until now.
    pub(crate) fn losses(&self) -> Losses {
        self.programs().map(Counting::losses).unwrap_or_default()
    }

    /// Watches this process, too. Fails if too many are watched.
    pub(crate) fn want(&self, process: u32) -> io::Result<()> {
        // The tracer has its processes from the start.
        self.programs().map_or(Ok(()), |counting| counting.want(process))
    }

    /// The programs in the kernel, if these count.
    pub(crate) fn programs(&self) -> Option<&Counting> {
        if let Counter::Bpf(counting) = self { Some(counting) } else { None }
    }

    /// The tracer, to whom the kernel reports the command's end.
    pub(crate) fn tracer(&self) -> Option<&Tracer> {
        if let Counter::Traced(tracer) = self { Some(tracer) } else { None }
    }
}
