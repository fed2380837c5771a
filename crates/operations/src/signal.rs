//! Signals: choosing a handler, sending, delivery, and holding them off.

use std::sync::atomic::{AtomicU64, Ordering};

use libc::c_int;
use operation::{Failure, Loop, Operation, repeat, term};

use crate::call::raw::call;
use crate::syscall::exactly;

mod receive;
mod send;

pub(crate) const OPERATIONS: &[Operation] = &[
    INSTALL,
    IGNORED,
    DELIVER,
    BLOCK_UNBLOCK,
    send::KILL,
    send::TKILL,
    send::SIGQUEUE,
    send::TGSIGQUEUE,
    send::PIDFD,
    send::TIMER,
    send::FAULT,
    receive::SIGINFO,
    receive::ALTSTACK,
    receive::SIGWAITINFO,
    receive::SIGNALFD,
    receive::SIGSUSPEND,
];

const INSTALL: Operation = Operation {
    id: "signal.install",
    summary: "choose the handler of a signal (sigaction)",
    calls: &["rt_sigaction"],
    headline: true,
    prepare: |_| {
        install(libc::SIGUSR1, handler())?;
        Ok(repeat(|| {
            let before = install(libc::SIGUSR1, handler())?;
            if before == handler() { Ok(()) } else { Err(Failure::wrong("another handler was in place")) }
        }))
    },
    ..crate::DEFAULT
};

const IGNORED: Operation = Operation {
    id: "signal.ignored",
    version: 2,
    summary: "send a signal to oneself that is ignored: the sending alone (tgkill)",
    per: "signal",
    calls: &["tgkill"],
    headline: true,
    prepare: |_| {
        install(libc::SIGUSR2, libc::SIG_IGN)?;
        let thread = Thread::current();
        Ok(repeat(move || thread.signal(libc::SIGUSR2)))
    },
    ..crate::DEFAULT
};

/// Without the sending (`signal.ignored`) it is the delivery, the handler and the return from it.
const DELIVER: Operation = Operation {
    id: "signal.deliver",
    version: 2,
    summary: "send a signal to oneself and have its handler run (tgkill)",
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
    ..crate::DEFAULT
};

const BLOCK_UNBLOCK: Operation = Operation {
    id: "signal.block.unblock",
    version: 2,
    summary: "hold a signal off and let it through again (rt_sigprocmask twice)",
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
            if held_off & signal != 0 { Ok(()) } else { Err(Failure::wrong("the signal was not held off")) }
        }))
    },
    ..crate::DEFAULT
};

/// Signals handled in this process. A handler is given nothing of its process's own, so it counts in a global.
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_signal(_signal: c_int) {
    count_one();
}

/// Counts a signal. The handlers of a round run one after another in one thread, so that nothing need be locked.
#[inline(always)]
fn count_one() {
    HANDLED.store(HANDLED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn handler() -> libc::sighandler_t {
    count_signal as extern "C" fn(c_int) as libc::sighandler_t
}

/// Has a signal counted by a handler, and lets it through.
pub(crate) fn install_counter(signal: c_int) -> Result<(), Failure> {
    install(signal, handler())?;
    // Whoever started us may have held it off.
    change_mask(libc::SIG_UNBLOCK, bit(signal)).map(drop)
}

/// The signal in a mask.
fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// A loop that has one signal handled per iteration, checked after each batch.
fn counted(signals: Loop) -> Loop {
    let mut handled = HANDLED.load(Ordering::Relaxed);
    signals.verify(move |times| {
        handled += times;
        let all = HANDLED.load(Ordering::Relaxed) == handled;
        if all { Ok(()) } else { Err(Failure::wrong("the handler ran not once for every signal sent")) }
    })
}

/// Sets the handler of a signal and returns the one before.
fn install(signal: c_int, handler: libc::sighandler_t) -> Result<libc::sighandler_t, Failure> {
    install_with(signal, handler, 0)
}

/// Sets the handler of a signal with these flags, and returns the handler before.
pub(crate) fn install_with(
    signal: c_int,
    handler: libc::sighandler_t,
    flags: c_int,
) -> Result<libc::sighandler_t, Failure> {
    // SAFETY: zero is a valid value of every field: no flags, no signals masked, the default handler.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let mut before = action;
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: both are valid, and our handlers are of the kind the flags say and do next to nothing.
    match unsafe { libc::sigaction(signal, &action, &mut before) } {
        0 => Ok(before.sa_sigaction),
        _ => Err(Failure::last_os_error()),
    }
}

/// Changes the calling thread's mask as `how` says by a mask of 64 signals; returns the mask before. Called raw,
/// because the C library's way copies sets of 1024.
fn change_mask(how: c_int, signals: u64) -> Result<u64, Failure> {
    let mut before = [0_u64];
    exactly(0, call!(rt_sigprocmask, how, &[signals], &mut before, size_of::<u64>())?)?;
    Ok(before[0])
}

/// The address of a thread for signals.
#[derive(Clone, Copy)]
struct Thread {
    process: libc::pid_t,
    thread: libc::pid_t,
}

impl Thread {
    fn current() -> Thread {
        let process = rustix::process::getpid().as_raw_pid();
        Thread { process, thread: rustix::thread::gettid().as_raw_pid() }
    }

    /// Sends a signal. One to the calling thread itself is delivered before this returns.
    #[inline(always)]
    fn signal(self, signal: c_int) -> Result<(), Failure> {
        exactly(0, call!(tgkill, self.process, self.thread, signal)?)
    }
}
