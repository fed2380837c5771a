//! What a round reads while it measures: the clock, the speed check, the accounting. A trait, so that tests script it.

use std::cell::RefCell;
use std::rc::Rc;

use operation::{Device, Usage, pin};
use record::Reads;

use crate::speed::{Checker, Speed};

/// What a round reads while it measures.
pub(crate) trait Watch {
    /// Nanoseconds since some fixed moment.
    fn now(&mut self) -> f64;
    /// The speed of the core, or of the worse of the two where a partner works on another.
    fn speed(&mut self) -> Speed;
    /// What this process, its reaped children and its partners have used so far.
    fn usage(&mut self) -> Usage;
    /// What the device of the operation's file has read so far, where it has one whose reads are counted.
    fn reads(&mut self) -> Option<Reads>;
}

/// The real thing.
pub(crate) struct SystemWatch {
    checker: Checker,
    cpu: u32,
    /// The CPUs that partners work on, where they are others.
    other_cpus: Vec<u32>,
    partners: Rc<RefCell<Vec<libc::pid_t>>>,
    device: Rc<RefCell<Option<Device>>>,
}

impl SystemWatch {
    pub fn new(
        checker: Checker,
        cpu: u32,
        other_cpus: Vec<u32>,
        partners: Rc<RefCell<Vec<libc::pid_t>>>,
    ) -> SystemWatch {
        SystemWatch { checker, cpu, other_cpus, partners, device: Rc::default() }
    }

    /// The same, counting the reads of the device that the operation names when it sets up.
    pub fn counting(self, device: Rc<RefCell<Option<Device>>>) -> SystemWatch {
        SystemWatch { device, ..self }
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
        // A visit to a partner's core needs none of the partner's help, and it waits for our message meanwhile.
        let visit = |&other: &u32| pin(other).map(|()| self.checker.check()).ok();
        let there: Vec<Speed> = self.other_cpus.iter().filter_map(visit).collect();
        let home = pin(self.cpu).is_ok();
        let here = self.checker.check();
        there.into_iter().filter(|_| home).fold(here, Speed::worse)
    }

    fn usage(&mut self) -> Usage {
        let own = Usage::of_this_process().plus(Usage::of_reaped_children());
        let partners: f64 = self.partners.borrow().iter().filter_map(|&pid| processor_time(pid)).sum();
        // A partner's clock does not tell user from system: it mirrors our work, so our own proportion is used.
        let share = if own.user + own.system > 0.0 { own.user / (own.user + own.system) } else { 0.0 };
        Usage { user: own.user + partners * share, system: own.system + partners * (1.0 - share), ..own }
    }

    fn reads(&mut self) -> Option<Reads> {
        self.device.borrow().as_ref()?.reads()
    }
}

/// How many tasks of the whole system run or want to beside this one; 0 where the kernel does not tell.
pub(crate) fn tasks_running_beside() -> f64 {
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

/// Processor time of another process in ns; `None` once it is gone.
fn processor_time(pid: libc::pid_t) -> Option<f64> {
    let mut clock: libc::clockid_t = 0;
    // SAFETY: the pointer is to a clockid.
    if unsafe { libc::clock_getcpuclockid(pid, &mut clock) } != 0 {
        return None;
    }
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    (status == 0).then_some(time.tv_sec as f64 * 1e9 + time.tv_nsec as f64)
}
