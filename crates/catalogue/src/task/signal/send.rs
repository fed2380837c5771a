//! Every means of sending a signal. All are sent to this process and run the same handler.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use operation::{Operation, term};
use record::Estimate;
use rustix::mm::{MapFlags, ProtFlags};

use crate::kit::library::mmap_anonymous;
use crate::kit::{
    BASE, HANDLED, Null, Thread, call, count_one, counted, exactly, install_counter, install_informed, owned,
};

/// A signal that is sent and handled, including the return from the handler.
const SIGNAL: Operation = BASE.per("signal").version(2).explained_by(&[term(1.0, "signal.deliver")]);

pub(crate) const OPERATIONS: &[Operation] = &[
    SIGNAL
        .named("signal.send.kill", "send this process a signal and run its handler (kill)")
        .calls(&["kill", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let own = call::getpid()?;
            counted(move || exactly(0, call::kill(own, libc::SIGUSR1)?))
        }),
    SIGNAL
        .named("signal.send.tkill", "send this thread a signal by the old call and run its handler (tkill)")
        .calls(&["tkill", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let own = call::gettid()?;
            counted(move || exactly(0, call::tkill(own, libc::SIGUSR1)?))
        }),
    SIGNAL
        .named("signal.send.sigqueue", "send this process a signal with a value and run its handler (rt_sigqueueinfo)")
        .calls(&["rt_sigqueueinfo", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let (own, information) = (call::getpid()?, information());
            let send = move || exactly(0, call::rt_sigqueueinfo(own, libc::SIGUSR1, &information)?);
            counted(send)
        }),
    SIGNAL
        .id("signal.send.tgsigqueue")
        .summary("send this thread a signal with a value and run its handler (rt_tgsigqueueinfo)")
        .calls(&["rt_tgsigqueueinfo", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let (Thread { process, thread }, information) = (Thread::current(), information());
            let send = move || exactly(0, call::rt_tgsigqueueinfo(process, thread, libc::SIGUSR1, &information)?);
            counted(send)
        }),
    SIGNAL
        .id("signal.send.pidfd")
        .summary("send this process a signal by its descriptor and run its handler (pidfd_send_signal)")
        .calls(&["pidfd_send_signal", "rt_sigreturn"])
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            let own = owned(call::pidfd_open(call::getpid()?, 0)?);
            counted(move || exactly(0, call::pidfd_send_signal(&own, libc::SIGUSR1, Null, 0)?))
        }),
    SIGNAL
        .id("signal.send.timer")
        .summary("arm a timer that expires at once and signals, and compute until the handler has run (timer_settime)")
        .quoted(Estimate::Typical)
        .prepare(|_| {
            install_counter(libc::SIGUSR1)?;
            // The structure sigevent: a value, the signal, and `SIGEV_SIGNAL`, which is zero.
            let event = [0_u64, libc::SIGUSR1 as u64, 0, 0, 0, 0, 0, 0];
            let mut timer = [0_i32];
            exactly(0, call::timer_create(libc::CLOCK_MONOTONIC, &event, &mut timer)?)?;
            counted(move || {
                let before = HANDLED.load(Ordering::Relaxed);
                exactly(0, call::timer_settime(timer[0], 0, &[0_u64, 0, 0, 1], Null)?)?;
                while HANDLED.load(Ordering::Relaxed) == before {
                    std::hint::spin_loop();
                }
                Ok(())
            })
        }),
    SIGNAL
        .id("signal.send.fault")
        .summary("read memory that may not be read, and let a handler skip the instruction (SIGSEGV)")
        .explained_by(&[])
        .prepare(|_| {
            install_informed(libc::SIGSEGV, step_over)?;
            let nothing = std::ptr::null_mut();
            // SAFETY: the kernel chooses a free address, so no existing mapping is replaced.
            let forbidden = unsafe { mmap_anonymous(nothing, 4096, ProtFlags::empty(), MapFlags::PRIVATE) }? as usize;
            counted(move || {
                fault(forbidden);
                Ok(())
            })
        }),
];

/// The information sent with a queued signal: the structure siginfo with the code `SI_QUEUE`.
fn information() -> [i32; 32] {
    let mut information = [0; 32];
    information[0] = libc::SIGUSR1;
    information[2] = libc::SI_QUEUE;
    information
}

/// Bytes of the one instruction with which [`fault`] reads.
#[cfg(target_arch = "x86_64")]
const INSTRUCTION: i64 = 2;
#[cfg(target_arch = "aarch64")]
const INSTRUCTION: u64 = 4;

#[inline(always)]
fn fault(address: usize) {
    // SAFETY: `mov eax, [rax]` faults and is skipped; if it did not fault, it would only read.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!(".byte 0x8b, 0x00", inlateout("rax") address => _, options(nostack));
    }
    // SAFETY: the load faults and is skipped; if it did not fault, it would only read.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("ldr w0, [x0]", inlateout("x0") address => _, options(nostack));
    }
}

/// Counts, and continues behind the instruction that faulted.
extern "C" fn step_over(_signal: c_int, _information: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: a handler with SA_SIGINFO receives its context, which nothing else accesses meanwhile.
    let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
    #[cfg(target_arch = "x86_64")]
    {
        context.uc_mcontext.gregs[libc::REG_RIP as usize] += INSTRUCTION;
    }
    #[cfg(target_arch = "aarch64")]
    {
        context.uc_mcontext.pc += INSTRUCTION;
    }
    count_one();
}
