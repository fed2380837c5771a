//! Signals: installing a handler, sending, delivery, and blocking.

pub(crate) mod receive;
pub(crate) mod send;

use operation::{Failure, Operation, repeat, term};

use crate::kit::baseline::DEFAULT;
use crate::kit::handler::{Thread, bit, change_mask, counted, handler, install, install_counter};

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        id: "signal.install",
        summary: "set the handler of a signal (sigaction)",
        calls: &["rt_sigaction"],
        headline: true,
        prepare: |_| {
            install(libc::SIGUSR1, handler())?;
            Ok(repeat(|| {
                let before = install(libc::SIGUSR1, handler())?;
                if before == handler() { Ok(()) } else { Err(Failure::wrong("another handler was in place")) }
            }))
        },
        ..DEFAULT
    },
    Operation {
        id: "signal.ignored",
        version: 2,
        summary: "send an ignored signal to this thread: only the sending (tgkill)",
        per: "signal",
        calls: &["tgkill"],
        headline: true,
        prepare: |_| {
            install(libc::SIGUSR2, libc::SIG_IGN)?;
            let thread = Thread::current();
            Ok(repeat(move || thread.signal(libc::SIGUSR2)))
        },
        ..DEFAULT
    },
    // Without the sending (`signal.ignored`), what remains is the delivery, the handler and the return from it.
    Operation {
        id: "signal.deliver",
        version: 2,
        summary: "send a signal to this thread and run its handler (tgkill)",
        per: "signal",
        aliases: &["AST"],
        calls: &["tgkill", "rt_sigreturn"],
        headline: true,
        explained_by: &[term(1.0, "signal.ignored")],
        at_least: &["signal.ignored"],
        prepare: |_| {
            install_counter(libc::SIGUSR1)?;
            let thread = Thread::current();
            Ok(counted(repeat(move || thread.signal(libc::SIGUSR1))))
        },
        ..DEFAULT
    },
    Operation {
        id: "signal.block.unblock",
        version: 2,
        summary: "block a signal and unblock it (rt_sigprocmask twice)",
        per: "pair",
        aliases: &["ENAR/DSAR"],
        calls: &["rt_sigprocmask"],
        headline: true,
        explained_by: &[term(2.0, "syscall.getppid")],
        prepare: |_| {
            let signal = bit(libc::SIGUSR1);
            Ok(repeat(move || {
                change_mask(libc::SIG_BLOCK, signal)?;
                let held_off = change_mask(libc::SIG_UNBLOCK, signal)?;
                if held_off & signal != 0 { Ok(()) } else { Err(Failure::wrong("the signal was not blocked")) }
            }))
        },
        ..DEFAULT
    },
];
