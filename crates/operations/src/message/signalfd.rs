//! Signals read from a descriptor: one task signals the other, which reads them and has no handler.

use std::os::fd::{FromRawFd, OwnedFd};

use libc::{c_int, pid_t, signalfd_siginfo};
use operation::{Failure, Operation, Setting, repeat, term};

use super::{EXOTIC, NEAR_OR_FAR, TO_ITSELF, not_answered};

pub(crate) const OPERATIONS: &[Operation] = &[
    // A signal to the same task.
    Operation {
        id: "signalfd.self",
        summary: "send a signal to this thread and read it from a signal descriptor",
        per: "signal",
        moves: |_| 0,
        calls: &["kill", "signalfd4"],
        explained_by: &[term(1.0, "signal.ignored"), term(1.0, "syscall.read.null")],
        prepare: |_| {
            let signals = Signals::watch()?;
            let process = std::process::id() as pid_t;
            Ok(repeat(move || {
                send(process)?;
                signals.expect_from(process)
            }))
        },
        ..TO_ITSELF
    },
    // A signal in each direction.
    Operation {
        id: "signalfd.roundtrip",
        summary: "signal a partner process that reads a signal descriptor, and read its signal in return",
        axes: &[NEAR_OR_FAR],
        explained_by: &[term(2.0, "signalfd.self")],
        prepare: |setting: &Setting| {
            let process = std::process::id() as pid_t;
            let signals = Signals::watch()?;
            // A signal descriptor returns the reader's own signals, whichever process created it.
            let partner = setting.partner(setting.partner_cpu()?, || {
                loop {
                    signals.expect_from(process)?;
                    send(process)?;
                }
            })?;
            Ok(repeat(move || {
                send(partner.pid())?;
                signals.expect_from(partner.pid())
            }))
        },
        ..EXOTIC
    },
];

/// The signal that is sent.
const SIGNAL: c_int = libc::SIGUSR1;

/// Sends the signal.
#[inline]
fn send(process: pid_t) -> Result<(), Failure> {
    // SAFETY: passes no memory; the receiver blocks the signal and reads it.
    if unsafe { libc::kill(process, SIGNAL) } == 0 { Ok(()) } else { Err(Failure::last_os_error()) }
}

/// A descriptor from which signals are read.
struct Signals {
    descriptor: OwnedFd,
}

impl Signals {
    /// Blocks the signal from now on, here and in partners started later, so that it can be read.
    fn watch() -> Result<Signals, Failure> {
        let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the memory is valid for a set.
        unsafe { libc::sigemptyset(signals.as_mut_ptr()) };
        // SAFETY: the set has been initialized as empty.
        unsafe { libc::sigaddset(signals.as_mut_ptr(), SIGNAL) };
        // SAFETY: the set is initialized; the previous mask is not requested.
        if unsafe { libc::sigprocmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut()) } != 0 {
            return Err(Failure::last_os_error());
        }
        // SAFETY: the set is initialized; a new descriptor is requested.
        match unsafe { libc::signalfd(-1, signals.as_ptr(), libc::SFD_CLOEXEC) } {
            -1 => Err(Failure::last_os_error()),
            // SAFETY: the descriptor is new and owned by nothing else.
            descriptor => Ok(Signals { descriptor: unsafe { OwnedFd::from_raw_fd(descriptor) } }),
        }
    }

    /// Waits for the next signal and checks who sent it.
    #[inline]
    fn expect_from(&self, process: pid_t) -> Result<(), Failure> {
        const LENGTH: usize = size_of::<signalfd_siginfo>();
        let mut bytes = [0_u8; LENGTH];
        let length = rustix::io::read(&self.descriptor, &mut bytes)?;
        // SAFETY: the kernel has written a whole structure, or it is all zero, which is valid too; the read is unaligned.
        let signal = unsafe { bytes.as_ptr().cast::<signalfd_siginfo>().read_unaligned() };
        let expected = length == LENGTH && signal.ssi_signo == SIGNAL as u32 && signal.ssi_pid == process as u32;
        if expected { Ok(()) } else { not_answered() }
    }
}
