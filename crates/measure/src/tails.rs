//! Times single iterations: one after another, or as they arrive by a schedule that waits for nobody (an open loop).

use analysis::tails::Tail;
use operation::{Failure, Loop};
use record::Tailing;
use serde::{Deserialize, Serialize};

use crate::arrivals::Moments;
use crate::watch::Watch;

/// How single iterations are timed in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TailPlan {
    /// Time for them, in ns.
    pub time: f64,
    /// As requested.
    pub tailing: Tailing,
    /// For moments at random.
    pub seed: u64,
}

/// Times in ns, and how often each occurred.
pub(crate) type Buckets = Vec<(f64, u64)>;

/// The tails of one round. Times and how often each occurred.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TailSamples {
    /// Why there are none.
    pub left_out: Option<String>,
    pub service: Buckets,
    pub response: Option<Buckets>,
    pub unserved: u64,
}

/// Iterations of one round. More of them say little that other rounds do not say better.
const MOST: u64 = 500_000;
/// An iteration takes at least this many readings of the clock.
const WELL_ABOVE: f64 = 3.0;
/// Iterations after which their work is checked.
const BETWEEN_CHECKS: u64 = 1_000;

/// Times single iterations. `reading` is the cost of one reading of the clock, in ns, which is subtracted. Fails as
/// the operation does.
pub(crate) fn tails(
    work: &mut Loop,
    watch: &mut impl Watch,
    plan: &TailPlan,
    reading: f64,
) -> Result<TailSamples, Failure> {
    let mut timer = Timer { work, watch, reading, since_check: 0 };
    if let Some(why) = timer.left_out(plan)? {
        return Ok(TailSamples { left_out: Some(why), ..TailSamples::default() });
    }
    let samples = match plan.tailing.arrivals {
        None => timer.in_sequence(plan.time)?,
        Some(arrivals) => timer.on_arrival(Moments::new(arrivals, plan.seed), plan.time)?,
    };
    timer.check()?;
    Ok(samples)
}

/// One iteration, in ns of the clock.
#[derive(Clone, Copy)]
struct One {
    end: f64,
    /// What it took, without the clock's cost and its pauses.
    took: f64,
    paused: f64,
}

struct Timer<'a, W> {
    work: &'a mut Loop,
    watch: &'a mut W,
    reading: f64,
    since_check: u64,
}

