//! What counting a program's calls cost it: plain figures, by each way in which they were taken.

use serde::{Deserialize, Serialize};

/// What counting cost the program that was watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountingCost {
    /// What a system call takes longer while it is counted, in ns.
    pub per_call_ns: f64,
    /// The part of it that the program in the kernel takes by the kernel's own statistics, which take time themselves, in ns;
    /// null where no program counts.
    #[serde(default)]
    pub in_program_ns: Option<f64>,
    /// What it cost in all: of calls, timed faults, samples and switches, in ns.
    pub together_ns: f64,
    /// How it was determined.
    pub method: String,
    /// What alternated calls of howslow's own say; null if too few were made, as on a machine without a free CPU.
    #[serde(default)]
    pub probe: Option<CountingProbe>,
    /// What the command took without and with counting, if that was tried.
    #[serde(default)]
    pub alternated: Option<Alternated>,
}

/// What calls of howslow's own took longer while they were counted, in alternated stretches before the watching.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountingProbe {
    /// How many pairs of a stretch that was counted and one that was not.
    pub pairs: u32,
    /// The median of the pairs, in ns a call, with what counting took calls of the bill longer than these by samples of them.
    pub per_call_ns: f64,
    /// The lower end of its 95 % interval, by order statistics over the pairs, in ns.
    pub low_ns: f64,
    /// The upper end of it, in ns.
    pub high_ns: f64,
}

/// A command that was run without and with counting, alternately: medians of both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternated {
    /// How often each way.
    pub pairs: u32,
    /// Processor time without counting, in ns.
    pub bare_cpu_ns: f64,
    /// Processor time with counting, in ns.
    pub counted_cpu_ns: f64,
    /// Elapsed time without counting, in ns.
    pub bare_elapsed_ns: f64,
    /// Elapsed time with counting, in ns.
    pub counted_elapsed_ns: f64,
}

impl Alternated {
    /// The processor time that counting took, in ns; below zero where it is less than what differs from run to run.
    pub fn cost_ns(&self) -> f64 {
        self.counted_cpu_ns - self.bare_cpu_ns
    }
}
