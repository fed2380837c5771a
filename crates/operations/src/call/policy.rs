//! Calls on where memory is taken from, and on the memory of other processes.

use std::os::fd::OwnedFd;

use measure::{Failure, Operation, repeat};

use super::memory::Area;
use super::raw::{BLOCK, CALL, call, consuming, owned, tried};
use crate::syscall::exactly;

/// A page of most machines.
const PAGE: usize = 4096;

/// Policies, of those that `linux/mempolicy.h` numbers.
const DEFAULT_POLICY: i32 = 0;
const BIND: i32 = 2;

/// The set of nodes that holds the first alone, and how many nodes it speaks of; the kernel takes one off.
const FIRST: &[u64; 1] = &[1];
const NODES: usize = 64;

/// How a process ended that waits at its end for the one that traces it.
const EXITING: i32 = libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8;

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "call.set_mempolicy",
        summary: "say from which memory node a thread's memory is taken, or that it is all the same",
        calls: &["set_mempolicy"],
        prepare: |_| {
            tried(
                repeat(|| {
                    exactly(0, call!(set_mempolicy, BIND, FIRST, NODES)?)?;
                    exactly(0, call!(set_mempolicy, DEFAULT_POLICY, 0, 0)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.get_mempolicy",
        summary: "ask from which memory node a thread's memory is taken",
        calls: &["get_mempolicy"],
        prepare: |_| {
            let (mut policy, mut nodes) = ([-1_i32], [0_u64; 16]);
            tried(repeat(move || exactly(0, call!(get_mempolicy, &mut policy, &mut nodes, 1024, 0, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.mbind",
        summary: "say from which memory node a page is taken, or that it is all the same",
        calls: &["mbind"],
        prepare: |_| {
            let area = Area::touched(1)?;
            tried(
                repeat(move || {
                    exactly(0, call!(mbind, area.page(0), PAGE, BIND, FIRST, NODES, 0)?)?;
                    exactly(0, call!(mbind, area.page(0), PAGE, DEFAULT_POLICY, 0, 0, 0)?)
                })
                .each(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.set_mempolicy_home_node",
        summary: "say which of its memory nodes a page prefers",
        calls: &["set_mempolicy_home_node"],
        prepare: |_| {
            let area = Area::touched(1)?;
            exactly(0, call!(mbind, area.page(0), PAGE, BIND, FIRST, NODES, 0)?)?;
            tried(repeat(move || exactly(0, call!(set_mempolicy_home_node, area.page(0), PAGE, 0, 0)?)))
        },
        ..CALL
    },
    Operation {
        id: "call.migrate_pages",
        summary: "move all of a process's pages from a memory node to the same one",
        calls: &["migrate_pages"],
        prepare: |_| tried(repeat(|| exactly(0, call!(migrate_pages, 0, NODES, FIRST, FIRST)?))),
        ..CALL
    },
    Operation {
        id: "call.move_pages",
        summary: "move a page to the memory node it is on",
        calls: &["move_pages"],
        prepare: |_| {
            let area = Area::touched(1)?;
            let (node, mut status) = ([0_i32], [-1_i32]);
            tried(repeat(move || {
                let pages = [area.page(0)];
                exactly(0, call!(move_pages, 0, 1, &pages, &node, &mut status, 0)?)?;
                exactly(0, status[0] as usize)
            }))
        },
        ..CALL
    },
    Operation {
        id: "call.process_vm_readv",
        summary: "read 512 bytes of a process's memory, its own",
        calls: &["process_vm_readv"],
        moves: |_| BLOCK as u64,
        prepare: |_| {
            let (area, process) = (Area::touched(2)?, std::process::id());
            tried(repeat(move || {
                let (here, there) = ([area.page(0), BLOCK], [area.page(1), BLOCK]);
                exactly(BLOCK, call!(process_vm_readv, process, &here, 1, &there, 1, 0)?)
            }))
        },
        ..CALL
    },
    Operation {
        id: "call.process_vm_writev",
        summary: "write 512 bytes of a process's memory, its own",
        calls: &["process_vm_writev"],
        moves: |_| BLOCK as u64,
        prepare: |_| {
            let (area, process) = (Area::touched(2)?, std::process::id());
            tried(repeat(move || {
                let (here, there) = ([area.page(0), BLOCK], [area.page(1), BLOCK]);
                exactly(BLOCK, call!(process_vm_writev, process, &here, 1, &there, 1, 0)?)
            }))
        },
        ..CALL
    },
    Operation {
        id: "call.process_mrelease",
        summary: "give back the memory of a process that is ending, 1 MiB of it written by itself",
        calls: &["process_mrelease"],
        prepare: |_| {
            tried(
                consuming(Ending::new, |ending| {
                    exactly(0, call!(process_mrelease, &ending.descriptor, 0)?)?;
                    Ok(ending)
                })
                .at_most(1),
            )
        },
        ..CALL
    },
];

/// A process that has ended but still has its memory, because it waits for us, who trace it; it is let go when dropped.
struct Ending {
    pid: libc::pid_t,
    descriptor: OwnedFd,
}

impl Ending {
    fn new() -> Result<Ending, Failure> {
        let area = Area::new(256)?;
        // SAFETY: a round's process has one thread here, so the child may do anything after the fork.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            (0..256).for_each(|page| area.touch(page));
            // Stopped as it is, it must not outlive this process; where it may not be traced, it ends at once.
            let followed = call!(prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
            if followed.and(call!(ptrace, libc::PTRACE_TRACEME, 0, 0, 0)).is_ok() {
                let _ = call!(kill, std::process::id(), libc::SIGSTOP);
            }
            // SAFETY: leaves without running the parent's destructors, which belong to the parent.
            unsafe { libc::_exit(0) };
        }
        let descriptor = owned(call!(pidfd_open, pid, 0)?);
        let ending = Ending { pid, descriptor };
        ending.stopped_by(libc::SIGSTOP)?;
        let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL;
        exactly(0, call!(ptrace, libc::PTRACE_SETOPTIONS, pid, 0, options)?)?;
        exactly(0, call!(ptrace, libc::PTRACE_CONT, pid, 0, 0)?)?;
        ending.stopped_by(EXITING)?;
        Ok(ending)
    }

    /// Waits until it stops, which must be for this reason.
    fn stopped_by(&self, reason: i32) -> Result<(), Failure> {
        let mut status = [0_i32];
        call!(wait4, self.pid, &mut status, 0, 0)?;
        match status[0] {
            0 => Err(Failure::skip("this process may not trace another", "run it without a debugger or tracer")),
            other => exactly((reason << 8 | 0x7f) as usize, other as usize),
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = call!(kill, self.pid, libc::SIGKILL);
        let _ = call!(ptrace, libc::PTRACE_CONT, self.pid, 0, 0);
        let mut status = [0_i32];
        let _ = call!(wait4, self.pid, &mut status, 0, 0);
    }
}
