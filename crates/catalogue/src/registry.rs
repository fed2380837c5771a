//! The list of all operations: the families, and the files that each family takes its operations from. Everything that
//! iterates over operations iterates over this list.

use std::collections::HashMap;
use std::sync::LazyLock;

use operation::Operation;

use crate::compute::{convert, sort};
use crate::contention::{line, lock, shootdown, space, transfer};
use crate::file::{self, keyed, reading, sparse, writing};
use crate::memory::{self, align, page, touch};
use crate::message::{self, poll};
use crate::processor::{clock, crossing, empty, flag, instruction};
use crate::task::{asynchronous, level, process, scaling, scheduler, signal, sleep, switch, thread};
use crate::terminal::{echo, input, output, screen, session};
use crate::user::command;
use crate::{mode, syscall};

/// A family of operations: one heading in every table.
pub struct Family {
    pub title: &'static str,
    /// The operations of each of its files, in the order in which they are shown.
    files: &'static [&'static [Operation]],
    crosses: bool,
}

impl Family {
    const fn of(title: &'static str, files: &'static [&'static [Operation]]) -> Family {
        Family { title, files, crosses: false }
    }

    /// The same, whose operations cross a device, a queue or a network, and so leave work to the kernel's threads or to
    /// interrupts.
    const fn crossing(self) -> Family {
        Family { crosses: true, ..self }
    }

    /// Its operations, in the order in which they are shown.
    pub fn operations(&self) -> impl Iterator<Item = &'static Operation> + use<> {
        self.files.iter().copied().flatten()
    }
}

/// All families, in the order in which they are shown. It is a static, because the closures of a constant are compiled anew
/// in every crate that names it, which doubled the build time and the size of the program.
pub static FAMILIES: &[Family] = &[
    Family::of("loop", &[empty::OPERATIONS]),
    Family::of("instructions", &[instruction::basic::OPERATIONS, instruction::branch::OPERATIONS]),
    Family::of("instructions on integers", &[instruction::integer::OPERATIONS]),
    Family::of(
        "more instructions on integers",
        &[
            #[cfg(target_arch = "x86_64")]
            instruction::integer::OWN,
            #[cfg(target_arch = "aarch64")]
            instruction::own::INTEGERS,
        ],
    ),
    Family::of("instructions on floating-point numbers", &[instruction::float::FLOATS]),
    Family::of("instructions on vectors of integers", &[instruction::float::VECTORS]),
    Family::of("loads and stores", &[instruction::access::OPERATIONS]),
    Family::of("branches", &[instruction::branch::HISTORY]),
    Family::of("atomics, fences and other instructions", &[instruction::special::OPERATIONS]),
    Family::of("instructions of this architecture alone", &[instruction::own::OPERATIONS]),
    Family::of("memory", &[memory::access::OPERATIONS]),
    Family::of("clock", &[clock::OPERATIONS]),
    Family::of("system calls", &[syscall::entry::OPERATIONS]),
    Family::of("calls that move bytes", &[syscall::transfer::OPERATIONS]).crossing(),
    Family::of("calls that wait for devices", &[syscall::sync::OPERATIONS]).crossing(),
    Family::of("calls on descriptors", &[syscall::descriptor::OPERATIONS]),
    Family::of("calls that wait for descriptors", &[syscall::epoll::OPERATIONS]),
    Family::of("calls that ask and collect", &[syscall::asynchronous::OPERATIONS]).crossing(),
    Family::of("calls on files", &[syscall::path::OPERATIONS]),
    Family::of("calls on attributes", &[syscall::attribute::OPERATIONS]),
    Family::of("calls on extended attributes", &[syscall::xattr::OPERATIONS]),
    Family::of("calls on mounts", &[syscall::mount::OPERATIONS]),
    Family::of("calls that watch and find files", &[syscall::inotify::OPERATIONS]),
    Family::of("calls on sockets", &[syscall::socket::OPERATIONS]),
    Family::of("calls on memory", &[syscall::memory::OPERATIONS]),
    Family::of("calls that lock and protect memory", &[syscall::locking::OPERATIONS]),
    Family::of("calls on where memory is", &[syscall::numa::OPERATIONS]),
    Family::of("calls on processes", &[syscall::process::OPERATIONS]),
    Family::of("calls on threads", &[syscall::thread::OPERATIONS]),
    Family::of("calls on identity", &[syscall::identity::OPERATIONS]),
    Family::of("calls that confine", &[syscall::security::OPERATIONS]),
    Family::of("calls on signals", &[syscall::signal::OPERATIONS]),
    Family::of("calls on time", &[syscall::time::OPERATIONS]),
    Family::of("calls on scheduling", &[syscall::schedule::OPERATIONS]),
    #[cfg(target_arch = "x86_64")]
    Family::of("calls of x86-64 alone", &[syscall::x86_64::OPERATIONS]),
    Family::of("calls on queues and semaphores", &[syscall::ipc::OPERATIONS]),
    Family::of("calls on the kernel itself", &[syscall::kernel::OPERATIONS]),
    Family::of(
        "calls as programs make them",
        &[
            syscall::called::OPERATIONS,
            syscall::called::created::OPERATIONS,
            syscall::called::rewritten::OPERATIONS,
            syscall::called::listing::OPERATIONS,
            syscall::called::connection::OPERATIONS,
            syscall::called::peer::OPERATIONS,
            syscall::called::object::OPERATIONS,
        ],
    ),
    Family::of(
        "crossings",
        &[
            crossing::procedure::OPERATIONS,
            crossing::vdso::OPERATIONS,
            crossing::kernel::OPERATIONS,
            crossing::signal::OPERATIONS,
            crossing::process::OPERATIONS,
        ],
    ),
    Family::of("address space", &[page::OPERATIONS]),
    Family::of("memory at its first touch", &[touch::OPERATIONS]),
    Family::of("files", &[file::access::OPERATIONS, file::direct::OPERATIONS]).crossing(),
    Family::of("moving without a copy", &[file::moving::OPERATIONS]),
    Family::of(
        "file readers",
        &[
            reading::plain::OPERATIONS,
            reading::mapped::OPERATIONS,
            reading::buffered::OPERATIONS,
            reading::ring::OPERATIONS,
            reading::moved::OPERATIONS,
            reading::work::OPERATIONS,
            reading::unused::OPERATIONS,
        ],
    )
    .crossing(),
    Family::of(
        "file writers",
        &[
            writing::plain::OPERATIONS,
            writing::mapped::OPERATIONS,
            writing::buffered::OPERATIONS,
            writing::ring::OPERATIONS,
            writing::moved::OPERATIONS,
            writing::generate::OPERATIONS,
        ],
    )
    .crossing(),
    Family::of("conversions", &[convert::OPERATIONS]),
    Family::of("execution modes", &[mode::OPERATIONS]),
    Family::of("sparse files", &[sparse::OPERATIONS]).crossing(),
    Family::of("keyed files", &[keyed::OPERATIONS]).crossing(),
    Family::of("sorting", &[sort::OPERATIONS]),
    Family::of("alignment", &[align::OPERATIONS]),
    Family::of("event flags", &[flag::OPERATIONS]),
    Family::of("waking up", &[sleep::OPERATIONS]),
    Family::of("waiting for many", &[poll::OPERATIONS]),
    Family::of(
        "messages",
        &[
            message::pipe::OPERATIONS,
            message::idle::OPERATIONS,
            message::pipe::FIFOS,
            message::socket::OPERATIONS,
            message::queue::OPERATIONS,
            message::shared::OPERATIONS,
            message::vm::OPERATIONS,
            message::futex::OPERATIONS,
            message::semaphore::OPERATIONS,
            message::eventfd::OPERATIONS,
            message::signalfd::OPERATIONS,
            message::ring::OPERATIONS,
            message::descriptor::OPERATIONS,
            message::wakeup::OPERATIONS,
            message::task::OPERATIONS,
        ],
    )
    .crossing(),
    Family::of("sending with and without a copy", &[message::sending::OPERATIONS]).crossing(),
    Family::of("spinning and blocking", &[message::waiting::OPERATIONS]),
    Family::of("terminal output", &[output::OPERATIONS]).crossing(),
    Family::of("terminal input", &[input::OPERATIONS]).crossing(),
    Family::of("keystrokes and their echo", &[echo::OPERATIONS]).crossing(),
    Family::of("a session at a terminal", &[session::OPERATIONS]).crossing(),
    Family::of("keeping a screen up to date", &[screen::OPERATIONS]).crossing(),
    Family::of(
        "asynchronous completion",
        &[
            asynchronous::OPERATIONS,
            asynchronous::aio::OPERATIONS,
            asynchronous::linux::OPERATIONS,
            asynchronous::uring::OPERATIONS,
        ],
    )
    .crossing(),
    Family::of("signals", &[signal::OPERATIONS, signal::send::OPERATIONS, signal::receive::OPERATIONS]),
    Family::of("switches", &[switch::OPERATIONS]),
    Family::of("scheduling", &[scheduler::OPERATIONS]),
    Family::of("multiprogramming level", &[level::OPERATIONS]),
    Family::of("work of several CPUs", &[scaling::OPERATIONS]),
    Family::of(
        "contention",
        &[lock::OPERATIONS, line::OPERATIONS, shootdown::OPERATIONS, space::OPERATIONS, transfer::OPERATIONS],
    ),
    Family::of("threads", &[thread::OPERATIONS]),
    Family::of("processes", &[process::OPERATIONS, process::ways::OPERATIONS, process::apart::OPERATIONS]),
];

