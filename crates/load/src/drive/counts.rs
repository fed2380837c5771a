//! What one configuration is driven with, and the accounts of the kernel, read at the beginning and at the end of the time measured.

use std::path::Path;

use analysis::load::{Configuration, FaultCost, Pressure};
use measure::Signals;
use operation::Usage;

use super::script::Script;
use crate::plan::Plan;
use crate::site::{Device, Group, field, read, refaults};
use crate::users::nanoseconds;

/// The counts of the whole machine.
const MACHINE: &str = "/proc/vmstat";

/// Everything that one configuration is driven with.
pub struct Setting<'a> {
    pub configuration: &'a Configuration,
    pub script: &'a Script,
    pub plan: &'a Plan,
    pub group: &'a Group,
    pub device: Option<&'a Device>,
    pub cpus: &'a [u32],
    pub fault: FaultCost,
    pub seed: u64,
    pub signals: &'a Signals,
}

/// What was counted up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    /// In ns of the monotonic clock.
    pub at: f64,
    pub used: Use,
    /// Idle time of the configuration's CPUs, in seconds.
    pub idle_s: f64,
    /// Pages from swap.
    pub pages_in: f64,
    /// Pages to swap.
    pub pages_out: f64,
    /// Pages of files, and pages from swap, that were read again soon.
    pub refaults: (f64, f64),
    /// Time in which the page device was busy, in seconds.
    pub device_s: Option<f64>,
    pub pressure: Option<Pressure>,
    pub killed_for_memory: u64,
    /// Processor time of the driver, in seconds.
    pub driver_s: f64,
}

/// What the users have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Use {
    /// Processor time in seconds.
    pub cpu_s: f64,
    /// Page faults that waited for a page.
    pub major_faults: f64,
}

impl Setting<'_> {
    /// Everything. Costs about 100 us.
    pub(super) fn counts(&self) -> Counts {
        let machine = read(Path::new(MACHINE));
        let of_machine = |name: &str| field(&machine, name).unwrap_or(0.0);
        let (files, from_swap) = self.group.refaults().or_else(|| refaults(&machine)).unwrap_or_default();
        // Where groups do not count pages from swap, they count those that were read again, which all are: 7.88 million of either on a
        // machine that had tested swapping. The machine's would be others', too.
        let of_others = || (from_swap.unwrap_or_else(|| of_machine("pswpin")), of_machine("pswpout"));
        let (pages_in, pages_out) = self.group.swapped().unwrap_or_else(of_others);
        let own = Usage::of_this_process();
        Counts {
            at: nanoseconds(),
            used: self.used(),
            idle_s: idle(self.cpus),
            pages_in,
            pages_out,
            refaults: (files, from_swap.unwrap_or_default()),
            device_s: self.device.and_then(Device::busy),
            pressure: self.group.pressure(),
            killed_for_memory: self.group.killed_for_memory(),
            driver_s: (own.user + own.system) / 1e9,
        }
    }

    /// What the users have used: by their groups; where none counts it, everything on their CPUs, and all faults of the machine.
    pub(super) fn used(&self) -> Use {
        let on_cpus = || nanoseconds() / 1e9 * self.cpus.len() as f64 - idle(self.cpus);
        let of_machine = || field(&read(Path::new(MACHINE)), "pgmajfault").unwrap_or(0.0);
        Use {
            cpu_s: self.group.cpu_s().unwrap_or_else(on_cpus),
            major_faults: self.group.major_faults().unwrap_or_else(of_machine),
        }
    }
}

/// Idle time of these CPUs so far, in seconds. Time in which a task waits for a device counts as idle.
fn idle(cpus: &[u32]) -> f64 {
    idle_in(&read(Path::new("/proc/stat")), cpus)
}

fn idle_in(text: &str, cpus: &[u32]) -> f64 {
    let of_line = |line: &str| {
        let mut words = line.split_whitespace();
        let cpu: u32 = words.next()?.strip_prefix("cpu")?.parse().ok()?;
        let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
        cpus.contains(&cpu).then(|| Some(numbers.get(3)? + numbers.get(4)?))?
    };
    text.lines().filter_map(of_line).sum::<f64>() / rustix::param::clock_ticks_per_second() as f64
}

/// So many of the CPUs that this process may use, the last ones: the first one serves most interrupts. `None` if there are
/// fewer.
pub fn cpus_of(count: u32) -> Option<Vec<u32>> {
    let usable = system::machine::pinnable_cpus();
    usable.len().checked_sub(count as usize).map(|first| usable[first..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_is_that_of_the_configurations_cpus() {
        let text = "cpu  9 9 9 900 90 9\ncpu0 1 0 1 200 50 0 0\ncpu1 1 0 1 300 7 0 0\nintr 5\n";
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert_eq!(idle_in(text, &[0]) * ticks, 250.0);
        assert_eq!(idle_in(text, &[0, 1]) * ticks, 557.0);
        assert_eq!(idle_in(text, &[7]), 0.0);
        assert!(idle(&[0]) > 0.0);
    }
}
