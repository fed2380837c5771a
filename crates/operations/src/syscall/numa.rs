//! Calls on where memory is taken from, and on the memory of other processes.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use operation::{Axis, Failure, Operation, Setting, Value, repeat, word};
use record::Estimate;

use super::elsewhere::{Elsewhere, Running, running_elsewhere};
use super::{BLOCK, CALL};
use crate::kit::area::{Area, PAGE};
use crate::kit::check::exactly;
use crate::kit::invoke::{call, owned};
use crate::kit::loops::{STOCK, consuming, for_each, numbered, tried, turning};

/// Policies, of those that `linux/mempolicy.h` numbers.
const DEFAULT_POLICY: i32 = 0;
const BIND: i32 = 2;

/// The set of nodes that holds the first alone, and how many nodes it speaks of; the kernel takes one off.
const FIRST: &[u64; 1] = &[1];
const NODES: usize = 64;

/// Whether the other CPUs halt meanwhile or are kept from it. Either call waits until every CPU has passed a point where
/// it holds nothing of the kernel's, which a thread of the kernel's finds out, on whatever CPU it is: one that halts has
/// to be woken first, which under a hypervisor takes tens of microseconds.
const OTHERS: &[Axis] = &[word("others", &[Value::Word("halting"), Value::Word("awake")])];

/// A call that moves pages and waits for the other CPUs.
const MOVING: Operation = Operation {
    axes: OTHERS,
    quoted: Estimate::Typical,
    follows_clock: |_| false,
    waits: |_| true,
    patience: 30.0,
    ..CALL
};

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
                .unrolled(2),
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
        summary: "say from which memory node a page is taken, or that it is all the same; a mapping of its own",
        version: 2,
        calls: &["mbind"],
        prepare: |_| {
            let area = Area::touched(1)?;
            tried(
                repeat(move || {
                    exactly(0, call!(mbind, area.page(0), PAGE, BIND, FIRST, NODES, 0)?)?;
                    exactly(0, call!(mbind, area.page(0), PAGE, DEFAULT_POLICY, 0, 0, 0)?)
                })
                .unrolled(2),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.set_mempolicy_home_node",
        summary: "say which of its memory nodes a page prefers that preferred none; a mapping of its own",
        version: 2,
        calls: &["set_mempolicy_home_node"],
        prepare: |_| {
            let area = Rc::new(Area::separate_touched(STOCK as usize)?);
            let bound = Rc::clone(&area);
            tried(
                numbered(move |turn| exactly(0, call!(set_mempolicy_home_node, area.page(turn), PAGE, 0, 0)?))
                    .at_most(STOCK)
                    // It then prefers none: what it prefers already is left as it is.
                    .before(for_each(move |turn| {
                        exactly(0, call!(mbind, bound.page(turn), PAGE, BIND, FIRST, NODES, 0)?)
                    })),
            )
        },
        ..CALL
    },
    Operation {
        id: "call.migrate_pages",
        summary: "move all of a process's pages from one memory node to another, and back: one of the two calls",
        version: 2,
        calls: &["migrate_pages"],
        prepare: |setting| {
            let awake = Awake::new(setting)?;
            let nodes = two_nodes()?;
            let area = Area::touched(1)?;
            // What the call returns counts pages that cannot be moved, of which each process has some.
            let migrate =
                |from: u32, to: u32| call!(migrate_pages, 0, NODES, &[1_u64 << from], &[1_u64 << to]).map(|_| 0);
            for (from, to) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] {
                moved_to(&area, from as i32)?;
                migrate(from, to)?;
                exactly(to as usize, node_of(&area)?)?;
            }
            turning([(nodes[0], nodes[1]), (nodes[1], nodes[0])], move |(from, to)| {
                let _kept = (&area, &awake);
                migrate(from, to)
            })
        },
        ..MOVING
    },
    Operation {
        id: "call.move_pages",
        summary: "move a page from one memory node to another, and back: one of the two calls",
        version: 2,
        calls: &["move_pages"],
        prepare: |setting| {
            let awake = Awake::new(setting)?;
            let [first, second] = two_nodes()?.map(|node| node as i32);
            let area = Area::touched(1)?;
            // It begins on the first, where the second of the two calls brings it.
            moved_to(&area, first)?;
            turning([second, first], move |node| {
                let _kept = &awake;
                moved_to(&area, node)
            })
        },
        ..MOVING
    },
    Operation {
        id: "call.move_pages.ask",
        summary: "ask on which memory node a page is, by the call that moves pages",
        calls: &["move_pages"],
        prepare: |_| {
            let area = Area::touched(1)?;
            let node = node_of(&area)?;
            tried(repeat(move || exactly(node, node_of(&area)?)))
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

/// Idle tasks on another CPU, where the point asks for them.
struct Awake(#[expect(dead_code, reason = "they run until it is dropped")] Vec<Elsewhere>);

impl Awake {
    fn new(setting: &Setting) -> Result<Awake, Failure> {
        Ok(Awake(running_elsewhere(setting, usize::from(setting.word("others") == "awake"), Running::Idly)?))
    }
}

/// Two memory nodes that this process may have pages on.
fn two_nodes() -> Result<[u32; 2], Failure> {
    const ALLOWED: i32 = 4;
    let mut nodes = [0_u64; 16];
    exactly(0, call!(get_mempolicy, 0, &mut nodes, 1024, 0, ALLOWED)?)?;
    // The calls here speak of the first of the words alone.
    let mut numbers = (0..NODES as u32 - 1).filter(|node| nodes[0] >> node & 1 == 1);
    match (numbers.next(), numbers.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err(Failure::skip(
            "there is one memory node, so that no page can be moved to another",
            "a machine of several sockets, or allow a second node (cpuset)",
        )),
    }
}

/// The node that an area's first page is on.
#[inline(always)]
fn node_of(area: &Area) -> Result<usize, Failure> {
    let (pages, mut status) = ([area.page(0)], [-1_i32]);
    exactly(0, call!(move_pages, 0, 1, &pages, 0, &mut status, 0)?)?;
    Ok(status[0] as usize)
}

/// Moves an area's first page to this node.
#[inline(always)]
fn moved_to(area: &Area, node: i32) -> Result<usize, Failure> {
    let (pages, mut status) = ([area.page(0)], [-1_i32]);
    exactly(0, call!(move_pages, 0, 1, &pages, &[node], &mut status, 0)?)?;
    exactly(node as usize, status[0] as usize).map(|()| 0)
}

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
