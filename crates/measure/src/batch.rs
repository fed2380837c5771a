//! Batches: finds the number of iterations for one batch, and takes samples until the round's time is over.

use std::collections::BTreeMap;

use operation::{Failure, Loop, Usage, device};
use record::{Doubt, Reads};
use serde::{Deserialize, Serialize};

use crate::speed::{Speed, steady};
use crate::tails::TailPlan;
use crate::tails::TailSamples;
use crate::watch::Watch;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RoundPlan {
    /// Shortest batch in ns, unless one iteration is longer.
    pub batch: f64,
    /// Fixed iterations per batch, if requested.
    pub count: Option<u64>,
    /// Iterations per batch that an earlier round found.
    pub hint: Option<u64>,
    /// Time for the batches of this round, in ns.
    pub time: f64,
    /// The maximum number of batches.
    pub most: u32,
    /// The largest share (cycles per independent add) at which the core counts as undisturbed. Batches begin only below
    /// it. `None`: batches begin whatever the core is doing.
    pub quiet_below: Option<f64>,
    /// True if waits for a CPU that other tasks have are left out. What was requested to run beside it is no other task.
    pub leaves_queue_out: bool,
    /// How single iterations are timed after the batches, if at all.
    pub tails: Option<TailPlan>,
}

impl RoundPlan {
    /// Time for all that is timed in the round, in ns.
    pub fn total_time(&self) -> f64 {
        self.time + self.tails.map_or(0.0, |tails| tails.time)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Gross ns per operation.
    pub ns: f64,
    /// The checks before and after.
    pub around: (Speed, Speed),
    /// One core cycle in ns: the mean of the two checks.
    pub cycle: f64,
    /// How often the task was switched out involuntarily during the batch.
    pub switched_out: f64,
    /// How long none of its tasks had the CPU, in ns: elapsed time minus the processor time of all of them.
    pub away: f64,
    /// How long the batch was, in ns.
    pub elapsed: f64,
    /// True if the core was undisturbed, as far as the checks of the run show until now. Judged by the run, not by the round.
    #[serde(skip)]
    pub quiet: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RoundSamples {
    /// Iterations per batch.
    pub times: u64,
    /// The batches, in the order taken.
    pub samples: Vec<Sample>,
    /// Gross ns per operation of batches of half the length.
    pub halves: Vec<f64>,
    /// What all full batches used, in total.
    pub usage: Usage,
    /// What the device of its file read during all full batches, in total; `None` if nothing counts it.
    pub reads: Option<Reads>,
    /// Counts of the operation itself, per iteration.
    pub tallies: BTreeMap<String, f64>,
    /// Doubts reported by the operation.
    pub doubts: Vec<Doubt>,
    /// How long it waited for its CPU in all full batches, in ns, as far as that is left out of them.
    #[serde(default)]
    pub queued: f64,
    /// Operations in all full batches, in total.
    pub operations: f64,
    /// Elapsed ns of all full batches, in total.
    pub elapsed: f64,
    /// The longest batch, in ns.
    pub batch: f64,
    /// How long batches were taken, with the waiting between them, in ns.
    #[serde(default)]
    pub took: f64,
    /// Tasks in the whole system that were running or wanted to run before the round began, except this one.
    #[serde(default)]
    pub others: f64,
    /// Single iterations.
    #[serde(default)]
    pub tails: Option<Box<TailSamples>>,
}

impl RoundSamples {
    /// Those of a round that has taken no batch yet.
    pub fn empty(times: u64) -> RoundSamples {
        RoundSamples { times, samples: Vec::with_capacity(64), reads: Some(device::NOTHING), ..RoundSamples::default() }
    }

    /// Adds a full batch of this many operations, with the checks before and after.
    pub fn add(&mut self, operations: f64, Timed { elapsed, usage, reads, queued }: Timed, around: (Speed, Speed)) {
        self.samples.push(Sample {
            ns: elapsed / operations,
            around,
            cycle: (around.0.chain + around.1.chain) / 2.0,
            switched_out: usage.involuntary,
            away: elapsed - usage.user - usage.system,
            elapsed,
            quiet: false,
        });
        self.usage = self.usage.plus(usage);
        self.reads = device::together(self.reads, reads);
        self.queued += queued;
        self.operations += operations;
        self.elapsed += elapsed;
        self.batch = self.batch.max(elapsed);
    }
}

/// One batch in this many has half the length, to test whether the cost depends on the length.
const HALF_EVERY: u32 = 8;

/// A search ends at this many undisturbed batches: from here on another round says more than another batch.
const ENOUGH_UNDISTURBED: u32 = 10;

/// Finds the count and takes samples. `reading` is the cost of one clock reading, in ns. Fails as the operation
/// does.
pub(crate) fn sample(
    work: &mut Loop,
    watch: &mut impl Watch,
    plan: &RoundPlan,
    reading: f64,
) -> Result<RoundSamples, Failure> {
    let times = find_times(work, watch, plan)?;
    let each = work.operations_per_iteration() as f64;
    let mut harvest = RoundSamples::empty(times);
    let start = watch.now();
    let (mut taken, mut undisturbed) = (0, 0);
    while undisturbed < ENOUGH_UNDISTURBED && taken < plan.most.min(work.most_batches()) {
        let Some(before) = begin(watch, plan, start) else { break };
        let half = taken % HALF_EVERY == HALF_EVERY - 1 && times >= 4 && plan.quiet_below.is_none();
        let count = if half { times / 2 } else { times };
        let batch = timed(work, watch, count, reading)?;
        let after = watch.speed();
        undisturbed += u32::from(plan.quiet_below.is_some_and(|limit| after.share() <= limit && steady(before, after)));
        if half {
            harvest.halves.push(batch.elapsed / (count as f64 * each));
        } else {
            harvest.add(count as f64 * each, batch, (before, after));
        }
        taken += 1;
        if watch.now() - start > plan.time {
            break;
        }
    }
    harvest.took = watch.now() - start;
    Ok(harvest)
}

/// The check before a batch. If the batch needs an undisturbed core, this is the last of three such checks in a row,
/// because a neighbour also pauses for moments. `None` if the round's time is over.
fn begin(watch: &mut impl Watch, plan: &RoundPlan, start: f64) -> Option<Speed> {
    const IN_A_ROW: u32 = 3;
    let Some(limit) = plan.quiet_below else { return Some(watch.speed()) };
    let mut quiet = 0;
    loop {
        let speed = watch.speed();
        quiet = if speed.share() <= limit { quiet + 1 } else { 0 };
        if quiet == IN_A_ROW {
            return Some(speed);
        }
        if watch.now() - start > plan.time {
            return None;
        }
    }
}

pub(crate) struct Timed {
    /// In ns.
    pub elapsed: f64,
    pub usage: Usage,
    pub reads: Option<Reads>,
    /// How long it waited for its CPU, in ns, which is left out of `elapsed`.
    pub queued: f64,
}

/// An idle CPU runs a task that was woken within this time, in ns, also if a hypervisor has halted it.
const WOKEN: f64 = 100e3;

/// Another process may read a clock that is slewed, by 0.05 % at most.
const CLOCKS_AGREE: f64 = 1.001;

/// Runs one batch. Reads the device counters outside the timed region, because reading them takes time.
pub(crate) fn timed(work: &mut Loop, watch: &mut impl Watch, count: u64, reading: f64) -> Result<Timed, Failure> {
    work.prepare_batch(count)?;
    // Pauses that remain from a failed batch do not belong to this one.
    work.paused();
    let read = watch.reads();
    let used = watch.usage();
    let queued = watch.queued();
    let start = watch.now();
    let own_clock = work.run_batch(count)?;
    let end = watch.now();
    if end < start {
        return Err(Failure::wrong("the clock went backwards in a batch"));
    }
    let paused = work.paused();
    let elapsed = end - start - reading - paused.elapsed;
    let queued = watch.queued().zip(queued).map_or(0.0, |(after, before)| after - before);
    let usage = watch.usage().since(used).since(paused.usage);
    let (elapsed, usage, queued) = match own_clock {
        // What it waited for in a pause is subtracted with the pause.
        None if paused.elapsed == 0.0 && queued > WOKEN * count as f64 && queued < elapsed => {
            (elapsed - queued, usage, queued)
        }
        None => (elapsed, usage, 0.0),
        Some(own_clock) if own_clock.elapsed <= elapsed * CLOCKS_AGREE => (own_clock.elapsed, own_clock.usage, 0.0),
        Some(_) => return Err(Failure::wrong("it reports more time for a batch than has passed")),
    };
    let reads = watch.reads().zip(read).map(|(after, before)| device::between(before, after));
    work.verify_batch(count)?;
    Ok(Timed { elapsed, usage, reads, queued })
}

/// Finds the number of iterations that fill a batch. These iterations are also the warm-up.
pub(crate) fn find_times(work: &mut Loop, watch: &mut impl Watch, plan: &RoundPlan) -> Result<u64, Failure> {
    let most = work.most_iterations();
    if work.skips_warmup() {
        return Ok(plan.count.unwrap_or(1).clamp(1, most));
    }
    if let Some(count) = plan.count {
        let count = count.clamp(1, most);
        timed(work, watch, count, 0.0)?;
        return Ok(count);
    }
    // What is not timed, such as making inputs, must leave time for several batches.
    let longest = plan.batch.max(plan.time / 4.0);
    let mut once = |times: u64| -> Result<(f64, bool), Failure> {
        let start = watch.now();
        let elapsed = timed(work, watch, times, 0.0)?.elapsed;
        Ok((elapsed, times == most || watch.now() - start >= longest))
    };
    let mut times = plan.hint.unwrap_or(1).clamp(1, most);
    loop {
        let (first, is_last) = once(times)?;
        if first >= plan.batch || is_last {
            // The first time may be long because everything was cold, so a second one is required.
            let (elapsed, is_last) = once(times)?;
            if elapsed >= plan.batch * 0.75 || is_last {
                // A hint from a slower moment must not make batches many times too long.
                let fitting = (times as f64 * plan.batch / elapsed.max(1.0)).ceil() as u64;
                return Ok(if times > 2 * fitting { fitting.clamp(1, most) } else { times });
            }
        }
        times = times.saturating_mul(2).min(most);
    }
}

#[cfg(test)]
mod tests;
