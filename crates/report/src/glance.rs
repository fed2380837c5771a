//! The headline run at a glance: which of its costs the page shows if it must fit a screen or two.

use record::{Cost, Run};

/// So many costs are shown, whatever the noise: a page or two.
const SHOWN: usize = 30;

/// What a reader wants to know of a machine first, most wanted first: an operation and its point as typed, or any point of it.
pub const WANTED: [&str; 44] = [
    "syscall.getppid", "memory.copy@size=512", "memory.load@set=67108864", "process.fork", "switch.process@set=0",
    "pipe.roundtrip@distance=same,size=26", "pipe.roundtrip@distance=other,size=26", "page.fault.anonymous",
    "syscall.open.close", "file.read", "instruction.add.latency", "tcp.roundtrip@distance=same,size=26",
    "futex.roundtrip@distance=other", "memory.load@set=8388608", "process.exec", "thread.create.join", "clock.read",
    "signal.deliver", "file.fsync", "instruction.branch.missed", "memory.load@set=16384", "memory.copy@size=67108864",
    "syscall.read.null", "file.read.mapped", "file.write", "memory.load@set=262144", "futex.roundtrip@distance=same",
    "page.fault.file", "file.create.delete", "poll.epoll", "switch.thread@set=0",
    "unix.roundtrip@distance=same,size=26", "tcp.roundtrip@distance=other,size=26", "process.spawn", "syscall.stat",
    "memory.read@set=67108864", "memory.write@set=67108864", "page.map.touch.unmap", "page.fault.huge", "switch.yield",
    "process.shell", "instruction.call", "udp.roundtrip@distance=same,size=26", "eventfd.roundtrip@distance=same",
];

/// True if a run is of the headline operations, with more costs than a glance takes in.
pub(crate) fn is_headline(run: &Run) -> bool {
    let settings = &run.settings;
    settings.patterns.is_empty() && !settings.full && !run.is_published() && run.costs.len() > SHOWN + SHOWN / 3
}

/// The costs that a short page shows, the most wanted first.
pub(crate) fn wanted(run: &Run) -> Vec<&Cost> {
    let rank = |cost: &&Cost| {
        let is = |wanted: &&str| **wanted == cost.operation || **wanted == format!("{}{}", cost.operation, cost.at);
        WANTED.iter().position(is).unwrap_or(WANTED.len())
    };
    let mut costs: Vec<&Cost> = run.costs.iter().collect();
    costs.sort_by_cached_key(rank);
    costs.truncate(SHOWN);
    costs
}
