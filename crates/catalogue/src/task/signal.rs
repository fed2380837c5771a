//! Signals: installing a handler, sending, delivery, and blocking.

pub(crate) mod receive;
pub(crate) mod send;

use operation::{Operation, repeat, term};

use crate::kit::{BASE, Thread, bit, change_mask, counted, ensure, handler, install, install_counter};

pub(crate) const OPERATIONS: &[Operation] = &[
    BASE.named("signal.install", "set the handler of a signal (sigaction)")
        .calls(&["rt_sigaction"])
        .headline()
        .prepare(|_| {
            install(libc::SIGUSR1, handler())?;
            Ok(repeat(|| {
                let before = install(libc::SIGUSR1, handler())?;
                ensure(before == handler(), || "another handler was in place")
            }))
        }),
    BASE.named("signal.ignored", "send an ignored signal to this thread: only the sending (tgkill)")
        .version(2)
        .per("signal")
        .calls(&["tgkill"])
        .headline()
        .prepare(|_| {
            install(libc::SIGUSR2, libc::SIG_IGN)?;
            let thread = Thread::current();
            Ok(repeat(move || thread.signal(libc::SIGUSR2)))
        }),
    // Without the sending (`signal.ignored`), what remains is the delivery, the handler and the return from it.
    BASE.named("signal.deliver", "send a signal to this thread and run its handler (tgkill)")
        .version(2)
        .per("signal")
        .aliases(&["AST"])
        .calls(&["tgkill", "rt_sigreturn"])
        .headline()
        .explained_by(&[term(1.0, "signal.ignored")])
        .at_least(&["signal.ignored"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let thread = Thread::current();
            counted(move || thread.signal(libc::SIGUSR1))
        }),
    BASE.named("signal.block.unblock", "block a signal and unblock it (rt_sigprocmask twice)")
        .version(2)
        .per("pair")
        .aliases(&["ENAR/DSAR"])
        .calls(&["rt_sigprocmask", "rt_sigprocmask"])
        .headline()
        .explained_by(&[term(2.0, "syscall.getppid")])
        .prepare(|_| {
            let signal = bit(libc::SIGUSR1);
            Ok(repeat(move || {
                change_mask(libc::SIG_BLOCK, signal)?;
                let held_off = change_mask(libc::SIG_UNBLOCK, signal)?;
                ensure(held_off & signal != 0, || "the signal was not blocked")
            }))
        }),
];
