//! How guards and those that they guard hear of each other: pipes, and the wait for events.

use std::os::fd::{OwnedFd, RawFd};
use std::time::Duration;

use rustix::pipe::PipeFlags;

use crate::guard::lost::Lost;

/// Why there is no child.
pub(super) fn cannot_fork() -> Lost {
    Lost::NoProcess(std::io::Error::last_os_error().to_string())
}

/// A pipe that no program inherits.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), Lost> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| Lost::NoPipe(std::io::Error::from(error).to_string()))
}

/// Waits at most this long for one of these events, and returns which descriptors have something to report.
pub(super) fn ready<const N: usize>(wanted: [(RawFd, libc::c_short); N], at_most: Duration) -> [bool; N] {
    let mut polled = wanted.map(|(fd, events)| libc::pollfd { fd, events, revents: 0 });
    let time = libc::timespec { tv_sec: at_most.as_secs() as _, tv_nsec: at_most.subsec_nanos().into() };
    let count = N as libc::nfds_t;
    // SAFETY: the pointers are to N descriptions and to a time; without a set, the signal mask stays.
    let status = unsafe { libc::ppoll(polled.as_mut_ptr(), count, &raw const time, std::ptr::null()) };
    if status < 0 && std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
        // A sandbox that refuses this call may allow the older one.
        // SAFETY: the pointer is to N descriptions.
        unsafe { libc::poll(polled.as_mut_ptr(), count, at_most.as_millis() as libc::c_int) };
    }
    polled.map(|polled| polled.revents != 0)
}
