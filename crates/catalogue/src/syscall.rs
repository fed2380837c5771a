//! Every system call on the path that does its work, with set-up and clean-up outside the timed region; one file per
//! subject.

pub(crate) mod asynchronous;
pub(crate) mod attribute;
pub(crate) mod called;
pub(crate) mod descriptor;
mod elsewhere;
pub(crate) mod entry;
pub(crate) mod epoll;
pub(crate) mod identity;
pub(crate) mod inotify;
pub(crate) mod ipc;
pub(crate) mod kernel;
pub(crate) mod locking;
pub(crate) mod memory;
pub(crate) mod mount;
pub(crate) mod numa;
pub(crate) mod path;
pub(crate) mod process;
pub(crate) mod schedule;
pub(crate) mod security;
pub(crate) mod signal;
pub(crate) mod socket;
pub(crate) mod sync;
pub(crate) mod table;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod transfer;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;
pub(crate) mod xattr;

use operation::{Operation, term};

use crate::kit::{BASE, ENTRY};

/// One call, explained by the kernel entry.
const CALL: Operation = BASE.explained_by(ENTRY);

/// Two calls that programs make in pairs.
const PAIR: Operation = BASE.per("pair").explained_by(&[term(2.0, "syscall.getppid")]);

/// The bytes that a call moves unless the operation says otherwise: one block move.
const BLOCK: usize = 512;
