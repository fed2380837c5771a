//! Hidden CPU: time that processors are busy because of an operation and that no task of it is charged for. A spinner of
//! the lowest class runs on every CPU and counts the time that it really ran; the rest of the elapsed time somebody else
//! was busy. Windows of work and windows of rest alternate, so that what the machine does anyway cancels.

use std::time::Duration;

use guard::{Crew, Post};
use machine::KernelThreads;
use operation::{Clock, Failure, Loop, Scheduling, Setting, Usage, pin, processor_time};
use serde::{Deserialize, Serialize};

use crate::batch::{RoundPlan, find_times};
use crate::watch::Watch;

/// One pair of a window of rest and one of work, per operation, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct HiddenSample {
    /// Busy time of all CPUs that no task of the operation was charged for, without what the machine does at rest.
    pub hidden: f64,
    /// Processor time that its tasks were charged for.
    pub charged: f64,
    /// The part of `hidden` that the kernel's threads were charged for; `None` if they cannot be seen.
    pub kernel_threads: Option<f64>,
}

/// What happened in one window, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    elapsed: f64,
    /// Over all CPUs: elapsed time in which the spinner did not run.
    busy: f64,
    charged: f64,
    kernel_threads: Option<f64>,
}

/// Length of a window in ns, unless one iteration takes longer.
pub(crate) const WINDOW: f64 = 3e6;
/// Work that an operation leaves to the kernel is done by then.
const GRACE: Duration = Duration::from_micros(300);
/// Pairs of windows in a round: fewer tell no interval, more tell little more.
const FEWEST: usize = 4;
const MOST: usize = 16;
/// To have the fewest pairs, a round may take this many times its time.
const LONGER: f64 = 8.0;

/// Takes pairs of windows for the time of the plan. `cpus` are all CPUs that howslow may use.
///
/// # Errors
/// Those of the operation, or a skip if no spinner can run.
pub(crate) fn account(
    work: &mut Loop,
    watch: &mut impl Watch,
    setting: &Setting,
    plan: &RoundPlan,
    cpus: &[u32],
) -> Result<Vec<HiddenSample>, Failure> {
    let times = find_times(work, watch, plan)?;
    let spinners = Spinners::start(cpus)?;
    let mut account = Account { spinners, setting, clock: Clock::plain() };
    let start = account.clock.now();
    let mut samples = Vec::new();
    let spent = |account: &Account<'_>| account.clock.now() - start;
    while samples.len() < MOST && spent(&account) < if samples.len() < FEWEST { LONGER * plan.time } else { plan.time }
    {
        work.prepare_batch(times)?;
        work.paused();
        let (working, done) = account.window(|| work.run_batch(times).map(|_| ()));
        done?;
        work.verify_batch(times)?;
        let length = Duration::from_nanos(working.elapsed as u64).saturating_sub(GRACE);
        let (resting, _) = account.window(|| std::thread::sleep(length));
        samples.push(split(working, resting, times as f64 * work.operations_per_iteration() as f64));
    }
    account.spinners.check()?;
    Ok(samples)
}

/// What an operation hides, from a window of work and one of rest.
fn split(work: Window, rest: Window, operations: f64) -> HiddenSample {
    let share = work.elapsed / rest.elapsed;
    // At rest only this process is charged, for falling asleep and waking up.
    let background = (rest.busy - rest.charged) * share;
    let threads = work.kernel_threads.zip(rest.kernel_threads).map(|(work, rest)| work - rest * share);
    HiddenSample {
        hidden: (work.busy - work.charged - background) / operations,
        charged: work.charged / operations,
        kernel_threads: threads.map(|time| time / operations),
    }
}

/// What a window is accounted with.
struct Account<'s> {
    spinners: Spinners,
    setting: &'s Setting,
    clock: Clock,
}

impl Account<'_> {
    /// Runs `inside` and waits for what it leaves behind.
    fn window<T>(&mut self, inside: impl FnOnce() -> T) -> (Window, T) {
        // Reading these takes long, so they are read outside the window. What the threads do meanwhile is at rest too.
        let threads = KernelThreads::now();
        let (charged, spun, start) = (self.charged(), self.spinners.spun(), self.clock.now());
        let result = inside();
        std::thread::sleep(GRACE);
        let (elapsed, spun) = (self.clock.now() - start, self.spinners.spun() - spun);
        let charged = self.charged() - charged;
        let threads = KernelThreads::now().zip(threads).map(|(after, before)| after.since(&before));
        let busy = elapsed * self.spinners.count() as f64 - spun;
        (Window { elapsed, busy, charged, kernel_threads: threads }, result)
    }

    /// What this process, the children it has reaped and its partners were charged for so far.
    fn charged(&self) -> f64 {
        let children = Usage::of_reaped_children();
        let own = processor_time(std::process::id() as libc::pid_t).unwrap_or(0.0);
        let partners: f64 = self.setting.partners().borrow().iter().filter_map(|&pid| processor_time(pid)).sum();
        own + children.user + children.system + partners
    }
}

