//! Signals read from a descriptor: one task signals the other, which reads them and has no handler.

use std::os::fd::OwnedFd;

use libc::{c_int, pid_t, signalfd_siginfo};
use operation::{Failure, Operation, Setting, repeat, term};

use super::{NEAR_OR_FAR, SELF, TRIP, not_answered};
use crate::kit::library;
use crate::kit::{bit, call, change_mask, exactly, owned};

pub(crate) const OPERATIONS: &[Operation] = &[
    SELF.named("signalfd.self", "send a signal to this thread and read it from a signal descriptor")
        .version(3)
        .per("signal")
        .moves(|_| 0)
        .calls(&["kill", "read"])
        .explained_by(&[term(1.0, "signal.ignored"), term(1.0, "syscall.read.null")])
        .prepare(|_| {
            let signals = Signals::watch()?;
            let process = std::process::id() as pid_t;
            Ok(repeat(move || {
                send(process)?;
                signals.expect_from(process)
            }))
        }),
    TRIP.id("signalfd.roundtrip")
        .summary("signal a partner process that reads a signal descriptor, and read its signal in return")
        .version(3)
        .axes(&[NEAR_OR_FAR])
        .explained_by(&[term(2.0, "signalfd.self")])
        .prepare(|setting: &Setting| {
            let process = std::process::id() as pid_t;
            let signals = Signals::watch()?;
            // A signal descriptor returns the reader's own signals, whichever process created it.
            let partner = setting.repeating_partner(setting.partner_cpu()?, || {
                signals.expect_from(process)?;
                send(process)
            })?;
            Ok(repeat(move || {
                send(partner.pid())?;
                signals.expect_from(partner.pid())
            }))
        }),
];

const SIGNAL: c_int = libc::SIGUSR1;

/// Sends the signal, which the receiver blocks and reads.
#[inline(always)]
fn send(process: pid_t) -> Result<(), Failure> {
    exactly(0, call::kill(process, SIGNAL)?)
}

struct Signals {
    descriptor: OwnedFd,
}

impl Signals {
    /// Blocks the signal from now on, here and in partners started later, so that it can be read.
    fn watch() -> Result<Signals, Failure> {
        change_mask(libc::SIG_BLOCK, bit(SIGNAL))?;
        let descriptor = owned(call::signalfd4(-1, &[bit(SIGNAL)], size_of::<u64>(), libc::SFD_CLOEXEC)?);
        Ok(Signals { descriptor })
    }

    /// Waits for the next signal and checks who sent it.
    #[inline(always)]
    fn expect_from(&self, process: pid_t) -> Result<(), Failure> {
        const LENGTH: usize = size_of::<signalfd_siginfo>();
        let mut bytes = [0_u8; LENGTH];
        let length = library::read(&self.descriptor, &mut bytes)?;
        // SAFETY: the kernel has written a whole structure, or it is all zero, which is valid too; the read is unaligned.
        let signal = unsafe { bytes.as_ptr().cast::<signalfd_siginfo>().read_unaligned() };
        let expected = length == LENGTH && signal.ssi_signo == SIGNAL as u32 && signal.ssi_pid == process as u32;
        if expected { Ok(()) } else { not_answered() }
    }
}
