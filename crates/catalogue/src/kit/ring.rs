//! Setting up io_uring: a ring, and the file and buffers registered with it.

use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::IoUring;
use operation::{Failure, Setting};

use super::call;
use super::invoke::Null;

/// `IORING_ENTER_GETEVENTS` of `linux/io_uring.h`.
pub(crate) const GET_EVENTS: u32 = 1;

/// A ring with space for this number of requests. Skips if io_uring is not available.
pub fn ring(entries: u32) -> Result<IoUring, Failure> {
    let remedy = "sysctl kernel.io_uring_disabled=0, or the container's seccomp profile";
    build(&IoUring::builder(), entries, ("refused: io_uring is switched off", remedy))
}

/// A ring whose requests a kernel thread on another CPU polls for (SQPOLL).
pub(crate) fn polled(setting: &Setting, entries: u32) -> Result<IoUring, Failure> {
    /// How many milliseconds the thread continues to poll after the last request. It must be longer than any pause in a batch, and as
    /// short as possible, because between batches the thread would run during the checks of the clock.
    const AWAKE: u32 = 1;
    // Where rings are refused at all, that is the reason.
    drop(ring(1)?);
    let mut builder = IoUring::builder();
    builder.setup_sqpoll(AWAKE).setup_sqpoll_cpu(setting.other_cpu()?);
    build(&builder, entries, ("a kernel thread that polls a ring takes a privilege before Linux 5.13", "run as root"))
}

/// A ring. Skips for this reason, with this remedy, if it is refused.
fn build(builder: &io_uring::Builder, entries: u32, refused: (&str, &str)) -> Result<IoUring, Failure> {
    let failed = |error| {
        Failure::from(error).skip_on(&[libc::EPERM, libc::EACCES], refused.0, refused.1).skip_on(
            &[libc::ENOMEM],
            "too little memory may be locked for a ring",
            "ulimit -l unlimited",
        )
    };
    builder.build(entries).map_err(failed)
}

/// Submits the requests in a ring that no kernel thread polls, and waits until this number of them is complete. The library's own
/// way goes through the C library.
#[inline(always)]
pub(crate) fn submit(ring: &mut IoUring, complete: usize) -> Result<(), Failure> {
    let requests = ring.submission().len();
    call::io_uring_enter(ring.as_raw_fd(), requests, complete, GET_EVENTS * u32::from(complete > 0), Null, 0).map(drop)
}

/// Registers a file and the buffers of requests with the ring. Skips if too little memory may be locked.
///
/// # Safety
/// The buffers must stay where they are until the ring is dropped.
pub(crate) unsafe fn register<'b>(
    ring: &IoUring,
    file: &OwnedFd,
    buffers: impl Iterator<Item = &'b mut [u8]>,
) -> Result<(), Failure> {
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    let vector = |bytes: &mut [u8]| libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let vectors: Vec<libc::iovec> = buffers.map(vector).collect();
    // SAFETY: the caller keeps the buffers in place.
    let reported = unsafe { ring.submitter().register_buffers(&vectors) };
    reported.map_err(|error| {
        let reason = "the limit on locked memory is too low for the buffers";
        Failure::from(error).skip_on(&[libc::ENOMEM], reason, "ulimit -l unlimited")
    })
}
