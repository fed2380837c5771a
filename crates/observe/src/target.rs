//! What is watched, how, and why it cannot be.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::calibrate::added::Added;

/// What is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A command that is started, and everything that it starts.
    Command(Vec<OsString>),
    /// A running process, and everything that it starts.
    Process(u32),
    /// All processes of a cgroup and of those below it.
    Cgroup(PathBuf),
    /// All processes but this one.
    System,
}

/// A way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Source {
    /// Programs in the kernel
    #[cfg_attr(feature = "clap", value(name = "ebpf"))]
    Bpf,
    /// A tracer that stops the program at each call
    Ptrace,
    /// The kernel's accounts: no calls, but processor time, faults and switches.
    #[cfg_attr(feature = "clap", value(help = "The kernel's accounts"))]
    Accounts,
}

impl Source {
    /// All, the best first.
    pub const ALL: [Source; 3] = [Source::Bpf, Source::Ptrace, Source::Accounts];

    /// `eBPF`, `ptrace`, `accounts`.
    pub fn word(self) -> &'static str {
        match self {
            Source::Bpf => "eBPF",
            Source::Ptrace => "ptrace",
            Source::Accounts => "accounts",
        }
    }
}

/// What is counted of each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// How often, bytes, errors, and which call followed which.
    #[default]
    All,
    /// How often.
    Numbers,
}

/// What counting adds to what is counted.
#[derive(Clone, Debug)]
pub struct Calibration(pub(crate) Box<Added>);

/// Whether it is determined what counting costs.
#[derive(Clone, Debug, Default)]
pub enum Calibrate {
    /// It is not.
    #[default]
    Not,
    /// Before the watching, which takes some milliseconds.
    Before,
    /// It is known from an earlier watching of such a target by the same means.
    Known(Calibration),
}

/// How to watch.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Count in this way only; else in the best that is possible.
    pub source: Option<Source>,
    /// Whether to determine what counting costs.
    pub calibrate: Calibrate,
    /// What to count of each call. Less takes less time.
    pub detail: Detail,
    /// Find which functions of the program made its calls, by samples.
    pub stacks: bool,
}

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    #[error("cannot run {command}: {why}")]
    Start { command: String, why: std::io::Error },
    #[error("there is no process {0}; `ps -e` lists them")]
    NoProcess(u32),
    #[error("process {0} has ended, and only waits for the one that created it; there is nothing to watch")]
    Ended(u32),
    #[error("{thread} is a thread of process {process}; give -p {process}")]
    OfProcess { thread: u32, process: u32 },
    #[error("{path} is no cgroup: {why}; give a folder below /sys/fs/cgroup")]
    NoCgroup { path: PathBuf, why: std::io::Error },
    /// The way of counting that was requested; the reason contains what to do.
    #[error("{} cannot be used here: {why}", .with.word())]
    Refused { with: Source, why: String },
    /// The kernel refused something that it had allowed before.
    #[error("counting failed: {0}")]
    Failed(#[from] std::io::Error),
}
