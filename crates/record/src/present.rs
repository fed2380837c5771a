//! The current state of a machine: facts that are not in its description because they may change in an hour.

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// Whether hardware counters can be had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counters {
    /// Cycles were counted.
    Available,
    /// The kernel refuses them to this process.
    Refused,
    /// There are none, or they do not count.
    #[default]
    Absent,
}

/// The current state: facts that are not in a machine's description because they may change in an hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Present {
    /// Whether hardware counters can be had.
    pub counters: Counters,
    /// The kernel's `perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// Load average of the last minute: tasks that ran or wanted to.
    pub load: Option<f64>,
    /// Memory available without swapping.
    pub memory_free: Option<Bytes>,
    /// Swap in use.
    pub swap_used: Option<Bytes>,
    /// The folder that contains scratch files.
    pub scratch: String,
    /// Its file system: `ext4`, `tmpfs`.
    pub scratch_kind: Option<String>,
    /// Free space there.
    pub scratch_free: Option<Bytes>,
    /// Size of `/dev/shm`.
    pub shared_memory: Option<Bytes>,
    /// The maximum number of processes and threads.
    pub processes: Option<u64>,
    /// Effective capabilities, one bit each.
    pub capabilities: Option<u64>,
    /// Yama's `ptrace_scope`. At 3, no process may trace.
    pub ptrace_scope: Option<u32>,
    /// The kernel's `io_uring_disabled`: 1 for unprivileged processes, 2 for all.
    pub io_uring_disabled: Option<u32>,
    /// Programs that operations start and that are missing.
    pub missing_programs: Vec<String>,
    /// Debugging options that the kernel was built with.
    pub debugging: Vec<String>,
    /// True if a battery is discharging.
    pub on_battery: Option<bool>,
    /// True if `/proc` exists.
    pub proc: bool,
    /// True if `/sys` exists.
    pub sys: bool,
}
