//! Every means of receiving a signal. All signals are sent by the thread to itself, by tgkill.

use std::ffi::{c_int, c_void};

use operation::{Failure, Operation, repeat, term};

use crate::kit::{
    BASE, Null, STACK_WORDS, Thread, answered, bit, call, change_mask, count_one, counted, exactly, handler,
    install_counter, install_informed, install_with, invoke, owned, tried,
};

/// A signal sent and received.
const SIGNAL: Operation = BASE.per("signal").version(2).explained_by(&[term(1.0, "signal.ignored")]);

/// Bytes of `signalfd_siginfo`.
const RECORD: usize = 128;

pub(crate) const OPERATIONS: &[Operation] = &[
    SIGNAL
        .named(
            "signal.receive.siginfo",
            "send a signal to this thread and run its handler, which receives the signal's information (SA_SIGINFO)",
        )
        .prepare(|_| {
            install_informed(libc::SIGUSR1, count_informed)?;
            let thread = Thread::current();
            counted(move || thread.signal(libc::SIGUSR1))
        }),
    SIGNAL
        .id("signal.receive.altstack")
        .summary("send a signal to this thread and run its handler on an alternate stack (SA_ONSTACK)")
        .prepare(|_| {
            let stack = vec![0_u64; STACK_WORDS];
            // SAFETY: the stack has this size, and is kept as long as the loop.
            exactly(0, unsafe { invoke!(sigaltstack, &[stack.as_ptr() as usize, 0, STACK_WORDS * 8], 0) }?)?;
            install_with(libc::SIGUSR1, handler(), libc::SA_ONSTACK)?;
            change_mask(libc::SIG_UNBLOCK, bit(libc::SIGUSR1))?;
            let thread = Thread::current();
            counted(move || {
                let _kept = &stack;
                thread.signal(libc::SIGUSR1)
            })
        }),
    SIGNAL
        .named("signal.receive.sigwaitinfo", "send a blocked signal to this thread, and collect it (rt_sigtimedwait)")
        .calls(&["tgkill", "rt_sigtimedwait"])
        .prepare(|_| {
            let signals = [hold_off()?];
            let (thread, mut information) = (Thread::current(), [0_i32; 32]);
            tried(repeat(move || {
                thread.signal(libc::SIGUSR1)?;
                exactly(libc::SIGUSR1 as usize, call::rt_sigtimedwait(&signals, &mut information, Null, 8)?)
            }))
        }),
    SIGNAL
        .id("signal.receive.signalfd")
        .summary("send a blocked signal to this thread, and read it from a descriptor (signalfd)")
        .prepare(|_| {
            let signals = [hold_off()?];
            let descriptor = owned(call::signalfd4(-1, &signals, 8, libc::SFD_CLOEXEC)?);
            let (thread, mut record) = (Thread::current(), [0_u8; RECORD]);
            tried(repeat(move || {
                thread.signal(libc::SIGUSR1)?;
                exactly(RECORD, call::read(&descriptor, &mut record)?)
            }))
        }),
    SIGNAL
        .id("signal.receive.sigsuspend")
        .summary("send a blocked signal to this thread, and unblock it while waiting (rt_sigsuspend)")
        .calls(&["tgkill", "rt_sigsuspend", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let others = [change_mask(libc::SIG_BLOCK, bit(libc::SIGUSR1))?];
            let thread = Thread::current();
            counted(move || {
                thread.signal(libc::SIGUSR1)?;
                answered(libc::EINTR, call::rt_sigsuspend(&others, 8))
            })
        }),
];

/// Blocks the signal of this family. Returns it as a mask. Also installs its handler, because the process that started us may
/// have it ignored, and then it would never arrive.
fn hold_off() -> Result<u64, Failure> {
    install_counter(libc::SIGUSR1)?;
    change_mask(libc::SIG_BLOCK, bit(libc::SIGUSR1))?;
    Ok(bit(libc::SIGUSR1))
}

extern "C" fn count_informed(_signal: c_int, _information: *mut libc::siginfo_t, _context: *mut c_void) {
    count_one();
}
