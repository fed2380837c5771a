//! Batches: finds how many iterations fill one, and takes samples until the round's time is up.

use std::collections::BTreeMap;

use record::{Doubt, Reads};
use serde::{Deserialize, Serialize};

use crate::device;
use crate::failure::Failure;
use crate::repeat::Loop;
use crate::speed::Speed;
use crate::watch::{Usage, Watch};

/// What one round is told to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RoundPlan {
    /// Shortest batch in ns, unless one iteration is longer.
    pub batch: f64,
    /// Fixed iterations per batch, if asked for.
    pub count: Option<u64>,
    /// Iterations per batch that an earlier round found.
    pub hint: Option<u64>,
    /// Time for the batches of this round, in ns.
    pub time: f64,
    /// Batches at most.
    pub most: u32,
    /// The largest share (cycles per independent add) at which the core counts as ours alone; batches begin only then.
    /// `None`: batches begin whatever the core is doing.
    pub quiet_below: Option<f64>,
}

/// One batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Gross ns per operation.
    pub ns: f64,
    /// The checks before and after.
    pub around: (Speed, Speed),
    /// One core cycle in ns: the mean of the two checks.
    pub cycle: f64,
    /// How often the task was switched out against its will meanwhile.
    pub switched_out: f64,
    /// How long none of its tasks had the CPU, in ns: elapsed time less the processor time of all of them.
    pub away: f64,
    /// How long the batch was, in ns.
    pub elapsed: f64,
}

/// What one round brings home.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Harvest {
    /// Iterations per batch.
    pub times: u64,
    /// The batches, in the order taken.
    pub samples: Vec<Sample>,
    /// Gross ns per operation of batches of half the length.
    pub halves: Vec<f64>,
    /// What all full batches together used.
    pub usage: Usage,
    /// What the device of its file read meanwhile, in all full batches together; `None` where nobody counts.
    pub reads: Option<Reads>,
    /// What the operation itself counted, per iteration.
    pub tallies: BTreeMap<String, f64>,
    /// What the operation found doubtful.
    pub doubts: Vec<Doubt>,
    /// Operations in all full batches together.
    pub operations: f64,
    /// Elapsed ns of all full batches together.
    pub elapsed: f64,
    /// The longest batch, in ns.
    pub batch: f64,
    /// Tasks beside this round's own that were running or wanted to, in the whole system, on average.
    #[serde(default)]
    pub others: f64,
}

/// Every so many batches one of half the length is taken, to see whether the cost depends on the length.
const HALF_EVERY: u32 = 8;

/// Finds the count and takes samples. `reading` is what one reading of the clock costs, in ns.
///
/// # Errors
/// What the operation meets.
pub(crate) fn sample(
    work: &mut Loop,
    watch: &mut impl Watch,
    plan: &RoundPlan,
    reading: f64,
) -> Result<Harvest, Failure> {
    let times = find_times(work, watch, plan)?;
    let each = work.operations_per_iteration() as f64;
    let mut harvest = Harvest {
        times,
        samples: Vec::with_capacity(64),
        halves: Vec::new(),
        usage: Usage::default(),
        reads: None,
        tallies: BTreeMap::new(),
        doubts: Vec::new(),
        operations: 0.0,
        elapsed: 0.0,
        batch: 0.0,
        others: 0.0,
    };
    let start = watch.now();
    let mut taken = 0;
    while taken < plan.most.min(work.most_batches()) {
        let Some(before) = begin(watch, plan, start) else { break };
        let half = taken % HALF_EVERY == HALF_EVERY - 1 && times >= 4 && plan.quiet_below.is_none();
        let count = if half { times / 2 } else { times };
        let Timed { elapsed, usage, reads } = timed(work, watch, count, reading)?;
        let after = watch.speed();
        let ns = elapsed / (count as f64 * each);
        if half {
            harvest.halves.push(ns);
        } else {
            harvest.samples.push(Sample {
                ns,
                around: (before, after),
                cycle: (before.chain + after.chain) / 2.0,
                switched_out: usage.involuntary,
                away: elapsed - usage.user - usage.system,
                elapsed,
            });
            harvest.usage = harvest.usage.plus(usage);
            harvest.reads = device::together(harvest.reads, reads);
            harvest.operations += count as f64 * each;
            harvest.elapsed += elapsed;
            harvest.batch = harvest.batch.max(elapsed);
        }
        taken += 1;
        if watch.now() - start > plan.time {
            break;
        }
    }
    Ok(harvest)
}

