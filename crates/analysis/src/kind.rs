//! What kind of work an operation is: its id says so.

/// Work that neighbours, other loads and other times change alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KindOfWork {
    Memory,
    Loop,
    /// Instructions each of which needs the result of the one before.
    Chain,
    Instruction,
    Call,
    Signal,
    /// Page faults and processes, which touch memory.
    Pages,
    /// Switches between tasks, and messages between them.
    Tasks,
    File,
    Other,
}

impl KindOfWork {
    pub(crate) fn of(operation: &str) -> KindOfWork {
        match operation.split('.').next().unwrap_or_default() {
            "memory" => KindOfWork::Memory,
            "loop" => KindOfWork::Loop,
            "clock" if matches!(operation, "clock.read" | "clock.read.counter") => KindOfWork::Chain,
            "instruction" if operation.ends_with(".latency") => KindOfWork::Chain,
            "instruction" => KindOfWork::Instruction,
            "syscall" | "call" | "called" | "poll" | "clock" => KindOfWork::Call,
            "signal" => KindOfWork::Signal,
            "page" | "process" => KindOfWork::Pages,
            "switch" | "thread" | "pipe" | "unix" | "tcp" | "udp" | "futex" | "eventfd" => KindOfWork::Tasks,
            "file" => KindOfWork::File,
            _ => KindOfWork::Other,
        }
    }
}
