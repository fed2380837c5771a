//! What is watched, how, and why it cannot be.

use std::ffi::OsString;
use std::path::PathBuf;

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
pub enum Source {
    /// Programs in the kernel.
    Bpf,
    /// The kernel's accounts: no calls, but processor time, faults and switches.
    Accounts,
}

impl Source {
    /// `eBPF`, `accounts`.
    pub fn word(self) -> &'static str {
        match self {
            Source::Bpf => "eBPF",
            Source::Accounts => "accounts",
        }
    }
}

/// How to watch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Count in this way only; else in the best that is possible.
    pub source: Option<Source>,
    /// Determine what counting costs, which takes some milliseconds.
    pub calibrate: bool,
}

/// Why nothing can be watched.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The command cannot be started.
    #[error("cannot run {command}: {why}")]
    Start {
        /// Its first word.
        command: String,
        /// The kernel's reason.
        why: std::io::Error,
    },
    /// There is no such process.
    #[error("there is no process {0}; `ps -e` lists them")]
    NoProcess(u32),
    /// There is no such cgroup.
    #[error("{path} is no cgroup: {why}; give a folder below /sys/fs/cgroup")]
    NoCgroup {
        /// What was given.
        path: PathBuf,
        /// What is missing.
        why: std::io::Error,
    },
    /// The way of counting that was asked for is not possible.
    #[error("{} cannot be used here: {why}", .with.word())]
    Refused {
        /// It.
        with: Source,
        /// The reason, and what to do.
        why: String,
    },
    /// The kernel refused something that it had allowed before.
    #[error("counting failed: {0}")]
    Failed(#[from] std::io::Error),
}
