//! Sleeping until a signal's handler has run, without missing a signal that arrives just before.

use libc::c_int;
use operation::Failure;

/// The signals that are unblocked while asleep. One more is blocked otherwise, so that none is missed.
pub(crate) struct Mask {
    asleep: libc::sigset_t,
}

impl Mask {
    /// Blocks `signal` except in [`Mask::sleep`].
    pub(crate) fn hold_off(signal: c_int) -> Result<Mask, Failure> {
        // SAFETY: a set is plain memory, for which every bit pattern is valid.
        let mut held: libc::sigset_t = unsafe { std::mem::zeroed() };
        let mut asleep = held;
        // SAFETY: the set is valid to write.
        unsafe { libc::sigaddset(&mut held, signal) };
        // SAFETY: both sets are valid.
        if unsafe { libc::sigprocmask(libc::SIG_BLOCK, &held, &mut asleep) } != 0 {
            return Err(Failure::last_os_error());
        }
        // SAFETY: the set is valid to write.
        unsafe { libc::sigdelset(&mut asleep, signal) };
        Ok(Mask { asleep })
    }

    /// Sleeps until a handler has run.
    #[inline]
    pub(crate) fn sleep(&self) {
        // SAFETY: the set is valid; the mask is restored before this returns.
        unsafe { libc::sigsuspend(&self.asleep) };
    }
}
