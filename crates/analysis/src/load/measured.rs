//! What was counted in each configuration.

use serde::Serialize;

use super::configuration::Configuration;

/// An experiment: one plan, its configurations, and what was counted in each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Experiment {
    pub plan: String,
    /// The interactions' names, in the order of the script.
    pub interactions: Vec<String>,
    /// How the limits were set: `control groups, version 1`; `None` if there were none.
    pub limited_by: Option<String>,
    /// What could not be had here, in whole sentences.
    pub notes: Vec<String>,
    /// What was counted, in the order in which it ran.
    pub measured: Vec<Measured>,
    /// The signal that ended it early.
    pub interrupted: Option<i32>,
}

/// How an interaction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Done,
    /// The command left with this exit status, or could not be started (127).
    Failed(i32),
    /// This signal ended it or the user's process. With signal 9 and a memory limit, memory was too small for it.
    Killed(i32),
    /// It took longer than the plan allows and was stopped.
    Hung,
}

impl Outcome {
    /// What it did, such as `left with status 2`. `limit_s` is what the plan allows, in seconds.
    pub fn described(self, limit_s: f64) -> String {
        match self {
            Outcome::Done => "did its work".into(),
            Outcome::Failed(status) => format!("left with status {status}"),
            Outcome::Killed(signal) => format!("died of signal {signal}"),
            Outcome::Hung => format!("took longer than {}", record::Nanoseconds(limit_s * 1e9)),
        }
    }
}

/// One interaction that ended within the time measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Finished {
    /// Its place in the script.
    pub interaction: usize,
    /// From its arrival until it was eligible, in seconds.
    pub wait_s: f64,
    /// From its arrival to its end, in seconds.
    pub response_s: f64,
    /// The part of it before the time measured began, in seconds.
    pub before_s: f64,
    /// Processor time in user mode, in seconds.
    pub user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub system_s: f64,
    /// Page faults without a read.
    pub minor_faults: f64,
    /// Page faults that waited for a page.
    pub major_faults: f64,
    pub outcome: Outcome,
}

/// An interaction that had arrived and not ended when the time measured did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unfinished {
    /// Its place in the script.
    pub interaction: usize,
    /// From its arrival to the end of the time measured, in seconds.
    pub age_s: f64,
    /// The part of it before it was eligible, in seconds.
    pub wait_s: f64,
}

/// What happened while this number of processes was eligible.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Depth {
    /// For how long, in seconds.
    pub elapsed_s: f64,
    /// Processor time that the users took, in seconds.
    pub busy_s: f64,
    /// Page faults that waited for a page.
    pub major_faults: f64,
}

impl Depth {
    /// Mean processor time between two page faults, in seconds, the handling of faults within; `None` if none occurred.
    pub fn between_faults_s(&self) -> Option<f64> {
        (self.major_faults > 0.0).then(|| self.busy_s / self.major_faults)
    }
}

/// Processor time, in seconds, over all CPUs of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// That the users took, in user mode.
    pub user_s: f64,
    /// That the users took, in the kernel.
    pub system_s: f64,
    /// That everything else took: other programs, howslow, kernel threads, the host.
    pub other_s: f64,
    /// That howslow took to drive the users. A part of `other_s` where it ran on the same CPUs.
    pub driver_s: f64,
}

/// What went to and came from the page device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Paging {
    /// Pages read back from swap.
    pub pages_in: f64,
    /// Pages written to swap.
    pub pages_out: f64,
    /// Pages of files that had to be read again although they had been in memory.
    pub file_refaults: f64,
    /// Pages from swap that had been in memory shortly before.
    pub anonymous_refaults: f64,
    /// Time that the device was busy, in seconds; `None` if the kernel does not tell.
    #[serde(skip)]
    pub device_s: Option<f64>,
}

/// Time in which tasks waited for memory, in seconds, from the kernel's totals. Of the users' group if the kernel tells
/// that, of the whole machine otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// At least one task waited.
    pub some_s: f64,
    /// All tasks waited.
    pub full_s: f64,
}

/// What one page fault costs in processor time, in seconds, measured beforehand with one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FaultCost {
    /// A fault that reads a page from the device, with what it takes to write another one out. 0 without a device.
    #[serde(rename = "major_fault_s")]
    pub major_s: f64,
    /// The first touch of a new page.
    #[serde(rename = "minor_fault_s")]
    pub minor_s: f64,
    /// Elapsed time of a fault that reads a page, with nothing else running.
    #[serde(skip)]
    pub wait_s: f64,
}

/// The same processor time and faults, taken by independent accounts, over the whole configuration with its beginning and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sums {
    /// Processor time in seconds by the reports of all interactions; that of killed processes is in none.
    #[serde(rename = "reported_cpu_s")]
    pub reported_s: f64,
    /// Processor time in seconds by wait4, of all the users' processes.
    #[serde(rename = "waited_cpu_s")]
    pub waited_s: f64,
    /// Processor time in seconds by the control group; null if there is none.
    #[serde(rename = "group_cpu_s")]
    pub group_s: Option<f64>,
}

/// What was counted in one configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    pub configuration: Configuration,
    /// The time measured, in seconds.
    pub elapsed_s: f64,
    /// The interactions that ended in that time.
    pub finished: Vec<Finished>,
    /// Those that had arrived and not ended when it was over.
    pub unfinished: Vec<Unfinished>,
    /// How many had arrived and not ended when it began.
    pub unfinished_before: usize,
    /// True if interactions arrive by themselves, false if users wait for the end of one before they ask for the next.
    pub is_open: bool,
    /// By the number of eligible processes, from none up.
    pub depths: Vec<Depth>,
    /// The same for each of some equal parts of the time measured.
    pub parts: Vec<Vec<Depth>>,
    pub cpu: CpuTime,
    pub paging: Paging,
    /// Time spent waiting for memory; `None` if the kernel does not tell.
    pub pressure: Option<Pressure>,
    /// Processes that the kernel killed because the group had no memory left, as the group counts them.
    pub killed_for_memory: u64,
    pub fault: FaultCost,
    pub sums: Sums,
}

impl Measured {
    /// True if interactions arrive faster than they end, beyond chance: then the wait for them grows as long as it is measured. Where
    /// as many arrive as end, what has come and what has gone each scatter by the root of their number (Poisson).
    pub fn grows(&self) -> bool {
        let (ended, before) = (self.finished.len() as f64, self.unfinished_before as f64);
        let more = self.unfinished.len() as f64 - before;
        self.is_open && more > 2.0 * (2.0 * ended + more).max(0.0).sqrt()
    }
}
