//! How things stand on a machine now: what its description does not hold because it may change in an hour.

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

/// How things stand now: what a machine's description does not hold because it may change in an hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Present {
    /// Whether hardware counters can be had.
    pub counters: Counters,
    /// The kernel's `perf_event_paranoid`.
    pub perf_event_paranoid: Option<i32>,
    /// Load average of the last minute: tasks that ran or wanted to.
    pub load: Option<f64>,
    /// Memory that can be had without swapping.
    pub memory_free: Option<Bytes>,
    /// Swap in use.
    pub swap_used: Option<Bytes>,
    /// The folder that scratch files go below.
    pub scratch: String,
    /// The kind of file system it is on: `ext4`, `tmpfs`.
    pub scratch_kind: Option<String>,
    /// Room left there.
    pub scratch_free: Option<Bytes>,
    /// Size of `/dev/shm`.
    pub shared_memory: Option<Bytes>,
    /// Processes and threads that may exist at once.
    pub processes: Option<u64>,
    /// Effective capabilities, one bit each.
    pub capabilities: Option<u64>,
    /// Yama's `ptrace_scope`; 3 allows nobody to trace.
    pub ptrace_scope: Option<u32>,
    /// The kernel's `io_uring_disabled`; 1 for unprivileged processes, 2 for all.
    pub io_uring_disabled: Option<u32>,
    /// Programs that operations start and that are not here.
    pub missing_programs: Vec<String>,
    /// Options for finding bugs that the kernel was built with.
    pub debugging: Vec<String>,
    /// Whether a battery is being emptied.
    pub on_battery: Option<bool>,
    /// Whether `/proc` is there.
    pub proc: bool,
    /// Whether `/sys` is there.
    pub sys: bool,
}
