//! Hidden CPU: time that processors are busy because of an operation and that no task of it is charged for. Windows of work
//! and windows of rest alternate, so that what the machine does anyway cancels.

mod busy;

use std::time::Duration;

use operation::{Clock, Failure, Loop, Setting, Usage, processor_time};
use serde::{Deserialize, Serialize};
use system::machine::KernelThreads;

use crate::batch::{RoundPlan, find_times};
use crate::watch::Watch;
use busy::Busy;

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

impl HiddenSample {
    /// Busy time of all CPUs beyond that of a machine at rest.
    pub(crate) fn busy(&self) -> f64 {
        self.charged + self.hidden
    }
}

/// What happened in one window, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Window {
    elapsed: f64,
    /// Over all CPUs.
    busy: f64,
    charged: f64,
    kernel_threads: Option<f64>,
}

/// Length of a window in ns, unless one iteration takes longer: long beside what reading the accounts takes.
pub(crate) const WINDOW: f64 = 6e6;
/// Work that an operation leaves to the kernel is done by then.
const GRACE: Duration = Duration::from_micros(300);
/// Pairs of windows in a round: fewer give no interval, more give little more.
const FEWEST: usize = 4;
const MOST: usize = 16;
/// To have the fewest pairs, a round may take this many times its time.
const LONGER: f64 = 8.0;

/// Takes pairs of windows for the time of the plan. `cpus` are all CPUs that howslow may use. Fails as the
/// operation does; a skip if nothing shows how long CPUs are busy.
pub(crate) fn account(
    work: &mut Loop,
    watch: &mut impl Watch,
    setting: &Setting,
    plan: &RoundPlan,
    cpus: &[u32],
) -> Result<Vec<HiddenSample>, Failure> {
    let times = find_times(work, watch, plan)?;
    let busy = Busy::open(cpus, setting.cpu())?;
    let mut account = Account { busy, setting, clock: Clock::plain() };
    let start = account.clock.now();
    let mut samples = Vec::new();
    let spent = |account: &Account<'_>| account.clock.now() - start;
    while samples.len() < MOST && spent(&account) < if samples.len() < FEWEST { LONGER * plan.time } else { plan.time }
    {
        work.prepare_batch(times)?;
        work.paused();
        let (working, done) = account.window(|| work.run_batch(times).map(|_| ()))?;
        done?;
        work.verify_batch(times)?;
        let length = Duration::from_nanos(working.elapsed as u64).saturating_sub(GRACE);
        let (resting, _) = account.window(|| std::thread::sleep(length))?;
        samples.push(split(working, resting, times as f64 * work.operations_per_iteration() as f64));
    }
    account.busy.check()?;
    Ok(samples)
}

/// What an operation hides, from a window of work and one of rest.
fn split(work: Window, rest: Window, operations: f64) -> HiddenSample {
    let share = work.elapsed / rest.elapsed;
    // At rest only this process is charged: for falling asleep, waking up and reading the accounts.
    let charged = work.charged - rest.charged;
    let background = (rest.busy - rest.charged) * share;
    let threads = work.kernel_threads.zip(rest.kernel_threads).map(|(work, rest)| work - rest * share);
    HiddenSample {
        hidden: (work.busy - work.charged - background) / operations,
        charged: charged / operations,
        kernel_threads: threads.map(|time| time / operations),
    }
}

struct Account<'s> {
    busy: Busy,
    setting: &'s Setting,
    clock: Clock,
}

impl Account<'_> {
    /// Runs `inside` and waits for what it leaves behind. Fails if nothing shows any more how long CPUs are busy.
    fn window<T>(&mut self, inside: impl FnOnce() -> T) -> Result<(Window, T), Failure> {
        // In the same order before and after, so that each account contains the time that reading all of them takes once.
        let (threads, charged, busy, start) =
            (KernelThreads::now(), self.charged(), self.busy.now()?, self.clock.now());
        let result = inside();
        std::thread::sleep(GRACE);
        let elapsed = self.clock.now() - start;
        let after = KernelThreads::now();
        let (charged, busy) = (self.charged() - charged, self.busy.now()? - busy);
        let threads = after.zip(threads).map(|(after, before)| after.since(&before));
        Ok((Window { elapsed, busy, charged, kernel_threads: threads }, result))
    }

    /// What this process, the children it has reaped and its partners were charged for so far.
    fn charged(&self) -> f64 {
        let children = Usage::of_reaped_children();
        let own = processor_time(std::process::id() as libc::pid_t).unwrap_or(0.0);
        let partners: f64 = self.setting.partners().borrow().iter().filter_map(|&pid| processor_time(pid)).sum();
        own + children.user + children.system + partners
    }
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
        assert!((sample.charged - 5990.0).abs() < 1e-6, "{sample:?}");
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
