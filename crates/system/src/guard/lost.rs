//! Why a guarded child returned nothing. The sentences are what a run's document and the command print.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::guard::children::signal_name;

/// Why a guarded child returned nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum Lost {
    /// There is no socket to the guard; with the system's message.
    #[error("cannot make a socket: {0}")]
    NoSocket(String),
    /// There is no pipe from the child; with the system's message.
    #[error("cannot make a pipe: {0}")]
    NoPipe(String),
    /// The system has no process left; with its message.
    #[error("cannot fork: {0}")]
    NoProcess(String),
    /// There is no memory to share with it; with the system's message.
    #[error("cannot share memory: {0}")]
    NoMemory(String),
    /// The guard itself has ended.
    #[error("the process that guards it is gone")]
    Unguarded,
    /// The work panicked, with this message.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// It started too many processes.
    #[error("it started processes without end, and was stopped")]
    Multiplied,
    /// It returned nothing within this time.
    #[error("it hung: no result within {:.0} s", .0.as_secs_f64())]
    Hung(Duration),
    /// It was killed, and the kernel does not let it go.
    #[error("it is stuck in the kernel (uninterruptible sleep) and was abandoned; it dies when the kernel lets it go")]
    Stuck,
    /// This signal ended it.
    #[error("{}", killed(*.0))]
    Killed(i32),
    /// It left with this exit status.
    #[error("it left with exit status {0} before it had measured")]
    Exited(i32),
    /// Another process took its exit status.
    #[error("it vanished before it had measured")]
    Vanished,
}

fn killed(signal: i32) -> String {
    match signal {
        libc::SIGKILL => "killed by SIGKILL (out of memory?)".into(),
        signal => format!("it crashed: killed by {}", signal_name(signal)),
    }
}