/// A spinner on every CPU.
struct Spinners(Crew);

/// The number on a spinner's post: how long it really ran, in ns.
const SPUN: usize = 0;
/// How long a spinner may take to begin.
const PATIENCE: Duration = Duration::from_secs(5);

impl Spinners {
    fn start(cpus: &[u32]) -> Result<Spinners, Failure> {
        let crew = Crew::start(cpus.len(), |number, post| spin(cpus[number], post), || ())
            .map_err(|lost| Failure::wrong(lost.to_string()))?;
        for (number, cpu) in cpus.iter().enumerate() {
            if crew.post(number).wait_for_answer(0, PATIENCE) == 0 {
                let why = crew.ended(number).unwrap_or_else(|| "it never got its CPU".into());
                return Err(Failure::skip(format!("no idle task can spin on CPU {cpu}: {why}"), ""));
            }
        }
        Ok(Spinners(crew))
    }

    fn count(&self) -> usize {
        self.0.count()
    }

    /// How long all of them really ran so far, in ns. One that does not run now has counted all that it ran.
    fn spun(&self) -> f64 {
        (0..self.0.count()).map(|number| self.0.post(number).number(SPUN)).sum()
    }

    fn check(&self) -> Result<(), Failure> {
        match (0..self.0.count()).find_map(|number| self.0.ended(number)) {
            Some(why) => Err(Failure::wrong(format!("a spinner ended: {why}"))),
            None => Ok(()),
        }
    }
}

/// Spins on a CPU for ever, in the class that gives way to every other, and counts the time that it runs. An interrupt takes
/// at least a microsecond, so two readings of the clock that are further apart than that were interrupted.
fn spin(cpu: u32, post: &Post) -> String {
    const GAP: f64 = 500.0;
    if let Err(failure) = pin(cpu).and_then(|()| give_way()) {
        return failure.to_string();
    }
    let clock = Clock::plain();
    let gap = GAP.max(4.0 * clock.cost);
    let (mut last, mut spun) = (clock.now(), 0.0);
    post.reply(1);
    loop {
        let now = clock.now();
        if now - last <= gap {
            spun += now - last;
            post.put(SPUN, spun);
        }
        last = now;
    }
}

/// Puts this process into the class that runs only if nobody else wants the CPU, with the shortest turn. Within its
/// group of tasks (a session, a container) it gives way at once; to tasks of other groups, such as the kernel's
/// threads, after a turn at most.
fn give_way() -> Result<(), Failure> {
    const SHORTEST_TURN: u64 = 100_000;
    Scheduling { policy: libc::SCHED_IDLE as u32, runtime: SHORTEST_TURN, ..Scheduling::default() }.set()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_charged_nor_there_at_rest_is_hidden() {
        // 1000 operations in 10 ms on two CPUs: charged 6 ms, others busy 3.2 ms, of which 1.6 ms are there at rest.
        let work = Window { elapsed: 10e6, busy: 9.2e6, charged: 6e6, kernel_threads: Some(1.5e6) };
        let rest = Window { elapsed: 5e6, busy: 0.81e6, charged: 0.01e6, kernel_threads: Some(0.1e6) };
        let sample = split(work, rest, 1000.0);
        assert!((sample.hidden - 1600.0).abs() < 1e-6, "{sample:?}");
        assert!((sample.charged - 6000.0).abs() < 1e-6, "{sample:?}");
        assert!((sample.kernel_threads.unwrap_or(0.0) - 1300.0).abs() < 1e-6, "{sample:?}");
        let unseen = split(Window { kernel_threads: None, ..work }, rest, 1000.0);
        assert_eq!(unseen, HiddenSample { kernel_threads: None, ..sample });
    }

    #[test]
    fn nothing_hidden_is_zero_and_scatter_may_fall_below_it() {
        let rest = Window { elapsed: 4e6, busy: 0.2e6, charged: 0.0, kernel_threads: None };
        let work = Window { elapsed: 4e6, busy: 3.7e6, charged: 3.5e6, kernel_threads: None };
        assert_eq!(split(work, rest, 10.0).hidden, 0.0);
        assert!(split(Window { busy: 3.6e6, ..work }, rest, 10.0).hidden < 0.0);
    }
}
