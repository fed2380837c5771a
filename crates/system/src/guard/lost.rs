//! Why a guarded child returned nothing. The sentences are what a run's document and the command print.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why a guarded child returned nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum Lost {
    #[error("cannot make a socket: {0}")]
    NoSocket(String),
    #[error("cannot make a pipe: {0}")]
    NoPipe(String),
    #[error("cannot fork: {0}")]
    NoProcess(String),
    #[error("cannot share memory: {0}")]
    NoMemory(String),
    #[error("the process that guards it is gone")]
    Unguarded,
    #[error("it panicked: {0}")]
    Panicked(String),
    #[error("it started processes without end, and was stopped")]
    Multiplied,
    #[error("it hung: no result within {} s", .0.as_millis() as f64 / 1e3)]
    Hung(Duration),
    #[error("it is stuck in the kernel (uninterruptible sleep) and was abandoned; it dies when the kernel lets it go")]
    Stuck,
    #[error("{}", killed(*.0))]
    Killed(i32),
    #[error("it left with exit status {0} before it had measured")]
    Exited(i32),
    #[error("it vanished before it had measured")]
    Vanished,
}

fn killed(signal: i32) -> String {
    let name = match signal {
        libc::SIGKILL => return "killed by SIGKILL (out of memory?)".into(),
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS (a mapped file was truncated, could not be read, or had no space to be written)",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGABRT => "SIGABRT",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGSYS => "SIGSYS (a seccomp filter)",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGTERM => "SIGTERM",
        other => return format!("it crashed: killed by signal {other}"),
    };
    format!("it crashed: killed by {name}")
}
