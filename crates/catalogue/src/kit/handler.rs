//! Signal handlers that count signals, signal masks, and a thread as the target of a signal.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use libc::c_int;
use operation::{Failure, Loop, repeat};

use super::call;
use super::check::{ensure, exactly};
use super::loops::tried;
use crate::kit::library;

/// The number of signals handled in this process. A handler has no argument for it, so the count is global.
pub(crate) static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_signal(_signal: c_int) {
    count_one();
}

/// Counts a signal. The handlers of a round run one after another in one thread, so no locked instruction is needed.
#[inline(always)]
pub(crate) fn count_one() {
    HANDLED.store(HANDLED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

pub(crate) fn handler() -> libc::sighandler_t {
    count_signal as extern "C" fn(c_int) as libc::sighandler_t
}

/// Installs a handler that counts this signal, and unblocks the signal.
pub(crate) fn install_counter(signal: c_int) -> Result<(), Failure> {
    install(signal, handler())?;
    // The process that started us may have blocked it.
    change_mask(libc::SIG_UNBLOCK, bit(signal)).map(drop)
}

/// Words of an alternate stack: enough for the largest frame of a handler on machines with wide registers.
pub(crate) const STACK_WORDS: usize = 8 << 10;

pub(crate) fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Sends a signal repeatedly, after a trial. Whether the handler ran for each is checked after each batch.
#[inline(always)]
pub(crate) fn counted(send: impl FnMut() -> Result<(), Failure> + 'static) -> Result<Loop, Failure> {
    let mut handled = HANDLED.load(Ordering::Relaxed);
    tried(repeat(send).verify(move |times| {
        handled += times;
        let all = HANDLED.load(Ordering::Relaxed) == handled;
        ensure(all, || "the handler did not run once for every signal sent")
    }))
}

/// Installs a handler of a signal. Returns the previous one.
pub(crate) fn install(signal: c_int, handler: libc::sighandler_t) -> Result<libc::sighandler_t, Failure> {
    install_with(signal, handler, 0)
}

/// Installs a handler of a signal with these flags. Returns the previous one.
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
    // SAFETY: both structures are valid, and our handlers match the flags.
    match unsafe { libc::sigaction(signal, &action, &mut before) } {
        0 => Ok(before.sa_sigaction),
        _ => Err(Failure::last_os_error()),
    }
}

/// A handler that receives the signal's information and the context that it interrupts.
pub(crate) type Informed = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Installs such a handler, and unblocks the signal.
pub(crate) fn install_informed(signal: c_int, handler: Informed) -> Result<(), Failure> {
    install_with(signal, handler as libc::sighandler_t, libc::SA_SIGINFO)?;
    change_mask(libc::SIG_UNBLOCK, bit(signal)).map(drop)
}

/// Changes the calling thread's signal mask, as `how` says, by a mask of 64 signals. Returns the previous mask. Calls the
/// kernel directly, because the C library copies sets of 1024 signals.
pub(crate) fn change_mask(how: c_int, signals: u64) -> Result<u64, Failure> {
    let mut before = [0_u64];
    exactly(0, call::rt_sigprocmask(how, &[signals], &mut before, size_of::<u64>())?)?;
    Ok(before[0])
}

/// A thread as the target of signals.
#[derive(Clone, Copy)]
pub(crate) struct Thread {
    pub(crate) process: libc::pid_t,
    pub(crate) thread: libc::pid_t,
}

impl Thread {
    pub(crate) fn current() -> Thread {
        let process = library::getpid().as_raw_pid();
        Thread { process, thread: rustix::thread::gettid().as_raw_pid() }
    }

    /// Sends a signal. A signal to the calling thread itself is delivered before this returns.
    #[inline(always)]
    pub(crate) fn signal(self, signal: c_int) -> Result<(), Failure> {
        exactly(0, call::tgkill(self.process, self.thread, signal)?)
    }
}
