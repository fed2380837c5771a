//! Calls on the placement of memory on nodes, and on the memory of other processes.

use std::os::fd::OwnedFd;

use operation::{Axis, Failure, Operation, Setting, repeat, word, words};
use record::Estimate;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::elsewhere::{Elsewhere, TaskRunning, running_elsewhere};
use super::{BLOCK, CALL};
use crate::kit::{
    Area, Null, PAGE, STOCK, back_and_forth, call, consuming, exactly, fork, invoke, owned, refilled, traced_by_parent,
    tried, turning,
};

/// Policies, as numbered in `linux/mempolicy.h`.
const DEFAULT_POLICY: i32 = 0;
const BIND: i32 = 2;

/// The number of nodes of a set of one word, plus one, because the kernel subtracts one.
const NODES: usize = 64;

/// Whether the other CPUs halt meanwhile or are kept awake. Either call waits until every CPU has passed a quiescent state,
/// which a kernel thread checks on each CPU. A CPU that halts must be woken first, which takes tens of microseconds under a
/// hypervisor.
const OTHERS: &[Axis] = &[word("others", words!["halting", "awake"])];

/// A call that moves pages and waits for the other CPUs.
const MOVING: Operation =
    CALL.axes(OTHERS).quoted(Estimate::Typical).follows_clock(|_| false).waits(|_| true).patience(30.0);

/// The wait status of a process that stops at its exit for its tracer.
const EXITING: i32 = libc::SIGTRAP | libc::PTRACE_EVENT_EXIT << 8;

