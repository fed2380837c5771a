//! Every system call on the path that does its work, set up and torn down outside the timing; one file per subject.

mod area;
pub(crate) mod asynchronous;
pub(crate) mod attribute;
pub(crate) mod descriptor;
pub(crate) mod extended;
mod fresh;
pub(crate) mod identity;
pub(crate) mod ipc;
pub(crate) mod kernel;
pub(crate) mod locking;
pub(crate) mod memory;
pub(crate) mod mount;
pub(crate) mod notify;
pub(crate) mod own;
pub(crate) mod path;
pub(crate) mod policy;
pub(crate) mod process;
pub(crate) mod raw;
pub(crate) mod schedule;
pub(crate) mod security;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod sync;
pub(crate) mod task;
mod tasks;
pub(crate) mod time;
pub(crate) mod transfer;
pub(crate) mod watch;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;