impl<W: Watch> Timer<'_, W> {
    /// Why single iterations cannot be timed, if so.
    fn left_out(&mut self, plan: &TailPlan) -> Result<Option<String>, Failure> {
        const TRIED: u32 = 101;
        let each = self.work.operations_per_iteration();
        if each > 1 {
            return Ok(Some(format!("one iteration does the operation {each} times")));
        }
        if self.work.has_step_before() {
            return Ok(Some("it needs a step before each batch, which would come between its iterations".into()));
        }
        if self.work.most_batches() < u32::MAX {
            return Ok(Some("the machine remembers what it did, so a round has few of its iterations".into()));
        }
        if plan.tailing.arrivals.is_some() && self.work.is_self_timed() {
            return Ok(Some("another process times it, which cannot tell when an iteration was requested".into()));
        }
        let mut tried = Vec::new();
        let begin = self.watch.now();
        for _ in 0..TRIED {
            tried.push(self.one()?.took);
            if self.watch.now() - begin > plan.time / 10.0 {
                break;
            }
        }
        self.check()?;
        let typical = analysis::statistics::median(tried).unwrap_or(0.0);
        let short = typical < WELL_ABOVE * self.reading;
        Ok(short.then(|| {
            let (typical, reading) = (record::Nanoseconds(typical), record::Nanoseconds(self.reading));
            format!("an iteration takes {typical} and a reading of the clock {reading}: too little to tell single ones")
        }))
    }

    fn one(&mut self) -> Result<One, Failure> {
        let start = self.watch.now();
        let own_clock = self.work.run_batch(1)?;
        let end = self.watch.now();
        let paused = self.work.paused().elapsed;
        self.since_check += 1;
        if self.since_check == BETWEEN_CHECKS.min(self.work.most_iterations()) {
            self.check()?;
        }
        let took = own_clock.map_or(end - start - self.reading - paused, |own_clock| own_clock.elapsed);
        Ok(One { end, took, paused })
    }

    fn check(&mut self) -> Result<(), Failure> {
        let done = std::mem::take(&mut self.since_check);
        if done > 0 { self.work.verify_batch(done) } else { Ok(()) }
    }

    fn in_sequence(&mut self, time: f64) -> Result<TailSamples, Failure> {
        let mut service = Kept::default();
        let begin = self.watch.now();
        for _ in 0..MOST {
            let one = self.one()?;
            service.record(one.took);
            if one.end - begin > time {
                break;
            }
        }
        Ok(TailSamples { service: service.buckets(), ..TailSamples::default() })
    }

    /// Each iteration at the moment it arrives, or as soon as the one before is done. Nothing that arrived is left out, and
    /// the time it waited counts once, in its own response (no coordinated omission). Nothing arrives in a pause.
    fn on_arrival(&mut self, moments: Moments, time: f64) -> Result<TailSamples, Failure> {
        /// What has arrived is served, but not for ever.
        const LONGEST: f64 = 2.0;
        let (mut service, mut response, mut unserved) = (Kept::default(), Kept::default(), 0);
        let (begin, mut paused) = (self.watch.now(), 0.0);
        for moment in moments.take(MOST as usize) {
            if moment > time {
                break;
            }
            let arrival = begin + paused + moment;
            let spent = self.watch.now() - begin;
            if spent > LONGEST * time {
                // Where pauses took the time, what is left has not arrived.
                if spent - paused <= LONGEST * time {
                    break;
                }
                unserved += 1;
                continue;
            }
            self.watch.wait_until(arrival);
            let one = self.one()?;
            service.record(one.took);
            // One reading lies between the moment that was waited for and the begin, another between begin and end.
            response.record(one.end - one.paused - arrival - 2.0 * self.reading);
            paused += one.paused;
        }
        Ok(TailSamples { left_out: None, service: service.buckets(), response: Some(response.buckets()), unserved })
    }
}

/// Times on their way into a histogram. Most are only stored, which disturbs the next iteration least.
struct Kept {
    tail: Tail,
    waiting: Vec<f64>,
}

impl Default for Kept {
    fn default() -> Kept {
        const WAITING: usize = 4096;
        let mut waiting = vec![1.0; WAITING];
        waiting.clear();
        Kept { tail: Tail::default(), waiting }
    }
}

impl Kept {
    fn record(&mut self, ns: f64) {
        if self.waiting.len() == self.waiting.capacity() {
            self.flush();
        }
        self.waiting.push(ns);
    }

    fn flush(&mut self) {
        self.waiting.drain(..).for_each(|ns| self.tail.record(ns));
    }

    fn buckets(mut self) -> Buckets {
        self.flush();
        self.tail.buckets()
    }
}

/// The tails of a cost, from those of its rounds.
pub(crate) fn together<'a>(rounds: impl Iterator<Item = &'a TailSamples>, reading: f64) -> Option<record::Tails> {
    let rounds: Vec<&TailSamples> = rounds.collect();
    if rounds.is_empty() {
        return None;
    }
    let timed: Vec<&&TailSamples> = rounds.iter().filter(|round| round.left_out.is_none()).collect();
    if timed.is_empty() {
        return Some(record::Tails { left_out: rounds[0].left_out.clone(), clock_ns: reading, ..Default::default() });
    }
    let merged = |part: &dyn Fn(&TailSamples) -> Option<Buckets>| {
        let mut tail = Tail::default();
        timed.iter().filter_map(|round| part(round)).for_each(|buckets| tail.merge(&Tail::of_buckets(&buckets)));
        tail
    };
    let unserved = timed.iter().map(|round| round.unserved).sum();
    let response = timed.iter().any(|round| round.response.is_some()).then(|| {
        let tail = merged(&|round| round.response.clone());
        // With a queue that grows, they show how long was measured, and nothing of the operation.
        if unserved > 0 { record::Tail { percentiles: Vec::new(), ..tail.recorded() } } else { tail.recorded() }
    });
    Some(record::Tails {
        left_out: None,
        clock_ns: reading,
        service: merged(&|round| Some(round.service.clone())).recorded(),
        response,
        unserved,
    })
}

#[cfg(test)]
mod tests;