pub(crate) const OPERATIONS: &[Operation] = &[
    CALL.named("call.set_mempolicy", "set the memory node from which a thread's memory is allocated, or allow any")
        .prepare(|_| {
            let first = [1_u64 << first_node()?];
            back_and_forth(move || {
                // SAFETY: the set has 64 bits, which is what the number says.
                exactly(0, unsafe { invoke!(set_mempolicy, BIND, &first, NODES) }?)?;
                // SAFETY: no set is passed.
                exactly(0, unsafe { invoke!(set_mempolicy, DEFAULT_POLICY, 0, 0) }?)
            })
        }),
    CALL.named("call.get_mempolicy", "get the memory node from which a thread's memory is allocated").prepare(|_| {
        let (mut policy, mut nodes) = ([-1_i32], [0_u64; 16]);
        // SAFETY: there is room for a number and for 1024 nodes.
        tried(repeat(move || exactly(0, unsafe { invoke!(get_mempolicy, &mut policy, &mut nodes, 1024, 0, 0) }?)))
    }),
    CALL.named("call.mbind", "set the memory node from which a page is allocated, or allow any; a separate mapping")
        .version(2)
        .prepare(|_| {
            let (area, first) = (Area::touched(1)?, [1_u64 << first_node()?]);
            back_and_forth(move || {
                // SAFETY: the page is the area's, and the set has 64 bits.
                exactly(0, unsafe { invoke!(mbind, area.page(0).address(), PAGE, BIND, &first, NODES, 0) }?)?;
                // SAFETY: the page is the area's, and no set is passed.
                exactly(0, unsafe { invoke!(mbind, area.page(0).address(), PAGE, DEFAULT_POLICY, 0, 0, 0) }?)
            })
        }),
    CALL.id("call.set_mempolicy_home_node")
        .summary("set the preferred memory node of a page that had none; a separate mapping")
        .version(2)
        .prepare(|_| {
            // It then prefers no node: setting the preference that is already set would do nothing.
            let node = first_node()?;
            let first = [1_u64 << node];
            let bind = move |area: &Area, turn: usize| {
                // SAFETY: the page is the area's, and the set has 64 bits.
                exactly(0, unsafe { invoke!(mbind, area.page(turn).address(), PAGE, BIND, &first, NODES, 0) }?)
            };
            refilled(STOCK, Area::separate_touched(STOCK as usize)?, bind, move |area, turn| {
                exactly(0, call::set_mempolicy_home_node(area.page(turn), node, 0)?)
            })
        }),
    MOVING
        .id("call.migrate_pages")
        .summary("move all of a process's pages from one memory node to another, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let awake = awake(setting)?;
            let nodes = two_nodes()?;
            let area = Area::touched(1)?;
            // The call returns the number of pages that cannot be moved. Each process has some.
            let migrate = |from: u32, to: u32| {
                let (old, new) = ([1_u64 << from], [1_u64 << to]);
                // SAFETY: both sets have 64 bits.
                unsafe { invoke!(migrate_pages, 0, NODES, &old, &new) }.map(|_| 0)
            };
            for (from, to) in [(nodes[0], nodes[1]), (nodes[1], nodes[0])] {
                moved_to(&area, from as i32)?;
                migrate(from, to)?;
                exactly(to as usize, node_of(&area)?)?;
            }
            turning([(nodes[0], nodes[1]), (nodes[1], nodes[0])], move |(from, to)| {
                let _kept = (&area, &awake);
                migrate(from, to)
            })
        }),
    MOVING
        .named("call.move_pages", "move a page from one memory node to another, and back: one of the two calls")
        .version(2)
        .prepare(|setting| {
            let awake = awake(setting)?;
            let [first, second] = two_nodes()?.map(|node| node as i32);
            let area = Area::touched(1)?;
            // The page begins on the first node, where the second of the two calls moves it back.
            moved_to(&area, first)?;
            turning([second, first], move |node| {
                let _kept = &awake;
                moved_to(&area, node)
            })
        }),
    CALL.named("call.move_pages.ask", "ask on which memory node a page is, by the call that moves pages")
        .calls(&["move_pages"])
        .prepare(|_| {
            let area = Area::touched(1)?;
            let node = node_of(&area)?;
            tried(repeat(move || exactly(node, node_of(&area)?)))
        }),
    CALL.named("call.process_vm_readv", "read 512 bytes of this process's memory, as if it were another's")
        .moves(|_| BLOCK as u64)
        .prepare(|_| {
            let (area, process) = (Area::touched(2)?, std::process::id());
            tried(repeat(move || {
                let (here, there) = ([area.page(0).address(), BLOCK], [area.page(1).address(), BLOCK]);
                // SAFETY: both places are pages of the area, to which no reference points.
                exactly(BLOCK, unsafe { invoke!(process_vm_readv, process, &here, 1, &there, 1, 0) }?)
            }))
        }),
    CALL.named("call.process_vm_writev", "write 512 bytes of this process's memory, as if it were another's")
        .moves(|_| BLOCK as u64)
        .prepare(|_| {
            let (area, process) = (Area::touched(2)?, std::process::id());
            tried(repeat(move || {
                let (here, there) = ([area.page(0).address(), BLOCK], [area.page(1).address(), BLOCK]);
                // SAFETY: both places are pages of the area, to which no reference points.
                exactly(BLOCK, unsafe { invoke!(process_vm_writev, process, &here, 1, &there, 1, 0) }?)
            }))
        }),
    CALL.named("call.process_mrelease", "free the memory of a process that is ending, which has written 1 MiB of it")
        .prepare(|_| {
            let release = consuming(Ending::new, |ending| {
                exactly(0, call::process_mrelease(&ending.descriptor, 0)?)?;
                Ok(ending)
            });
            tried(release.at_most(1)).map_err(|failure| {
                let reason = "this kernel does not take a process of one thread at its exit for one that is ending";
                failure.skip_on(&[libc::EINVAL], reason, "Linux 6.1")
            })
        }),
];

/// Idle tasks on another CPU, if the point requests them.
fn awake(setting: &Setting) -> Result<Vec<Elsewhere>, Failure> {
    running_elsewhere(setting, usize::from(setting.word("others")? == "awake"), TaskRunning::Idly)
}

