//! What a round reads while it measures: the clock, the speed check, the accounts. It is a trait, so that tests can
//! script it.

#[cfg(test)]
pub(crate) mod scripted;

use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::Duration;

use operation::{Device, Setting, Usage, pin, processor_time};
use record::Reads;

use crate::speed::{Checker, Speed};

/// What a round reads while it measures.
pub(crate) trait Watch {
    /// Nanoseconds since a fixed moment.
    fn now(&mut self) -> f64;
    /// Waits until this moment, or not at all if it is over. The CPU does not sleep meanwhile.
    fn wait_until(&mut self, moment: f64) {
        while self.now() < moment {
            std::hint::spin_loop();
        }
    }
    /// The speed of the core. If a partner works on another core, the worse of the two.
    fn speed(&mut self) -> Speed;
    /// What this process, its reaped children and its partners have used so far.
    fn usage(&mut self) -> Usage;
    /// What the device of the operation's file has read so far, if it has one and its reads are counted.
    fn reads(&mut self) -> Option<Reads>;
    /// How long this process has waited for a CPU so far while it could run, in ns; `None` where that may be the
    /// operation's own doing, or the kernel does not count it.
    fn queued(&mut self) -> Option<f64>;
}

pub(crate) struct SystemWatch {
    checker: Checker,
    cpu: u32,
    /// The CPUs that partners work on, if they differ from ours.
    other_cpus: Vec<u32>,
    partners: Rc<RefCell<Vec<libc::pid_t>>>,
    device: Rc<RefCell<Option<Device>>>,
    /// What the scheduler counts of this process, if it is read.
    schedule: Option<File>,
    split: Split,
}

impl SystemWatch {
    /// For the operation of this setting. `schedule` is what the scheduler counts of this process, if its waits are to be seen.
    pub fn new(checker: Checker, setting: &Setting, other_cpus: Vec<u32>, schedule: Option<File>) -> SystemWatch {
        let (cpu, partners, device) = (setting.cpu(), setting.partners(), setting.device());
        SystemWatch { checker, cpu, other_cpus, partners, device, schedule, split: Split::default() }
    }
}

impl Watch for SystemWatch {
    fn now(&mut self) -> f64 {
        self.checker.clock.now()
    }

    fn speed(&mut self) -> Speed {
        if self.other_cpus.is_empty() {
            return self.checker.check();
        }
        // A visit to a partner's core needs no help from the partner, which waits for our message.
        let visit = |&other: &u32| pin(other).map(|()| self.checker.check()).ok();
        let there: Vec<Speed> = self.other_cpus.iter().filter_map(visit).collect();
        let home = pin(self.cpu).is_ok();
        let here = self.checker.check();
        there.into_iter().filter(|_| home).fold(here, Speed::worse)
    }

    fn usage(&mut self) -> Usage {
        let own = Usage::of_this_process().plus(Usage::of_reaped_children());
        let partners: f64 = self.partners.borrow().iter().filter_map(|&pid| processor_time(pid)).sum();
        self.split.add(own, partners);
        Usage { user: own.user + self.split.user, system: own.system + self.split.system, ..own }
    }

    fn reads(&mut self) -> Option<Reads> {
        self.device.borrow().as_ref()?.reads()
    }

    fn queued(&mut self) -> Option<f64> {
        // Tasks of the operation that share a CPU wait for each other.
        let file = self.schedule.as_ref().filter(|_| self.partners.borrow().is_empty())?;
        let mut text = [0; 64];
        let length = file.read_at(&mut text, 0).ok()?;
        std::str::from_utf8(&text[..length]).ok()?.split_whitespace().nth(1)?.parse().ok()
    }
}

/// The partners' time. Their clocks do not separate user and system time, and they mirror our work: what a reading adds is split as this
/// process's own time since the reading before.
#[derive(Debug, Default)]
struct Split {
    /// User and system time of this process, and the partners' time, at the last reading.
    read: (f64, f64, f64),
    /// The share of user time.
    share: f64,
    user: f64,
    system: f64,
}

impl Split {
    fn add(&mut self, own: Usage, partners: f64) {
        let (user, system) = (own.user - self.read.0, own.system - self.read.1);
        if user + system > 0.0 {
            self.share = user / (user + system);
        }
        // A partner that has ended is no longer counted.
        let more = (partners - self.read.2).max(0.0);
        self.user += more * self.share;
        self.system += more * (1.0 - self.share);
        self.read = (own.user, own.system, partners);
    }
}

/// The number of other tasks in the whole system that run or want to run: the least of some readings, because the launcher
/// that has just made this process is still on its way to sleep. 0 if the kernel does not report it.
pub(crate) fn tasks_running_beside() -> f64 {
    const READINGS: u32 = 4;
    /// Asleep, this process leaves its CPU to a launcher that waits for it.
    const BETWEEN: Duration = Duration::from_micros(60);
    let mut least = running_beside();
    for _ in 1..READINGS {
        if least == 0.0 {
            break;
        }
        std::thread::sleep(BETWEEN);
        least = least.min(running_beside());
    }
    least
}

fn running_beside() -> f64 {
    // `0.20 0.18 0.12 2/113 8432`: of 113 tasks 2 want a CPU, this one among them.
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = text.split_whitespace().nth(3).and_then(|tasks| tasks.split('/').next()?.parse::<f64>().ok());
    running.map_or(0.0, |running| (running - 1.0).max(0.0))
}

/// Processor time of this process and its reaped children, in ns.
pub(crate) fn own_processor_time() -> f64 {
    let both = Usage::of_this_process().plus(Usage::of_reaped_children());
    both.user + both.system
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_split_by_the_batch_and_not_by_the_set_up() {
        let own = |user, system| Usage { user, system, ..Usage::default() };
        let mut split = Split::default();
        // A set-up in the kernel, and a batch of which a tenth is.
        split.add(own(0.0, 100.0), 50.0);
        let set_up = (split.user, split.system);
        split.add(own(90.0, 110.0), 150.0);
        assert_eq!((set_up, (split.user, split.system)), ((0.0, 50.0), (90.0, 60.0)));
        split.add(own(90.0, 110.0), 160.0);
        assert_eq!(split.user, 99.0, "nothing of our own: as before");
        split.add(own(91.0, 110.0), 0.0);
        assert_eq!((split.user, split.system), (99.0, 61.0), "partners that ended take nothing back");
    }
}
