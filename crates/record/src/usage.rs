//! What the kernel charged: for all of what was watched, and for each of several runs of a command.

use std::collections::BTreeMap;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// What the kernel charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Processor time, in ns: the time that the scheduler counted.
    pub cpu_ns: Option<f64>,
    /// The part of it in user mode, in ns, by samples, and what these cannot see of the way back from its calls and page faults.
    pub user_ns: Option<f64>,
    /// The part of it in the kernel, in ns.
    pub system_ns: Option<f64>,
    /// How long samples found it in user mode and in the kernel, in ns: the time between two for each. `None` if that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_ns: Option<[f64; 2]>,
    /// Page faults without a device.
    pub minor_faults: Option<u64>,
    /// Page faults that waited for a device.
    pub major_faults: Option<u64>,
    /// Times that a task gave up its CPU.
    pub voluntary_switches: Option<u64>,
    /// Times that a task was taken off its CPU.
    pub involuntary_switches: Option<u64>,
}

impl Usage {
    /// Both together. What only one of them knows is taken from that one.
    #[must_use]
    pub fn plus(&self, other: &Usage) -> Usage {
        fn both<T: Add<Output = T>>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).reduce(T::add)
        }
        let sampled = self.sampled_ns.into_iter().chain(other.sampled_ns);
        Usage {
            cpu_ns: both(self.cpu_ns, other.cpu_ns),
            user_ns: both(self.user_ns, other.user_ns),
            system_ns: both(self.system_ns, other.system_ns),
            sampled_ns: sampled.reduce(|one, other| [one[0] + other[0], one[1] + other[1]]),
            minor_faults: both(self.minor_faults, other.minor_faults),
            major_faults: both(self.major_faults, other.major_faults),
            voluntary_switches: both(self.voluntary_switches, other.voluntary_switches),
            involuntary_switches: both(self.involuntary_switches, other.involuntary_switches),
        }
    }

    /// True if nothing was used, as far as is known.
    pub fn is_nothing(&self) -> bool {
        let counts = [self.minor_faults, self.major_faults, self.voluntary_switches, self.involuntary_switches];
        self.cpu_ns.unwrap_or(0.0) == 0.0 && counts.iter().all(|count| count.unwrap_or(0) == 0)
    }

    /// What came after `earlier`, an earlier state of the same account. Nothing becomes negative.
    #[must_use]
    pub fn since(&self, earlier: &Usage) -> Usage {
        let time = |now: Option<f64>, then: Option<f64>| now.map(|now| (now - then.unwrap_or(0.0)).max(0.0));
        let count = |now: Option<u64>, then: Option<u64>| now.map(|now| now.saturating_sub(then.unwrap_or(0)));
        let cpu_ns = time(self.cpu_ns, earlier.cpu_ns);
        // Samples that come later may split the time before in another way.
        let part = |now, then| time(now, then).map(|ns| cpu_ns.map_or(ns, |cpu| ns.min(cpu)));
        Usage {
            cpu_ns,
            user_ns: part(self.user_ns, earlier.user_ns),
            system_ns: part(self.system_ns, earlier.system_ns),
            sampled_ns: self.sampled_ns.map(|now| {
                let then = earlier.sampled_ns.unwrap_or_default();
                [0, 1].map(|part| (now[part] - then[part]).max(0.0))
            }),
            minor_faults: count(self.minor_faults, earlier.minor_faults),
            major_faults: count(self.major_faults, earlier.major_faults),
            voluntary_switches: count(self.voluntary_switches, earlier.voluntary_switches),
            involuntary_switches: count(self.involuntary_switches, earlier.involuntary_switches),
        }
    }
}

/// How the kernel accounts processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accounting {
    /// Its ticks in a second, at which it samples whether a task is in user mode; `None` if it does not tell.
    pub tick_hz: Option<u32>,
    /// The processor time between two of the samples that tell the modes in ns, weighted by it, if they were not the kernel's ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_ns: Option<f64>,
    /// True if the time in interrupts is charged to no task (CONFIG_IRQ_TIME_ACCOUNTING); `None` if that is not known.
    pub interrupts_apart: Option<bool>,
    /// What of each system call is sampled as user mode, in ns: while the kernel returns to the program,
    /// interrupts are off, and a tick that comes then is handled when the program runs. `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_return_ns: Option<f64>,
    /// The same of each page fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_return_ns: Option<f64>,
}

/// What one run of a command took and asked for, in sums.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// How long it was watched, in ns.
    pub elapsed_ns: f64,
    /// What all processes together used.
    pub usage: Usage,
    /// How often each system call was made.
    pub calls: BTreeMap<String, u64>,
    /// The times that its tasks were off the CPU, but for those when they were stopped, in ns; null if they are not known.
    pub waited_ns: Option<f64>,
    /// The processor time that counting took, in ns.
    pub counting_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_adds_and_subtracts_what_is_known() {
        let one = Usage { cpu_ns: Some(5.0), minor_faults: Some(2), ..Usage::default() };
        let other = Usage { cpu_ns: Some(7.0), major_faults: Some(1), ..Usage::default() };
        let both = one.plus(&other);
        assert_eq!((both.cpu_ns, both.minor_faults, both.major_faults), (Some(12.0), Some(2), Some(1)));
        assert_eq!(both.voluntary_switches, None);
        assert_eq!(both.since(&one).cpu_ns, Some(7.0));
        assert_eq!(one.since(&other).cpu_ns, Some(0.0));
        let split = |cpu, user| Usage {
            cpu_ns: Some(cpu),
            user_ns: Some(user),
            system_ns: Some(cpu - user),
            ..Usage::default()
        };
        let later = split(12.0, 8.0).since(&split(10.0, 5.0));
        assert_eq!(later, split(2.0, 2.0), "the parts are no more than the whole");
    }
}