/// The check before a batch; where only a core of our own will do, the last of three in a row that found it so, since
/// a neighbour pauses for moments too. `None` when the round's time is up.
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

/// What one batch took.
struct Timed {
    /// In ns.
    elapsed: f64,
    usage: Usage,
    reads: Option<Reads>,
}

/// Another process may read a clock that is slewed, which the kernel does by 0.05 % at most.
const CLOCKS_AGREE: f64 = 1.001;

/// One batch. The device's counts are asked for outside of all else, since asking takes time of its own.
fn timed(work: &mut Loop, watch: &mut impl Watch, count: u64, reading: f64) -> Result<Timed, Failure> {
    work.prepare_batch(count)?;
    // Whatever was left over from a batch that failed is no part of this one.
    work.paused();
    let read = watch.reads();
    let used = watch.usage();
    let start = watch.now();
    let told = work.run_batch(count)?;
    let end = watch.now();
    if end < start {
        return Err(Failure::wrong("the clock went backwards in a batch"));
    }
    let paused = work.paused();
    let elapsed = end - start - reading - paused.elapsed;
    let usage = watch.usage().since(used).since(paused.usage);
    let (elapsed, usage) = match told {
        None => (elapsed, usage),
        Some(told) if told.elapsed <= elapsed * CLOCKS_AGREE => (told.elapsed, told.usage),
        Some(_) => return Err(Failure::wrong("it tells more time for a batch than has passed")),
    };
    let reads = watch.reads().zip(read).map(|(after, before)| device::between(before, after));
    work.verify_batch(count)?;
    Ok(Timed { elapsed, usage, reads })
}

