//! Another process or thread on the same CPU, and the ends of processes.

use super::kernel::done;

/// A process that answers until this is dropped; it ends with this process in any case.
pub(super) struct Partner(i32);

/// A process on this CPU that does one thing again and again, until that fails.
pub(super) fn partner(mut answer: impl FnMut() -> bool) -> Result<Partner, String> {
    // SAFETY: this process has one thread, so that the copy finds every lock open.
    let child = unsafe { libc::fork() };
    if child == 0 {
        call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        while answer() {}
        end(1);
    }
    done("fork", child as isize).map(|_| Partner(child))
}

impl Partner {
    /// Its process id.
    pub(super) fn id(&self) -> i32 {
        self.0
    }

    /// Stops it until it is resumed, so that it takes no CPU time from what is timed in between.
    pub(super) fn stop(&self) {
        call!(libc::SYS_kill, self.0, libc::SIGSTOP);
        call!(libc::SYS_wait4, self.0, 0_usize, libc::WUNTRACED, 0);
    }

    pub(super) fn resume(&self) {
        call!(libc::SYS_kill, self.0, libc::SIGCONT);
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        call!(libc::SYS_kill, self.0, libc::SIGKILL);
        collect(self.0);
    }
}

/// Ends this process at once.
pub(super) fn end(status: i32) -> ! {
    // SAFETY: nothing of this process is used after.
    unsafe { libc::_exit(status) }
}

/// Waits for the end of a child; its exit status, or minus one where it was killed.
#[inline]
pub(super) fn collect(child: i32) -> i32 {
    let mut status = 0_i32;
    let collected = call!(libc::SYS_wait4, child, &raw mut status, 0, 0);
    if collected == child as isize && libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 }
}
