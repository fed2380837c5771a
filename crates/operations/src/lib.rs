//! Every operation howslow can measure, one file per family. Knows nothing of how often or how well it is timed.

mod align;
mod asynchronous;
mod block;
mod call;
mod channel;
mod child;
mod clock;
pub mod command;
mod convert;
mod crossing;
mod cycle;
mod empty;
mod file;
mod flag;
mod folder;
mod huge;
mod instruction;
mod keyed;
mod mask;
mod memory;
mod message;
pub mod mode;
mod page;
mod places;
mod poll;
mod process;
pub mod reading;
pub mod residence;
pub mod routine;
mod shared;
mod signal;
mod sort;
mod sparse;
mod stream;
mod switch;
mod syscall;
mod table;
mod terminal;
mod thread;
mod touch;
#[cfg(test)]
mod trial;
mod writing;

use operation::{Operation, TermOf, term};
pub use process::program as program_that_does_nothing;
pub use table::{Call, every_call, timing};

/// What most operations are: a call, quoted by its quiet figure, with the empty loop as its baseline.
pub const DEFAULT: Operation = Operation { terms: EMPTY_LOOP, ..Operation::DEFAULT };

/// One iteration of the loop around every operation.
const EMPTY_LOOP: &[TermOf] = &[term(1.0, "loop.empty")];

/// A family of operations: one file, one heading in every table.
pub struct Family {
    /// The heading.
    pub title: &'static str,
    /// Its operations, in the order they are shown.
    pub operations: &'static [Operation],
}

/// All families, in the order they are shown. A static: the closures of a constant are compiled anew in every crate that
/// names it, which doubled the time to build and the size of the program.
pub static FAMILIES: &[Family] = &[
    Family { title: "loop", operations: empty::OPERATIONS },
    Family { title: "instructions", operations: instruction::OPERATIONS },
    Family { title: "instructions on integers", operations: instruction::INTEGERS },
    Family { title: "more instructions on integers", operations: instruction::OWN_INTEGERS },
    Family { title: "instructions on floating-point numbers", operations: instruction::FLOATS },
    Family { title: "instructions on vectors of integers", operations: instruction::VECTORS },
    Family { title: "loads and stores", operations: instruction::ACCESSES },
    Family { title: "branches", operations: instruction::BRANCHES },
    Family { title: "atomics, fences and other instructions", operations: instruction::SPECIAL },
    Family { title: "instructions of this architecture alone", operations: instruction::OWN },
    Family { title: "memory", operations: memory::OPERATIONS },
    Family { title: "clock", operations: clock::OPERATIONS },
    Family { title: "system calls", operations: syscall::OPERATIONS },
    Family { title: "calls that move bytes", operations: call::transfer::OPERATIONS },
    Family { title: "calls that wait for devices", operations: call::sync::OPERATIONS },
    Family { title: "calls on descriptors", operations: call::descriptor::OPERATIONS },
    Family { title: "calls that wait for descriptors", operations: call::watch::OPERATIONS },
    Family { title: "calls that ask and collect", operations: call::asynchronous::OPERATIONS },
    Family { title: "calls on files", operations: call::path::OPERATIONS },
    Family { title: "calls on attributes", operations: call::attribute::OPERATIONS },
    Family { title: "calls on extended attributes", operations: call::extended::OPERATIONS },
    Family { title: "calls on mounts", operations: call::mount::OPERATIONS },
    Family { title: "calls that watch and find files", operations: call::notify::OPERATIONS },
    Family { title: "calls on sockets", operations: call::socket::OPERATIONS },
    Family { title: "calls on memory", operations: call::memory::OPERATIONS },
    Family { title: "calls that lock and protect memory", operations: call::locking::OPERATIONS },
    Family { title: "calls on where memory is", operations: call::policy::OPERATIONS },
    Family { title: "calls on processes", operations: call::process::OPERATIONS },
    Family { title: "calls on threads", operations: call::task::OPERATIONS },
    Family { title: "calls on identity", operations: call::identity::OPERATIONS },
    Family { title: "calls that confine", operations: call::security::OPERATIONS },
    Family { title: "calls on signals", operations: call::signal::OPERATIONS },
    Family { title: "calls on time", operations: call::time::OPERATIONS },
    Family { title: "calls on scheduling", operations: call::schedule::OPERATIONS },
    #[cfg(target_arch = "x86_64")]
    Family { title: "calls of x86-64 alone", operations: call::x86_64::OPERATIONS },
    Family { title: "calls on queues and semaphores", operations: call::ipc::OPERATIONS },
    Family { title: "calls on the kernel itself", operations: call::kernel::OPERATIONS },
    Family { title: "crossings", operations: crossing::OPERATIONS },
    Family { title: "address space", operations: page::OPERATIONS },
    Family { title: "memory at its first touch", operations: touch::OPERATIONS },
    Family { title: "files", operations: file::OPERATIONS },
    Family { title: "file readers", operations: reading::OPERATIONS },
    Family { title: "file writers", operations: writing::OPERATIONS },
    Family { title: "conversions", operations: convert::OPERATIONS },
    Family { title: "execution modes", operations: mode::OPERATIONS },
    Family { title: "sparse files", operations: sparse::OPERATIONS },
    Family { title: "keyed files", operations: keyed::OPERATIONS },
    Family { title: "sorting", operations: sort::OPERATIONS },
    Family { title: "alignment", operations: align::OPERATIONS },
    Family { title: "event flags", operations: flag::OPERATIONS },
    Family { title: "waiting for many", operations: poll::OPERATIONS },
    Family { title: "messages", operations: message::OPERATIONS },
    Family { title: "terminal output", operations: terminal::OUTPUT },
    Family { title: "terminal input", operations: terminal::INPUT },
    Family { title: "keystrokes and their echo", operations: terminal::ECHO },
    Family { title: "a session at a terminal", operations: terminal::SESSION },
    Family { title: "keeping a screen up to date", operations: terminal::SCREEN },
    Family { title: "asynchronous completion", operations: asynchronous::OPERATIONS },
    Family { title: "signals", operations: signal::OPERATIONS },
    Family { title: "switches", operations: switch::OPERATIONS },
    Family { title: "threads", operations: thread::OPERATIONS },
    Family { title: "processes", operations: process::OPERATIONS },
];

/// Every operation, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Operation> {
    FAMILIES.iter().flat_map(|family| family.operations)
}

/// The operation with this id; the baseline of commands, which is in no family, included.
pub fn find(id: &str) -> Option<&'static Operation> {
    const BASELINES: &[Operation] = &[command::NOTHING];
    all().chain(BASELINES).find(|operation| operation.id == id)
}