/// The memory nodes that this process may have pages on.
fn allowed_nodes() -> Result<impl Iterator<Item = u32>, Failure> {
    const ALLOWED: i32 = 4;
    let mut nodes = [0_u64; 16];
    // SAFETY: there is room for 1024 nodes.
    exactly(0, unsafe { invoke!(get_mempolicy, 0, &mut nodes, 1024, 0, ALLOWED) }?)?;
    // The calls here use only the first word of the sets.
    Ok((0..NODES as u32 - 1).filter(move |node| nodes[0] >> node & 1 == 1))
}

fn first_node() -> Result<u32, Failure> {
    let none = || Failure::skip("no memory node is below number 63", "allow such a node (cpuset)");
    allowed_nodes()?.next().ok_or_else(none)
}

fn two_nodes() -> Result<[u32; 2], Failure> {
    let mut numbers = allowed_nodes()?;
    match (numbers.next(), numbers.next()) {
        (Some(first), Some(second)) => Ok([first, second]),
        _ => Err(Failure::skip(
            "there is only one memory node, so no page can be moved to another",
            "a machine of several sockets, or allow a second node (cpuset)",
        )),
    }
}

/// The node of an area's first page.
#[inline(always)]
fn node_of(area: &Area) -> Result<usize, Failure> {
    let (pages, mut status) = ([area.page(0).address()], [-1_i32]);
    // SAFETY: there are one page, which is the area's, and room for one answer.
    exactly(0, unsafe { invoke!(move_pages, 0, 1, &pages, 0, &mut status, 0) }?)?;
    Ok(status[0] as usize)
}

/// Moves an area's first page to this node.
#[inline(always)]
fn moved_to(area: &Area, node: i32) -> Result<usize, Failure> {
    let (pages, mut status) = ([area.page(0).address()], [-1_i32]);
    // SAFETY: there are one page, which is the area's, one node, and room for one answer.
    exactly(0, unsafe { invoke!(move_pages, 0, 1, &pages, &[node], &mut status, 0) }?)?;
    exactly(node as usize, status[0] as usize).map(|()| 0)
}

/// A process that has exited but still has its memory, because it waits for its tracer, which is this process. Dropping
/// this lets it go.
struct Ending {
    pid: libc::pid_t,
    descriptor: OwnedFd,
}

impl Ending {
    fn new() -> Result<Ending, Failure> {
        let area = Area::new(256)?;
        let parent = std::process::id();
        let pid = fork(|| {
            // It is stopped, so it must not outlive this process, which may have ended before. If it cannot be traced, it ends at once.
            let follows = set_parent_process_death_signal(Some(Signal::KILL));
            let lives = call::getppid().is_ok_and(|id| id as u32 == parent);
            (0..256).for_each(|page| area.touch(page));
            if lives && follows.is_ok() && traced_by_parent().is_ok() {
                let _ = call::kill(std::process::id(), libc::SIGSTOP);
            }
            0
        })?;
        let descriptor = owned(call::pidfd_open(pid, 0)?);
        let ending = Ending { pid, descriptor };
        ending.stopped_by(libc::SIGSTOP)?;
        let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_EXITKILL;
        // SAFETY: this command takes no address, only options.
        exactly(0, unsafe { invoke!(ptrace, libc::PTRACE_SETOPTIONS, pid, 0, options) }?)?;
        // SAFETY: this command takes no address.
        exactly(0, unsafe { invoke!(ptrace, libc::PTRACE_CONT, pid, 0, 0) }?)?;
        ending.stopped_by(EXITING)?;
        Ok(ending)
    }

    /// Waits until it stops, and checks that the reason is this one.
    fn stopped_by(&self, reason: i32) -> Result<(), Failure> {
        let mut status = [0_i32];
        call::wait4(self.pid, &mut status, 0, Null)?;
        match status[0] {
            0 => Err(Failure::skip("this process may not trace another", "run it without a debugger or tracer")),
            other => exactly((reason << 8 | 0x7f) as usize, other as usize),
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = call::kill(self.pid, libc::SIGKILL);
        // SAFETY: this command takes no address.
        let _ = unsafe { invoke!(ptrace, libc::PTRACE_CONT, self.pid, 0, 0) };
        let _ = call::wait4(self.pid, Null, 0, Null);
    }
}
