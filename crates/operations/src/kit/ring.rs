//! Setting up io_uring: a ring, and the file and buffers that it is told beforehand.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::IoUring;
use operation::Failure;

/// A ring with room for so many requests.
///
/// # Errors
/// A skip where rings are not to be had.
pub fn ring(entries: u32) -> Result<IoUring, Failure> {
    build(IoUring::builder(), entries)
}

pub(crate) fn build(builder: io_uring::Builder, entries: u32) -> Result<IoUring, Failure> {
    builder.build(entries).map_err(|error| match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            let reason = "refused: io_uring is switched off";
            Failure::skip(reason, "sysctl kernel.io_uring_disabled=0, or the container's seccomp profile")
        }
        Some(libc::ENOMEM) => Failure::skip("too little memory may be locked for a ring", "ulimit -l unlimited"),
        _ => error.into(),
    })
}

/// Tells the ring's kernel side a file and the buffers of requests beforehand.
///
/// # Errors
/// A skip where too little memory may be locked.
///
/// # Safety
/// The buffers stay where they are until the ring is gone.
pub(crate) unsafe fn register(ring: &IoUring, file: &OwnedFd, buffers: &[libc::iovec]) -> Result<(), Failure> {
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    // SAFETY: the caller keeps the buffers in place.
    let told = unsafe { ring.submitter().register_buffers(buffers) };
    told.map_err(|error| match error.raw_os_error() {
        Some(libc::ENOMEM) => {
            Failure::skip("too little memory may be locked for so many buffers", "ulimit -l unlimited")
        }
        _ => error.into(),
    })
}