/// Every operation, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    FAMILIES.iter().flat_map(Family::operations)
}

/// The heading of the family of the operation with this id; empty if it is in none.
pub fn heading(id: &str) -> &'static str {
    static HEADINGS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
        let headings = |family: &'static Family| family.operations().map(|operation| (operation.id, family.title));
        FAMILIES.iter().flat_map(headings).collect()
    });
    HEADINGS.get(id).copied().unwrap_or_default()
}

/// True if the operation crosses a device, a queue or a network.
pub fn crosses(operation: &Operation) -> bool {
    let own = |family: &&Family| family.operations().any(|other| other.id == operation.id);
    FAMILIES.iter().find(own).is_some_and(|family| family.crosses)
}

/// The operation with this id. Includes the baseline of commands, which is in no family.
pub fn find(id: &str) -> Option<&'static Operation> {
    const BASELINES: &[Operation] = &[command::NOTHING];
    all().chain(BASELINES).find(|operation| operation.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_work_behind_crosses_and_what_computes_does_not() {
        let crosses = |id: &str| crosses(find(id).expect(id));
        for id in ["terminal.write", "terminal.echo.driver", "udp.self", "tcp.roundtrip", "read.direct", "write.pwrite"]
        {
            assert!(crosses(id), "{id}");
        }
        for id in [
            "tcp.send", "async.read.ring.polled", "call.io_uring_enter", "call.fsync", "file.create.delete",
            "pipe.roundtrip",
        ] {
            assert!(crosses(id), "{id}");
        }
        for id in ["loop.empty", "memory.copy", "syscall.getppid", "process.fork", "instruction.add.latency"] {
            assert!(!crosses(id), "{id}");
        }
    }
}
