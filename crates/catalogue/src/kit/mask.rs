//! Sleeping until a signal's handler has run, without missing a signal that arrives just before.

use std::sync::atomic::{AtomicBool, Ordering};

use libc::c_int;
use operation::Failure;

use super::call;
use super::handler::{bit, change_mask, install_with};

/// True once the handler has run. A handler has no argument for it, so this is global.
static RUN: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: c_int) {
    RUN.store(true, Ordering::Relaxed);
}

/// The signals that are blocked while asleep. One more is blocked otherwise, so that none is missed.
pub(crate) struct Mask {
    asleep: [u64; 1],
}

impl Mask {
    /// Blocks `signal` except in [`Mask::sleep`], and installs its handler. A process has one such signal.
    pub(crate) fn hold_off(signal: c_int) -> Result<Mask, Failure> {
        let before = change_mask(libc::SIG_BLOCK, bit(signal))?;
        install_with(signal, note as extern "C" fn(c_int) as libc::sighandler_t, libc::SA_RESTART)?;
        Ok(Mask { asleep: [before & !bit(signal)] })
    }

    /// Sleeps until the handler has run.
    #[inline(always)]
    pub(crate) fn sleep(&self) {
        while !RUN.swap(false, Ordering::Relaxed) {
            let _ = call::rt_sigsuspend(&self.asleep, size_of::<u64>());
        }
    }
}
