//! A process that cleans up after this one, however it ends: it exists before there is anything to clean up.

use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::guard::children;
use crate::guard::lost::Lost;
use crate::guard::wait::{cannot_fork, pipe};

/// The process that cleans up. Dropping it makes it do so at once, and waits for its end.
pub struct Cleaner {
    pid: libc::pid_t,
    /// Its other copies are those of the processes forked meanwhile: the guards of rounds and crews.
    life: Option<OwnedFd>,
}

impl Cleaner {
    /// Starts a process that runs `work` once this process is gone, with every guard that it has forked since.
    /// Forks: call it while the process has one thread. Fails if the system has no pipe or process left.
    pub fn start(work: impl FnOnce()) -> Result<Cleaner, Lost> {
        let (reader, writer) = pipe()?;
        // SAFETY: this process has one thread, as the function demands, so the child may do anything.
        match unsafe { libc::fork() } {
            -1 => Err(cannot_fork()),
            0 => {
                drop(writer);
                children::become_guard();
                children::keep_only(reader.as_raw_fd());
                // Nobody writes: what ends the wait is that the last copy of the writing end is closed.
                let _ = std::fs::File::from(reader).read(&mut [0]);
                work();
                // SAFETY: leaves without running the parent's destructors, which belong to the parent.
                unsafe { libc::_exit(0) }
            }
            pid => Ok(Cleaner { pid, life: Some(writer) }),
        }
    }
}

impl Drop for Cleaner {
    fn drop(&mut self) {
        drop(self.life.take());
        children::wait_for(self.pid);
    }
}
