//! Sleeping until a signal's handler has run, without missing a signal that arrives just before.

use operation::Failure;

use super::call;
use super::check::exactly;

/// The size of the kernel's set of signals.
const SIZE: usize = size_of::<u64>();

/// The signals that are blocked while asleep. One more is blocked otherwise, so that none is missed.
pub(crate) struct Mask {
    asleep: [u64; 1],
}

impl Mask {
    /// Blocks `signal` except in [`Mask::sleep`].
    pub(crate) fn hold_off(signal: i32) -> Result<Mask, Failure> {
        let (held, mut asleep) = ([1 << (signal - 1)], [0]);
        exactly(0, call::rt_sigprocmask(libc::SIG_BLOCK, &held, &mut asleep, SIZE)?)?;
        Ok(Mask { asleep: [asleep[0] & !held[0]] })
    }

    /// Sleeps until a handler has run.
    #[inline(always)]
    pub(crate) fn sleep(&self) {
        let _ = call::rt_sigsuspend(&self.asleep, SIZE);
    }
}