/// How many iterations fill a batch. What it runs to find out is the warm-up too.
fn find_times(work: &mut Loop, watch: &mut impl Watch, plan: &RoundPlan) -> Result<u64, Failure> {
    let most = work.most_iterations();
    if work.is_warm() {
        return Ok(plan.count.unwrap_or(1).clamp(1, most));
    }
    if let Some(count) = plan.count {
        let count = count.clamp(1, most);
        timed(work, watch, count, 0.0)?;
        return Ok(count);
    }
    let mut times = plan.hint.unwrap_or(1).clamp(1, most);
    loop {
        let first = timed(work, watch, times, 0.0)?.elapsed;
        if first >= plan.batch || times == most {
            // The first time may have been slow because everything was cold: only a second one counts.
            let elapsed = timed(work, watch, times, 0.0)?.elapsed;
            if elapsed >= plan.batch * 0.75 || times == most {
                // A hint from a slower moment must not leave batches many times too long.
                let fitting = (times as f64 * plan.batch / elapsed.max(1.0)).ceil() as u64;
                return Ok(if times > 2 * fitting { fitting.clamp(1, most) } else { times });
            }
        }
        times = times.saturating_mul(2).min(most);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::stopwatch::Took;

    /// A machine whose time passes only as the script says.
    #[derive(Default)]
    struct Script {
        now: f64,
        widths: Vec<f64>,
        checks: usize,
        usage: Usage,
        reads: Option<Reads>,
    }

    #[derive(Clone, Default)]
    struct ScriptedWatch(Rc<RefCell<Script>>);

    impl Watch for ScriptedWatch {
        fn now(&mut self) -> f64 {
            self.0.borrow().now
        }

        fn speed(&mut self) -> Speed {
            let mut script = self.0.borrow_mut();
            script.now += 2000.0;
            let width = script.widths.get(script.checks).copied().unwrap_or(1.0);
            script.checks += 1;
            Speed { chain: 1.0, width }
        }

        fn usage(&mut self) -> Usage {
            self.0.borrow().usage
        }

        fn reads(&mut self) -> Option<Reads> {
            self.0.borrow().reads
        }
    }

    /// Every iteration takes `cost` ns and one minor fault; the first ever takes a millisecond more.
    fn scripted(watch: &ScriptedWatch, cost: f64) -> Loop {
        let script = Rc::clone(&watch.0);
        let mut cold = true;
        Loop::new(move |times| {
            let mut script = script.borrow_mut();
            script.now += times as f64 * cost + if cold { 1e6 } else { 0.0 };
            script.usage.minor_faults += times as f64;
            if let Some(reads) = &mut script.reads {
                reads.count += 3.0 * times as f64;
                reads.bytes += 4096.0 * times as f64;
            }
            cold = false;
            Ok(())
        })
    }

    const PLAN: RoundPlan =
        RoundPlan { batch: 500e3, count: None, hint: None, time: 10e6, most: 1000, quiet_below: None };

    #[test]
    fn a_batch_is_the_first_power_of_two_that_is_long_enough() {
        let watch = ScriptedWatch::default();
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        // 8192 iterations take 819 µs; 4096 take 410, which is within a quarter of a batch only after the cold start.
        assert_eq!(harvest.times, 8192);
        assert!(harvest.samples.iter().all(|sample| sample.ns == 100.0));
        assert!(harvest.halves.iter().all(|ns| *ns == 100.0) && !harvest.halves.is_empty());
        assert_eq!(harvest.usage.minor_faults, harvest.operations);
        assert_eq!(harvest.elapsed, harvest.operations * 100.0);
    }

    #[test]
    fn one_iteration_longer_than_a_batch_is_a_batch() {
        let watch = ScriptedWatch::default();
        let harvest = sample(&mut scripted(&watch, 2e6), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        assert_eq!(harvest.times, 1);
        // 10 ms hold five of them with their checks.
        assert_eq!(harvest.samples.len(), 5);
    }

    #[test]
    fn the_reading_of_the_clock_is_subtracted_and_unrolled_work_divided() {
        let watch = ScriptedWatch::default();
        let plan = RoundPlan { count: Some(10), ..PLAN };
        let mut work = scripted(&watch, 280.0).each(28);
        let harvest = sample(&mut work, &mut watch.clone(), &plan, 28.0).expect("a harvest");
        assert_eq!(harvest.times, 10);
        assert!(harvest.samples.iter().all(|sample| (sample.ns - 9.9).abs() < 1e-9));
    }

    #[test]
    fn a_batch_done_elsewhere_took_what_is_told_of_it() {
        let watch = ScriptedWatch::default();
        let telling = |told: f64| {
            let script = Rc::clone(&watch.0);
            Loop::telling(move |times| {
                // Asking takes 50 µs, and faults that are not the batch's.
                script.borrow_mut().now += 50e3 + times as f64 * 100.0;
                script.borrow_mut().usage.minor_faults += 7.0;
                let usage = Usage { user: times as f64 * 90.0, system: times as f64 * 10.0, ..Usage::default() };
                Ok(Took { elapsed: times as f64 * told, usage })
            })
        };
        let harvest = sample(&mut telling(100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        assert_eq!(harvest.times, 8192);
        assert!(harvest.samples.iter().all(|sample| sample.ns == 100.0));
        assert_eq!(harvest.elapsed, harvest.operations * 100.0);
        assert_eq!((harvest.usage.user, harvest.usage.minor_faults), (harvest.operations * 90.0, 0.0));
        let end = sample(&mut telling(1e6), &mut watch.clone(), &PLAN, 0.0);
        assert!(matches!(end, Err(Failure::Wrong(_))), "{end:?}");
    }

    #[test]
    fn pauses_are_no_part_of_a_batch() {
        let watch = ScriptedWatch::default();
        let pauses = crate::Pauses::calibrated();
        let (script, waits) = (Rc::clone(&watch.0), pauses.clone());
        let mut work = Loop::new(move |times| {
            for _ in 0..times {
                // A pause of a millisecond by the clock of pauses, which is the system's; the script's goes on as much.
                let paused = waits.pause(|| std::thread::sleep(std::time::Duration::from_millis(1)));
                script.borrow_mut().now += 40e3 + paused;
            }
            Ok(())
        })
        .less(pauses);
        let plan = RoundPlan { count: Some(3), most: 4, ..PLAN };
        let harvest = sample(&mut work, &mut watch.clone(), &plan, 0.0).expect("a harvest");
        // But for what a reading of the clock costs.
        assert!(harvest.samples.iter().all(|sample| (38e3..40.001e3).contains(&sample.ns)), "{:?}", harvest.samples);
    }

    #[test]
    fn a_limit_on_iterations_holds() {
        let watch = ScriptedWatch::default();
        let mut work = scripted(&watch, 1.0).at_most(100);
        let harvest = sample(&mut work, &mut watch.clone(), &RoundPlan { most: 3, ..PLAN }, 0.0).expect("a harvest");
        assert_eq!((harvest.times, harvest.samples.len()), (100, 3));
    }

    #[test]
    fn warm_work_runs_for_its_time_alone() {
        let watch = ScriptedWatch::default();
        let harvest = sample(&mut scripted(&watch, 80e6).warm(), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        // The first, slower by a millisecond, is the only one.
        assert_eq!((harvest.times, harvest.samples.len(), harvest.samples[0].ns), (1, 1, 81e6));
    }

    #[test]
    fn a_hint_far_too_long_is_corrected() {
        let watch = ScriptedWatch::default();
        let plan = RoundPlan { hint: Some(1 << 30), ..PLAN };
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
        assert_eq!(harvest.times, 5000);
    }

    #[test]
    fn batches_wait_for_a_quiet_core_when_told_to() {
        let watch = ScriptedWatch::default();
        watch.0.borrow_mut().widths = vec![1.5, 1.0, 1.0, 1.5, 1.01, 1.02, 1.03, 1.4];
        let plan = RoundPlan { quiet_below: Some(1.05), most: 1, ..PLAN };
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
        assert_eq!(harvest.samples.len(), 1);
        assert_eq!(harvest.samples[0].around.0.width, 1.03);
        assert_eq!(harvest.samples[0].around.1.width, 1.4);
    }

    #[test]
    fn a_core_that_never_is_quiet_gives_no_batch_and_ends_in_time() {
        let watch = ScriptedWatch::default();
        watch.0.borrow_mut().widths = vec![2.0; 100_000];
        let plan = RoundPlan { quiet_below: Some(1.05), ..PLAN };
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &plan, 0.0).expect("a harvest");
        assert!(harvest.samples.is_empty());
        assert!(watch.0.borrow().checks < 6000);
    }

    #[test]
    fn reads_of_the_device_are_those_of_the_full_batches() {
        let watch = ScriptedWatch::default();
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        assert_eq!(harvest.reads, None);
        watch.0.borrow_mut().reads = Some(Reads { count: 1e9, bytes: 1e12, own_bytes: None });
        let harvest = sample(&mut scripted(&watch, 100.0), &mut watch.clone(), &PLAN, 0.0).expect("a harvest");
        let reads = harvest.reads.expect("reads");
        assert_eq!((reads.count, reads.bytes), (3.0 * harvest.operations, 4096.0 * harvest.operations));
        assert_eq!(reads.own_bytes, None);
    }

    #[test]
    fn a_failure_in_the_loop_ends_the_round() {
        let watch = ScriptedWatch::default();
        let mut work = Loop::new(|_| Err(Failure::wrong("read 0 bytes")));
        let end = sample(&mut work, &mut watch.clone(), &PLAN, 0.0);
        assert_eq!(end, Err(Failure::wrong("read 0 bytes")));
    }
}
